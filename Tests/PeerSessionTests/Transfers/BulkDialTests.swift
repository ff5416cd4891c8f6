import NIOCore
import NIOPosix
import PeerCore
import Testing

@testable import PeerSession

@Suite("Dialing bulk links", .timeLimit(.minutes(5))) struct BulkDialTests {
  @Test("a connection that the peer does not attach in time is closed") func unanswered() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let closed = Locked(0)
    let listener = try await ServerBootstrap(group: loop).childChannelInitializer { channel in
      channel.closeFuture.whenComplete { _ in closed.withLock { $0 += 1 } }
      return channel.eventLoop.makeSucceededVoidFuture()
    }.bind(host: "127.0.0.1", port: 0).get()
    let remote = PeerAddress(host: "127.0.0.1", port: try #require(listener.localAddress?.port))
    // If the loop is busy, the time passes before the dial connects. Then there is no connection that must be closed.
    var limit = TimeAmount.milliseconds(50)
    repeat {
      let means = LinkDial.Means(
        security: try LinkSecurity(identity: .ephemeral()),
        eventLoop: loop,
        localPeer: PeerIdentity.ephemeral().peerID,
        timeout: .seconds(10)
      )
      let attach = Control.Attach(session: .random(), incarnation: .random(), opener: .listener)
      let peer = PeerIdentity.ephemeral().peerID
      let result = loop.flatSubmit { [limit] in
        BulkDial<any Channel>(attach, secret: [], eventLoop: loop) { $0 }.start(
          means,
          to: remote,
          peer: peer,
          limit: limit
        )
      }
      let failure = await #expect(throws: SessionError.self) { try await result.get() }
      #expect(failure?.code == .timedOut)
      limit = .nanoseconds(2 * limit.nanoseconds)
    } while closed.withLock { $0 } == 0
    try await listener.close()
  }
}

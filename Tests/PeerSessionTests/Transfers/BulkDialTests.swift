import NIOCore
import NIOPosix
import PeerCore
import Testing

@testable import PeerSession

@Suite("Dialing bulk links", .timeLimit(.minutes(1))) struct BulkDialTests {
  @Test("a connection that the peer does not attach in time is closed") func unanswered() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let (closed, source) = AsyncStream<Void>.makeStream()
    let listener = try await ServerBootstrap(group: loop).childChannelInitializer { channel in
      channel.closeFuture.whenComplete { _ in source.yield() }
      return channel.eventLoop.makeSucceededVoidFuture()
    }.bind(host: "127.0.0.1", port: 0).get()
    let dial = BulkDial<any Channel>(
      security: try LinkSecurity(identity: .ephemeral()),
      eventLoop: loop,
      remote: PeerAddress(host: "127.0.0.1", port: try #require(listener.localAddress?.port)),
      peer: PeerIdentity.ephemeral().peerID,
      session: .random(),
      incarnation: .random(),
      opener: .listener,
      secret: [],
      route: nil
    ) { $0 }
    let failure = await #expect(throws: SessionError.self) { try await dial.start(limit: .milliseconds(50)).get() }
    #expect(failure?.code == .timedOut)
    for await _ in closed { break }
    try await listener.close()
  }
}

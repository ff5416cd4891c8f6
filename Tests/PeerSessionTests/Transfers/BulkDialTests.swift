import NIOCore
import NIOPosix
import PeerCore
import PeerWire
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

  @Test("a listener serves an announced bulk link on an event loop for transfers (LNK-8)") func moved() async throws {
    try await withListener { control, bulk, attached, dial in
      let attach = Control.Attach(session: .random(), incarnation: .random(), opener: .dialler)
      let dialled = control.flatSubmit { [means = dial.means] in
        BulkDial<any Channel>(attach, secret: [], eventLoop: control) { $0 }.start(
          means,
          to: dial.remote,
          peer: means.localPeer
        )
      }
      let accepted = try await attached.get()
      #expect(accepted.eventLoop === bulk)
      let channel = try await dialled.get()
      #expect(channel.eventLoop === control)
    }
  }

  @Test("an announced bulk link must begin with ATTACH (LNK-8)") func announcedControl() async throws {
    try await withListener { control, _, _, dial in
      let end = control.makePromise(of: CloseCode.self)
      control.execute {
        let ending = Ending(end)
        LinkDial(dial.means, [dial.remote], expecting: dial.means.localPeer) { result in
          guard case .success(let link) = result else { return end.fail(ChannelError.ioOnClosedChannel) }
          link.delegate = ending
          link.send(.hello, [])
          link.channel?.closeFuture.assumeIsolated().whenComplete { _ in withExtendedLifetime(ending) {} }
        }.start()
      }
      let code = try await end.futureResult.get()
      #expect(code == .protocolError)
    }
  }

  /// Passes a listener on the first event loop, which moves bulk links to the second event loop.
  private func withListener(
    _ body: (
      any EventLoop, any EventLoop, EventLoopFuture<any Channel>, (means: LinkDial.Means, remote: PeerAddress)
    ) async throws -> Void
  ) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    let (control, bulk) = (group.next(), group.next())
    let identity = PeerIdentity.ephemeral()
    var means = LinkDial.Means(
      security: try LinkSecurity(identity: identity),
      eventLoop: bulk,
      localPeer: identity.peerID,
      timeout: .seconds(60)
    )
    let attached = bulk.makePromise(of: (any Channel).self)
    let listener = try await ServerBootstrap(group: control).childChannelInitializer { [means] channel in
      channel.eventLoop.makeCompletedFuture {
        let first = FirstBytes { socket, first in
          _ = BulkOpening.start(socket, after: first, means, from: nil) { link, _ in
            attached.completeWith(link.open { $0 })
          }
        }
        try channel.pipeline.syncOperations.addHandler(first)
      }
    }.bind(host: "127.0.0.1", port: 0).get()
    means.eventLoop = control
    means.isBulk = true
    let port = try #require(listener.localAddress?.port)
    try await body(control, bulk, attached.futureResult, (means, PeerAddress(host: "127.0.0.1", port: port)))
    attached.fail(ChannelError.ioOnClosedChannel)
    try await group.shutdownGracefully()
  }
}

/// Reports the code with which a link was closed.
private final class Ending: LinkDelegate {
  private let end: EventLoopPromise<CloseCode>

  init(_ end: EventLoopPromise<CloseCode>) { self.end = end }

  func link(_ link: ControlLink, received type: FrameType, _ payload: ByteBuffer) {}

  func linkEnded(_ link: ControlLink, _ reason: LinkEnd) {
    if case .closed(let code, _) = reason { end.succeed(code) } else { end.fail(ChannelError.ioOnClosedChannel) }
  }
}

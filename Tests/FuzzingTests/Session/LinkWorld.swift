import Crypto
import FoundationEssentials
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import PeerDiscovery
import PeerWire

@testable import PeerSession

/// A listening peer in this process, and the means to dial it.
final class LinkWorld: Sendable {
  /// A session for each admission mode, and a session that does not exist.
  enum Place: UInt8, CaseIterable {
    case anyone
    case code
    case ask
    case unserved
    case unnamed
  }

  static let shared = LinkWorld()

  let port: Int
  let peer: PeerID
  let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  let identities: [PeerIdentity]
  let security: [LinkSecurity]

  private init() {
    identities = (0..<3).map { _ in .ephemeral() }
    security = identities.map { identity in
      guard let security = try? LinkSecurity(identity: identity) else {
        preconditionFailure("the local identity makes a TLS context")
      }
      return security
    }
    let ready = group.next().makePromise(of: (Int, PeerID).self)
    // The task serves as long as the fuzzer runs, and ends with the process.
    Task {
      do { try await Self.serve { ready.succeed(($0, $1)) } } catch {
        preconditionFailure("the listening peer ended: \(error)")
      }
    }
    guard let found = try? ready.futureResult.wait() else { preconditionFailure("the listening peer is ready") }
    (port, peer) = found
  }

  static func session(_ place: Place) -> SessionID {
    let bytes = place == .unnamed ? [UInt8](repeating: 0, count: 16) : [UInt8](1...15) + [place.rawValue]
    guard let id = SessionID(bytes: bytes) else { preconditionFailure("16 bytes") }
    return id
  }

  private static func serve(_ ready: @escaping @Sendable (Int, PeerID) -> Void) async throws {
    let inbox = FileManager.default.temporaryDirectory.appending(
      path: "whiteboard-fuzz-\(UInt64.random(in: 0 ... .max))"
    ).path()
    defer { try? FileManager.default.removeItem(atPath: inbox) }
    var logger = Logger(label: "fuzz")
    logger.logLevel = .critical
    var configuration = TransportConfiguration(
      identity: .ephemeral(),
      displayName: "fuzzed",
      inboxDirectory: inbox,
      logger: logger
    )
    configuration.listen = PeerAddress("127.0.0.1:0")
    configuration.lostAfter = .seconds(1)
    configuration.inboxQuota = 1 << 20
    let code = try JoinCode(words: "abandon ability able about")
    try await PeerTransport.withTransport(configuration) { transport in
      try await withThrowingDiscardingTaskGroup { group in
        for (place, policy): (Place, AdmissionPolicy) in [(.anyone, .anyone), (.code, .code(code)), (.ask, .ask)] {
          let session = try await transport.host(LinkWorld.session(place), admission: policy)
          group.addTask { await consume(session) }
        }
        ready(transport.port, transport.peerID)
      }
    }
  }

  /// An application that accepts every other stranger and answers messages.
  private static func consume(_ session: Session) async {
    for await event in session.events {
      switch event {
      case .invitation(let invitation):
        _ = try? await session.respond(
          to: invitation.id,
          invitation.id.number.isMultiple(of: 2) ? .accept : .decline(reason: "odd")
        )
      case .message(let bytes, let peer): _ = try? await session.send(bytes, to: [peer], mode: .unreliable)
      default: break
      }
    }
  }
}

/// A stranger's connection after the TLS handshake.
final class Dialled: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  /// The received bytes; confined to the channel's event loop.
  private var received: [UInt8] = []
  private var isClosed = false
  private var waiting: EventLoopPromise<Void>?
  private var secured: EventLoopPromise<Void>?

  static func dial(_ identity: Int) throws -> LinkConnection {
    let world = LinkWorld.shared
    let loop = world.group.next()
    let secured = loop.makePromise(of: Void.self)
    let (handler, facts) = try world.security[identity].makeHandler(.dialler, expecting: world.peer)
    let tls = NIOLoopBoundBox.makeBoxSendingValue(handler, eventLoop: loop)
    let channel = try ClientBootstrap(group: loop).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        let dialled = Dialled()
        dialled.secured = secured
        try channel.pipeline.syncOperations.addHandlers([tls.value, dialled])
      }
    }.connect(host: "127.0.0.1", port: world.port).wait()
    let timeout = loop.scheduleTask(in: .seconds(5)) { secured.fail(ChannelError.ioOnClosedChannel) }
    defer { timeout.cancel() }
    try secured.futureResult.wait()
    return LinkConnection(channel: channel, facts: facts)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent { secured?.succeed(()) }
    context.fireUserInboundEventTriggered(event)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received += unwrapInboundIn(data).readableBytesView
    wake()
  }

  func channelInactive(context: ChannelHandlerContext) {
    isClosed = true
    secured?.fail(ChannelError.eof)
    wake()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func wake() {
    waiting?.succeed(())
    waiting = nil
  }

  /// Returns the received bytes, and whether the connection has ended.
  func take() -> (bytes: [UInt8], isClosed: Bool) {
    defer { received = [] }
    return (received, isClosed)
  }

  /// Completes when bytes have arrived, the connection ended, or the timeout has passed.
  func news(within time: TimeAmount, on loop: any EventLoop) -> EventLoopFuture<Void> {
    if !received.isEmpty || isClosed { return loop.makeSucceededVoidFuture() }
    let promise = loop.makePromise(of: Void.self)
    waiting = promise
    let timeout = loop.scheduleTask(in: time) { promise.succeed(()) }
    promise.futureResult.whenComplete { _ in timeout.cancel() }
    return promise.futureResult
  }
}

/// The stranger's end, used from the fuzzer's thread.
struct LinkConnection {
  let channel: any Channel
  let facts: LinkFacts
  private(set) var buffer: [UInt8] = []
  private(set) var isClosed = false

  init(channel: any Channel, facts: LinkFacts) {
    self.channel = channel
    self.facts = facts
  }

  func send(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

  /// Returns the received frames; waits at most `time` for the first frame.
  mutating func frames(within time: TimeAmount) -> [(type: FrameType?, payload: [UInt8])] {
    let channel = channel
    let news = channel.eventLoop.flatSubmit {
      channel.pipeline.handler(type: Dialled.self).map { _ in }.flatMapThrowing {
        try channel.pipeline.syncOperations.handler(type: Dialled.self)
      }.flatMap { $0.news(within: time, on: channel.eventLoop) }
    }
    try? news.wait()
    let taken = try? channel.eventLoop.submit { try channel.pipeline.syncOperations.handler(type: Dialled.self).take() }
      .wait()
    buffer += taken?.bytes ?? []
    isClosed = taken?.isClosed ?? true
    var frames: [(type: FrameType?, payload: [UInt8])] = []
    while true {
      var offset = 0
      let head: FrameHeader?
      do { head = try FrameHeader.read(from: buffer.span, at: &offset, limit: Limits.framePayload) } catch {
        preconditionFailure("the peer sends valid frames: \(error)")
      }
      guard let head, buffer.count - offset >= head.length else { return frames }
      frames.append((head.type, Array(buffer[offset..<offset + head.length])))
      buffer.removeFirst(offset + head.length)
    }
  }

  func close() { try? channel.close().wait() }
}

import NIOCore
import NIOPosix
import PeerCore
import PeerWire

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An accepted connection that sent ATTACH, and that may become a bulk link (8.1). For callers on any event loop.
struct AcceptedLink: Sendable {
  let facts: LinkFacts
  private let eventLoop: any EventLoop
  private let link: NIOLoopBound<ControlLink>

  /// Call this on `eventLoop`, which must be the event loop of the link.
  init(_ link: ControlLink, _ eventLoop: any EventLoop) {
    facts = link.facts
    self.eventLoop = eventLoop
    self.link = NIOLoopBound(link, eventLoop: eventLoop)
  }

  func close(_ code: CloseCode, _ message: String = "") {
    let link = link
    eventLoop.execute { link.value.close(code, message) }
  }

  /// Sends ATTACHED, and turns the connection into a bulk link. Fails if the connection has ended.
  func open<Attached: Sendable>(_ wrap: @escaping @Sendable (any Channel) throws -> Attached)
    -> EventLoopFuture<Attached>
  {
    guard eventLoop.inEventLoop else { return eventLoop.flatSubmit { open(wrap) } }
    guard link.value.isOpen else { return eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
    link.value.send(.attached, Control.Attached().encoded())
    return makeBulkLink(link.value, wrap)
  }
}

/// Opens a bulk link that was accepted, on an event loop for transfers (LNK-8). Confined to this event loop.
final class BulkOpening: LinkDelegate {
  private let eventLoop: any EventLoop
  private let step: Duration
  private let attach: @Sendable (AcceptedLink, Control.Attach) -> Void
  private var timer: Scheduled<Void>?
  private var hasReceived = false

  private init(
    _ eventLoop: any EventLoop,
    _ step: Duration,
    _ attach: @escaping @Sendable (AcceptedLink, Control.Attach) -> Void
  ) {
    self.eventLoop = eventLoop
    self.step = step
    self.attach = attach
  }

  /// Takes over a connected socket from which `first` was read. `attach` is called at most once, on the event loop of
  /// the link.
  static func start(
    _ socket: NIOBSDSocket.Handle,
    after first: ByteBuffer,
    _ means: LinkDial.Means,
    from remote: PeerAddress?,
    _ attach: @escaping @Sendable (AcceptedLink, Control.Attach) -> Void
  ) -> EventLoopFuture<any Channel> {
    ClientBootstrap(group: means.eventLoop).channelOption(.writeBufferWaterMark, value: TransportCore.controlWatermark)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let (handler, facts) = try means.security.makeHandler(.listener, expecting: nil)
          let opening = BulkOpening(channel.eventLoop, .nanoseconds(means.timeout.nanoseconds / 2), attach)
          let link = ControlLink(side: .listener, facts: facts, remote: remote, delegate: opening)
          opening.rearm(in: means.timeout) { link.abort() }
          // The link references its delegate weakly.
          channel.closeFuture.assumeIsolated().whenComplete { _ in opening.timer?.cancel() }
          try channel.pipeline.syncOperations.addHandlers([FirstBytes(first), handler, link])
        }
      }.withConnectedSocket(socket)
  }

  private func rearm(in delay: TimeAmount, _ action: @escaping () -> Void) {
    timer?.cancel()
    timer = eventLoop.assumeIsolated().scheduleTask(in: delay, action)
  }

  func linkSecured(_ link: ControlLink) {
    rearm(in: TimeAmount(step)) { link.close(.timedOut, "No ATTACH arrived in time.") }
  }

  func link(_ link: ControlLink, received type: FrameType, _ payload: ByteBuffer) {
    timer?.cancel()
    guard type == .attach, !hasReceived else { return link.close(.protocolError, CloseMessage.unexpected(type)) }
    hasReceived = true
    do throws(ControlMessageError) {
      attach(AcceptedLink(link, eventLoop), try Control.Attach.decode(Array(payload.readableBytesView)))
    } catch { link.close(.protocolError, CloseMessage.invalid(type, error)) }
  }

  func linkEnded(_ link: ControlLink, _ reason: LinkEnd) {}
}

/// Reads the first bytes of an accepted connection, from which ``BulkOpening`` may continue on another event loop.
final class FirstBytes: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  /// The name as it appears in the list of ALPN names.
  private static let mark = [UInt8(LinkSecurity.bulkProtocol.utf8.count)] + Array(LinkSecurity.bulkProtocol.utf8)

  /// The bytes that were read before, on the other event loop.
  private let earlier: ByteBuffer?
  private let move: (NIOBSDSocket.Handle, ByteBuffer) -> Void

  /// `move` receives ownership of the socket of a bulk link, and the bytes that were read from it.
  init(move: @escaping (NIOBSDSocket.Handle, ByteBuffer) -> Void) {
    earlier = nil
    self.move = move
  }

  init(_ earlier: ByteBuffer) {
    self.earlier = earlier
    move = { _, _ in }
  }

  func channelActive(context: ChannelHandlerContext) {
    context.fireChannelActive()
    if let earlier { pass(earlier, context) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    guard Self.announceBulk(bytes), let socket = socket(of: context) else { return pass(bytes, context) }
    move(socket, bytes)
    // The TLS handler, which comes later, must not write to the connection.
    context.close(promise: nil)
  }

  private func pass(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
    context.fireChannelRead(wrapInboundOut(bytes))
    if earlier != nil { context.fireChannelReadComplete() }
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }

  private static func announceBulk(_ bytes: ByteBuffer) -> Bool {
    let view = bytes.readableBytesView
    return view.indices.dropLast(mark.count - 1).contains { view[$0...].starts(with: mark) }
  }

  private func socket(of context: ChannelHandlerContext) -> NIOBSDSocket.Handle? {
    let copy = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
      fcntl($0, F_DUPFD_CLOEXEC, 0)
    }
    return copy.flatMap { $0 >= 0 ? $0 : nil }
  }
}

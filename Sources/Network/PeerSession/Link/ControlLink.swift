import NIOCore
import NIOSSL
import NIOTLS
import PeerWire

/// The owner of a link: the handshake until the link is open, then the session. Called on the session's event loop.
protocol LinkDelegate: AnyObject {
  func linkSecured(_ link: ControlLink)
  func link(_ link: ControlLink, received type: FrameType, _ payload: ByteBuffer)
  func linkReadComplete(_ link: ControlLink)
  func linkWritable(_ link: ControlLink)
  /// Called once for each link.
  func linkEnded(_ link: ControlLink, _ reason: LinkEnd)
}

extension LinkDelegate {
  func linkSecured(_ link: ControlLink) {}
  func linkReadComplete(_ link: ControlLink) {}
  func linkWritable(_ link: ControlLink) {}
}

enum LinkEnd {
  case closed(CloseCode, message: String)
  case closedByUs(CloseCode)
  case broken((any Error)?)
}

/// Reads and writes the frames of a TLS channel, without interpreting them. Confined to the channel's event loop.
final class ControlLink: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  let side: LinkSide
  let facts: LinkFacts
  let remote: PeerAddress?
  weak var delegate: (any LinkDelegate)?
  weak var entry: PeerEntry?
  /// The first frames of a web link, until the browser has proved its key (WEB-3).
  var webOpening: WebOpening?
  let isFromBrowser: Bool

  /// The current maximum size of a frame (FRM-1).
  var frameLimit = Limits.framePayloadBeforeAdmission
  private(set) var lastHeard: NIODeadline
  private var lastSent: NIODeadline
  private var lastPinged: NIODeadline
  /// Whether the local side stopped reading. If so, silence does not mean that the link is broken (LIV-2).
  private(set) var isReadingPaused = false
  /// Whether a user admitted the dialler of this link (4.3); set only on the listener's side.
  var isAdmittedByPerson = false

  private var context: ChannelHandlerContext?
  private var pending: ByteBuffer?
  private var isParsing = false
  private var backlog = ByteBuffer()
  private var wantsRead = false
  private var end: LinkEnd?
  private var hasReportedEnd = false
  private var isHandedOver = false

  init(side: LinkSide, facts: LinkFacts, remote: PeerAddress?, isFromBrowser: Bool = false, delegate: any LinkDelegate)
  {
    self.side = side
    self.facts = facts
    self.remote = remote
    self.isFromBrowser = isFromBrowser
    self.delegate = delegate
    self.lastHeard = .now()
    self.lastSent = .now()
    self.lastPinged = .now()
  }

  var channel: (any Channel)? { context?.channel }
  var isOpen: Bool { context != nil && end == nil }
  var isWritable: Bool { context?.channel.isWritable ?? false }

  // MARK: Sending

  func send(_ type: FrameType, _ payload: [UInt8]) {
    guard let context, end == nil else { return }
    var buffer = context.channel.allocator.buffer(capacity: payload.count + 4)
    buffer.writeFrame(type, payload)
    write(buffer)
    flush()
  }

  /// When PING is due (LIV-1): some time after this side last sent a frame, or last heard from the other side. The time
  /// is shorter for a dialler, so the dialler asks first.
  var pingDue: NIODeadline {
    min(lastSent, max(lastHeard, lastPinged)) + (side == .dialler ? .seconds(1) : .milliseconds(1_500))
  }

  /// Asks the other side to answer (LIV-1). A dialler asks up to 0.5 s early, so that the PINGs of all its links soon
  /// coincide and need only one wake-up.
  func pingIfDue(_ now: NIODeadline) {
    guard now + (side == .dialler ? .milliseconds(500) : .zero) >= pingDue else { return }
    lastPinged = .now()
    send(.ping, Array(repeating: 0, count: 8))
  }

  func write(_ frames: ByteBuffer) {
    guard let context, end == nil else { return }
    context.write(wrapOutboundOut(frames), promise: nil)
  }

  func flush() {
    lastSent = .now()
    context?.flush()
  }

  func close(_ code: CloseCode, _ message: String = "") {
    guard end == nil else { return }
    guard let context else {
      end = .closedByUs(code)
      return
    }
    send(.close, Control.Close(code, message).encoded())
    end = .closedByUs(code)
    // A peer that does not read must not keep the channel open. Wait two seconds for the peer to close the channel, or
    // 0.1 s if the peer has already been silent for two seconds. TLS itself would wait longer.
    let isSilent = NIODeadline.now() - lastHeard > .seconds(2)
    let limit = isSilent ? TimeAmount.milliseconds(100) : .seconds(2)
    let timeout = context.eventLoop.assumeIsolated().scheduleTask(in: limit) { [self] in closeTransport() }
    context.channel.closeFuture.whenComplete { _ in timeout.cancel() }
    // Read and drop the unread bytes. Otherwise, TCP would discard the bytes that were written last (CLS-1).
    if isReadingPaused { resumeReading() } else { context.close(promise: nil) }
  }

  private func closeTransport() {
    guard let context else { return }
    let operations = context.pipeline.syncOperations
    if let security = try? operations.context(handlerType: NIOSSLHandler.self) {
      security.close(promise: nil)
    } else {
      context.close(promise: nil)
    }
  }

  /// Closes the link without CLOSE, because the link is broken.
  func abort(_ error: (any Error)? = nil) {
    guard end == nil else { return }
    end = .broken(error)
    // TLS would wait for an answer from the other end, which probably cannot answer.
    closeTransport()
  }

  // MARK: Back pressure

  func pauseReading() { isReadingPaused = true }

  /// Restarts the silence timeout at `now`, because the local side could not receive before.
  func excuseSilence(until now: NIODeadline) { lastHeard = now }

  func resumeReading() {
    guard isReadingPaused else { return }
    isReadingPaused = false
    lastHeard = .now()
    if !isParsing, pending != nil, end == nil {
      receive(ByteBuffer())
      delegate?.linkReadComplete(self)
    }
    // The frames that were parsed may have paused the link again.
    if wantsRead, !isReadingPaused {
      wantsRead = false
      context?.read()
    }
  }

  func read(context: ChannelHandlerContext) { if isReadingPaused { wantsRead = true } else { context.read() } }

  // MARK: Receiving

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    if !isHandedOver { reportEnd() }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case TLSUserEvent.handshakeCompleted(let negotiated)? = event as? TLSUserEvent {
      guard negotiated == LinkSecurity.applicationProtocol, facts.peer != nil, facts.exporter != nil else {
        return abort()
      }
      secured()
    }
    context.fireUserInboundEventTriggered(event)
  }

  func secured() { delegate?.linkSecured(self) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard end == nil else { return }
    lastHeard = .now()
    receive(unwrapInboundIn(data))
  }

  private func receive(_ bytes: ByteBuffer) {
    var incoming = bytes
    // The handler of a frame may write, and TLS may deliver more bytes during that write. These bytes wait until the
    // current bytes are parsed.
    guard !isParsing && !isHandedOver else {
      backlog.writeBuffer(&incoming)
      return
    }
    isParsing = true
    defer { isParsing = false }
    repeat {
      if var buffer = pending.take() {
        buffer.writeBuffer(&incoming)
        parse(buffer)
      } else {
        parse(incoming)
      }
      incoming = backlog
      backlog = ByteBuffer()
    } while incoming.readableBytes > 0 && end == nil && !isHandedOver
    if isHandedOver { backlog = incoming }
  }

  private func parse(_ incoming: ByteBuffer) {
    var buffer = incoming
    while end == nil && !isHandedOver && !isReadingPaused {
      var offset = 0
      let header: FrameHeader?
      do throws(FrameError) {
        header = try FrameHeader.read(from: buffer.readableBytesUInt8Span, at: &offset, limit: frameLimit)
      } catch {
        let violation = LinkViolation(error)
        return close(violation.code, violation.message)
      }
      guard let header, buffer.readableBytes - offset >= header.length else { break }
      buffer.moveReaderIndex(forwardBy: offset)
      guard let payload = buffer.readSlice(length: header.length) else { break }
      guard let type = header.type else { continue }
      if type == .close {
        let message = try? Control.Close.decode(Array(payload.readableBytesView))
        end = .closed(message?.code ?? .internalError, message: message?.message.explanation ?? "")
        context?.close(promise: nil)
        return
      }
      delegate?.link(self, received: type, payload)
    }
    if buffer.readableBytes > 0 {
      // Do not move the remaining bytes after each frame. If reading is paused and resumed again and again, these moves
      // would take quadratic time. This is the case for a member that exceeds the limits of a relay (RLY-14).
      if buffer.readerIndex > buffer.readableBytes { buffer.discardReadBytes() }
      pending = buffer
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if end == nil { delegate?.linkReadComplete(self) }
    context.fireChannelReadComplete()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if end == nil && context.channel.isWritable { delegate?.linkWritable(self) }
    context.fireChannelWritabilityChanged()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // After CLOSE, an unclean end of TLS does not matter.
    if end == nil { end = .broken(error) }
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    if end == nil { end = .broken(nil) }
    reportEnd()
    context.fireChannelInactive()
  }

  private func reportEnd() {
    guard !hasReportedEnd else { return }
    hasReportedEnd = true
    delegate?.linkEnded(self, end ?? .broken(nil))
  }

  // MARK: Bulk

  /// Hands the channel over to the code for bulk links; this handler then only holds arriving bytes until ``leave()``.
  func handOver() -> (any Channel)? {
    isHandedOver = true
    delegate = nil
    return context?.channel
  }

  /// Passes on the bytes that followed the last frame before the handover, in order, and leaves the pipeline.
  func leave() {
    guard let context else { return }
    var rest = pending.take() ?? ByteBuffer()
    rest.writeBuffer(&backlog)
    if rest.readableBytes > 0 {
      context.fireChannelRead(wrapInboundOut(rest))
      context.fireChannelReadComplete()
    }
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }
}

extension ControlLink: RemovableChannelHandler {}

extension ByteBuffer {
  mutating func writeFrame(_ type: FrameType, _ payload: some Collection<UInt8>) {
    writeHeader(type, length: payload.count)
    writeBytes(payload)
  }
}

extension Optional {
  mutating func take() -> Wrapped? {
    defer { self = nil }
    return self
  }
}

/// The exchange of the first two frames of a web link, which replaces the TLS handshake between peers (WEB-3). Confined
/// to the control event loop. When the browser has proved its key, ``ListenerHandshake`` handles the web link like any
/// accepted connection.
final class WebOpening: LinkDelegate {
  private let handshake: ListenerHandshake
  private let exchange: WebExchange

  init(_ handshake: ListenerHandshake, gateway: PeerID, origin: String) {
    self.handshake = handshake
    exchange = WebExchange(gateway: gateway, gatewayNonce: .random(), origin: origin)
  }

  func begin(_ link: ControlLink) {
    let challenge = Control.WebChallenge(peer: exchange.gateway, nonce: exchange.gatewayNonce)
    link.send(.webChallenge, challenge.encoded())
  }

  func link(_ link: ControlLink, received type: FrameType, _ payload: ByteBuffer) {
    guard type == .webProof else { return link.close(.protocolError, CloseMessage.unexpected(type)) }
    let proof: Control.WebProof
    do throws(ControlMessageError) { proof = try Control.WebProof.decode(Array(payload.readableBytesView)) } catch {
      return link.close(.protocolError, CloseMessage.invalid(type, error))
    }
    guard let (guest, exporter) = exchange.check(proof) else {
      return link.close(.protocolError, "The browser did not prove its key.")
    }
    link.facts.update {
      $0.peer = guest
      $0.exporter = exporter
    }
    // The link references its delegate weakly. The transport keeps the handshake alive.
    link.webOpening = nil
    link.delegate = handshake
    link.secured()
  }

  func linkEnded(_ link: ControlLink, _ reason: LinkEnd) {
    link.webOpening = nil
    handshake.linkEnded(link, reason)
  }
}

import NIOCore
import NIOSSL
import NIOTLS
import PeerWire

/// Who decides what happens on a link: the transport until the session is known, then the session.
///
/// All calls come on the session's event loop.
protocol LinkDelegate: AnyObject {
  /// TLS is complete and the other side's key is known.
  func linkSecured(_ link: ControlLink)
  /// A frame arrived, other than those below.
  func link(_ link: ControlLink, received type: FrameType, _ payload: ByteBuffer)
  /// The bytes at hand are used up: acknowledge, deliver.
  func linkReadComplete(_ link: ControlLink)
  /// The link may be written again.
  func linkWritable(_ link: ControlLink)
  /// The link is gone, once, whatever the reason.
  func linkEnded(_ link: ControlLink, _ reason: LinkEnd)
}

/// How a link ended.
enum LinkEnd {
  /// The other side said why.
  case closed(CloseCode, message: String)
  /// We closed it.
  case closedByUs(CloseCode)
  /// TCP or TLS broke.
  case broken((any Error)?)
}

/// One control link: frames in and out of a TLS channel, confined to its event loop.
///
/// It knows the shape of frames and nothing of what they mean.
final class ControlLink: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  let side: LinkSide
  let facts: LinkFacts
  /// Where the other end is, as TCP says.
  let remote: PeerAddress?
  weak var delegate: (any LinkDelegate)?
  /// The peer whose link this is, while it is the open one of a session.
  weak var entry: PeerEntry?

  /// What frames may hold now (FRM-1).
  var frameLimit = Limits.framePayloadBeforeAdmission
  private(set) var lastHeard: NIODeadline
  private(set) var lastSent: NIODeadline
  /// When reading was stopped by ourselves, silence says nothing (LIV-2).
  private(set) var isReadingPaused = false
  private(set) var isSecured = false
  /// Whether a person admitted the dialler of this link (4.3); on the listener's side.
  var isAdmittedByPerson = false

  private var context: ChannelHandlerContext?
  private var pending: ByteBuffer?
  private var isParsing = false
  private var backlog = ByteBuffer()
  private var wantsRead = false
  private var end: LinkEnd?
  private var hasReportedEnd = false
  private var isHandedOver = false

  init(side: LinkSide, facts: LinkFacts, remote: PeerAddress?, delegate: any LinkDelegate) {
    self.side = side
    self.facts = facts
    self.remote = remote
    self.delegate = delegate
    self.lastHeard = .now()
    self.lastSent = .now()
  }

  var channel: (any Channel)? { context?.channel }
  var isOpen: Bool { context != nil && end == nil }
  var isWritable: Bool { context?.channel.isWritable ?? false }

  // MARK: Sending

  /// Writes one frame and flushes.
  func send(_ type: FrameType, _ payload: [UInt8]) {
    guard let context, end == nil else { return }
    var buffer = context.channel.allocator.buffer(capacity: payload.count + 4)
    buffer.writeFrame(type, payload)
    write(buffer)
    flush()
  }

  /// Writes whole frames that are encoded already.
  func write(_ frames: ByteBuffer) {
    guard let context, end == nil else { return }
    context.write(wrapOutboundOut(frames), promise: nil)
  }

  /// Sends what was written.
  func flush() {
    lastSent = .now()
    context?.flush()
  }

  /// Says why and closes (3.6).
  func close(_ code: CloseCode, _ message: String = "") {
    guard end == nil else { return }
    guard let context else {
      end = .closedByUs(code)
      return
    }
    send(.close, Control.Close(code, message).encoded())
    end = .closedByUs(code)
    // A peer that does not read must not keep the channel: it has two seconds, or less if it was silent
    // for that long already. TLS itself would wait five seconds more for the other end.
    let isSilent = NIODeadline.now() - lastHeard > .seconds(2)
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    let timeout = context.eventLoop.scheduleTask(in: isSilent ? .milliseconds(100) : .seconds(2)) {
      bound.value.closeTransport()
    }
    context.channel.closeFuture.whenComplete { _ in timeout.cancel() }
    // What waits unread would have TCP throw away what was written: it is read and dropped (CLS-1).
    if isReadingPaused { resumeReading() } else { context.close(promise: nil) }
  }

  /// Closes the connection below TLS, which then waits for nothing.
  private func closeTransport() {
    guard let context else { return }
    let operations = context.pipeline.syncOperations
    if let security = try? operations.context(handlerType: NIOSSLHandler.self) {
      security.close(promise: nil)
    } else {
      context.close(promise: nil)
    }
  }

  /// Closes without a word: the link is broken.
  func abort(_ error: (any Error)? = nil) {
    guard end == nil else { return }
    end = .broken(error)
    // TLS would wait for an answer of the other end, which is likely silent.
    closeTransport()
  }

  // MARK: Back pressure

  /// Stops reading from the network until ``resumeReading()``, and holds back frames that were
  /// already read.
  func pauseReading() { isReadingPaused = true }

  /// Counts the other end as heard at `now`, since we ourselves could not have heard it.
  func excuseSilence(until now: NIODeadline) { lastHeard = now }

  /// Reads again.
  func resumeReading() {
    guard isReadingPaused else { return }
    isReadingPaused = false
    lastHeard = .now()
    if !isParsing, pending != nil, end == nil {
      take(ByteBuffer())
      delegate?.linkReadComplete(self)
    }
    if wantsRead {
      wantsRead = false
      context?.read()
    }
  }

  func read(context: ChannelHandlerContext) {
    if isReadingPaused { wantsRead = true } else { context.read() }
  }

  // MARK: Receiving

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    if !isHandedOver { reportEnd() }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case TLSUserEvent.handshakeCompleted(let negotiated)? = event as? TLSUserEvent {
      guard negotiated == LinkSecurity.applicationProtocol, facts.peer != nil,
        facts.exporter != nil
      else { return abort() }
      isSecured = true
      delegate?.linkSecured(self)
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard end == nil else { return }
    lastHeard = .now()
    take(unwrapInboundIn(data))
  }

  private func take(_ bytes: ByteBuffer) {
    var incoming = bytes
    // What a frame sets off may write, and TLS may deliver more from within that write: later bytes
    // wait until those being parsed are done with.
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
        header = try FrameHeader.read(
          from: buffer.readableBytesUInt8Span,
          at: &offset,
          limit: frameLimit
        )
      } catch {
        switch error {
        case .malformedLength: close(.protocolError, "The length of a frame is malformed.")
        case .tooLarge: close(.tooLarge, "A frame is longer than the limit.")
        case .unknownType(let type):
          close(.unknownFrame, "The frame type 0x\(String(type, radix: 16)) is not known.")
        }
        return
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
      buffer.discardReadBytes()
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
    // An unclean end of TLS after a CLOSE is no news.
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

  /// Gives the channel to the bulk side: from now on this handler only keeps what arrives, until
  /// ``leave()``.
  func handOver() -> (any Channel)? {
    isHandedOver = true
    delegate = nil
    return context?.channel
  }

  /// Passes on what arrived behind the frame after which the link was handed over, in order, and
  /// leaves the pipeline.
  func leave() {
    guard let context else { return }
    var kept = pending.take() ?? ByteBuffer()
    kept.writeBuffer(&backlog)
    if kept.readableBytes > 0 {
      context.fireChannelRead(wrapInboundOut(kept))
      context.fireChannelReadComplete()
    }
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }
}

extension ControlLink: RemovableChannelHandler {}

extension ByteBuffer {
  /// Writes a whole frame.
  mutating func writeFrame(_ type: FrameType, _ payload: some Collection<UInt8>) {
    writeInteger(type.rawValue)
    writeVarint(UInt64(payload.count))
    writeBytes(payload)
  }
}

extension Optional {
  /// Takes the value out, leaving `nil`.
  mutating func take() -> Wrapped? {
    defer { self = nil }
    return self
  }
}

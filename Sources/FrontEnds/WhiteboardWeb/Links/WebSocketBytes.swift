import NIOCore
import NIOWebSocket

/// Carries the bytes of a web link in the binary messages of a WebSocket (WEB-2).
final class WebSocketBytes: ChannelDuplexHandler {
  typealias InboundIn = WebSocketFrame
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = WebSocketFrame

  /// The maximum size of a message in bytes: the header and the payload of the largest frame of a link.
  static let maximumMessage = 65_536 + 8

  private var hasSentClose = false
  /// The number of bytes of the current message that have arrived; nil between two messages.
  private var messageCount: Int?

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !hasSentClose else { return }
    let frame = unwrapInboundIn(data)
    // A browser masks all frames, and no extension that uses the other bits was agreed on (RFC 6455, 5.1 and 5.2).
    guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else { return close(context, .protocolError) }
    switch frame.opcode {
    case .binary where messageCount == nil, .continuation where messageCount != nil:
      let count = (messageCount ?? 0) + frame.data.readableBytes
      guard count <= Self.maximumMessage else { return close(context, .messageTooLarge) }
      messageCount = frame.fin ? nil : count
      context.fireChannelRead(wrapInboundOut(frame.unmaskedData))
    case .ping:
      // If a client sends pings without reading the pongs, the pongs would fill the memory.
      guard context.channel.isWritable else { return }
      let pong = WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)
      context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
    case .pong: break
    case .connectionClose: close(context: context, mode: .all, promise: nil)
    default: close(context, .protocolError)
    }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    // No message may follow a close frame (RFC 6455, 5.5.1).
    guard !hasSentClose else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    var bytes = unwrapOutboundIn(data)
    while bytes.readableBytes > Self.maximumMessage, let part = bytes.readSlice(length: Self.maximumMessage) {
      let frame = WebSocketFrame(fin: true, opcode: .binary, data: part)
      context.write(wrapOutboundOut(frame), promise: nil)
    }
    let frame = WebSocketFrame(fin: true, opcode: .binary, data: bytes)
    context.write(wrapOutboundOut(frame), promise: promise)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    sendClose(context, .normalClosure)
    context.close(mode: mode, promise: promise)
  }

  private func close(_ context: ChannelHandlerContext, _ code: WebSocketErrorCode) {
    sendClose(context, code)
    context.close(promise: nil)
  }

  private func sendClose(_ context: ChannelHandlerContext, _ code: WebSocketErrorCode) {
    guard !hasSentClose else { return }
    hasSentClose = true
    var data = context.channel.allocator.buffer(capacity: 2)
    data.write(webSocketErrorCode: code)
    let frame = WebSocketFrame(fin: true, opcode: .connectionClose, data: data)
    context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
  }
}

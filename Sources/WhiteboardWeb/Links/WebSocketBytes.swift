import NIOCore
import NIOWebSocket

/// Carries the bytes of a link in the binary messages of a WebSocket (WEB-2).
final class WebSocketBytes: ChannelDuplexHandler {
  typealias InboundIn = WebSocketFrame
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = WebSocketFrame

  /// The maximum size of a message in bytes: the header and the payload of the largest frame.
  static let maximumMessage = 65_536 + 8

  private var hasSentClose = false
  /// Whether more frames of a binary message must arrive.
  private var isInMessage = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .binary where !isInMessage, .continuation where isInMessage:
      isInMessage = !frame.fin
      context.fireChannelRead(wrapInboundOut(frame.unmaskedData))
    case .ping:
      // If a client sends pings without reading the answers, the answers would fill the memory.
      guard context.channel.isWritable else { return }
      let pong = WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)
      context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
    case .pong: break
    case .connectionClose: close(context: context, mode: .all, promise: nil)
    default: close(context, .protocolError)
    }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let frame = WebSocketFrame(fin: true, opcode: .binary, data: unwrapOutboundIn(data))
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

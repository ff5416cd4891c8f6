import NIOCore
import NIOHTTP1
import PeerSession

/// Carries the bytes of a web link in HTTP requests, for browsers that cannot use a WebSocket (WEB-2). The bytes to the
/// browser are the body of one response. The bytes from the browser arrive in requests on other connections.
final class PostedBytes: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = HTTPServerResponsePart

  /// The maximum number of bytes in one request.
  static let maximumPost = 262_144

  private var context: ChannelHandlerContext?
  /// The bytes that wait for the next `read` of the web link.
  private var waiting: (bytes: ByteBuffer, promise: EventLoopPromise<Void>)?
  private var mayRead = true
  private var hasEnded = false
  private(set) var position = 0

  static let ended = HTTPAnswer.text(.notFound, "This link has ended.")

  /// Passes the bytes of a request to the web link at its next `read`, and then answers the request.
  func receive(_ bytes: ByteBuffer, at start: Int, on loop: any EventLoop) -> EventLoopFuture<HTTPAnswer> {
    guard context != nil, !hasEnded else { return loop.makeSucceededFuture(Self.ended) }
    guard waiting == nil else {
      return loop.makeSucceededFuture(.text(.tooManyRequests, "An earlier request of this link is not complete."))
    }
    guard start == position else {
      return loop.makeSucceededFuture(.page(.conflict, headers: ["Whiteboard-Position": "\(position)"]))
    }
    position += bytes.readableBytes
    let promise = loop.makePromise(of: Void.self)
    waiting = (bytes, promise)
    deliver()
    return promise.futureResult.map { .page(.noContent) }.recover { _ in Self.ended }
  }

  private func deliver() {
    guard mayRead, let context, let (bytes, promise) = waiting else { return }
    waiting = nil
    mayRead = false
    context.fireChannelRead(wrapInboundOut(bytes))
    context.fireChannelReadComplete()
    promise.succeed(())
    // The web link calls `read` as soon as it accepts more bytes.
    context.channel.read()
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { end() }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  private func end() {
    context = nil
    hasEnded = true
    waiting?.promise.fail(ChannelError.ioOnClosedChannel)
    waiting = nil
  }

  func read(context: ChannelHandlerContext) {
    mayRead = true
    // Always read the connection, to detect that the browser closed it.
    context.read()
    guard waiting != nil else { return }
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.eventLoop.execute { bound.value.deliver() }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // A browser sends nothing on this connection before the response has ended.
    if case .head = unwrapInboundIn(data) { context.close(promise: nil) }
  }

  func channelReadComplete(context: ChannelHandlerContext) {}

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    // The web link may write until its channel is inactive, but nothing may follow the end of the response.
    guard !hasEnded else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    let bytes = unwrapOutboundIn(data)
    context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: promise)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if !hasEnded {
      hasEnded = true
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
    context.close(mode: mode, promise: promise)
  }
}

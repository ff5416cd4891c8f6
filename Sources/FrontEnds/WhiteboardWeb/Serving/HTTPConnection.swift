import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Answers the requests of an HTTP server. Confined to the event loop of the server's connections.
package protocol HTTPRoutes: AnyObject {
  /// Returns how to answer a request once the whole request has arrived. If the method throws an answer, the connection
  /// sends this answer, reads nothing more, and closes.
  func route(_ head: HTTPRequestHead, on channel: any Channel) throws(HTTPAnswer) -> HTTPRoute

  /// Returns the last answer on a connection that received no valid request.
  func answer(to fault: HTTPFault, on channel: any Channel) -> HTTPAnswer
}

package enum HTTPRoute {
  case get(() -> EventLoopFuture<HTTPAnswer>)
  /// A request with a body. The routes have checked the length of the body. If `isLast` is true, the connection closes
  /// after the answer.
  case post(isLast: Bool, (ByteBuffer) -> EventLoopFuture<HTTPAnswer>)
  /// From now on, the connection carries something other than HTTP requests.
  case takeOver((any Channel) throws -> Void)
}

package enum HTTPFault {
  case malformed, headTooLarge, unexpectedBody
}

package struct HTTPAnswer: Error {
  package let status: HTTPResponseStatus
  package var headers: HTTPHeaders
  package let body: ByteBuffer

  package init(_ status: HTTPResponseStatus, headers: HTTPHeaders = [:], body: ByteBuffer = ByteBuffer()) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// Reads the requests on one connection, one after the other, and sends the answers that the routes return.
package final class HTTPConnection: ChannelInboundHandler, RemovableChannelHandler {
  package typealias InboundIn = HTTPServerRequestPart
  package typealias OutboundOut = HTTPServerResponsePart

  private enum State {
    case idle
    case receiving(HTTPRoute, ByteBuffer)
    /// The answer is being made or sent, and further input is dropped.
    case answering
    /// The connection was taken over, or is about to close.
    case over
  }

  /// How long a client may keep its connection open after the last answer. If the server closed the connection
  /// immediately, a client that is still sending would lose the answer.
  private static let grace = TimeAmount.seconds(1)

  private let routes: any HTTPRoutes
  private let requestTime: TimeAmount
  private let nextRequestTime: TimeAmount?
  private let refusal: HTTPAnswer?
  private var state = State.idle
  private var isHeadOnly = false
  private var keepsAlive = false
  private var isInputClosed = false
  private var timeout: Scheduled<Void>?

  /// `requestTime` limits each of these steps: receiving the head of a request, receiving its body, making the answer,
  /// and sending each part of the answer. `nextRequestTime` limits the wait for the next request. If `nextRequestTime`
  /// is nil, the connection sends only one answer, `requestTime` limits all steps together, and the channel must allow
  /// half-closure. If `refusal` is not nil, the client gets this answer without sending a request.
  package init(
    _ routes: any HTTPRoutes,
    requestTime: TimeAmount,
    nextRequestTime: TimeAmount? = nil,
    refusal: HTTPAnswer? = nil
  ) {
    self.routes = routes
    self.requestTime = requestTime
    self.nextRequestTime = nextRequestTime
    self.refusal = refusal
  }

  /// Adds the handlers of HTTP to a channel. The head of a request may have `maximumHead` bytes.
  package func addHandlers(to channel: any Channel, maximumHead: Int, upgrader: NIOWebSocketServerUpgrader? = nil)
    throws
  {
    let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderListSize = maximumHead
    limits.maxHeaderFieldSize = maximumHead
    limits.maxHeaderFieldCount = 64
    try channel.pipeline.syncOperations.configureHTTPServerPipeline(
      withPipeliningAssistance: nextRequestTime != nil,
      withServerUpgrade: upgrader.map {
        ([$0], { context in context.pipeline.syncOperations.removeHandler(bound.value, promise: nil) })
      },
      withErrorHandling: false,
      withEncoderConfiguration: .init(),
      withDecoderLimitConfiguration: limits
    )
    try channel.pipeline.syncOperations.addHandler(self)
  }

  package func handlerAdded(context: ChannelHandlerContext) { close(context, in: requestTime) }

  package func handlerRemoved(context: ChannelHandlerContext) {
    timeout?.cancel()
    state = .over
  }

  package func channelActive(context: ChannelHandlerContext) {
    guard let refusal else { return }
    // Do not wait until the client closes its side, because the client may be one of a flood of clients.
    isInputClosed = true
    send(refusal, context)
  }

  /// Closes the connection after `time`, and cancels the previous timeout. The timeout applies even to a client that
  /// is not idle, because a slow client can send or read a byte now and then.
  private func close(_ context: ChannelHandlerContext, in time: TimeAmount) {
    timeout?.cancel()
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    timeout = context.eventLoop.scheduleTask(in: time) { bound.value.close(promise: nil) }
  }

  private func madeProgress(_ context: ChannelHandlerContext) {
    if nextRequestTime != nil { close(context, in: requestTime) }
  }

  // MARK: Requests

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch Self.unwrapInboundIn(data) {
    case .head(let head): headReceived(head, context)
    case .body(let part): bodyReceived(part, context)
    case .end: requestEnded(context)
    }
  }

  private func headReceived(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    guard case .idle = state else { return }
    madeProgress(context)
    isHeadOnly = head.method == .HEAD
    keepsAlive = nextRequestTime != nil && head.isKeepAlive
    do throws(HTTPAnswer) { state = .receiving(try routes.route(head, on: context.channel), ByteBuffer()) } catch {
      sendLast(error, context)
    }
  }

  private func bodyReceived(_ part: ByteBuffer, _ context: ChannelHandlerContext) {
    guard case .receiving(let route, var body) = state else { return }
    guard case .post = route else {
      return sendLast(routes.answer(to: .unexpectedBody, on: context.channel), context)
    }
    // If the state held a second reference to the buffer, writing would copy it.
    state = .idle
    body.writeImmutableBuffer(part)
    state = .receiving(route, body)
  }

  private func requestEnded(_ context: ChannelHandlerContext) {
    guard case .receiving(let route, let body) = state else { return }
    let answer: EventLoopFuture<HTTPAnswer>
    state = .answering
    madeProgress(context)
    switch route {
    case .get(let make): answer = make()
    case .post(let isLast, let make):
      if isLast { keepsAlive = false }
      answer = make(body)
    case .takeOver(let begin):
      do { try begin(context.channel) } catch { context.channel.close(promise: nil) }
      return context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    answer.whenSuccess { answer in
      let (connection, context) = bound.value
      if case .answering = connection.state { connection.send(answer, context) }
    }
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch (error, state) {
    case (let error as HTTPParserError, .idle), (let error as HTTPParserError, .receiving):
      let fault: HTTPFault = error == .headerOverflow ? .headTooLarge : .malformed
      sendLast(routes.answer(to: fault, on: context.channel), context)
    // The decoder reports these errors for input after the last request.
    case (is HTTPParserError, _), (is ByteToMessageDecoderError, _): break
    // If an upgrade is refused, the request is answered like any other request.
    case (is NIOWebSocketUpgradeError, _): break
    default: context.close(promise: nil)
    }
  }

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event as? ChannelEvent == .inputClosed else { return }
    isInputClosed = true
    // A client that closes its side before the request is complete does not wait for an answer.
    guard case .answering = state else { return context.close(promise: nil) }
  }

  // MARK: Answers

  /// Sends an answer, reads nothing more, and closes the connection.
  private func sendLast(_ answer: HTTPAnswer, _ context: ChannelHandlerContext) {
    keepsAlive = false
    send(answer, context)
  }

  private func send(_ answer: HTTPAnswer, _ context: ChannelHandlerContext) {
    state = .answering
    var (headers, body) = (answer.headers, answer.body)
    // The encoder removes this header from answers that have no body.
    headers.add(name: "Content-Length", value: "\(body.readableBytes)")
    if !keepsAlive { headers.replaceOrAdd(name: "Connection", value: "close") }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    var written = context.eventLoop.makePromise(of: Void.self)
    context.write(
      Self.wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: answer.status, headers: headers))),
      promise: written
    )
    while !isHeadOnly, body.readableBytes > 0, let part = body.readSlice(length: min(16_384, body.readableBytes)) {
      written.futureResult.whenSuccess { bound.value.0.madeProgress(bound.value.1) }
      written = context.eventLoop.makePromise()
      context.write(Self.wrapOutboundOut(.body(.byteBuffer(part))), promise: written)
    }
    // The connection handles the next request only after the answer has ended. Therefore, end the answer only after
    // everything before its end was written to the network. Otherwise, a client that reads nothing could fill the
    // memory with answers.
    written.futureResult.whenComplete { result in
      let (connection, context) = bound.value
      guard case .success = result, connection.keepsAlive, let time = connection.nextRequestTime else {
        return connection.end(context)
      }
      connection.state = .idle
      connection.close(context, in: time)
      context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    }
    context.flush()
  }

  private func end(_ context: ChannelHandlerContext) {
    guard case .answering = state else { return }
    state = .over
    // If `nextRequestTime` is not nil, the connection has TLS, and TLS waits until the client closes its side.
    guard nextRequestTime == nil, !isInputClosed else { return context.close(promise: nil) }
    context.close(mode: .output, promise: nil)
    close(context, in: Self.grace)
  }
}

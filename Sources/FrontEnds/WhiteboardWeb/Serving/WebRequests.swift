import NIOCore
import NIOHTTP1
import NIOWebSocket
import PeerSession
import WhiteboardKit

/// Responds to the requests on one connection: for files of the page, and for web links without a WebSocket.
final class WebRequests: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private enum State {
    case idle
    /// A request for a file, which must not have a body.
    case responding(WebResponse)
    /// A request that carries bytes of a web link.
    case posting(TransferID, start: Int, ByteBuffer)
    /// A request for a link to show to others, from a page at an origin.
    case inviting(origin: String, ByteBuffer)
    case opening
    /// The connection carries a web link, or is about to close.
    case over
  }

  private let server: WebServer
  private var state = State.idle
  private var isHeadOnly = false
  private var keepsAlive = true
  /// Closes the connection if the head or the body of a request does not arrive in time.
  private var timeout: Scheduled<Void>?

  init(_ server: WebServer) { self.server = server }

  func handlerAdded(context: ChannelHandlerContext) { startTimeout(context, WebServer.requestTime) }

  func handlerRemoved(context: ChannelHandlerContext) { timeout?.cancel() }

  /// Limits the time for the next head or body, because a browser that sends a byte now and then is not idle (WEB-55).
  private func startTimeout(_ context: ChannelHandlerContext, _ time: TimeAmount) {
    timeout?.cancel()
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    timeout = context.eventLoop.scheduleTask(in: time) { bound.value.close(promise: nil) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): headReceived(head, context)
    case .body(let bytes): bodyReceived(bytes, context)
    case .end: requestEnded(context)
    }
  }

  private func headReceived(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    guard case .idle = state else { return }
    startTimeout(context, WebServer.requestTime)
    isHeadOnly = head.method == .HEAD
    keepsAlive = head.isKeepAlive
    do throws(WebResponse) {
      let request = try server.check(head, from: context.channel)
      switch request {
      case .file(let response): state = .responding(response)
      case .openLink: state = .opening
      case .post(let id, let start):
        state = .posting(id, start: start, context.channel.allocator.buffer(capacity: 1_024))
      case .invite(let origin): state = .inviting(origin: origin, ByteBuffer())
      }
    } catch {
      // The rest of a refused request is not read.
      keepsAlive = false
      respond(with: error, context)
    }
  }

  private func bodyReceived(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
    var bytes = bytes
    switch state {
    case .posting(let id, let start, var buffer):
      // If the state held a second reference to the buffer, writing would copy it.
      state = .idle
      buffer.writeBuffer(&bytes)
      state = .posting(id, start: start, buffer)
    case .inviting(let origin, var buffer):
      buffer.writeBuffer(&bytes)
      state = .inviting(origin: origin, buffer)
    case .responding, .opening:
      keepsAlive = false
      respond(with: .text(.badRequest, "This request must not have a body."), context)
    case .idle, .over: break
    }
  }

  private func requestEnded(_ context: ChannelHandlerContext) {
    timeout?.cancel()
    switch state {
    case .responding(let response): respond(with: response, context)
    case .posting(let id, let start, let buffer): post(buffer, to: id, at: start, context)
    case .inviting(let origin, let body): invite(body, at: origin, context)
    case .opening: openLink(context)
    case .idle, .over: break
    }
  }

  // MARK: Links

  private func post(_ bytes: ByteBuffer, to id: TransferID, at start: Int, _ context: ChannelHandlerContext) {
    guard let link = server.posts[id] else { return respond(with: .text(.notFound, "This link has ended."), context) }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    link.receive(bytes, at: start, on: context.eventLoop).whenSuccess { outcome in
      let (requests, context) = bound.value
      let response: WebResponse =
        switch outcome {
        case .received: WebResponse(.noContent)
        case .wrongPosition(let position): WebResponse(.conflict, headers: [("Whiteboard-Position", "\(position)")])
        case .busy: .text(.tooManyRequests, "An earlier request of this link is not complete.")
        case .ended: .text(.notFound, "This link has ended.")
        }
      requests.respond(with: response, context)
    }
  }

  private func invite(_ body: ByteBuffer, at origin: String, _ context: ChannelHandlerContext) {
    (state, keepsAlive) = (.over, false)
    guard let request = PageInvitation.Request(body, origin: origin) else {
      return respond(with: .text(.badRequest, "This is not a request for a link."), context)
    }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    server.invite(request, context.eventLoop).whenSuccess { response in
      let (requests, context) = bound.value
      requests.respond(with: response, context)
    }
  }

  private func openLink(_ context: ChannelHandlerContext) {
    state = .over
    let bytes = PostedBytes()
    let id = server.posts.add(bytes)
    let head = WebResponse(
      .ok,
      headers: [
        ("Content-Type", "application/octet-stream"), ("Cache-Control", "no-store"), ("Whiteboard-Link", id.text),
      ]
    ).head(count: nil)
    context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
    let posts = NIOLoopBound(server.posts, eventLoop: context.eventLoop)
    context.channel.closeFuture.whenComplete { _ in posts.value.remove(id) }
    let channel = context.channel
    do {
      try channel.pipeline.syncOperations.addHandler(bytes)
      try server.beginLink(channel, origin: server.origin(of: channel))
    } catch { channel.close(promise: nil) }
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }

  // MARK: Responses

  private func respond(with response: WebResponse, _ context: ChannelHandlerContext) {
    state = .over
    timeout?.cancel()
    var head = response.head(count: response.body?.readableBytes ?? 0)
    if !keepsAlive { head.headers.replaceOrAdd(name: "Connection", value: "close") }
    let written = context.eventLoop.makePromise(of: Void.self)
    if !isHeadOnly, var body = response.body {
      context.write(wrapOutboundOut(.head(head)), promise: nil)
      // The connection counts as idle until a whole part has been written.
      while body.readableBytes > 16_384, let part = body.readSlice(length: 16_384) {
        context.write(wrapOutboundOut(.body(.byteBuffer(part))), promise: nil)
      }
      context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(body))), promise: written)
    } else {
      context.writeAndFlush(wrapOutboundOut(.head(head)), promise: written)
    }
    // The connection handles the next request only after the response has ended. So end the response only after it has
    // been written to the network. Otherwise, a browser that reads nothing could fill the memory with responses.
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    written.futureResult.whenComplete { result in
      let (requests, context) = bound.value
      guard case .success = result, requests.keepsAlive else { return context.close(promise: nil) }
      requests.state = .idle
      // Idle connections count toward the limits, and a browser may open six of them.
      requests.startTimeout(context, WebServer.nextRequestTime)
      context.writeAndFlush(requests.wrapOutboundOut(.end(nil)), promise: nil)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A refused upgrade continues as a request, which gets a response.
    if error is NIOWebSocketUpgradeError { return }
    context.close(promise: nil)
  }
}

struct WebResponse: Error {
  private var status: HTTPResponseStatus
  private var headers: HTTPHeaders
  let body: ByteBuffer?

  init(_ status: HTTPResponseStatus, headers: [(String, String)] = [], body: ByteBuffer? = nil) {
    self.status = status
    self.headers = HTTPHeaders(headers)
    self.body = body
  }

  static func text(_ status: HTTPResponseStatus, _ text: String) -> WebResponse {
    WebResponse(
      status,
      headers: [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")],
      body: ByteBuffer(string: text + "\n")
    )
  }

  /// `count` is the number of bytes in the body, or nil if it is not known in advance.
  func head(count: Int?) -> HTTPResponseHead {
    var headers = headers
    if let count, status != .noContent, status != .notModified {
      headers.add(name: "Content-Length", value: "\(count)")
    }
    for (name, value) in Self.security { headers.add(name: name, value: value) }
    return HTTPResponseHead(version: .http1_1, status: status, headers: headers)
  }

  /// The headers that limit what a page may do (WEB-55).
  private static let security = [
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
        + "img-src 'self' blob: data:; connect-src 'self'; worker-src 'self'; "
        + "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "geolocation=(), microphone=(), camera=(self)"),
  ]
}

import NIOCore
import NIOHTTP1
import PeerCore

extension ChannelPipeline.SynchronousOperations {
  func addHealthHandlers(
    _ endpoints: HealthEndpoints,
    configuration: HealthServer.Configuration,
    clients: HealthClients
  ) throws {
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderListSize = configuration.maximumHeadSize
    limits.maxHeaderFieldSize = configuration.maximumHeadSize
    limits.maxHeaderFieldCount = 64
    try addHandlers([
      HTTPResponseEncoder(),
      ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: limits)),
      HealthConnection(endpoints, configuration: configuration, clients: clients),
    ])
  }
}

/// Reads one request on its connection, answers it, and closes the connection.
private final class HealthConnection: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private enum State {
    case reading
    /// An endpoint is working on the answer.
    case waiting(isHeadOnly: Bool)
    /// The answer is being written, and further input is dropped.
    case answering
    /// The answer is in the kernel's send buffer, or the connection has ended.
    case answered
  }

  /// How long a client may keep its connection open after the answer. If the server closed the connection immediately,
  /// a client that is still sending would lose the answer.
  private static let grace: TimeAmount = .seconds(1)

  private let endpoints: HealthEndpoints
  private let configuration: HealthServer.Configuration
  private let clients: HealthClients
  private var state = State.reading
  private var isInputClosed = false
  private var deadline: Scheduled<Void>?

  init(_ endpoints: HealthEndpoints, configuration: HealthServer.Configuration, clients: HealthClients) {
    self.endpoints = endpoints
    self.configuration = configuration
    self.clients = clients
  }

  func channelActive(context: ChannelHandlerContext) {
    close(context, in: TimeAmount(configuration.connectionTimeout))
    guard !clients.admit(context.channel) else { return }
    // Do not wait until the client closes its side, because the client may be one of a flood of clients.
    isInputClosed = true
    answer(.text(.serviceUnavailable, "too many connections"), context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    state = .answered
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .reading = state, case .head(let head) = Self.unwrapInboundIn(data) else { return }
    clients.endReading(context.channel)
    do throws(HealthAnswer) { pass(try HealthRequest(head), context) } catch {
      answer(error, context, isHeadOnly: head.method == .HEAD)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event as? ChannelEvent == .inputClosed else { return }
    isInputClosed = true
    switch state {
    // A client that closes its side before the request is complete does not wait for an answer.
    case .reading, .answered: context.close(promise: nil)
    case .waiting, .answering: break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // Ignore further errors. The decoder reports them for input that follows the request.
    guard case .reading = state else { return }
    clients.endReading(context.channel)
    switch error as? HTTPParserError {
    case .headerOverflow: answer(.text(.requestHeaderFieldsTooLarge, "the head of the request is too large"), context)
    case .some: answer(.text(.badRequest, "bad request"), context)
    case nil: context.close(promise: nil)
    }
  }

  /// Passes a request to its endpoint, and sends the answer, or an error if the timeout expires first.
  private func pass(_ request: HealthRequest, _ context: ChannelHandlerContext) {
    guard clients.beginRequest() else {
      answer(.text(.serviceUnavailable, "too many requests are waiting for an answer"), context)
      return
    }
    state = .waiting(isHeadOnly: request.isHeadOnly)
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    let answerIfWaiting: @Sendable (HealthAnswer) -> Void = { answer in
      let (connection, context) = bound.value
      guard case .waiting(let isHeadOnly) = connection.state else { return }
      connection.answer(answer, context, isHeadOnly: isHeadOnly)
    }
    let (time, loop) = (configuration.answerTimeout, context.eventLoop)
    let timeout = loop.scheduleTask(in: TimeAmount(time)) {
      answerIfWaiting(.text(.serviceUnavailable, "no answer in \(time)"))
    }
    // No code awaits this task, so an endpoint that hangs blocks neither the client nor the shutdown of the server.
    // `clients` limits the number of these tasks.
    Task { [endpoints, clients] in
      let answer = await endpoints.answer(to: request)
      clients.endRequest()
      timeout.cancel()
      loop.execute { answerIfWaiting(answer) }
    }
  }

  private func answer(_ answer: HealthAnswer, _ context: ChannelHandlerContext, isHeadOnly: Bool = false) {
    state = .answering
    context.write(Self.wrapOutboundOut(.head(answer.head)), promise: nil)
    if !isHeadOnly {
      let body = context.channel.allocator.buffer(string: answer.body)
      context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.writeAndFlush(Self.wrapOutboundOut(.end(nil))).whenComplete { _ in
      bound.value.0.answerIsWritten(bound.value.1)
    }
  }

  private func answerIsWritten(_ context: ChannelHandlerContext) {
    guard case .answering = state else { return }
    state = .answered
    if isInputClosed {
      context.close(promise: nil)
    } else {
      context.close(mode: .output, promise: nil)
      close(context, in: Self.grace)
    }
  }

  /// Closes the connection after a delay, which replaces an earlier deadline.
  private func close(_ context: ChannelHandlerContext, in time: TimeAmount) {
    deadline?.cancel()
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    deadline = context.eventLoop.scheduleTask(in: time) { bound.value.close(promise: nil) }
  }
}

struct HealthRequest: Equatable {
  enum Path: String, CaseIterable {
    case healthz = "/healthz"
    case readyz = "/readyz"
    case metrics = "/metrics"
    case version = "/version"
  }

  let path: Path
  let wantsJSON: Bool
  let isHeadOnly: Bool

  init(_ head: HTTPRequestHead) throws(HealthAnswer) {
    guard head.uri.hasPrefix("/"), head.version.major == 1, head.version.minor == 0 || head.headers["host"].count == 1
    else { throw .text(.badRequest, "bad request") }
    let uri = head.uri.prefix { $0 != "?" && $0 != "#" }
    guard let path = Path(rawValue: String(uri)) else {
      let paths = Path.allCases.map(\.rawValue).joined(separator: ", ")
      throw .text(.notFound, "not found; the paths are \(paths)")
    }
    guard head.method == .GET || head.method == .HEAD else { throw .methodNotAllowed }
    guard !head.headers.contains(name: "transfer-encoding"), head.headers["content-length"].allSatisfy({ $0 == "0" })
    else { throw .text(.badRequest, "a request must not have a body") }
    self.path = path
    wantsJSON = head.headers[canonicalForm: "accept"].contains {
      $0.prefix { $0 != ";" }.lowercased() == "application/json"
    }
    isHeadOnly = head.method == .HEAD
  }
}

/// If the request is invalid, the answer is thrown as an error.
struct HealthAnswer: Error, Equatable {
  var status: HTTPResponseStatus
  var contentType: String
  var body: String
  var allowed: String?

  static let methodNotAllowed: HealthAnswer = {
    var answer = text(.methodNotAllowed, "method not allowed; use GET or HEAD")
    answer.allowed = "GET, HEAD"
    return answer
  }()

  static func text(_ status: HTTPResponseStatus, _ line: String) -> HealthAnswer {
    HealthAnswer(status: status, contentType: "text/plain; charset=utf-8", body: line + "\n")
  }

  static func json(_ status: HTTPResponseStatus, _ value: JSONObject) -> HealthAnswer {
    HealthAnswer(status: status, contentType: "application/json", body: value.text + "\n")
  }

  static func verdict(_ good: String, _ bad: String, against reasons: [String], isJSON: Bool) -> HealthAnswer {
    let status: HTTPResponseStatus = reasons.isEmpty ? .ok : .serviceUnavailable
    let verdict = reasons.isEmpty ? good : bad
    let reasons = reasons.map { UntrustedText($0).escaped(limit: 256) }
    guard isJSON else {
      let lines = [verdict] + reasons.map { "- \($0)" }
      return text(status, lines.joined(separator: "\n"))
    }
    var object = JSONObject()
    object.add("status", string: verdict)
    object.add("reasons", strings: reasons)
    return json(status, object)
  }

  var head: HTTPResponseHead {
    var headers: HTTPHeaders = [
      "Content-Type": contentType, "Content-Length": "\(body.utf8.count)", "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff", "Connection": "close",
    ]
    if let allowed { headers.add(name: "Allow", value: allowed) }
    return HTTPResponseHead(version: .http1_1, status: status, headers: headers)
  }
}

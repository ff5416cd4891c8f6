import NIOCore
import NIOHTTP1
import NIOPosix
import PeerCore
import WhiteboardKit
import WhiteboardWeb

/// A server that answers `/healthz`, `/readyz`, `/metrics` and `/version` over HTTP/1.1. By default it is reachable
/// only from this machine. Each connection gets one answer and is closed. The size of a request's head is limited, and
/// a request must not have a body. If a client does not send its request and read the answer in time, its connection is
/// closed.
package struct HealthServer: Sendable {
  package struct Configuration: Sendable {
    /// Any address other than loopback exposes the metrics to the network.
    package var host = "127.0.0.1"
    /// The value 0 chooses any free port.
    package var port = 26_274
    /// The maximum number of open connections. At the limit, a new connection replaces the oldest connection with an
    /// incomplete request. If there is no such connection, the server answers the new connection with 503.
    package var maximumConnections = 32
    package var maximumHeadSize = 8 * 1_024
    package var connectionTimeout: Duration = .seconds(10)
    package var answerTimeout: Duration = .seconds(5)

    package init() {}
  }

  package let port: Int
}

/// Runs a health server while `body` runs, and then closes every connection. Throws `HTTPBindError` if the server cannot
/// listen on the address.
package func withHealthServer<Result>(
  _ endpoints: HealthEndpoints,
  configuration: HealthServer.Configuration = HealthServer.Configuration(),
  group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
  isolation: isolated (any Actor)? = #isolation,
  _ body: (HealthServer) async throws -> Result
) async throws -> Result {
  try await withHTTPServer(
    HealthRoutes(endpoints, configuration),
    host: configuration.host,
    port: configuration.port,
    group: group
  ) { port in try await body(HealthServer(port: port)) }
}

/// The functions that produce the answers of a ``HealthServer``. The server calls a function for each request. If a
/// function does not return in time, the server answers with 503, but does not cancel the function.
package struct HealthEndpoints: Sendable {
  /// A function that returns descriptions of the process's problems, for `/healthz`; empty if the process is healthy.
  /// The function should call the component that does the work, such as an event loop or an actor. If that component
  /// hangs, the function then hangs too.
  package var ailments: @Sendable () async -> [String]

  /// A function that returns the reasons why the program cannot serve clients now, for `/readyz`; empty if it is ready.
  package var hindrances: @Sendable () async -> [String]

  package var metrics: @Sendable () async -> String
  package var program: String
  package var version: String

  package init(
    program: String,
    version: String,
    ailments: @escaping @Sendable () async -> [String] = { [] },
    hindrances: @escaping @Sendable () async -> [String],
    metrics: @escaping @Sendable () async -> String
  ) {
    self.program = program
    self.version = version
    self.ailments = ailments
    self.hindrances = hindrances
    self.metrics = metrics
  }

  /// Returns the function for the answer to a path; nil for an unknown path.
  fileprivate func answer(at path: String, isJSON: Bool) -> (@Sendable () async -> HTTPAnswer)? {
    switch path {
    case "/healthz": { .verdict("ok", "unwell", against: await ailments(), isJSON: isJSON) }
    case "/readyz": { .verdict("ready", "not ready", against: await hindrances(), isJSON: isJSON) }
    case "/metrics": { .health(.ok, RelayMetrics.contentType, await metrics()) }
    case "/version":
      {
        guard isJSON else { return .text(.ok, "\(program) \(version)") }
        var object = JSONObject()
        object.add("program", string: program)
        object.add("version", string: version)
        return .json(.ok, object)
      }
    default: nil
    }
  }
}

private final class HealthRoutes: HTTPServerRoutes {
  private let endpoints: HealthEndpoints
  private let configuration: HealthServer.Configuration
  /// The open connections, oldest first, and whether their requests are incomplete.
  private var clients: [(channel: any Channel, isReading: Bool)] = []
  /// The number of requests whose endpoint has not returned yet, including requests that were answered at the timeout.
  private var requests = 0

  init(_ endpoints: HealthEndpoints, _ configuration: HealthServer.Configuration) {
    self.endpoints = endpoints
    self.configuration = configuration
  }

  var channels: [any Channel] { clients.map(\.channel) }

  /// If the limit is reached, the connection of the oldest client with an incomplete request is closed, so that silent
  /// connections cannot block a health check. A client for which there is no room counts toward the limit until its
  /// connection is closed.
  func accept(_ channel: any Channel) throws {
    let isFull = clients.count >= configuration.maximumConnections
    let oldest = clients.firstIndex { $0.isReading }
    let isRefused = isFull && oldest == nil
    // The slot becomes free immediately, even before the dropped connection has closed.
    if isFull, let oldest { clients.remove(at: oldest).channel.close(promise: nil) }
    clients.append((channel, isReading: !isRefused))
    let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
    channel.closeFuture.whenComplete { _ in bound.value.clients.removeAll { $0.channel === channel } }
    let connection = HTTPConnection(
      self,
      requestTime: TimeAmount(configuration.connectionTimeout),
      refusal: isRefused ? .text(.serviceUnavailable, "too many connections") : nil
    )
    try connection.addHandlers(to: channel, maximumHead: configuration.maximumHeadSize)
  }

  private func endReading(_ channel: any Channel) {
    if let index = clients.firstIndex(where: { $0.channel === channel }) { clients[index].isReading = false }
  }

  func answer(to fault: HTTPFault, on channel: any Channel) -> HTTPAnswer {
    endReading(channel)
    return switch fault {
    case .malformed: .text(.badRequest, "bad request")
    case .headTooLarge: .text(.requestHeaderFieldsTooLarge, "the head of the request is too large")
    case .unexpectedBody: .text(.badRequest, "a request must not have a body")
    }
  }

  func route(_ head: HTTPRequestHead, on channel: any Channel) throws(HTTPAnswer) -> HTTPRoute {
    endReading(channel)
    guard head.uri.hasPrefix("/"), head.version.major == 1, head.version.minor == 0 || head.headers["host"].count == 1
    else { throw answer(to: .malformed, on: channel) }
    let isJSON = head.headers[canonicalForm: "accept"].contains {
      $0.prefix { $0 != ";" }.lowercased() == "application/json"
    }
    guard let answer = endpoints.answer(at: String(head.uri.prefix { $0 != "?" && $0 != "#" }), isJSON: isJSON) else {
      throw .text(.notFound, "not found; the paths are /healthz, /readyz, /metrics, /version")
    }
    guard head.method == .GET || head.method == .HEAD else {
      var refusal = HTTPAnswer.text(.methodNotAllowed, "method not allowed; use GET or HEAD")
      refusal.headers.add(name: "Allow", value: "GET, HEAD")
      throw refusal
    }
    guard !head.headers.contains(name: "transfer-encoding"), head.headers["content-length"].allSatisfy({ $0 == "0" })
    else { throw self.answer(to: .unexpectedBody, on: channel) }
    return .get { self.run(answer, on: channel.eventLoop) }
  }

  /// Returns the answer of an endpoint, or an error if the timeout expires first.
  private func run(_ endpoint: @escaping @Sendable () async -> HTTPAnswer, on loop: any EventLoop)
    -> EventLoopFuture<HTTPAnswer>
  {
    guard requests < configuration.maximumConnections else {
      return loop.makeSucceededFuture(.text(.serviceUnavailable, "too many requests are waiting for an answer"))
    }
    requests += 1
    let time = configuration.answerTimeout
    let timeout = loop.scheduleTask(in: TimeAmount(time)) {
      HTTPAnswer.text(.serviceUnavailable, "no answer in \(time)")
    }
    // No code cancels this task, so an endpoint that hangs blocks neither the client nor the shutdown of the server.
    let answer = loop.makeFutureWithTask(endpoint)
    let bound = NIOLoopBound(self, eventLoop: loop)
    answer.whenComplete { _ in
      bound.value.requests -= 1
      timeout.cancel()
    }
    return timeout.futureResult.flatMapError { _ in answer }
  }
}

extension HTTPAnswer {
  fileprivate static func health(_ status: HTTPResponseStatus, _ type: String, _ body: String) -> HTTPAnswer {
    HTTPAnswer(
      status,
      headers: ["Content-Type": type, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"],
      body: ByteBuffer(string: body)
    )
  }

  fileprivate static func text(_ status: HTTPResponseStatus, _ line: String) -> HTTPAnswer {
    health(status, "text/plain; charset=utf-8", line + "\n")
  }

  fileprivate static func json(_ status: HTTPResponseStatus, _ value: JSONObject) -> HTTPAnswer {
    health(status, "application/json", value.text + "\n")
  }

  fileprivate static func verdict(_ good: String, _ bad: String, against reasons: [String], isJSON: Bool) -> HTTPAnswer
  {
    let status: HTTPResponseStatus = reasons.isEmpty ? .ok : .serviceUnavailable
    let verdict = reasons.isEmpty ? good : bad
    let reasons = reasons.map { UntrustedText($0).escaped(limit: 256) }
    guard isJSON else { return text(status, ([verdict] + reasons.map { "- \($0)" }).joined(separator: "\n")) }
    var object = JSONObject()
    object.add("status", string: verdict)
    object.add("reasons", strings: reasons)
    return json(status, object)
  }
}

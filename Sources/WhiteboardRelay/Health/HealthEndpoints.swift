import PeerCore

/// The functions that produce the answers of a ``HealthServer``.
///
/// The server calls a function for each request. If a function does not return in time, the server answers with 503,
/// but does not cancel the function.
public struct HealthEndpoints: Sendable {
  /// A function that returns descriptions of the process's problems, for `/healthz`; empty if the process is healthy.
  ///
  /// The function should call the component that does the work, such as an event loop or an actor, so that it hangs if
  /// that component hangs.
  public var ailments: @Sendable () async -> [String]

  /// A function that returns the reasons why the program cannot serve clients now, for `/readyz`; empty if it is ready.
  public var hindrances: @Sendable () async -> [String]

  /// A function that returns all metrics in the Prometheus text format, for `/metrics`.
  public var metrics: @Sendable () async -> String

  /// The name of the program, for `/version`.
  public var program: String

  /// The version of the program, for `/version`.
  public var version: String

  /// Creates endpoints from the functions that answer requests.
  public init(
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

  func answer(to request: HealthRequest) async -> HealthAnswer {
    switch request.path {
    case .healthz: .verdict("ok", "unwell", against: await ailments(), isJSON: request.wantsJSON)
    case .readyz: .verdict("ready", "not ready", against: await hindrances(), isJSON: request.wantsJSON)
    case .metrics: HealthAnswer(status: .ok, contentType: PrometheusMetrics.contentType, body: await metrics())
    case .version: request.wantsJSON ? .json(.ok, versionObject) : .text(.ok, "\(program) \(version)")
    }
  }

  private var versionObject: JSONObject {
    var object = JSONObject()
    object.add("program", string: program)
    object.add("version", string: version)
    return object
  }
}

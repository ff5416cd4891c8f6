/// What a ``HealthServer`` is asked for, and who knows the answers.
///
/// Each is called anew for every request. One that does not answer in time is given up, not stopped, and its asker told so
/// with 503: a program that hangs is to be seen as one.
public struct HealthEndpoints: Sendable {
  /// Returns descriptions of what is wrong with the process; empty if it works, for `/healthz`.
  ///
  /// It should go through the component that does the work, such as an event loop or an actor, so
  /// that it hangs if that component hangs.
  public var ailments: @Sendable () async -> [String]

  /// Why nobody should be sent here just now, in words; empty when the program is ready.
  ///
  /// `/readyz`.
  public var hindrances: @Sendable () async -> [String]

  /// All metrics, in the text format of Prometheus.
  ///
  /// `/metrics`.
  public var metrics: @Sendable () async -> String

  /// The name of the program.
  ///
  /// `/version`.
  public var program: String

  /// Its version.
  ///
  /// `/version`.
  public var version: String

  /// Endpoints that are answered by these.
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

  func answer(to question: HealthQuestion) async -> HealthAnswer {
    switch question.path {
    case .healthz: .verdict("ok", "unwell", against: await ailments(), isJSON: question.wantsJSON)
    case .readyz:
      .verdict("ready", "not ready", against: await hindrances(), isJSON: question.wantsJSON)
    case .metrics:
      HealthAnswer(
        status: .ok,
        contentType: PrometheusMetrics.contentType,
        body: await metrics()
      )
    case .version:
      question.wantsJSON
        ? .json(.ok, .object([("program", .string(program)), ("version", .string(version))]))
        : .text(.ok, "\(program) \(version)")
    }
  }
}

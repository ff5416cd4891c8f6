import NIOHTTP1

/// A request that there is an answer for.
struct HealthQuestion: Equatable {
  enum Path: String, CaseIterable {
    case healthz = "/healthz"
    case readyz = "/readyz"
    case metrics = "/metrics"
    case version = "/version"
  }

  let path: Path
  /// Whether `Accept` names JSON.
  let wantsJSON: Bool
  /// Whether only the head of the answer is wanted.
  let isHeadOnly: Bool

  /// Reads the head of a request.
  ///
  /// - Throws: what to answer instead, when there is no such thing here.
  init(_ head: HTTPRequestHead) throws(HealthAnswer) {
    guard head.uri.hasPrefix("/"), head.version.major == 1,
      head.version.minor == 0 || head.headers["host"].count == 1
    else { throw .text(.badRequest, "bad request") }
    let uri = head.uri.prefix { $0 != "?" && $0 != "#" }
    guard let path = Path(rawValue: String(uri)) else {
      let paths = Path.allCases.map(\.rawValue).joined(separator: ", ")
      throw .text(.notFound, "not found; there are \(paths)")
    }
    guard head.method == .GET || head.method == .HEAD else { throw .methodNotAllowed }
    guard !head.headers.contains(name: "transfer-encoding"),
      head.headers["content-length"].allSatisfy({ $0 == "0" })
    else { throw .text(.badRequest, "a request has no body here") }
    self.path = path
    wantsJSON = head.headers[canonicalForm: "accept"].contains {
      $0.prefix { $0 != ";" }.lowercased() == "application/json"
    }
    isHeadOnly = head.method == .HEAD
  }
}

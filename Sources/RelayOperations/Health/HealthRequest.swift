import NIOHTTP1

/// A valid request for one of the paths of the server.
struct HealthRequest: Equatable {
  enum Path: String, CaseIterable {
    case healthz = "/healthz"
    case readyz = "/readyz"
    case metrics = "/metrics"
    case version = "/version"
  }

  let path: Path
  /// Whether the `Accept` header names JSON.
  let wantsJSON: Bool
  /// Whether the client requests only the head of the answer.
  let isHeadOnly: Bool

  /// Parses the head of a request.
  ///
  /// - Throws: The answer to send if the request is invalid.
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

import NIOHTTP1
import PeerCore

/// The answer to an HTTP request.
///
/// If the request is invalid, the answer is thrown as an error.
struct HealthAnswer: Error, Equatable {
  var status: HTTPResponseStatus
  var contentType: String
  var body: String
  /// The allowed methods, if the request used another method.
  var allowed: String?

  static let methodNotAllowed: HealthAnswer = {
    var answer = text(.methodNotAllowed, "method not allowed; use GET or HEAD")
    answer.allowed = "GET, HEAD"
    return answer
  }()

  static func text(_ status: HTTPResponseStatus, _ line: String) -> HealthAnswer {
    HealthAnswer(status: status, contentType: "text/plain; charset=utf-8", body: line + "\n")
  }

  static func json(_ status: HTTPResponseStatus, _ value: JSONText) -> HealthAnswer {
    HealthAnswer(status: status, contentType: "application/json", body: value.text + "\n")
  }

  /// Returns the answer `good` if `reasons` is empty; otherwise, `bad` with the reasons.
  static func verdict(_ good: String, _ bad: String, against reasons: [String], isJSON: Bool) -> HealthAnswer {
    let status: HTTPResponseStatus = reasons.isEmpty ? .ok : .serviceUnavailable
    let verdict = reasons.isEmpty ? good : bad
    let reasons = reasons.map { UntrustedText($0).escaped(limit: 256) }
    guard isJSON else {
      let lines = [verdict] + reasons.map { "- \($0)" }
      return text(status, lines.joined(separator: "\n"))
    }
    return json(status, .object([("status", .string(verdict)), ("reasons", .array(reasons.map(JSONText.string)))]))
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

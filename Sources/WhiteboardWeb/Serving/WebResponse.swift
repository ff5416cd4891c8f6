import NIOCore
import NIOHTTP1

struct WebResponse: Error {
  private var status: HTTPResponseStatus
  private var headers: HTTPHeaders
  let body: ByteBuffer?

  init(_ status: HTTPResponseStatus, headers: [(String, String)] = [], body: ByteBuffer? = nil) {
    self.status = status
    self.headers = HTTPHeaders(headers)
    self.body = body
  }

  /// Returns a response whose body is a sentence for users.
  static func text(_ status: HTTPResponseStatus, _ text: String) -> WebResponse {
    WebResponse(
      status,
      headers: [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")],
      body: ByteBuffer(string: text + "\n")
    )
  }

  /// Returns the head of the response; `count` is the number of bytes in the body, or nil if it is not known in
  /// advance.
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

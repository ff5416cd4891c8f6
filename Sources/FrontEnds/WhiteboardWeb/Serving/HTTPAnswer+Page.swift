import NIOCore
import NIOHTTP1
import PeerCore
import PeerSession
import QRCode
import WhiteboardKit

// Links that guests show to others (WEB-58 to WEB-60).
extension PageInvitation.Request {
  /// The maximum length of the body of a request, in bytes.
  static let maximumLength = 1_024

  init?(_ body: ByteBuffer, origin: String) {
    guard let tree = try? JSONReader.strict(Array(body.readableBytesView)),
      let session = tree["session"]?.string.flatMap({ SessionID(text: $0) }),
      let guest = tree["guest"]?.string.flatMap({ PeerID(text: $0) }),
      let role = tree["role"]?.string, ["editor", "viewer"].contains(role),
      let proof = tree["proof"]?.string.flatMap({ Base64.decodeCanonical($0, maximum: 32) })
    else { return nil }
    self.init(session: session, guest: guest, isView: role == "viewer", proof: proof, origin: origin)
  }
}

extension HTTPAnswer {
  /// An answer with the headers that limit what a page may do (WEB-55).
  static func page(_ status: HTTPResponseStatus, headers: HTTPHeaders = [:], body: ByteBuffer = ByteBuffer())
    -> HTTPAnswer
  {
    var answer = HTTPAnswer(status, headers: headers, body: body)
    answer.headers.add(contentsOf: security)
    return answer
  }

  private static let security: HTTPHeaders = [
    "Content-Security-Policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
      + "img-src 'self' blob: data:; connect-src 'self'; worker-src 'self'; "
      + "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "geolocation=(), microphone=(), camera=(self)",
  ]

  static func text(_ status: HTTPResponseStatus, _ text: String) -> HTTPAnswer {
    .page(
      status,
      headers: ["Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"],
      body: ByteBuffer(string: text + "\n")
    )
  }

  static func invitation(_ request: PageInvitation.Request, _ invite: PageInvitation.Answer) async -> HTTPAnswer {
    let invitation: PageInvitation
    do throws(PageInvitation.Refusal) { invitation = try await invite(request) } catch {
      return switch error {
      case .forbidden(let reason): .text(.forbidden, reason)
      case .tooMany: .text(.tooManyRequests, "You asked for links too often. Wait a minute, and try again.")
      }
    }
    var answer = JSONObject()
    answer.add("link", string: invitation.link)
    if let expires = invitation.expires { answer.add("expires", string: expires) }
    if let symbol = try? QRSymbol(invitation.link) { answer.add("qr", string: symbol.svg) }
    return .page(
      .ok,
      headers: ["Content-Type": "application/json", "Cache-Control": "no-store"],
      body: ByteBuffer(string: answer.text)
    )
  }
}

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

extension WebResponse {
  static func invitation(_ request: PageInvitation.Request, _ invite: PageInvitation.Answer) async -> WebResponse {
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
    return WebResponse(
      .ok,
      headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
      body: ByteBuffer(string: answer.text)
    )
  }
}

import PeerCore
import PeerSession

/// The ways in which others can join a board of the local user, for the output of `invite`.
package struct BoardInvitation: Encodable, Equatable, Sendable {
  /// The value of ``admit`` if the local peer cannot admit newcomers.
  package static let closed = "none"

  package var board: String
  package var boardName: String
  package var peer: String
  /// The admission policy: `ask`, `code`, `known` or `anyone`; `none` if the local peer cannot admit newcomers.
  package var admit: String?
  package var code: String?
  /// The role that the code gives, `editor` or `viewer`; nil if the code was not created for a role.
  package var role: String?
  /// The time at which the code expires, in RFC 3339 format; nil if the code does not expire.
  package var expires: String?
  /// Whether a program has the board open, so that others can join now.
  package var open: Bool
  /// The links, one for each address, best first.
  package var links: [String]
  /// Whether the links are browser links; nil if they are for other programs.
  package var web: Bool?
  /// The SHA-256 hash of the certificate, as browsers show it; nil if browsers do not warn about the certificate.
  package var fingerprint: String?

  package init(_ board: OpenBoard, _ answer: InvitationRequest.Answer) {
    var board = board
    board.code = answer.code
    self.init(board)
    role = answer.role
    expires = answer.expires
    guard let links = answer.links else { return }
    self.links = links
    web = true
    fingerprint = answer.fingerprint
  }

  package init(_ board: OpenBoard) {
    let listen = board.listen.map { PeerAddress(host: $0, port: board.port) }
    self.init(
      board: board.board,
      boardName: board.boardName,
      peer: board.peer,
      admit: board.admit,
      code: board.code,
      pass: board.pass,
      open: true,
      hosts: PeerTransport.addresses(listen: listen, interface: board.interface),
      port: board.port
    )
  }

  package init(
    board: String,
    boardName: String,
    peer: String,
    admit: String?,
    code: String?,
    pass: String? = nil,
    open: Bool,
    hosts: [String],
    port: Int
  ) {
    self.board = board
    self.boardName = boardName
    self.peer = peer
    self.admit = admit
    self.code = code
    self.open = open
    let words = code.map { $0.split(separator: "-").map(String.init) } ?? []
    let addresses = hosts.compactMap { HostPort(host: $0, port: port) }
    links =
      admit == Self.closed
      ? [] : addresses.map { BoardLink(address: $0, board: board, peer: peer, pass: pass, code: words).text }
  }

  package func text(link: (String) -> String = { $0 }) -> String {
    let name = UntrustedText(boardName).quoted(limit: 128)
    var lines: [String] = []
    if open {
      lines.append("The board \(name) is open here.")
    } else {
      let word = boardName.contains { !$0.isLetter && !$0.isNumber && $0 != "-" }
      let shown = word ? "'\(UntrustedText(boardName).escaped().replacing("'", with: #"'\''"#))'" : boardName
      lines.append("The board \(name) is not open here now. To open it for others:")
      lines.append("  whiteboard-peer host \(UntrustedText(shown).escaped())")
    }
    switch admit {
    case _ where web == true:
      let end = expires.map { UntrustedText($0).escaped() } ?? "the board is closed"
      let action = role == "viewer" ? "view" : "join"
      lines.append("Anyone with this link can \(action) the board in a browser until \(end).")
    case Self.closed: lines.append("You cannot admit people to this board. Ask its host to invite them.")
    case "ask": lines.append("You will be asked to admit each peer.")
    case "known": lines.append("Only peers you trusted before can join (`whiteboard-peer peers`).")
    case "anyone": lines.append("Anyone who finds the board can join.")
    default:
      if let code {
        let kind = role == "viewer" ? "View-only code" : "Join code"
        let end = expires.map { " (until \(UntrustedText($0).escaped()))" } ?? ""
        lines.append("\(kind)\(end): \(UntrustedText(code).escaped())")
      } else {
        lines.append("The board has no code yet. It gets one when it is hosted with --admit code.")
      }
    }
    if links.isEmpty, admit != Self.closed {
      lines.append("Other computers cannot reach this one; see: whiteboard-peer doctor")
    }
    for (index, text) in links.enumerated() {
      lines.append("\(index == 0 ? "Link:" : "  or:") \(link(UntrustedText(text).escaped()))")
    }
    if let fingerprint {
      lines += [BrowserPage.warning, "  \(UntrustedText(fingerprint).escaped())"]
    } else if !links.isEmpty, web != true {
      lines.append("To join with a link: whiteboard-peer join 'LINK'")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

import CommandLines
import PeerCore
import QRCode
import WhiteboardKit
import WhiteboardRendering

struct BrowserInvitation: Hashable, Sendable {
  let link: String
  /// The rights of people who join with the link, and the time when it expires.
  let terms: String
  /// The SHA-256 hash of the certificate; nil if browsers do not warn about it.
  let fingerprint: String?

  /// A link to the pictures of a broadcast, for people at other computers; nil if the note has no such link.
  init?(_ note: SharedBoard.News.Remark) {
    guard let link = note.links?.first, link.hasPrefix("https:") else { return nil }
    self.link = link
    terms = "To watch the broadcast in a browser, until it ends"
    fingerprint = note.fingerprint
  }

  init(_ invited: SharedBoard.News.Invited) {
    link = invited.link
    fingerprint = invited.fingerprint
    let purpose = invited.role == "viewer" ? "view" : "join"
    let end = invited.expires.map { ", until \(EventText.time($0))" } ?? ""
    terms = "To \(purpose) the board in a browser\(end)"
  }
}

/// The box that shows how others join the board: the join code, the links, and a QR code if there is room. If there is
/// a browser link, the QR code contains this link, because phones scan QR codes.
struct InvitationBox {
  let board: BoardInfo
  /// The only link to show; nil to show all ways to join.
  let link: BrowserInvitation?
  let isMonochrome: Bool

  private var lines: [String] { lines(isShort: false) }

  /// Returns the unwrapped lines of the box. If `isShort` is true and browsers can join, the lines do not explain how
  /// to join with whiteboard-peer.
  private func lines(isShort: Bool) -> [String] {
    if let link { return ["\(link.terms):", link.link, ""] + Self.lines(link.fingerprint) }
    let problem = board.discoveryProblem.map { [UntrustedText($0).escaped(limit: 600), ""] } ?? []
    if let admitters = board.admitters { return problem + [EventText.admittersLine(admitters)] }
    guard !board.link.isEmpty else {
      return [
        "This copy is offline: other peers cannot join it.", "", "To invite them, open the board without --offline.",
      ]
    }
    var lines: [String] = []
    if !isShort { lines += problem }
    if board.isAnnounced, problem.isEmpty {
      lines += ["On this network, whiteboard-peer lists \(board.name).", ""]
    }
    if let link = board.webLink {
      lines += ["In a browser, for example on a phone:", link, ""] + Self.lines(board.webFingerprint)
    } else {
      lines += ["To let browsers join, type :web on (only the host can).", ""]
    }
    if let code = board.joinCode { lines += ["Join code: \(code)", ""] }
    guard !isShort || board.webLink == nil else { return lines }
    let isLocal = (try? BoardLink(board.link))?.address.isLoopback ?? false
    let place = isLocal ? "On this computer" : "Anywhere else"
    lines += [board.webLink == nil ? "\(place):" : "With whiteboard-peer:", "whiteboard-peer join '\(board.link)'"]
    return lines
  }

  /// Returns the lines about a certificate, with eight bytes of its hash on a line.
  private static func lines(_ fingerprint: String?) -> [String] {
    guard let fingerprint else { return [] }
    let bytes = fingerprint.split(separator: ":")
    let rows = stride(from: 0, to: bytes.count, by: 8).map {
      bytes[$0..<min($0 + 8, bytes.count)].joined(separator: ":")
    }
    let warning =
      "The browser shows a warning. Continue only if the SHA-256 fingerprint of the certificate is this one:"
    return [warning] + rows + [""]
  }

  /// Returns a panel that scrolls if the box does not fit on the screen, because the link must be readable in full.
  func panel(in layout: ScreenLayout) -> Panel? {
    guard qrCode(in: layout) == nil, Dialog.wrapped(lines, columns: max(layout.columns - 6, 8)).count + 2 > layout.rows
    else { return nil }
    return Panel("Invite", .lines(lines))
  }

  func draw(on screen: inout Screen, _ layout: ScreenLayout) {
    guard let code = qrCode(in: layout) else {
      Dialog(lines).draw(on: &screen, layout)
      return
    }
    let codeWidth = code.first?.count ?? 0
    let room = layout.columns - codeWidth - 7
    var text = Dialog.wrapped(lines, columns: min(room, 44))
    if text.count + 2 > layout.rows { text = Dialog.wrapped(lines(isShort: true), columns: min(room, 44)) }
    let width = text.map { CharacterWidth.columns($0) }.max() ?? 0
    let rest = (text.count..<max(text.count, code.count)).map { _ in "" }
    let dialog = Dialog(text + rest, leastWidth: width + 1 + codeWidth)
    let area = dialog.draw(on: &screen, layout)
    let ink = CellStyle(CellColor(rgb: 0), on: CellColor(rgb: 0xFFFFFF))
    for (row, line) in code.enumerated() {
      screen.put(
        line,
        x: area.columns.upperBound - 1 - codeWidth,
        y: area.rows.lowerBound + row,
        isMonochrome ? .plain : ink,
        in: area
      )
    }
  }

  /// Returns the rows of the QR code; nil if there is no room for it beside the text.
  private func qrCode(in layout: ScreenLayout) -> [String]? {
    guard !layout.isASCII, link != nil || !board.link.isEmpty && board.admitters == nil,
      // Without colors, the characters draw the light modules of the QR code, because most terminals are dark.
      let code = try? QRSymbol(link?.link ?? board.webLink ?? board.link).lines(isInverted: isMonochrome),
      let first = code.first, code.count + 2 <= layout.rows, layout.columns - first.count - 7 >= 24
    else { return nil }
    return code
  }
}

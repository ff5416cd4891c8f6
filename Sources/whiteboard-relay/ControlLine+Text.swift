import CommandLines
import PeerCore
import WhiteboardKit
import WhiteboardPrograms
import WhiteboardRelay

extension ControlLine {
  func text(json isJSON: Bool) -> String {
    if isJSON { return String(decoding: json, as: UTF8.self) }
    return switch self {
    case .status(let report): Self.text(report)
    case .board: Self.table([self])
    case .person: Self.table([self])
    case .invitation(let report): Self.text(report)
    case .done: ""
    case .error(_, let message): UntrustedText(message).escaped() + "\n"
    }
  }

  private static func text(_ report: RelayReport) -> String {
    let boards = report.boards == 1 ? "1 board" : "\(report.boards) boards"
    let failed = report.failed == 0 ? "" : " (\(report.failed) cannot be served)"
    let unsaved = report.unsaved == 0 ? "" : " (\(report.unsaved) not saved)"
    let people = report.people == 1 ? "1 person" : "\(report.people) people"
    return """
      \(UntrustedText(report.name).escaped()): \(boards)\(failed)\(unsaved), \(people), up \(uptime(report.uptime))
      id \(report.peer)
      at \(report.addresses.joined(separator: ", "))

      """
  }

  private static func uptime(_ seconds: Int) -> String {
    switch seconds {
    case ..<120: "\(seconds) s"
    case ..<7200: "\(seconds / 60) min"
    case ..<172_800: "\(seconds / 3600) h"
    default: "\(seconds / 86_400) days"
    }
  }

  /// Returns the lines of an answer as text; boards and peers are aligned as a table.
  static func table(_ lines: [ControlLine]) -> String {
    let rows = lines.map(\.cells)
    let aligned = TextTable.lines(rows.compactMap(\.self))
    var next = aligned.makeIterator()
    return zip(lines, rows).map { line, cells in
      guard cells != nil, let text = next.next() else { return line.text(json: false) }
      return "\(text)\n\(line.notes)"
    }.joined()
  }

  /// The cells of the line in the table; nil for a line outside the table.
  private var cells: [String]? {
    switch self {
    case .board(let report):
      let people = report.people.map(\.displayed).joined(separator: ", ")
      return [
        report.name.displayed, String(report.board.prefix(8)),
        "\(report.state)\(report.isOwned ? ", owned" : "")\(report.isPinned ? ", pinned" : "")",
        people.isEmpty ? "no members" : people,
      ]
    case .person(let person): return [String(person.peer.prefix(8)), person.name.displayed, "on \(person.boardName)"]
    case .status, .invitation, .done, .error: return nil
    }
  }

  /// The lines below the line of a board in the table.
  private var notes: String {
    guard case .board(let report) = self else { return "" }
    return [report.problem.map { UntrustedText($0).escaped() }, report.link, report.webLink].compactMap(\.self).map {
      "  \($0)\n"
    }.joined()
  }

  private static func text(_ report: InvitationReport) -> String {
    let end = report.expires.map { " (until \(EventText.time($0)))" } ?? ""
    guard let code = report.code else {
      let kind = report.role == "viewer" ? "View-only browser link" : "Browser link"
      let warning = report.fingerprint.map { "\(BrowserPage.warning)\n  \($0)\n" }
      return "\(kind)\(end): \(report.link)\n\(warning ?? "")"
    }
    let kind = report.role == "viewer" ? "View-only code" : "Join code"
    return """
      \(kind)\(end): \(code)
      Link: \(report.link)

      """
  }
}

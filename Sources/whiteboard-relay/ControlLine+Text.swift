import WhiteboardCommands
import WhiteboardRelay
import WhiteboardRendering

extension ControlLine {
  /// The line as it is told: as JSON, or in words for people.
  func text(json isJSON: Bool) -> String {
    if isJSON { return String(decoding: json, as: UTF8.self) }
    return switch self {
    case .status(let report): Self.text(report)
    case .board: Self.table([self])
    case .person: Self.table([self])
    case .invitation(let report): Self.text(report)
    case .done: ""
    case .error(_, let message): TerminalText.cleaned(message) + "\n"
    }
  }

  private static func text(_ report: RelayReport) -> String {
    let boards = report.boards == 1 ? "1 board" : "\(report.boards) boards"
    let failed = report.failed == 0 ? "" : " (\(report.failed) cannot be served)"
    let unsaved = report.unsaved == 0 ? "" : " (\(report.unsaved) not saved)"
    let people = report.people == 1 ? "1 person" : "\(report.people) people"
    return """
      \(TerminalText.cleaned(report.name)): \(boards)\(failed)\(unsaved), \(people), up \(uptime(report.uptime))
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

  /// Several lines of an answer for people: those of boards and of people are a table.
  ///
  /// - Parameter lines: The lines, in their order.
  /// - Returns: The text.
  static func table(_ lines: [ControlLine]) -> String {
    let rows = lines.map(\.cells)
    let aligned = TextTable.lines(rows.compactMap(\.self))
    var next = aligned.makeIterator()
    return zip(lines, rows).map { line, cells in
      guard cells != nil, let text = next.next() else { return line.text(json: false) }
      return "\(text)\n\(line.notes)"
    }.joined()
  }

  /// The cells of a line of a table; nil for other lines.
  private var cells: [String]? {
    switch self {
    case .board(let report):
      let people = report.people.map { TerminalText.cleaned($0) }.joined(separator: ", ")
      return [
        TerminalText.cleaned(report.name), String(report.board.prefix(8)),
        "\(report.state)\(report.isOwned ? ", owned" : "")\(report.isPinned ? ", pinned" : "")",
        people.isEmpty ? "nobody" : people,
      ]
    case .person(let person):
      return [
        String(person.peer.prefix(8)), TerminalText.cleaned(person.name),
        "on \(TerminalText.cleaned(person.boardName))",
      ]
    case .status, .invitation, .done, .error: return nil
    }
  }

  /// What stands below a line of a table.
  private var notes: String {
    guard case .board(let report) = self else { return "" }
    return [report.problem.map { TerminalText.cleaned($0) }, report.link].compactMap(\.self)
      .map { "  \($0)\n" }.joined()
  }

  private static func text(_ report: InvitationReport) -> String {
    let role = report.role.map { $0 == "viewer" ? "Lets look on" : "Lets write" } ?? "Lets in"
    return """
      \(role)\(report.expires.map { " until \($0)" } ?? "") by the code \(report.code):
        \(report.link)

      """
  }
}

import WhiteboardRelay
import WhiteboardRendering

extension ControlLine {
  /// The line as it is told: as JSON, or in words for people.
  func text(json isJSON: Bool) -> String {
    if isJSON { return String(decoding: json, as: UTF8.self) }
    return switch self {
    case .status(let report): Self.text(report)
    case .board(let report): Self.text(report)
    case .person(let person):
      "\(person.peer.prefix(8))  \(TerminalText.cleaned(person.name))"
        + "  on \(TerminalText.cleaned(person.boardName))\n"
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

  private static func text(_ report: BoardReport) -> String {
    let people =
      report.people.isEmpty
      ? "nobody" : report.people.map { TerminalText.cleaned($0) }.joined(separator: ", ")
    var text = "\(TerminalText.cleaned(report.name))  \(report.board.prefix(8))"
    text += "  \(report.state)\(report.isOwned ? ", owned" : "")"
    text += "\(report.isPinned ? ", pinned" : "")  \(people)\n"
    if let problem = report.problem { text += "  \(TerminalText.cleaned(problem))\n" }
    if let link = report.link { text += "  \(link)\n" }
    return text
  }

  private static func text(_ report: InvitationReport) -> String {
    let role = report.role.map { $0 == "viewer" ? "Lets look on" : "Lets write" } ?? "Lets in"
    return """
      \(role)\(report.expires.map { " until \($0)" } ?? "") by the code \(report.code):
        \(report.link)

      """
  }
}

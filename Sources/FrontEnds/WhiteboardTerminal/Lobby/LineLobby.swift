import PeerCore
import WhiteboardKit

/// The lobby as lines of text, for screen readers and for terminals without a screen. It handles the user's lines and
/// discovery events, and returns lines to print and the user's choice.
package struct LineLobby: Sendable {
  package enum Outcome: Hashable, Sendable {
    case lines([String])
    case choice(LobbyClient.Choice)
  }

  private var boards = LobbyBoards()
  /// The listed boards; the user chooses one by its number, from 1.
  private var listed: [LobbyBoards.Row] = []
  private let suggestion: String
  private var targetThatNeedsCode: String?

  private static let help = [
    "Type the number of a board to open it, or one of these commands:", "  new [NAME]      open a new board",
    "  join LINK       join a board by its link, its name or HOST:PORT",
    "  own NUMBER      open your own copy of a board nearby", "  list            list the boards again",
    "  quit            leave",
  ]

  /// `suggestion` is the suggested name for a new board.
  package init(suggestion: String) { self.suggestion = suggestion }

  // MARK: - Boards

  package mutating func setBoards(_ boards: [LobbyClient.OwnBoard]) { self.boards.own = boards }

  /// Adds or updates an announced board. Returns the lines about a new board, with its number.
  package mutating func found(_ board: SharedBoard.News.FoundBoard) -> [String] {
    guard boards.found(board), let id = board.board else { return [] }
    let row = LobbyBoards.Row.nearby(id)
    guard !listed.contains(row) else { return [] }
    listed.append(row)
    return ["nearby: \(listed.count)  \(boards.text(row))"]
  }

  /// Removes an announcement. Returns the lines about a board that is no longer announced.
  package mutating func lost(_ board: SharedBoard.News.FoundBoard) -> [String] {
    guard let id = board.board else { return [] }
    let text = boards.text(.nearby(id))
    boards.lost(board)
    return boards.list.contains(.nearby(id)) ? [] : ["no longer nearby: \(text)"]
  }

  /// Numbers the boards again, and returns the list and what the user can type.
  package mutating func list() -> [String] {
    listed = boards.list
    var lines = ["Boards nearby:"]
    if boards.hasNoneNearby { lines.append("  no boards yet; a line appears for each new board") }
    for (index, row) in listed.enumerated() {
      if case .own = row, index == boards.nearbyCount { lines.append("Your boards:") }
      lines.append("  \(index + 1)  \(boards.text(row))")
    }
    return lines + Self.help
  }

  // MARK: - Input

  package mutating func enter(_ line: String) -> Outcome {
    let words = line.trimmed.split(separator: " ", maxSplits: 1).map(String.init)
    guard let first = words.first else { return .lines([]) }
    let rest = words.count > 1 ? words[1].trimmed : ""
    if let target = targetThatNeedsCode {
      targetThatNeedsCode = nil
      if first != "cancel" { return .choice(.join(target: target, code: line.trimmed)) }
      return .lines(list())
    }
    switch first.lowercased() {
    case "quit", "q", "exit": return .choice(.quit)
    case "list": return .lines(list())
    case "help", "?": return .lines(Self.help)
    case "new": return .choice(.host(rest.isEmpty ? suggestion : rest))
    case "join":
      guard !rest.isEmpty else { return .lines(["! give a link, a name or HOST:PORT after join"]) }
      return .choice(.join(target: rest, code: nil))
    case "own":
      guard case .nearby(let id)? = row(rest), let copy = boards.copy(of: id) else {
        return .lines(["! give the number of a nearby board that you have a copy of"])
      }
      return .choice(.host(copy.path))
    default:
      guard let row = row(first), rest.isEmpty else {
        return .lines(["! there is no board or command \(UntrustedText(line.trimmed).quoted())"] + Self.help)
      }
      return .choice(choice(of: row))
    }
  }

  private func row(_ number: String) -> LobbyBoards.Row? {
    Int(number).flatMap { listed.indices.contains($0 - 1) ? listed[$0 - 1] : nil }
  }

  private func choice(of row: LobbyBoards.Row) -> LobbyClient.Choice {
    switch row {
    case .nearby(let id): boards.copy(of: id).map { .rejoin(board: id, path: $0.path) } ?? .join(target: id, code: nil)
    case .own(let board): .host(board.path)
    }
  }

  /// Handles an error that closed a board. Returns the lines about the error. If a join code is required, the next line
  /// of the user is the code.
  package mutating func fail(_ error: WhiteboardError, _ choice: LobbyClient.Choice) -> [String] {
    targetThatNeedsCode = choice.targetThatNeedsCode(after: error)
    var message = error.message
    guard targetThatNeedsCode != nil else { return ["! \(UntrustedText(message).escaped())"] + list() }
    if message.hasSuffix(WhiteboardError.codeAdvice) {
      message = "\(message.dropLast(WhiteboardError.codeAdvice.count))."
    }
    return ["! \(UntrustedText(message).escaped())", "Type the join code (four words), or cancel:"]
  }
}

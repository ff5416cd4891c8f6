import PeerCore
import WhiteboardKit
import WhiteboardRendering

/// An attempt to join a session, and the screen that shows it.
///
/// The user cannot draw until the session is connected, so that no work is lost if connecting fails.
struct ConnectionAttempt: Hashable, Sendable {
  /// The target that the user asked for, shown in the first line; empty for any board nearby.
  private var target: UntrustedText
  /// The time when the attempt began.
  private let since: Duration
  private var step: BoardEvent.Joining.Step?
  /// The display name of the peer, as the peer announced or sent it.
  private var name: UntrustedText?
  /// The verification words that the host's user may compare with those on this screen; nil if there are none.
  private var words: String?
  /// The time until which the host's user may accept; nil if it is not known.
  private var end: Duration?
  /// The addresses that are dialed, the latest last.
  private var addresses: [String] = []

  private static let addressLimit = 4

  init(to target: String, since: Duration) {
    self.target = UntrustedText(target)
    self.since = since
  }

  mutating func show(_ joining: BoardEvent.Joining) {
    step = joining.step
    if joining.step != .awaitingAcceptance { (words, end) = (nil, nil) }
    if joining.step != .searching, let board = joining.boardName { target = board }
    if let name = joining.name, !name.isEmpty { self.name = name }
    guard let address = joining.address, joining.step == .connecting else { return }
    addresses.removeAll { $0 == address }
    addresses.append(address)
  }

  mutating func show(_ invitation: BoardEvent.Invitation, now: Duration) {
    words = invitation.words
    end = invitation.seconds.map { now + .seconds($0) }
  }

  /// Returns the action of a key that cancels the attempt or redraws the screen; nil for all other keys.
  static func action(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> BoardClient.Action? {
    switch KeyMap.name(key, modifiers) {
    case "escape", "q", "ctrl+c", "ctrl+d": .quit
    case "ctrl+l": .redraw
    default: nil
    }
  }

  private func lines(at now: Duration) -> [String] {
    let target = target.displayed
    let name = name?.displayed ?? "the other side"
    let step: String
    switch self.step {
    case nil, .searching: step = "Looking for boards on this network."
    case .connecting: step = "Dialling."
    case .awaitingAnswer: step = "Connected; waiting for an answer."
    case .provingCode: step = "Checking the join code."
    case .awaitingAcceptance: step = "Waiting for \(name) to accept."
    }
    var lines = [target.isEmpty ? "Connecting to a board nearby" : "Connecting to \(target)", "", step]
    lines += addresses.suffix(Self.addressLimit).map { "  \(UntrustedText($0).escaped(limit: 64))" }
    if let words {
      lines += ["", "Both screens must show these words:", "", "  \(UntrustedText(words).escaped(limit: 128))"]
    }
    let left = end.map { "   \(EventText.timeLeft($0 - now)) left to accept" } ?? ""
    lines += ["", "\(Int((now - since) / .seconds(1))) s\(left)   Esc or q cancels"]
    return lines
  }

  /// Draws the attempt; under a question, only the first and the last line, which the question does not cover.
  func draw(on screen: inout Screen, _ layout: ScreenLayout, isUnderQuestion: Bool, now: Duration) {
    var lines = lines(at: now)
    if isUnderQuestion, lines.count < layout.rows {
      lines = [lines[0]] + Array(repeating: "", count: layout.rows - 2) + [lines[lines.count - 1]]
    }
    let top = max(0, (layout.rows - lines.count) / 2)
    let width = lines.map { CharacterWidth.columns($0) }.max() ?? 0
    let left = max(0, (layout.columns - width) / 2)
    for (row, line) in lines.enumerated() {
      let style: CellStyle = row == 0 ? .strong : row == lines.count - 1 ? .quiet : .plain
      screen.put(TextLines.cut(line, columns: layout.columns - left), x: left, y: top + row, style)
    }
  }
}

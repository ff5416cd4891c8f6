import WhiteboardNode
import WhiteboardRendering

/// The screen while connecting, and the search for members after that.
///
/// Drawing is disabled until the session is connected, so that no work is lost if connecting fails.
extension BoardClient {
  /// An attempt to join.
  struct Connecting: Hashable, Sendable {
    /// The target that the user asked for, shown in the first line.
    var target: String
    /// The start of the attempt on the client's clock.
    let since: Duration
    /// The current step.
    var step: NodeEvent.Joining.Step?
    /// The announced or received display name, for the later steps.
    var name: String?
    /// The addresses that are dialled, the latest last.
    var addresses: [String] = []
  }

  /// The maximum number of listed addresses.
  private static let addressLimit = 4

  /// Shows an attempt to join until the session is connected.
  ///
  /// - Parameters:
  ///   - target: The target that the user asked for; empty for any board nearby.
  ///   - now: The time on the client's clock.
  package mutating func connect(to target: String, now: Duration) {
    self.now = now
    connecting = Connecting(target: target, since: now)
    lacksBoard = true
  }

  mutating func take(_ joining: NodeEvent.Joining) {
    connecting?.step = joining.step
    if joining.step != .searching, let board = joining.boardName { connecting?.target = board }
    if let name = joining.name, !name.isEmpty { connecting?.name = name }
    guard let address = joining.address, joining.step == .connecting else { return }
    connecting?.addresses.removeAll { $0 == address }
    connecting?.addresses.append(address)
  }

  /// Handles a key while the program connects: it leaves, or does nothing.
  func takeWhileConnecting(
    _ key: InputEvent.Key,
    _ modifiers: InputEvent.Modifiers
  ) -> [Action] {
    switch KeyMap.name(key, modifiers) {
    case "escape", "q", "ctrl+c", "ctrl+d": [.quit]
    case "ctrl+l": [.redraw]
    default: []
    }
  }

  /// The lines of the screen that is shown while the program connects.
  var connectingLines: [String] {
    guard let connecting else { return [] }
    let target = shown(connecting.target)
    let name = connecting.name.map { shown($0) } ?? "the other side"
    let step: String
    switch connecting.step {
    case nil, .searching: step = "Looking on this network."
    case .connecting: step = "Dialling."
    case .awaitingAnswer: step = "Connected; waiting for an answer."
    case .provingCode: step = "Proving the code."
    case .awaitingAcceptance: step = "Waiting for \(name) to accept."
    }
    let seconds = Int((now - connecting.since) / .seconds(1))
    var lines = [
      target.isEmpty ? "Connecting to a board nearby" : "Connecting to \(target)", "", step,
    ]
    lines += connecting.addresses.suffix(Self.addressLimit)
      .map { "  \(TerminalText.cleaned($0, limit: 64))" }
    lines += ["", "\(seconds) s   Esc or q cancels"]
    return lines
  }

  func drawConnecting(on screen: inout Screen) {
    let lines = connectingLines
    let top = max(0, (rows - lines.count) / 2)
    let width = lines.map { CharacterWidth.columns($0) }.max() ?? 0
    let left = max(0, (columns - width) / 2)
    for (row, line) in lines.enumerated() {
      let style: CellStyle =
        row == 0 ? Self.strong : row == lines.count - 1 ? Self.quiet : .plain
      screen.put(TextLines.cut(line, columns: columns - left), x: left, y: top + row, style)
    }
  }

  // MARK: - Missing members

  mutating func found(_ board: NodeEvent.FoundBoard) {
    guard let id = board.board else { return }
    announcers[id, default: [:]][board.peer] = board.name
  }

  mutating func lost(_ board: NodeEvent.LostBoard) {
    guard let id = board.board else { return }
    announcers[id]?[board.peer] = nil
  }

  /// The display names of peers that announce this board and are not connected.
  var missing: [String] {
    // A person whom the host removed looks for no member.
    guard removal == nil else { return [] }
    let found = announcers[boardID] ?? [:]
    return found.filter { peer, _ in
      !own.hasPrefix(peer) && !people.keys.contains { $0.hasPrefix(peer) }
    }
    .sorted { ($0.value, $0.key) < ($1.value, $1.key) }
    .map { EventText.shortName($0.value, $0.key) }
  }
}

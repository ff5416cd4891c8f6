import WhiteboardKit
import WhiteboardRendering

/// The last row while it shows no prompt and no message: the state of the board, and useful keys.
struct StatusLine {
  let layout: ScreenLayout
  let keys: KeyMap
  let saveStatus: SaveStatus
  let removal: RemovalState
  let members: Members
  /// The peers that announce the board and are not connected.
  let missing: [String]
  /// Whether the contents of the board have not arrived yet.
  let isBoardAwaited: Bool
  /// The number of commands that the board has not answered.
  let pendingCount: Int
  let isTyping: Bool
  let toolbox: Toolbox
  let hasSelection: Bool
  let now: Duration

  func draw(on screen: inout Screen) {
    let area = layout.bottomRow
    let y = area.rows.lowerBound
    screen.fill(area, with: Cell(.space, .bar))
    let style: CellStyle = saveStatus.problem == nil ? .bar : .problem
    let x = screen.put(" \(status) ", x: 0, y: y, style, in: area) - 1
    // The longest hints that fit.
    for hints in [hints, generalHints] {
      let start = layout.columns - CharacterWidth.columns(hints) - 1
      guard start > x + 2 else { continue }
      screen.put(hints, x: start, y: y, .bar, in: area)
      break
    }
  }

  // MARK: - State

  /// The save state and the state of the other members.
  private var status: String {
    if let problem = saveStatus.problem { return "\(problem.headline); \(memberStatus)" }
    let unreachable = members.sorted.first { $0.value.state != .connected }?.value
    if let unreachable, let since = unreachable.silentSince {
      let seconds = Int((now - since) / .seconds(1))
      let count = unreachable.waitingChanges
      let changes =
        count == 0 ? "your changes are sent later" : count == 1 ? "1 change waiting" : "\(count) changes waiting"
      return "\(unreachable.name) unreachable for \(seconds) s; \(changes)"
    }
    guard let state = saveStatus.state else { return memberStatus }
    return "\(pendingCount == 0 ? state.words : "saving \(pendingCount)"); \(memberStatus)"
  }

  private var memberStatus: String {
    if let status = removal.status { return status }
    if isBoardAwaited {
      let names = members.all.values.map(\.name.displayed).sorted()
      return names.isEmpty ? "looking for the other members" : "getting the board from \(EventText.listed(names))"
    }
    guard members.isEmpty else { return "synced with \(members.count)" }
    return missing.isEmpty ? "no other members" : "looking for \(EventText.listed(missing))"
  }

  // MARK: - Keys

  /// The keys for the current tool, selection or text.
  private var hints: String {
    if isTyping { return "type  Enter done  Alt+Enter new line" }
    if toolbox.isKeyboardPen {
      let space = toolbox.gesture == nil ? "press" : "release"
      return "arrows move  Space \(space)  \(keys.label(for: .keyboardPen)) done"
    }
    if hasSelection {
      return "arrows move  \(keys.label(for: .delete)) delete  " + "\(keys.label(for: .duplicate)) duplicate  "
        + "\(keys.label(for: .turn(degrees: -15))) \(keys.label(for: .turn(degrees: 15))) turn  "
        + "\(keys.label(for: .menu)) more  \(keys.label(for: .selectNone)) deselect"
    }
    return "\(toolbox.tool.rawValue): \(toolbox.tool.hint)  \(generalHints)"
  }

  /// The keys that show the menu and all keys.
  private var generalHints: String { "\(keys.label(for: .menu)) menu  \(keys.label(for: .help)) keys" }
}

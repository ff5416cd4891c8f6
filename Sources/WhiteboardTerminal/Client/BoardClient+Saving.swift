import WhiteboardNode
import WhiteboardRendering

/// Showing whether the work is on disk, and leaving with unsaved work.
extension BoardClient {
  /// Leaves the board; if that would lose work, asks first.
  package mutating func leave() -> [Action] {
    guard let saveState, saveState == .saving || saveState.wouldLoseWork else { return [.quit] }
    editor = nil
    box = .unsaved
    return []
  }

  /// Leaves the board after a request to end the program; a second request does not ask.
  package mutating func leaveAtRequest() -> [Action] {
    box == .unsaved ? [.quit] : leave()
  }

  /// Answers the question of ``Box/unsaved``.
  mutating func answer(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> [Action] {
    switch KeyMap.name(key, modifiers) {
    case "r": return request(.save)
    case "s":
      box = nil
      begin(.command, lead: ":", text: "save-as ")
      return []
    case "x":
      box = nil
      return [.quit]
    case "escape", "n": box = nil
    default: break
    }
    return []
  }

  /// The lines of the question of ``Box/unsaved``.
  var unsavedLines: [String] {
    guard let problem = saveState?.problem else {
      return ["Saving; leaves when everything is saved.", "", "x quit at once   Esc stay"]
    }
    let others =
      people.isEmpty
      ? "Quitting now loses the last changes."
      : "Quitting now loses the last changes here; the others have them."
    return [
      problem.headline, others, "", "r try again", "s save a copy elsewhere", "x quit anyway",
      "Esc stay",
    ]
  }

  /// Shows at the bottom whether everything is saved, and tries again if not.
  mutating func sayWhetherSaved() -> [Action] {
    switch saveState {
    case .saved: say("everything is saved as it happens; :export FILE makes a picture of it")
    case .saving: say("saving")
    case .off: say("this board is not saved; :export FILE saves a copy of what is on it")
    case .notSaved, nil: return request(.save)
    }
    return []
  }

  /// Draws the warning about unsaved work over the first line.
  func drawProblem(on screen: inout Screen) {
    guard let problem = saveState?.problem else { return }
    let headline = " \(problem.headline) "
    let advice =
      problem.copy.map {
        [" all of it is in \(TerminalText.cleaned($0, limit: 128)) ", " copied "]
      }
      ?? [
        " :save-as FILE saves a copy elsewhere; the program tries again by itself ",
        " :save-as FILE saves a copy ",
      ]
    // Keep the pen visible if there is room.
    let room = columns - CharacterWidth.columns(titleEnd) - 2
    let isBeside = rows >= 4 && CharacterWidth.columns(headline) <= room
    let line = CellArea(x: 0, y: 0, width: isBeside ? room : columns, height: 1)
    screen.fill(line, with: Cell(.space, Self.bad))
    let x = screen.put(headline, x: 0, y: 0, Self.bad.bold, in: line)
    // Use the longest text that fits.
    let fitting = advice.first { x + CharacterWidth.columns($0) <= line.width }
    screen.put(fitting ?? "", x: x, y: 0, Self.bad, in: line)
  }
}

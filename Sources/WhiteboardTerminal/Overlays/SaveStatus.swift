import PeerCore
import WhiteboardKit
import WhiteboardRendering

/// Whether the work is saved, the messages about it, and the question about unsaved work.
struct SaveStatus: Sendable {
  enum Answer: Equatable, Sendable {
    case retry
    case saveElsewhere
    case leave
    case stay
    case none
  }

  /// The state that the board reported last; nil until the board is open.
  var state: SaveState?

  var problem: SaveProblem? { state?.problem }

  var isSaved: Bool { state == .saved }

  /// Whether the user would lose work by leaving, or may lose it because saving is in progress.
  var mustAskBeforeLeaving: Bool { state.map { $0 == .saving || $0.wouldLoseWork } ?? false }

  /// Whether the question about unsaved work is no longer necessary.
  var isQuestionObsolete: Bool { state?.wouldLoseWork == false && state != .saving }

  /// The message about the save state; nil if the board must try to save again.
  var message: String? {
    switch state {
    case .saved: "every change is saved immediately; :export FILE saves a picture of the board"
    case .saving: "saving"
    case .off: "this board is not saved; :export FILE saves a copy"
    case .notSaved, nil: nil
    }
  }

  static func answer(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> Answer {
    switch KeyMap.name(key, modifiers) {
    case "r": .retry
    case "s": .saveElsewhere
    case "x": .leave
    case "escape", "n": .stay
    default: .none
    }
  }

  func drawQuestion(on screen: inout Screen, _ layout: ScreenLayout, hasMembers: Bool) {
    Dialog(question(hasMembers: hasMembers)).draw(on: &screen, layout)
  }

  private func question(hasMembers: Bool) -> [String] {
    guard let problem else {
      return ["Saving. The program quits when everything is saved.", "", "x quit now   Esc stay"]
    }
    let loss =
      hasMembers
      ? "Quitting now loses the last changes here; other members have them." : "Quitting now loses the last changes."
    return [problem.headline, loss, "", "r try again", "s save a copy elsewhere", "x quit anyway", "Esc stay"]
  }

  /// Draws the warning about unsaved work over the first row.
  ///
  /// If there is room, the right end of the title bar stays visible.
  func drawProblem(on screen: inout Screen, _ layout: ScreenLayout, titleEnd: String) {
    guard let problem else { return }
    let headline = " \(problem.headline) "
    let advice =
      problem.copy.map { [" all of it is in \(UntrustedText($0).escaped(limit: 128)) ", " copied "] } ?? [
        " :save-as FILE saves a copy elsewhere; the program tries again by itself ", " :save-as FILE saves a copy ",
      ]
    let room = layout.columns - CharacterWidth.columns(titleEnd) - 2
    let isBeside = layout.rows >= 4 && CharacterWidth.columns(headline) <= room
    let line = CellArea(x: 0, y: 0, width: isBeside ? room : layout.columns, height: 1)
    screen.fill(line, with: ScreenCell(.space, .problem))
    let x = screen.put(headline, x: 0, y: 0, CellStyle.problem.bold, in: line)
    // The longest advice that fits.
    let fitting = advice.first { x + CharacterWidth.columns($0) <= line.width }
    screen.put(fitting ?? "", x: x, y: 0, .problem, in: line)
  }
}

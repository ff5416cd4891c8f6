import WhiteboardNode
import WhiteboardRendering

/// What a person sees whom the host removed from the board.
extension BoardClient {
  /// How long keys are ignored after the box appeared: they were meant for what was there before.
  private static let removalPause = Duration.seconds(1)

  /// Shows that the host removed this person, or that the person goes on alone.
  mutating func take(_ removed: NodeEvent.Removed) {
    removal = removed
    // Nothing is heard of the others any more.
    people = [:]
    earlyPresences = [:]
    invitations = []
    fileOffers = []
    remark(removed.message)
    guard removed.readOnly else {
      removalShown = nil
      return
    }
    typing = nil
    editor = nil
    gesture = nil
    box = nil
    removalShown = now
  }

  /// Takes a key while the box is shown; nil if it is not.
  mutating func takeInRemoval(
    _ key: InputEvent.Key,
    _ modifiers: InputEvent.Modifiers
  ) -> [Action]? {
    guard let removal, let shownAt = removalShown else { return nil }
    switch KeyMap.name(key, modifiers) {
    case "ctrl+l": return [.redraw]
    case _ where now - shownAt < Self.removalPause: return []
    case "c" where removal.canContinue:
      removalShown = nil
      return request(.continue)
    case "enter", "escape", "space":
      removalShown = nil
    case "q", "ctrl+c", "ctrl+d": return leave()
    default: break
    }
    return []
  }

  /// The lines of the box.
  var removalLines: [String] {
    guard let removal else { return [] }
    let choice =
      removal.canContinue
      ? ["It is read-only until you decide.", "", "c      go on with your own copy"]
      : ["It stays read-only: the host owns the board.", ""]
    return [TerminalText.cleaned(removal.message, limit: 1_000)] + choice
      + ["Enter  only look at it", "q      leave"]
  }

  /// How things stand after a removal, for the line at the bottom; nil without one.
  var removalWords: String? {
    guard let removal else { return nil }
    let host = EventText.shortName(removal.name, removal.peer)
    return removal.readOnly
      ? "\(host) removed you; read-only" + (removal.canContinue ? ", :continue goes on" : "")
      : "\(host) removed you; this is your own copy"
  }
}

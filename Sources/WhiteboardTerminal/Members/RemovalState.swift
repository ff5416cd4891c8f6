import PeerCore
import WhiteboardKit
import WhiteboardRendering

/// The removal of the local member by the host, and the box that reports it.
struct RemovalState: Sendable {
  enum Answer: Equatable, Sendable {
    /// Continue with the local copy.
    case proceed
    case leave
    case redraw
    case none
  }

  private(set) var removal: BoardEvent.Removed?
  /// The time when the box appeared; nil while it is not shown.
  private(set) var shownSince: Duration?

  /// The time for which keys are ignored after the box appeared, because the user typed them before seeing the box.
  private static let pause = Duration.seconds(1)

  /// If the user continues with a copy of the board, no box is shown.
  mutating func show(_ removed: BoardEvent.Removed, now: Duration) {
    removal = removed
    shownSince = removed.readOnly ? now : nil
  }

  /// Clears the removal if the member that joined is the host: the host has admitted the local member again.
  mutating func joined(_ peer: String) { if peer == removal?.peer { (removal, shownSince) = (nil, nil) } }

  /// Handles a key; returns nil if the box is not shown.
  mutating func answer(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers, now: Duration) -> Answer? {
    guard let removal, let shownSince else { return nil }
    switch KeyMap.name(key, modifiers) {
    case "ctrl+l": return .redraw
    case _ where now - shownSince < Self.pause: return Answer.none
    case "c" where removal.canContinue:
      self.shownSince = nil
      return .proceed
    case "enter", "escape", "space": self.shownSince = nil
    case "q", "ctrl+c", "ctrl+d": return .leave
    default: break
    }
    return Answer.none
  }

  func draw(on screen: inout Screen, _ layout: ScreenLayout) {
    guard let removal, shownSince != nil else { return }
    let choice =
      removal.canContinue
      ? ["The board is read-only until you decide.", "", "c      continue with your own copy"]
      : ["The board stays read-only, because the host owns it.", ""]
    let lines =
      [UntrustedText(removal.message).escaped(limit: 1_000)] + choice + ["Enter  only view the board", "q      leave"]
    Dialog(lines).draw(on: &screen, layout)
  }

  /// The text in the last row after a removal; nil if the local user is a member.
  var status: String? {
    guard let removal else { return nil }
    let host = EventText.shortName(removal.name, removal.peer)
    return removal.readOnly
      ? "\(host) removed you; read-only" + (removal.canContinue ? ", :continue uses your copy" : "")
      : "\(host) removed you; this is your own copy"
  }
}

import PeerCore
import WhiteboardKit

/// Events as text, one line each, for users and screen readers.
extension EventText {
  /// Returns the line of an event; nil if the event is only for programs.
  ///
  /// Names of other peers are shown without their unsafe characters, and all other text with escapes.
  package static func line(_ event: BoardEvent) -> String? {
    switch event {
    case .ready, .peerFound, .peerUpdated, .peerLost, .peerState, .joining, .caughtUp, .invitation, .joined, .left,
      .removed, .admission, .carried, .profile, .role, .invited, .web, .peers:
      peopleLine(event)
    case .objectAdded, .objectChanged, .objectRemoved, .selected, .chat, .settingChanged: boardLine(event)
    case .object, .objects, .found, .chatHistory, .settings, .digest, .checkpoints, .diff: answerLine(event)
    case .data, .resourceOffered, .resourceStarted, .resourceProgress, .resourceFinished, .streamOpened, .streamData,
      .streamClosed:
      transferLine(event)
    case .saveState(let saving): saveLine(saving.shown)
    case .done(let done): doneLine(done)
    case .error(let failure):
      "! \(failure.line.map { "line \($0): " } ?? "")\(UntrustedText(failure.message).escaped())"
    case .note(let remark) where remark.code == "help":
      // The text of the help comes from this program, so it needs no escaping.
      remark.message
    case .note(let remark) where remark.code == BoardEvent.Remark.savedAgain,
      .warning(let remark) where remark.code == BoardEvent.Remark.notSaved:
      // No line is needed, because the save state changes at the same time and has its own line.
      nil
    case .note(let remark) where remark.code == BoardEvent.Remark.announced: UntrustedText(remark.message).escaped()
    case .note(let remark): "- \(UntrustedText(remark.message).escaped())"
    case .warning(let remark): "! \(UntrustedText(remark.message).escaped())"
    }
  }

  static func number(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
  }
}

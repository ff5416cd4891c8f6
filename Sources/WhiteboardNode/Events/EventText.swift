import WhiteboardRendering

/// Tells events in words, one line each, for people and screen readers.
package enum EventText {
  /// The most characters of somebody's words in one line.
  static let wordsLimit = 2_048

  /// The event in words, or nil where a person has no use for it.
  ///
  /// What comes from others is cleaned: a line never holds anything a terminal would act on.
  package static func line(_ event: NodeEvent) -> String? {
    switch event {
    case .ready, .peerFound, .peerUpdated, .peerLost, .peerState, .joining, .caughtUp,
      .invitation, .joined, .left, .removed, .carried, .profile, .role, .invited, .peers:
      peopleLine(event)
    case .objectAdded, .objectChanged, .objectRemoved, .selected, .chat, .settingChanged:
      boardLine(event)
    case .object, .objects, .found, .chatHistory, .settings, .digest, .checkpoints, .diff:
      answerLine(event)
    case .data, .resourceOffered, .resourceStarted, .resourceProgress, .resourceFinished,
      .streamOpened,
      .streamData, .streamClosed:
      transferLine(event)
    case .saveState(let saving):
      saveLine(saving.shown)
    case .done(let done):
      doneLine(done)
    case .error(let failure):
      "! \(failure.line.map { "line \($0): " } ?? "")\(TerminalText.cleaned(failure.message))"
    case .note(let remark) where remark.code == "help":
      // Our own words, of several lines.
      remark.message
    case .note(let remark) where remark.code == NodeEvent.Remark.savedAgain,
      .warning(let remark) where remark.code == NodeEvent.Remark.notSaved:
      // The save state reports this at the same time.
      nil
    case .note(let remark):
      "- \(TerminalText.cleaned(remark.message))"
    case .warning(let remark):
      "! \(TerminalText.cleaned(remark.message))"
    }
  }

  /// Returns a display name with an id prefix, since several peers can use the same name.
  package static func person(_ name: String, _ peer: String) -> String {
    let short = TerminalText.cleaned(peer.prefix(8), limit: 8)
    let shown = TerminalText.cleaned(name, limit: 64)
    return shown.isEmpty ? short : "\(shown) (\(short))"
  }

  /// Returns names for a sentence, such as `Ada and Ben`; beyond three, the first two and a count.
  package static func listed(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    guard names.count <= 3 else { return "\(names[0]), \(names[1]) and \(names.count - 2) more" }
    return "\(names.dropLast().joined(separator: ", ")) and \(last)"
  }

  static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    number == 1 ? "1 \(one)" : "\(number) \(many ?? one + "s")"
  }

  static func number(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
  }
}

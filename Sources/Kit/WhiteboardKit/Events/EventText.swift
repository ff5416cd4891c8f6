import PeerCore
import Whiteboard

/// Phrases about members and steps, for messages and program output. Text from other peers is sanitized, so the result
/// is safe to display.
package enum EventText {
  /// The maximum number of characters of another peer's text in one line.
  package static let wordsLimit = 2_048

  /// Several peers can have the same name, so the result includes an id prefix.
  package static func person(_ name: UntrustedText, _ peer: String) -> String {
    let short = UntrustedText(peer.prefix(8)).displayed
    let shown = name.displayed
    return shown.isEmpty ? short : "\(shown) (\(short))"
  }

  /// Returns a name for lines that need not identify the peer: the display name, or the id prefix if no part of the
  /// name can be displayed.
  package static func shortName(_ name: UntrustedText, _ peer: String) -> String {
    let shown = name.displayed
    return shown.isEmpty ? person(name, peer) : shown
  }

  /// Returns text such as `Ada and Ben`. Of more than three names, the text contains the first two and a count.
  package static func listed(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    guard names.count <= 3 else { return "\(names[0]), \(names[1]) and \(names.count - 2) more" }
    return "\(names.dropLast().joined(separator: ", ")) and \(last)"
  }

  package static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    number == 1 ? "1 \(one)" : "\(number) \(many ?? one + "s")"
  }

  /// Returns minutes and seconds, such as `4:59`; `0:00` if no time is left.
  package static func timeLeft(_ time: Duration) -> String {
    let seconds = max(0, Int((time / .seconds(1)).rounded(.up)))
    return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
  }

  /// Returns a line such as `synced with ada, ben; not synced with cy (reconnecting)`.
  package static func syncLine(_ synced: [SharedBoard.SyncedMember], _ others: [SharedBoard.SyncedMember]) -> String {
    let lists = [
      synced.isEmpty ? nil : "synced with \(names(synced))", others.isEmpty ? nil : "not synced with \(names(others))",
    ]
    return lists.compactMap { $0 }.joined(separator: "; ")
  }

  private static func names(_ members: [SharedBoard.SyncedMember]) -> String {
    members.map { member in
      let isShared = members.count { $0.name == member.name } > 1
      let name = isShared ? person(member.name, member.peer) : shortName(member.name, member.peer)
      return difference(member).map { "\(name) (\($0))" } ?? name
    }.joined(separator: ", ")
  }

  private static func difference(_ member: SharedBoard.SyncedMember) -> String? {
    guard member.hasBoard != false else { return "no board" }
    return switch member.state {
    case nil: nil
    case .connected, .suspect: "still different"
    case .connecting, .reconnecting, .lost: member.state?.rawValue
    }
  }
}

extension EventText {
  package static func steps(_ verb: CommandName, _ done: CommandOutcome, hint: String? = nil) -> String {
    let lead = verb == .redo ? "Redone" : "Undone"
    let left = (done.left ?? [:]).sorted { $0.key < $1.key }.map { reason, number in
      switch reason {
      case "overwritten": " \(count(number, "change")) skipped: others changed the same values later."
      case "purged": " \(count(number, "change")) skipped: the object was purged."
      case "kept": " \(count(number, "object stays", "objects stay")): others changed it later."
      case "deleted": " \(count(number, "change")) skipped: the object is deleted."
      case "played": " \(count(number, "game stays", "games stay")): moves were made in it."
      default: " \(count(number, "change")) skipped: no longer possible."
      }
    }
    return "\(lead): \(stepName(done.step ?? "")).\(hint.map { " \($0)" } ?? "")" + left.joined()
      + skipped(done.skippedSteps ?? [])
  }

  static func skipped(_ steps: [SkippedStep]) -> String {
    var reasons: [SkippedStep.Reason] = []
    for step in steps where !reasons.contains(step.reason) { reasons.append(step.reason) }
    return reasons.map { reason in
      let names = steps.filter { $0.reason == reason }.map { stepName($0.label) }
      let what = names.count > 3 ? count(names.count, "step") : listed(names)
      let why =
        switch reason {
        case .overwritten: "others changed the same values later"
        case .purged: "the object was purged"
        case .kept: "others changed the object later"
        case .deleted: "the object is deleted"
        case .played: "moves were made in the game"
        case .unchanged: "nothing to change"
        case .unwritable: "no longer possible"
        }
      return " Skipped: \(what) (\(why))."
    }.joined()
  }

  private static func stepName(_ label: String) -> String {
    switch label {
    case "scale": "resize"
    case "order": "front and back"
    case "undelete": "restore deleted"
    case "settings": "board settings"
    default: UntrustedText(label).escaped(limit: 64)
    }
  }
}

import PeerCore

/// Phrases about members and steps, for messages and program output.
///
/// Text from other peers is sanitized, so the result is safe to display.
package enum EventText {
  /// The maximum number of characters of another peer's text in one line.
  package static let wordsLimit = 2_048

  /// Returns a display name with an id prefix, since several peers can use the same name.
  package static func person(_ name: UntrustedText, _ peer: String) -> String {
    let short = UntrustedText(peer.prefix(8)).displayed
    let shown = name.displayed
    return shown.isEmpty ? short : "\(shown) (\(short))"
  }

  /// Returns the display name without an id prefix, for lines that need not identify the peer.
  ///
  /// If no part of the name can be displayed, returns the id prefix.
  package static func shortName(_ name: UntrustedText, _ peer: String) -> String {
    let shown = name.displayed
    return shown.isEmpty ? person(name, peer) : shown
  }

  /// Returns a list of names for use in a sentence, such as `Ada and Ben`.
  ///
  /// If there are more than three names, the list contains the first two and a count.
  package static func listed(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    guard names.count <= 3 else { return "\(names[0]), \(names[1]) and \(names.count - 2) more" }
    return "\(names.dropLast().joined(separator: ", ")) and \(last)"
  }

  /// Returns a number with its noun, such as `1 object` or `2 objects`.
  package static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    number == 1 ? "1 \(one)" : "\(number) \(many ?? one + "s")"
  }

  /// Returns the remaining time as minutes and seconds, such as `4:59`; zero if it has passed.
  package static func timeLeft(_ time: Duration) -> String {
    let seconds = max(0, Int((time / .seconds(1)).rounded(.up)))
    return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
  }

  /// Returns a line that lists the synced members and the others, such as `synced with ada, ben; not synced with cy
  /// (reconnecting)`.
  package static func syncLine(_ synced: [BoardEvent.SyncedMember], _ others: [BoardEvent.SyncedMember]) -> String {
    let lists = [
      synced.isEmpty ? nil : "synced with \(names(synced))", others.isEmpty ? nil : "not synced with \(names(others))",
    ]
    return lists.compactMap { $0 }.joined(separator: "; ")
  }

  private static func names(_ members: [BoardEvent.SyncedMember]) -> String {
    members.map { member in
      let isShared = members.count { $0.name == member.name } > 1
      let name = isShared ? person(member.name, member.peer) : shortName(member.name, member.peer)
      return difference(member).map { "\(name) (\($0))" } ?? name
    }.joined(separator: ", ")
  }

  private static func difference(_ member: BoardEvent.SyncedMember) -> String? {
    guard member.hasBoard != false else { return "no board" }
    return switch member.state {
    case nil: nil
    case .connected, .suspect: "still different"
    case .connecting, .reconnecting, .lost: member.state?.rawValue
    }
  }
}

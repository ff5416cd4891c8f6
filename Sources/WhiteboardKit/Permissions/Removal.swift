import FoundationEssentials
import PeerCore
import PeerSession

/// The host's decision that the local peer is no longer a member, as stored in the board's file.
package struct Removal: Codable, Equatable, Sendable {
  package var by: String
  /// The host's display name, which is not authenticated; empty if it is unknown.
  package var name: UntrustedText
  /// The host's reason, in its own words; may be empty.
  package var reason: UntrustedText
  /// The time at which the local peer received the decision, in milliseconds since 1970.
  package var at: UInt64
  /// Whether the user chose to continue with the local copy, so that it can be changed.
  package var isContinued = false

  package var host: String { name.isEmpty ? "The host" : EventText.shortName(name, by) }

  package var sentence: String {
    let words = reason.escaped(limit: EventText.wordsLimit)
    guard let last = words.last else { return "\(host) removed you from this board." }
    return "\(host) removed you from this board: \(words)\(".!?…".contains(last) ? "" : ".")"
  }

  init?(json: String) {
    guard let read = try? JSONDecoder().decode(Self.self, from: Data(json.utf8)) else { return nil }
    self = read
  }

  /// Creates a decision that the local peer receives now.
  init(by: String, name: UntrustedText, reason: UntrustedText) {
    self.by = by
    self.name = name
    self.reason = reason
    at = SystemTime.milliseconds
  }

  /// The decision as one JSON object, for the board's file.
  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else {
      preconditionFailure("strings, numbers and flags can be encoded as JSON")
    }
    return String(decoding: data, as: UTF8.self)
  }
}

extension BoardEvent {
  package struct Removed: Encodable, Sendable, Equatable {
    package var peer: String
    package var name: UntrustedText
    /// The host's reason, in its own words; nil if it gave none.
    package var reason: UntrustedText?
    package var message: String
    /// Whether the local copy of the board cannot be changed.
    package var readOnly: Bool
    package var canContinue: Bool
  }
}

extension EventText {
  /// The advice about a copy that is read-only until the user decides.
  package static let continueAdvice =
    "The board is read-only. To edit your copy without the other members, use `continue`."
  /// The advice about a copy of a board that another user owns.
  package static let ownedAdvice =
    "The board stays read-only, because the host owns it: `whiteboard-peer boards duplicate` "
    + "makes a board of your own from it."
}

import FoundationEssentials
import PeerSession
import WhiteboardRendering

/// The host's decision that this peer is no longer a member, as it is stored with the copy of the board.
package struct Removal: Codable, Equatable, Sendable {
  /// The peer that decided: the host of the board.
  package var by: String
  /// Its display name, which proves nothing; empty if it was never heard.
  package var name: String
  /// Its reason, in its own words; may be empty.
  package var reason: String
  /// When it became known here, milliseconds since 1970.
  package var at: UInt64
  /// Whether the person chose to go on with the copy alone, so that it may be changed.
  package var isContinued = false

  /// The name of the host as sentences have it.
  package var host: String { name.isEmpty ? "The host" : EventText.shortName(name, by) }

  /// The decision in one sentence.
  package var sentence: String {
    let words = TerminalText.cleaned(reason, limit: EventText.wordsLimit)
    guard let last = words.last else { return "\(host) removed you from this board." }
    return "\(host) removed you from this board: \(words)\(".!?…".contains(last) ? "" : ".")"
  }

  /// Reads what ``json`` wrote; nil if it is something else.
  init?(json: String) {
    guard let read = try? JSONDecoder().decode(Self.self, from: Data(json.utf8)) else { return nil }
    self = read
  }

  /// Describes a decision that became known now.
  ///
  /// - Parameters:
  ///   - by: The host.
  ///   - name: Its display name.
  ///   - reason: Its reason.
  init(by: String, name: String, reason: String) {
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
      preconditionFailure("a removal consists of texts, a number and a flag")
    }
    return String(decoding: data, as: UTF8.self)
  }
}

extension NodeEvent {
  /// The host removed this peer from the board.
  package struct Removed: Encodable, Sendable, Equatable {
    /// The host.
    package var peer: String
    /// Its name.
    package var name: String
    /// Its reason, in its own words, if it gave one.
    package var reason: String?
    /// The whole sentence, for people.
    package var message: String
    /// Whether the copy of the board here must not be changed, until `continue`.
    package var readOnly: Bool
    /// Whether `continue` can make the copy one that may be changed.
    package var canContinue: Bool
  }
}

extension EventText {
  /// What to do with a copy that is read-only until the person decides.
  package static let continueAdvice =
    "It is read-only until you decide: `continue` goes on with it alone."
  /// What to do with a copy of a board that another person owns.
  package static let ownedAdvice =
    "It stays read-only, because the host owns the board: `whiteboard-peer boards duplicate` "
    + "makes a board of your own from it."
}

import PeerCore
import Whiteboard

/// A game as one member sees it: JSON for programs (GAM-8), and a few lines for users.
package struct GameDescription: Encodable, Sendable, Equatable {
  /// The JSON with the keys of GAM-8.
  package var view: JSONValue
  /// The lines of text.
  package var lines: [UntrustedText]

  /// Creates a description.
  package init(view: JSONValue, lines: [UntrustedText]) {
    self.view = view
    self.lines = lines
  }

  /// Creates the description of a game's view; returns nil if the view is not valid JSON.
  ///
  /// `name` returns the display names of members.
  init?(_ view: GameView, naming name: (MemberID) -> String) {
    guard let json = JSONValue(view.json) else { return nil }
    self.init(view: json, lines: view.text(naming: name).map { UntrustedText($0) })
  }

  /// Encodes only the JSON.
  package func encode(to encoder: any Encoder) throws { try view.encode(to: encoder) }
}

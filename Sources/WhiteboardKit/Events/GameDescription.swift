import Whiteboard

/// A game as one member is shown it: GAM-8 for programs, a few lines for people.
package struct GameDescription: Encodable, Sendable, Equatable {
  /// As JSON, the keys of GAM-8.
  package var view: JSONValue
  /// In words.
  package var lines: [String]

  /// Makes a description.
  package init(view: JSONValue, lines: [String]) {
    self.view = view
    self.lines = lines
  }

  /// Creates the description of a game's view; `name` returns the display names of members.
  init?(_ view: GameView, naming name: (MemberID) -> String) {
    guard let json = JSONValue(view.json) else { return nil }
    self.init(view: json, lines: view.text(naming: name))
  }

  /// Writes the view.
  package func encode(to encoder: any Encoder) throws {
    try view.encode(to: encoder)
  }
}

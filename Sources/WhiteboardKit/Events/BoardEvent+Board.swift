extension BoardEvent {
  /// There is a new object on the board.
  package struct ObjectAdded: Encodable, Sendable {
    /// Which.
    package var id: String
    /// The whole object.
    package var object: ObjectDescription
    /// The peer that made the change.
    package var by: String?
    /// True if the user hid the author of the object.
    package var hidden: Bool?
  }

  /// An object on the board is not as it was.
  package struct ObjectChanged: Encodable, Sendable {
    /// Which.
    package var id: String
    /// The keys of `object` that changed.
    package var changed: [String]
    /// The whole object.
    package var object: ObjectDescription
    /// The peer that made the change.
    package var by: String?
    /// True if the user hid the author of the object.
    package var hidden: Bool?
  }

  /// An object is no longer on the board.
  package struct ObjectRemoved: Encodable, Sendable {
    /// Which.
    package var id: String
    /// The peer that made the change.
    package var by: String?
    /// True if the user hid the author of the object.
    package var hidden: Bool?
  }

  /// An object was selected or released.
  package struct Selected: Encodable, Sendable {
    /// Which.
    package var id: String
    /// The peer that holds it now; absent if no peer does.
    package var peer: String?
    /// The name of who has it.
    package var name: String?
    /// Whether it was we who had it, and somebody else won it.
    package var lostByUs: Bool?
  }

  /// A chat line.
  package struct Chat: Encodable, Sendable {
    /// The id of the line.
    package var id: String
    /// The author.
    package var peer: String
    /// The name of who, when it was said.
    package var name: String
    /// The icon of who, one emoji, if there was one.
    package var icon: String?
    /// The text.
    package var text: String
    /// When, RFC 3339.
    package var at: String
  }

  /// The board's settings are not as they were.
  package struct SettingChanged: Encodable, Sendable {
    /// The keys of `settings` that changed.
    package var changed: [String]
    /// All settings.
    package var settings: SettingsDescription
  }

  /// The settings of a board; what was never set is absent.
  package struct SettingsDescription: Encodable, Sendable, Equatable {
    /// The title of the board.
    package var title: String?
    /// The background color, `#rrggbbaa`.
    package var background: String?
    /// How far the lines of the grid are apart; zero for no grid.
    package var grid: Double?
    /// The language of games.
    package var language: String?
  }
}

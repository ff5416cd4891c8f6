import PeerCore

extension BoardEvent {
  /// An object was added to the board.
  package struct ObjectAdded: Encodable, Sendable {
    /// The id of the object.
    package var id: String
    /// The description of the object.
    package var object: ObjectDescription
    /// The peer that made the change.
    package var by: String?
    /// True if the user hid the author of the object.
    package var hidden: Bool?
  }

  /// An object on the board changed.
  package struct ObjectChanged: Encodable, Sendable {
    /// The id of the object.
    package var id: String
    /// The keys of `object` that changed.
    package var changed: [String]
    /// The description of the object after the change.
    package var object: ObjectDescription
    /// The peer that made the change.
    package var by: String?
    /// True if the user hid the author of the object.
    package var hidden: Bool?
  }

  /// An object was removed from the board.
  package struct ObjectRemoved: Encodable, Sendable {
    /// The id of the object.
    package var id: String
    /// The peer that made the change.
    package var by: String?
    /// True if the user hid the author of the object.
    package var hidden: Bool?
  }

  /// An object was selected or deselected.
  package struct Selected: Encodable, Sendable {
    /// The id of the object.
    package var id: String
    /// The peer that has selected the object; nil if no peer has selected it.
    package var peer: String?
    /// The display name of the peer that has selected the object.
    package var name: UntrustedText?
    /// True if the local member lost the selection of the object to another peer.
    package var lostByUs: Bool?
  }

  /// A chat line.
  package struct Chat: Encodable, Sendable {
    /// The id of the line.
    package var id: String
    /// The author's peer id.
    package var peer: String
    /// The author's display name when the line was written.
    package var name: UntrustedText
    /// The author's icon when the line was written, one emoji; nil if there was none.
    package var icon: UntrustedText?
    /// The text.
    package var text: UntrustedText
    /// The time at which the line was written, in RFC 3339 format.
    package var at: String
  }

  /// The settings of the board changed.
  package struct SettingChanged: Encodable, Sendable {
    /// The keys of `settings` that changed.
    package var changed: [String]
    /// All settings.
    package var settings: SettingsDescription
  }

  /// The settings of a board; a setting that was never set is nil.
  package struct SettingsDescription: Encodable, Sendable, Equatable {
    /// The title of the board.
    package var title: UntrustedText?
    /// The background color, `#rrggbbaa`.
    package var background: String?
    /// The grid spacing, in board units; zero for no grid.
    package var grid: Double?
    /// The language of games.
    package var language: UntrustedText?
  }
}

import PeerCore
import Whiteboard

extension BoardEvent {
  /// An object was added or changed.
  package struct ObjectChange: Sendable {
    package var object: ReportedObject
    package var by: MemberID
    /// Whether the user hid the author of the object.
    package var isHidden: Bool

    package init(_ object: ReportedObject, by member: MemberID, isHidden: Bool = false) {
      self.object = object
      by = member
      self.isHidden = isHidden
    }
  }

  package struct ObjectRemoved: Sendable {
    package var id: ObjectID
    package var by: MemberID
    /// Whether the user hid the author of the object.
    package var isHidden = false
  }

  package struct Selected: Sendable {
    package var id: ObjectID
    package var peer: MemberID?
    /// The display name of the peer that has selected the object.
    package var name: UntrustedText?
    /// True if the local member lost the selection of the object to another peer.
    package var lostByUs: Bool?
  }

  package struct Chat: Sendable {
    package var id: String
    package var peer: String
    package var name: UntrustedText
    /// The author's icon when the line was written, one emoji; nil if there was none.
    package var icon: UntrustedText?
    package var text: UntrustedText
    /// The time at which the line was written, in RFC 3339 format.
    package var at: String
    /// The object that the line is about.
    package var about: String?
    /// True if the question of a line about an object is settled; nil otherwise.
    package var isResolved: Bool?
  }

  package struct SettingChanged: Sendable {
    package var changed: [String]
    package var settings: SettingsDescription
  }

  /// The settings of a board; a setting that was never set is nil.
  package struct SettingsDescription: Sendable, Equatable {
    package var title: UntrustedText?
    package var background: String?
    /// The grid spacing, in board units; zero for no grid.
    package var grid: Double?
    package var language: UntrustedText?
  }
}

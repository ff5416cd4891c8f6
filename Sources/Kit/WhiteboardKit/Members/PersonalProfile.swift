import Whiteboard
import WhiteboardDocument

extension PersonalSettings {
  /// The display name that the user chose last.
  package var name: String? { get throws(DocumentError) { try value("name") } }

  /// The icon that the user chose last; nil if there is none, or this version does not know the icon.
  var icon: ProfileIcon? { get throws(DocumentError) { try value("icon").flatMap { ProfileIcon(rawValue: $0) } } }

  /// Stores a new name and icon; nil leaves the stored value unchanged.
  func store(name: String?, icon: IconChange?) throws(DocumentError) {
    var changes: [String: String?] = [:]
    if let name { changes["name"] = name }
    if let icon { changes.updateValue(icon.icon?.rawValue, forKey: "icon") }
    try set(changes)
  }
}

import Whiteboard
import WhiteboardDocument

/// The user's display name and icon, stored between runs.
extension PersonalSettings {
  /// The name that was chosen last.
  package var name: String? {
    get throws(DocumentError) { try value("name") }
  }

  /// The icon that was chosen last; nil too where it is none that we know.
  var icon: ProfileIcon? {
    get throws(DocumentError) { try value("icon").flatMap { ProfileIcon(rawValue: $0) } }
  }

  /// Keeps what of both is given.
  func keep(name: String?, icon: IconChange?) throws(DocumentError) {
    var changes: [String: String?] = [:]
    if let name { changes["name"] = name }
    if let icon { changes.updateValue(icon.icon?.rawValue, forKey: "icon") }
    try set(changes)
  }
}

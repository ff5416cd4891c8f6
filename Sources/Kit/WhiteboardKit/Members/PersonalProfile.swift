import Whiteboard
import WhiteboardDocument

extension PersonalSettings {
  package var name: String? { get throws(DocumentError) { try value("name") } }

  var icon: ProfileIcon? { get throws(DocumentError) { try value("icon").flatMap { ProfileIcon(rawValue: $0) } } }

  /// A nil name or icon leaves the stored value unchanged.
  func store(name: String?, icon: IconChange?) throws(DocumentError) {
    var changes: [String: String?] = [:]
    if let name { changes["name"] = name }
    if let icon { changes.updateValue(icon.icon?.rawValue, forKey: "icon") }
    try set(changes)
  }
}

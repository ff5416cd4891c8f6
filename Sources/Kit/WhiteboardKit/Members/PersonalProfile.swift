import Whiteboard
import WhiteboardDocument

extension PersonalSettings {
  package init(inDataDirectory directory: String) { self.init(path: directory + "/settings.json") }

  package var name: String? { get throws(DocumentError) { try value("name") } }

  package var icon: ProfileIcon? {
    get throws(DocumentError) { try value("icon").flatMap { ProfileIcon(rawValue: $0) } }
  }

  /// A nil name or icon leaves the stored value unchanged.
  func store(name: String?, icon: IconChange?) throws(DocumentError) {
    var changes: [String: String?] = [:]
    if let name { changes["name"] = name }
    if let icon { changes.updateValue(icon.icon?.rawValue, forKey: "icon") }
    if !changes.isEmpty { try set(changes) }
  }

  /// Checks and stores a name and the name of an icon as a user typed them; nil leaves the stored value unchanged.
  package func change(name: String?, icon: String?) throws(CommandError) {
    let name = try CommandLimits.checkedDisplayName(name)
    let icon = try icon.map { (text) throws(CommandError) in try CommandParser.iconChange(text) }
    do throws(DocumentError) { try store(name: name, icon: icon) } catch { throw CommandError(error) }
  }
}

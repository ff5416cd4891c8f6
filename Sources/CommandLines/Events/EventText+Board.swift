import PeerCore
import WhiteboardKit

/// Lines about changes of the board.
extension EventText {
  static func boardLine(_ event: BoardEvent) -> String? {
    switch event {
    case .objectAdded(let event) where event.hidden == true: nil
    case .objectChanged(let event) where event.hidden == true: nil
    case .objectRemoved(let event) where event.hidden == true: nil
    case .objectAdded(let added): "+ \(whole(added.object))"
    case .objectChanged(let change): "~ \(Self.change(of: change.object, change.changed))"
    case .objectRemoved(let removed): "- \(UntrustedText(removed.id).escaped()) deleted"
    case .selected(let selected):
      if let peer = selected.peer {
        "\(person(selected.name ?? UntrustedText(""), peer)) selected \(UntrustedText(selected.id).escaped())"
      } else {
        "\(UntrustedText(selected.id).escaped()) is free"
      }
    case .chat(let line): chat(line)
    case .settingChanged(let change): "~ board: \(settings(change.settings)) (\(list(change.changed)))"
    default: nil
    }
  }

  /// Returns the properties of an object that changed, and the state of a game that changed.
  static func change(
    of object: BoardEvent.ObjectDescription,
    _ keys: [String],
    naming name: (String) -> String = EventText.prefix
  ) -> String {
    "\(self.object(object, naming: name)) (\(list(keys)))" + (keys.contains("game") ? game(object).joined() : "")
  }

  static func chat(_ line: BoardEvent.Chat) -> String {
    "<\(person(line.name, line.peer))> \(line.text.escaped(limit: wordsLimit))"
  }

  static func settings(_ settings: BoardEvent.SettingsDescription) -> String {
    var parts: [String] = []
    if let title = settings.title { parts.append("title \(title.quoted(limit: 256))") }
    if let background = settings.background {
      parts.append("background \(UntrustedText(background).escaped(limit: 16))")
    }
    if let grid = settings.grid { parts.append(grid == 0 ? "no grid" : "grid \(number(grid))") }
    if let language = settings.language { parts.append("language \(language.displayed(width: 16))") }
    return parts.isEmpty ? "no settings" : parts.joined(separator: ", ")
  }

  private static func list(_ keys: [String]) -> String {
    keys.map { UntrustedText($0).escaped() }.joined(separator: ", ")
  }
}

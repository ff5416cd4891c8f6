/// Lines about what happens on the board.
extension EventText {
  static func boardLine(_ event: NodeEvent) -> String? {
    switch event {
    case .objectAdded(let added):
      "+ \(whole(added.object))"
    case .objectChanged(let change):
      "~ \(object(change.object)) (\(list(change.changed)))"
        + (change.changed.contains("game") ? game(change.object) : "")
    case .objectRemoved(let removed):
      "- \(TerminalText.cleaned(removed.id)) deleted"
    case .selected(let selected):
      if let peer = selected.peer {
        "\(person(selected.name ?? "", peer)) has \(TerminalText.cleaned(selected.id)) in hand"
      } else {
        "\(TerminalText.cleaned(selected.id)) is free"
      }
    case .chat(let line):
      chat(line)
    case .settingChanged(let change):
      "~ board: \(settings(change.settings)) (\(list(change.changed)))"
    default:
      nil
    }
  }

  static func chat(_ line: NodeEvent.Chat) -> String {
    "<\(person(line.name, line.peer))> \(TerminalText.cleaned(line.text, limit: wordsLimit))"
  }

  static func settings(_ settings: NodeEvent.SettingsDescription) -> String {
    var parts: [String] = []
    if let title = settings.title {
      parts.append("title \(TerminalText.quoted(title, limit: 256))")
    }
    if let background = settings.background {
      parts.append("background \(TerminalText.cleaned(background, limit: 16))")
    }
    if let grid = settings.grid {
      parts.append(grid == 0 ? "no grid" : "grid \(number(grid))")
    }
    if let language = settings.language {
      parts.append("language \(TerminalText.cleaned(language, limit: 16))")
    }
    return parts.isEmpty ? "no settings" : parts.joined(separator: ", ")
  }

  /// An object in one line.
  static func object(_ object: NodeEvent.ObjectDescription) -> String {
    var line = "\(TerminalText.cleaned(object.type)) \(TerminalText.cleaned(object.id))"
    if let name = object.game?.view["game"]?.text {
      line += " \(TerminalText.quoted(name))"
    }
    if let text = object.text {
      line += " \(TerminalText.quoted(text, limit: 80))"
    }
    if let points = object.points {
      line += ", \(count(points.count, "point"))"
    }
    if let erased = object.erased {
      line += ", erased in \(count(erased.count, "place"))"
    }
    if let isHere = object.isAssetAvailable {
      line += isHere ? ", with its photo" : ", its photo not here yet"
    }
    line += " at \(object.centerPosition.map(number).joined(separator: ","))"
    if object.scale != 1 {
      line += ", scale \(number(object.scale))"
    }
    if object.angle != 0 {
      line += ", turned \(number((object.angle * 180 / .pi).rounded()))°"
    }
    if object.isLocked == true {
      line += ", locked"
    }
    if let group = object.groups?.first {
      line += ", in group \(TerminalText.cleaned(group))"
    }
    if let holder = object.selectedBy {
      line += ", in the hand of \(TerminalText.cleaned(holder.prefix(8)))"
    }
    return line
  }

  /// An object in one line, and a game in lines of its own below it.
  static func whole(_ object: NodeEvent.ObjectDescription) -> String {
    self.object(object) + game(object)
  }

  private static func game(_ object: NodeEvent.ObjectDescription) -> String {
    (object.game?.lines ?? []).map { "\n    \(TerminalText.cleaned($0, limit: 512))" }.joined()
  }

  private static func list(_ keys: [String]) -> String {
    keys.map { TerminalText.cleaned($0) }.joined(separator: ", ")
  }
}

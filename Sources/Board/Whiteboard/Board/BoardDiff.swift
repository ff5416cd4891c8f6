import PeerCore

/// The differences between two states of a board that are visible to users.
///
/// Chat lines, groups and settings are included. A deleted object appears only as removed. Selections are ignored.
public struct BoardDiff: Hashable, Sendable {
  /// The way in which an object differs between the two states.
  public enum Fate: String, Hashable, Sendable {
    case added
    case removed
    case changed
  }

  /// A property that differs between the two states.
  public struct Field: Hashable, Sendable {
    /// The property's key in the JSON of objects.
    public let name: String
    /// The value before, as JSON; nil if the object has no such property.
    public let before: String?
    /// The value after, as JSON; nil if the object has no such property.
    public let after: String?
  }

  /// An object that differs between the two states.
  public struct Change: Hashable, Sendable {
    /// The way in which the object differs.
    public let fate: Fate
    /// The id of the object.
    public let id: ObjectID
    /// The kind of object.
    public let kind: ObjectKind
    /// The properties that changed; all properties if the object was added or removed.
    public let fields: [Field]

    /// The change as one line of JSON, with control characters escaped.
    ///
    /// The keys are `change`, `id`, `type`, `before` and `after`. The values of `before` and `after` are objects with
    /// the properties.
    public var json: String {
      var json = JSONObject()
      json.add("change", string: fate.rawValue)
      json.add("id", string: id.description)
      json.add("type", string: kind.name)
      if fate != .added { json.add("before", json: Self.object(fields) { $0.before }) }
      if fate != .removed { json.add("after", json: Self.object(fields) { $0.after }) }
      return json.text
    }

    private static func object(_ fields: [Field], _ side: (Field) -> String?) -> String {
      var json = JSONObject()
      for field in fields { if let value = side(field) { json.add(field.name, json: value) } }
      return json.text
    }
  }

  /// The objects that differ, in ascending order of id.
  public let changes: [Change]

  /// Whether the two states have no differences.
  public var isEmpty: Bool { changes.isEmpty }

  /// Returns the differences between `earlier` and `later`.
  /// - Complexity: O(*n* log *n*), where *n* is the number of cells in both states.
  public static func between(_ earlier: BoardState, _ later: BoardState) -> BoardDiff {
    var changes: [Change] = []
    for id in Set(earlier.records.keys).union(later.records.keys).sorted() {
      let before = earlier.isVisible(id) ? earlier.record(id) : nil
      let after = later.isVisible(id) ? later.record(id) : nil
      guard let kind = after?.kind ?? before?.kind else { continue }
      let fields = differing(before?.content ?? [], after?.content ?? [])
      switch (before, after) {
      case (nil, nil): break
      case (nil, _): changes.append(Change(fate: .added, id: id, kind: kind, fields: fields))
      case (_, nil): changes.append(Change(fate: .removed, id: id, kind: kind, fields: fields))
      default:
        guard !fields.isEmpty else { break }
        changes.append(Change(fate: .changed, id: id, kind: kind, fields: fields))
      }
    }
    return BoardDiff(changes: changes)
  }

  private static func differing(_ before: [(name: String, json: String)], _ after: [(name: String, json: String)])
    -> [Field]
  {
    var old: [String: String] = [:]
    for (name, json) in before { old[name] = json }
    var fields: [Field] = []
    for (name, json) in after {
      let known = old.removeValue(forKey: name)
      if known != json { fields.append(Field(name: name, before: known, after: json)) }
    }
    for (name, json) in before where old[name] != nil { fields.append(Field(name: name, before: json, after: nil)) }
    return fields
  }
}

extension ObjectRecord {
  /// The visible properties of the object, as JSON keys and values in a fixed order. The values do not depend on the
  /// times and authors of the writes. A default value is listed as if it had been written.
  fileprivate var content: [(name: String, json: String)] {
    let isShown = kind?.isShown ?? false
    var content: [(name: String, json: String)] = []
    if isShown {
      let ink = ink
      let frame = frame(points: ink)
      content = [
        ("centerPosition", JSONObject.list([frame.center.x, frame.center.y])),
        ("size", JSONObject.list([frame.size.width, frame.size.height])), ("scale", JSONObject.number(scale)),
        ("angle", JSONObject.number(angle)), ("zIndex", JSONObject.quoted(Hexadecimal.encode(zIndex))),
      ]
      if hasText { content.append(("text", JSONObject.quoted(text))) }
      if let form {
        content.append(("form", JSONObject.quoted(form.name)))
        content.append(("lineWidth", JSONObject.number(lineWidth)))
        if form.hasPoints {
          content.append(
            ("points", "[" + linePoints.map { JSONObject.list([$0.x, $0.y]) }.joined(separator: ",") + "]")
          )
        }
      }
      if let ink {
        let list = ink.map { JSONObject.list([$0.point.x, $0.point.y]) }.joined(separator: ",")
        content.append(("points", "[" + list + "]"))
        content.append(("lineWidth", JSONObject.number(lineWidth)))
        content.append(("isFinished", isFinished ? "true" : "false"))
      }
      content.append(("isLocked", isLocked ? "true" : "false"))
    }
    if kind == .chat, let line = chatLine {
      content.append(("author", JSONObject.quoted(line.author.description)))
      content.append(("text", JSONObject.quoted(line.text)))
    }
    return content + cellContent(isShown: isShown)
  }

  /// Lists the properties without a default value, with the raw values of their cells.
  private func cellContent(isShown: Bool) -> [(name: String, json: String)] {
    var content: [(name: String, json: String)] = []
    var erased: Set<String> = []
    var moves: [String] = []
    for entry in entries {
      let (property, value) = (entry.property, entry.cell.value)
      guard value != .none else { continue }
      switch property.number {
      case Property.erasureNumber: erased.insert(value.json)
      case Property.moveNumber: if let dot = property.dot { moves.append(JSONObject.quoted(dot.description)) }
      default: if let name = property.contentName(isShown: isShown) { content.append((name, value.json)) }
      }
    }
    if !erased.isEmpty { content.append(("erased", "[" + erased.sorted().joined(separator: ",") + "]")) }
    if !moves.isEmpty { content.append(("moves", "[" + moves.joined(separator: ",") + "]")) }
    return content
  }
}

extension Property {
  /// The key under which the raw value of this property is listed; nil if the raw value is not listed.
  fileprivate func contentName(isShown: Bool) -> String? {
    switch self {
    case .kind, .deleted, .selection, .chatAuthor, .chatText, .purge: return nil
    case .position, .scale, .angle, .size, .zIndex, .lineWidth, .lock, .end:
      // Groups and settings do not use this property, so the key contains only its number.
      return isShown ? nil : "property-\(number)"
    case .color: return "color"
    case .asset: return "asset"
    case .chatName: return "name"
    case .chatIcon: return "icon"
    case .chatTime: return "sentAt"
    case .group: return "group"
    case .game: return "game"
    case .setup: return "setup"
    case .replaces: return "replaces"
    case .title: return "title"
    case .background: return "background"
    case .grid: return "grid"
    case .language: return "language"
    case .form: return nil
    case .fill: return "fill"
    case .lineStyle: return "lineStyle"
    case .opacity: return "opacity"
    case .lineStart: return "lineStart"
    case .lineEnd: return "lineEnd"
    case .curve: return "isCurved"
    case .textSize: return "textSize"
    case .typeface: return "typeface"
    case .alignment: return "alignment"
    case .emphasis: return "emphasis"
    case .textColor: return "textColor"
    case .autoWidth: return "isAutoWidth"
    case .startBinding: return "startBinding"
    case .endBinding: return "endBinding"
    case .link: return "link"
    case .frame: return "frame"
    case .crop: return "crop"
    case .flip: return "flip"
    case .about: return "about"
    case .resolved: return "isResolved"
    default: break
    }
    switch number {
    case Property.inkNumber, Property.pointNumber, Property.runNumber, Property.deletionNumber: return nil
    default: break
    }
    if let index { return "property-\(number)-\(index)" }
    if let dot { return "property-\(number)-\(dot)" }
    return "property-\(number)"
  }
}

extension Value {
  fileprivate var json: String {
    switch self {
    case .none: "null"
    case .unsigned(let number): String(number)
    case .signed(let number): String(number)
    case .pair(let x, let y): "[\(x),\(y)]"
    case .bytes(let bytes): JSONObject.quoted(Hexadecimal.encode(bytes))
    case .text(let text): JSONObject.quoted(text)
    case .dot(let dot): JSONObject.quoted(dot.description)
    }
  }
}

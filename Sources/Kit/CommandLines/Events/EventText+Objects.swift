import PeerCore
import Whiteboard
import WhiteboardKit
import WhiteboardRendering
import WhiteboardSync

extension EventText {
  static func object(_ object: ReportedObject, naming name: (String) -> String = EventText.prefix)
    -> String
  { about(object, wordsLimit: 80, naming: name).joined(separator: ", ") }

  static func prefix(of peer: String) -> String { UntrustedText(peer.prefix(8)).escaped() }

  /// If the object is a game, further lines show the game and explain its marks.
  static func whole(_ object: ReportedObject, naming name: (String) -> String = EventText.prefix)
    -> String
  { self.object(object, naming: name) + (game(object) + rules(object)).joined() }

  /// If the object is a game, further lines show the game and explain its marks.
  static func detailed(_ object: ReportedObject) -> String {
    (about(object, wordsLimit: wordsLimit, naming: EventText.prefix) + looks(object)).joined(separator: ", ")
      + (game(object) + rules(object)).joined()
  }

  private static func about(_ object: ReportedObject, wordsLimit: Int, naming name: (String) -> String)
    -> [String]
  {
    let it = object.snapshot
    var first = "\(it.form?.name ?? it.kind.name) \(it.id)"
    if let game = object.game?.view["game"]?.string { first += " \(UntrustedText(game).quoted())" }
    if let text = object.wholeText { first += " \(text.quoted(limit: wordsLimit))" }
    var parts = [first]
    if let members = object.members { parts.append("of \(count(members.count, "object"))") }
    if let points = object.points { parts.append(count(points.part?.total ?? points.count, "point")) }
    if let erased = object.erased { parts.append("erased in \(count(erased.total ?? erased.ranges.count, "place"))") }
    if let isHere = it.isAssetAvailable { parts.append(isHere ? "with its photo" : "photo not received yet") }
    parts[parts.count - 1] += " at \(place(it.centerPosition))"
    if it.scale != 1 { parts.append("scale \(number(it.scale))") }
    if it.angle != 0 { parts.append("turned \(number((it.angle * 180 / .pi).rounded()))°") }
    if it.isLocked { parts.append("locked") }
    for (index, group) in it.groups.enumerated() {
      parts.append("\(index == 0 ? "in" : "that in") group \(group)")
    }
    if let holder = it.selectedBy { parts.append("selected by \(name(holder.description))") }
    return parts
  }

  private static func looks(_ object: ReportedObject) -> [String] {
    let it = object.snapshot
    var parts = ["size \(number(it.size.width)) by \(number(it.size.height))"]
    if let color = it.color { parts.append("color \(ColorText.text(color))") }
    if let width = it.lineWidth { parts.append("line \(number(width)) wide") }
    if it.isFinished == false { parts.append("still being drawn") }
    if let asset = it.asset {
      parts += ["\(asset.width) by \(asset.height) pixels", asset.format.name, count(asset.byteCount, "byte")]
    }
    if let path = object.path { parts.append("in \(UntrustedText(path).escaped())") }
    parts.append("changed \(Timestamp.text(milliseconds: it.updatedAt))")
    if let members = object.members { parts.append("holds \(members.map(\.description).joined(separator: ", "))") }
    if let frame = it.frame { parts.append("in frame \(frame)") }
    if let link = it.link { parts.append("link \(UntrustedText(link).escaped(limit: BoardLimits.linkBytes))") }
    parts += it.votes.map { "\(UntrustedText($0.reaction).escaped()) from \(count($0.members.count, "member"))" }
    return parts
  }

  static func place(_ point: Point) -> String { "\(number(point.x)),\(number(point.y))" }

  static func game(_ object: ReportedObject) -> [String] {
    (object.game?.lines ?? []).map { "\n    \($0.escaped(limit: 512))" }
  }

  private static func rules(_ object: ReportedObject) -> [String] {
    let play = "\n    (play \(object.snapshot.id)"
    return switch object.game?.view["game"]?.string {
    case "wordle": ["\(play) WORD; = right place, ~ elsewhere in the word, - not in the word)"]
    case "connect-four": ["\(play) COLUMN, from 1 to 7, or resign)"]
    default: []
    }
  }
}

extension EventText {
  static func change(
    of object: ReportedObject,
    _ keys: [String],
    naming name: (String) -> String = EventText.prefix
  ) -> String {
    "\(self.object(object, naming: name)) (\(list(keys)))" + (keys.contains("game") ? game(object).joined() : "")
  }

  static func chat(_ line: ChatLine) -> String {
    let about = line.about.map { " about \($0)\(line.isResolved ? ", resolved" : "")" } ?? ""
    let name = person(UntrustedText(line.name ?? ""), line.author.description)
    return "<\(name)\(about)> \(UntrustedText(line.text).escaped(limit: wordsLimit))"
  }

  static func settings(_ settings: BoardSettings) -> String {
    var parts: [String] = []
    if let title = settings.title { parts.append("title \(UntrustedText(title).quoted(limit: 256))") }
    if let background = settings.backgroundText { parts.append("background \(background)") }
    if let grid = settings.grid { parts.append(grid == 0 ? "no grid" : "grid \(number(grid))") }
    if let language = settings.language { parts.append("language \(UntrustedText(language).displayed(width: 16))") }
    return parts.isEmpty ? "no settings" : parts.joined(separator: ", ")
  }

  static func list(_ keys: [String]) -> String { keys.map { UntrustedText($0).escaped() }.joined(separator: ", ") }
}

extension EventText {
  /// Returns text such as `Ben wants to send you "photo.jpg" (2.1 MB).`
  package static func offerLine(_ offer: SharedBoard.News.ResourceOffered) -> String {
    "\(person(offer.sender, offer.peer)) wants to send you \(resource(offer.name)) "
      + "(\(ByteCount.text(Int(clamping: offer.size))))."
  }

  static func resourceLine(_ end: SharedBoard.News.ResourceFinished) -> String {
    let name = resource(end.name)
    switch end.outcome {
    case .delivered:
      guard end.direction == .incoming, let path = end.path else { return "\(name) has arrived" }
      return "\(name) was received: \(UntrustedText(path).escaped())"
    case .cancelled:
      let why = end.message?.escaped() ?? ""
      return why.isEmpty ? "\(name) was canceled" : "\(name) was canceled: \(why)"
    case .failed: return "\(name) failed: \(end.message?.escaped() ?? "")"
    }
  }

  /// Replaces the structured names of board resources by readable descriptions.
  static func resource(_ name: UntrustedText) -> String {
    guard let known = try? ResourceDTO(name: name.raw) else { return name.quoted(limit: 80) }
    let kind = known.type == .imageData ? "the photo of" : known.type.rawValue
    return "\(kind) \(UntrustedText(known.id).escaped(limit: 64))"
  }
}

extension EventText {
  static func lines(_ head: String, _ rest: [String]) -> String {
    ([head] + rest.map { "  \($0)" }).joined(separator: "\n")
  }

  static func diffLines(_ from: String, _ to: String?, _ changes: [JSONTree]) -> String {
    let from = UntrustedText(from).quoted(limit: 256)
    let to = to.map { UntrustedText($0).quoted(limit: 256) } ?? "now"
    return lines(
      "\(count(changes.count, "change")) from \(from) to \(to)",
      changes.map { change in
        let fate = change["change"]?.string ?? ""
        let sign = ["added": "+", "removed": "-"][fate] ?? "~"
        let type = UntrustedText(change["type"]?.string ?? "").escaped(limit: 64)
        let id = UntrustedText(change["id"]?.string ?? "").escaped(limit: 64)
        guard case .object(let fields)? = change["after"], sign == "~" else { return "\(sign) \(type) \(id)" }
        let keys = fields.keys.sorted().map { UntrustedText($0).escaped(limit: 64) }
        return "\(sign) \(type) \(id) (\(keys.joined(separator: ", ")))"
      }
    )
  }

  /// Returns the line for a successful command; nil for queries, because users see the results instead.
  static func doneLine(_ name: CommandName, _ done: CommandOutcome) -> String? {
    let made = (done.ids ?? done.id.map { [$0] }) ?? []
    let verb = name.rawValue
    switch name {
    case .objects, .show, .find, .chat, .settings, .peers, .digest, .checkpoints, .diff, .help, .profile, .invite, .web,
      .save:
      return nil
    case .undo, .redo: return "ok: \(steps(name, done))"
    case .text, .stroke, .photo, .game, .duplicate, .group: return "ok: \(names(made))"
    case .export, .import:
      let way = name == .export ? "to" : "from"
      return "ok: \(verb) \(count(done.count ?? 0, "object")) \(way) "
        + UntrustedText(done.file ?? "").quoted(limit: 256)
    case .wait:
      let line = syncLine(done.sync?.synced ?? [], done.sync?.notSynced ?? [])
      return line.isEmpty ? "ok: wait" : "ok: \(line)"
    case .deselect: return "ok: deselect"
    case .purge, .hide, .unhide:
      guard let objects = done.count else { break }
      return "ok: \(verb) \(count(objects, "object"))"
    case .erase where made.isEmpty: return "ok: there was nothing to erase"
    case .say:
      // No line is needed: the chat line has an event of its own, and users have no use for its id.
      return "ok: say"
    default: break
    }
    let shown = made.count > namesLimit ? "\(made.count) objects" : names(made)
    guard done.hasChanged == false else {
      return (shown.isEmpty ? "ok: \(verb)" : "ok: \(verb) \(shown)") + replacements(done.replaced ?? [])
    }
    guard !made.isEmpty else { return "ok: nothing changed" }
    return "ok: \(shown) did not change"
  }

  private static let namesLimit = 8

  private static func replacements(_ replaced: [CommandOutcome.ReplacedObject]) -> String {
    guard !replaced.isEmpty else { return "" }
    guard replaced.count <= namesLimit else {
      return " (\(count(replaced.count, "object has", "objects have")) a new id)"
    }
    return " (" + replaced.map { "\($0.former) now has the id \($0.id)" }.joined(separator: ", ") + ")"
  }

  private static func names(_ ids: [ObjectID]) -> String { ids.map(\.description).joined(separator: ", ") }
}

import PeerCore
import Whiteboard
import WhiteboardKit

/// The lines about the events of a board, for users and screen readers. A line names people, and describes other
/// members' objects by their text instead of their ids. While another member types a text or drags an object, the board
/// changes with each key and movement. These changes become one line, which appears when the member pauses or does
/// something else.
struct BoardNarrator {
  /// A text or a movement is finished after this time without a change.
  static let pause = Duration.seconds(2)

  private struct Pending {
    let author: String
    let isNew: Bool
    var changed: [String]
    var object: ReportedObject
    var due: Duration
    let number: Int
  }

  private var ownPeer = ""
  private var names: [String: UntrustedText] = [:]
  private var phrases: [ObjectID: String] = [:]
  private var labels: [ObjectID: String] = [:]
  private var lines: [ObjectID: [ObjectID]] = [:]
  private var pending: [ObjectID: Pending] = [:]
  private var count = 0
  private static let phraseLimit = 20_000
  private static let gradual: Set<String> = [
    "text", "centerPosition", "size", "scale", "angle", "points", "isFinished",
  ]

  var nextDue: Duration? { pending.values.map(\.due).min() }

  // MARK: - Lines

  mutating func lines(for event: SharedBoard.Output, now: Duration) -> [String] {
    switch event {
    case .change(let change, let details): return lines(for: change, details, now)
    case .news(.ready(let ready)):
      ownPeer = ready.peer
      names[ready.peer] = ready.name
    case .news(.profile(let profile)), .answer(.news(.profile(let profile)), _): names[profile.peer] = profile.name
    default: break
    }
    return [EventText.line(event)].compactMap(\.self)
  }

  private mutating func lines(for change: SharedBoard.Change, _ it: SharedBoard.ChangeDetails, _ now: Duration)
    -> [String]
  {
    let peer = it.member?.description
    switch change {
    case .added where it.isHidden, .changed where it.isHidden, .removed where it.isHidden: return []
    case .added: return it.object.map { added($0, by: it.member, now) } ?? []
    case .changed: return it.object.map { changed($0, by: it.member, now) } ?? []
    case .removed(let id, _):
      let earlier = finish { object, _ in object == id }
      let phrase = phrases.removeValue(forKey: id) ?? id.description
      (labels[id], lines[id]) = (nil, nil)
      return earlier + ["- \(lead(other(it.member)))\(phrase) deleted"]
    case .selected(let id, _):
      let earlier = finish { object, _ in object == id }
      let phrase = phrases[id] ?? id.description
      guard let peer else { return earlier + ["\(phrase) is free"] }
      if let name = it.name { names[peer] = name }
      return earlier + ["\(person(peer)) selected \(phrase)"]
    case .joined, .personalSetting: if let peer { names[peer] = it.name }
    case .chat, .left: return finish { $1.author == peer } + [EventText.line(.change(change, it))].compactMap(\.self)
    default: break
    }
    return [EventText.line(.change(change, it))].compactMap(\.self)
  }

  mutating func dueLines(now: Duration) -> [String] { finish { $1.due <= now } }

  mutating func allLines() -> [String] { finish { _, _ in true } }

  // MARK: - Objects

  private mutating func added(_ object: ReportedObject, by member: MemberID?, _ now: Duration) -> [String] {
    guard let author = other(member) else { return [addition(object, by: nil)] }
    let earlier = finish { $1.author == author }
    let mayGrow = object.snapshot.kind == .text || object.snapshot.isFinished == false
    guard mayGrow else { return earlier + [addition(object, by: author)] }
    hold(object, [], by: author, isNew: true, now)
    return earlier
  }

  private mutating func changed(_ object: ReportedObject, by member: MemberID?, _ now: Duration) -> [String] {
    let (id, new) = (object.snapshot.id, object.changed)
    guard let author = other(member) else {
      return finish { other, _ in other == id } + [change(object, new, by: nil)]
    }
    var earlier = finish { other, change in (other == id) != (change.author == author) }
    if var known = pending[id] {
      known.changed += new.filter { !known.changed.contains($0) }
      known.object = object
      known.due = now + Self.pause
      pending[id] = known
    } else if Self.gradual.isSuperset(of: new) {
      hold(object, new, by: author, isNew: false, now)
    } else {
      return earlier + [change(object, new, by: author)]
    }
    if new.contains("isFinished"), object.snapshot.isFinished == true { earlier += finish { other, _ in other == id } }
    return earlier
  }

  private mutating func hold(
    _ object: ReportedObject,
    _ changed: [String],
    by author: String,
    isNew: Bool,
    _ now: Duration
  ) {
    count += 1
    pending[object.snapshot.id] = Pending(
      author: author,
      isNew: isNew,
      changed: changed,
      object: object,
      due: now + Self.pause,
      number: count
    )
  }

  private mutating func finish(_ isFinished: (ObjectID, Pending) -> Bool) -> [String] {
    guard !pending.isEmpty else { return [] }
    let finished = pending.filter { isFinished($0.key, $0.value) }
    return finished.sorted { $0.value.number < $1.value.number }.map { id, change in
      pending[id] = nil
      return change.isNew
        ? addition(change.object, by: change.author) : self.change(change.object, change.changed, by: change.author)
    }
  }

  private mutating func addition(_ object: ReportedObject, by author: String?) -> String {
    remember(object)
    guard let author else { return "+ \(EventText.whole(object, naming: person))" }
    return "+ \(lead(author))\(phrase(object))\(connections(object)) at \(place(object))"
      + EventText.game(object).joined()
  }

  private mutating func change(_ object: ReportedObject, _ keys: [String], by author: String?) -> String {
    remember(object)
    guard let author else { return "~ \(EventText.change(of: object, keys, naming: person))" }
    var parts: [String] = []
    for key in keys {
      let part =
        switch key {
        case "centerPosition": "moved to \(place(object))"
        case "text": "edited"
        case "size", "scale": "resized"
        case "angle": "turned"
        case "points", "isFinished": "drawn"
        case "startBinding", "endBinding": "connected"
        default: "changed (\(Self.shown(key)))"
        }
      if !parts.contains(part) { parts.append(part) }
    }
    let what = parts.isEmpty ? "changed" : parts.joined(separator: ", ")
    return "~ \(lead(author))\(phrase(object))\(connections(object)), \(what)"
      + (keys.contains("game") ? EventText.game(object).joined() : "")
  }

  private mutating func remember(_ object: ReportedObject) {
    let it = object.snapshot
    if phrases.count >= Self.phraseLimit, phrases[it.id] == nil { (phrases, labels, lines) = ([:], [:], [:]) }
    labels[it.id] = object.wholeText.flatMap { $0.isEmpty ? nil : $0.displayed(width: 40) }
    let ends = [it.start, it.end].compactMap { $0?.target }
    lines[it.id] = ends.isEmpty ? nil : ends
    phrases[it.id] = phrase(object)
  }

  /// Returns, for example, `rectangle labeled Login server`, `text "hello"` or `arrow from Login to Database`.
  private func phrase(_ object: ReportedObject) -> String {
    let it = object.snapshot
    let kind = object.game?.view["game"]?.string.map(Self.shown) ?? it.form?.name ?? it.kind.name
    let ends = [(it.start, "from"), (it.end, "to")].compactMap { binding, word in
      binding.map { " \(word) \(name($0.target))" }
    }
    guard let label = labels[it.id] else {
      return ends.isEmpty ? "\(kind) \(it.id.dot.sequence)" : kind + ends.joined()
    }
    return (it.form == nil ? "\(kind) \"\(label)\"" : "\(kind) labeled \(label)") + ends.joined()
  }

  private func connections(_ object: ReportedObject) -> String {
    let id = object.snapshot.id
    let others = Set(lines.values.filter { $0.contains(id) }.joined().filter { $0 != id })
    let names = others.sorted { $0.description < $1.description }.map(name)
    return names.isEmpty ? "" : ", connected to \(EventText.listed(names))"
  }

  /// The name contains the sequence number of the object's id, because commands accept this number.
  private func name(_ id: ObjectID) -> String { labels[id] ?? phrases[id] ?? "object \(id.dot.sequence)" }

  private func place(_ object: ReportedObject) -> String { EventText.place(object.snapshot.centerPosition) }

  // MARK: - People

  private func other(_ member: MemberID?) -> String? { member?.description == ownPeer ? nil : member?.description }

  private func lead(_ author: String?) -> String { author.map { "\(person($0)): " } ?? "" }

  private func person(_ peer: String) -> String {
    let name = names[peer] ?? UntrustedText("")
    let isShared = names.contains { $0.key != peer && $0.value == name }
    return isShared ? EventText.person(name, peer) : EventText.shortName(name, peer)
  }

  private static func shown(_ word: String) -> String { UntrustedText(word).escaped(limit: 64) }
}

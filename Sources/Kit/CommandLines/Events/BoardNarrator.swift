import PeerCore
import WhiteboardKit

/// The lines about the events of a board, for users and screen readers.
///
/// A line names people, and describes the objects of others by their words instead of their ids. While another member types a text or drags an object, the board changes
/// with each key and movement; all of these changes are one line, which appears when the member pauses or does
/// something else.
struct BoardNarrator {
  /// The time without a change after which a text or a movement is finished.
  static let pause = Duration.seconds(2)

  /// Changes of an object that are not reported yet.
  private struct Pending {
    let author: String
    let isNew: Bool
    var changed: [String]
    var object: BoardEvent.ObjectDescription
    var due: Duration
    /// The number that orders the lines.
    let number: Int
  }

  private var ownPeer = ""
  private var names: [String: UntrustedText] = [:]
  /// Short descriptions of the objects that were reported, by their ids.
  private var phrases: [String: String] = [:]
  /// The words on the objects, by their ids.
  private var labels: [String: String] = [:]
  /// The objects between which each line or arrow runs.
  private var lines: [String: [String]] = [:]
  private var pending: [String: Pending] = [:]
  private var count = 0

  /// The maximum number of objects whose descriptions are remembered.
  private static let phraseLimit = 20_000
  /// The properties that change many times while a member types or drags.
  private static let gradual: Set<String> = [
    "text", "centerPosition", "size", "scale", "angle", "points", "isFinished",
  ]

  /// The time at which ``dueLines(now:)`` has a line; nil if none is pending.
  var nextDue: Duration? { pending.values.map(\.due).min() }

  // MARK: - Lines

  mutating func lines(for event: BoardEvent, now: Duration) -> [String] {
    switch event {
    case .objectAdded(let event):
      guard event.hidden != true else { return [] }
      return added(event, now)
    case .objectChanged(let event):
      guard event.hidden != true else { return [] }
      return changed(event, now)
    case .objectRemoved(let event):
      guard event.hidden != true else { return [] }
      let earlier = finish { id, _ in id == event.id }
      let phrase = phrases.removeValue(forKey: event.id) ?? Self.shown(event.id)
      (labels[event.id], lines[event.id]) = (nil, nil)
      return earlier + ["- \(lead(other(event.by)))\(phrase) deleted"]
    case .selected(let event):
      let earlier = finish { id, _ in id == event.id }
      let phrase = phrases[event.id] ?? Self.shown(event.id)
      guard let peer = event.peer else { return earlier + ["\(phrase) is free"] }
      if let name = event.name { names[peer] = name }
      return earlier + ["\(person(peer)) selected \(phrase)"]
    case .ready(let ready):
      ownPeer = ready.peer
      names[ready.peer] = ready.name
    case .joined(let joined): names[joined.peer] = joined.name
    case .profile(let profile): names[profile.peer] = profile.name
    case .chat(let chat): return finish { $1.author == chat.peer } + [EventText.chat(chat)]
    case .left(let left): return finish { $1.author == left.peer } + [EventText.line(event)].compactMap(\.self)
    default: break
    }
    return EventText.line(event).map { [$0] } ?? []
  }

  mutating func dueLines(now: Duration) -> [String] { finish { $1.due <= now } }

  /// Returns all pending lines, because the board closes.
  mutating func allLines() -> [String] { finish { _, _ in true } }

  // MARK: - Objects

  private mutating func added(_ event: BoardEvent.ObjectAdded, _ now: Duration) -> [String] {
    guard let author = other(event.by) else { return [addition(event.object, by: nil)] }
    let earlier = finish { $1.author == author }
    let mayGrow = event.object.type == "text" || event.object.isFinished == false
    guard mayGrow else { return earlier + [addition(event.object, by: author)] }
    hold(event.object, [], by: author, isNew: true, now)
    return earlier
  }

  private mutating func changed(_ event: BoardEvent.ObjectChanged, _ now: Duration) -> [String] {
    guard let author = other(event.by) else {
      return finish { id, _ in id == event.id } + [change(event.object, event.changed, by: nil)]
    }
    var earlier = finish { id, change in (id == event.id) != (change.author == author) }
    if var known = pending[event.id] {
      known.changed += event.changed.filter { !known.changed.contains($0) }
      known.object = event.object
      known.due = now + Self.pause
      pending[event.id] = known
    } else if Self.gradual.isSuperset(of: event.changed) {
      hold(event.object, event.changed, by: author, isNew: false, now)
    } else {
      return earlier + [change(event.object, event.changed, by: author)]
    }
    if event.changed.contains("isFinished"), event.object.isFinished == true {
      earlier += finish { id, _ in id == event.id }
    }
    return earlier
  }

  private mutating func hold(
    _ object: BoardEvent.ObjectDescription,
    _ changed: [String],
    by author: String,
    isNew: Bool,
    _ now: Duration
  ) {
    count += 1
    pending[object.id] = Pending(
      author: author,
      isNew: isNew,
      changed: changed,
      object: object,
      due: now + Self.pause,
      number: count
    )
  }

  /// Removes pending changes, and returns their lines.
  private mutating func finish(_ isFinished: (String, Pending) -> Bool) -> [String] {
    guard !pending.isEmpty else { return [] }
    let finished = pending.filter { isFinished($0.key, $0.value) }
    return finished.sorted { $0.value.number < $1.value.number }.map { id, change in
      pending[id] = nil
      return change.isNew
        ? addition(change.object, by: change.author) : self.change(change.object, change.changed, by: change.author)
    }
  }

  private mutating func addition(_ object: BoardEvent.ObjectDescription, by author: String?) -> String {
    remember(object)
    guard let author else { return "+ \(EventText.whole(object, naming: person))" }
    return "+ \(lead(author))\(phrase(object))\(connections(object)) at \(place(object))"
      + EventText.game(object).joined()
  }

  private mutating func change(_ object: BoardEvent.ObjectDescription, _ keys: [String], by author: String?) -> String {
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

  private mutating func remember(_ object: BoardEvent.ObjectDescription) {
    if phrases.count >= Self.phraseLimit, phrases[object.id] == nil { (phrases, labels, lines) = ([:], [:], [:]) }
    labels[object.id] = object.wholeText.flatMap { $0.isEmpty ? nil : $0.displayed(width: 40) }
    let ends = [object.startBinding, object.endBinding].compactMap { $0?.id }
    lines[object.id] = ends.isEmpty ? nil : ends
    phrases[object.id] = phrase(object)
  }

  /// Describes an object: `rectangle labelled Login server`, `text "hello"`, `arrow from Login to Database`.
  private func phrase(_ object: BoardEvent.ObjectDescription) -> String {
    let kind = Self.shown(object.game?.view["game"]?.string ?? object.form ?? object.type)
    let ends = [(object.startBinding, "from"), (object.endBinding, "to")].compactMap { binding, word in
      binding.map { " \(word) \(name($0.id))" }
    }
    guard let label = labels[object.id] else {
      return ends.isEmpty ? "\(kind) \(number(object.id))" : kind + ends.joined()
    }
    return (object.form == nil ? "\(kind) \"\(label)\"" : "\(kind) labelled \(label)") + ends.joined()
  }

  /// Names the objects to which arrows and lines connect an object.
  private func connections(_ object: BoardEvent.ObjectDescription) -> String {
    let others = lines.values.filter { $0.contains(object.id) }.joined().filter { $0 != object.id }
    let names = Set(others).sorted().map(name)
    return names.isEmpty ? "" : ", connected to \(EventText.listed(names))"
  }

  private func name(_ id: String) -> String { labels[id] ?? phrases[id] ?? "object \(number(id))" }

  /// Returns the number at the beginning of an id, by which commands can name the object.
  private func number(_ id: String) -> String { Self.shown(String(id.prefix { $0 != "-" })) }

  private func place(_ object: BoardEvent.ObjectDescription) -> String {
    object.centerPosition.map(EventText.number).joined(separator: ",")
  }

  // MARK: - People

  /// Returns a peer if it is not the local one.
  private func other(_ peer: String?) -> String? { peer.flatMap { $0 == ownPeer ? nil : $0 } }

  private func lead(_ author: String?) -> String { author.map { "\(person($0)): " } ?? "" }

  /// Returns the display name of a peer; the id prefix follows if another peer has the same name.
  private func person(_ peer: String) -> String {
    let name = names[peer] ?? UntrustedText("")
    let isShared = names.contains { $0.key != peer && $0.value == name }
    return isShared ? EventText.person(name, peer) : EventText.shortName(name, peer)
  }

  private static func shown(_ word: String) -> String { UntrustedText(word).escaped(limit: 64) }
}

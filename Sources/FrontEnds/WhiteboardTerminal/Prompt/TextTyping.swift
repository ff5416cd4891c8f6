import Whiteboard
import WhiteboardKit
import WhiteboardRendering

/// A text object or the label of a form, which all members see while it is typed. Other members may type in the same
/// object at the same time. Their changes are preserved, and move the caret.
struct TextTyping: Sendable {
  /// The reference to the text object in commands; nil before the first letter of a new text object.
  private(set) var reference: ObjectReference?
  private(set) var id: ObjectID?
  /// The middle of the first letter of a new text; the center of an existing object.
  let place: Point
  /// Whether the text is the label of a form. The form stays on the board even if its label is empty.
  private let isLabel: Bool
  /// The text that the user sees, including changes that are not sent yet.
  private(set) var scalars: [Unicode.Scalar]
  private(set) var caret: Int
  /// The text that results from the commands sent so far.
  private var sent: [Unicode.Scalar]
  private var pending: Set<Int64> = []

  init(at place: Point) {
    self.place = place
    isLabel = false
    (scalars, sent, caret) = ([], [], 0)
  }

  /// Begins to type at the end of an existing text object or label.
  init(_ snapshot: ObjectSnapshot) {
    place = snapshot.centerPosition
    isLabel = snapshot.form != nil
    id = snapshot.id
    reference = .id(snapshot.id)
    scalars = Array((snapshot.text ?? "").unicodeScalars)
    (sent, caret) = (scalars, scalars.count)
  }

  var text: String { Self.string(scalars[...]) }

  private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }

  // MARK: - Typing

  mutating func handle(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> Bool {
    if modifiers.contains(.control), case .character(let letter) = key { return control(letter) }
    switch key {
    case .character(let character) where !modifiers.contains(.alt): insert(String(character))
    case .enter:
      guard modifiers.contains(.alt) || modifiers.contains(.shift) else { return true }
      insert("\n")
    case .escape: return true
    case .backspace: remove(before(caret)..<caret)
    case .delete: remove(caret..<after(caret))
    case .left: caret = before(caret)
    case .right: caret = after(caret)
    case .home: caret = lineStart(caret)
    case .end: caret = lineEnd(caret)
    case .up: moveLine(up: true)
    case .down: moveLine(up: false)
    default: break
    }
    return false
  }

  private mutating func control(_ letter: Character) -> Bool {
    switch letter {
    case "j": insert("\n")
    case "a": caret = lineStart(caret)
    case "e": caret = lineEnd(caret)
    case "u": remove(lineStart(caret)..<caret)
    case "k": remove(caret..<lineEnd(caret))
    case "w": remove(wordStart..<caret)
    case "c", "d": return true
    default: break
    }
    return false
  }

  mutating func insert(_ words: String) {
    let new = Array(PlainText.lines(words).unicodeScalars)
    scalars.insert(contentsOf: new, at: caret)
    caret += new.count
  }

  private mutating func remove(_ range: Range<Int>) {
    scalars.removeSubrange(range)
    caret = range.lowerBound
  }

  /// Returns the index of the character before an index; a character may consist of several Unicode scalars.
  private func before(_ index: Int) -> Int {
    // A character of more than 64 Unicode scalars is split.
    let start = max(0, index - 64)
    return index - (Self.string(scalars[start..<index]).last?.unicodeScalars.count ?? 0)
  }

  private func after(_ index: Int) -> Int {
    let end = min(scalars.count, index + 64)
    return index + (Self.string(scalars[index..<end]).first?.unicodeScalars.count ?? 0)
  }

  private func lineStart(_ index: Int) -> Int { scalars[..<index].lastIndex(of: "\n").map { $0 + 1 } ?? 0 }

  private func lineEnd(_ index: Int) -> Int { scalars[index...].firstIndex(of: "\n") ?? scalars.count }

  private var wordStart: Int {
    var start = caret
    while start > 0, scalars[start - 1].properties.isWhitespace { start -= 1 }
    while start > 0, !scalars[start - 1].properties.isWhitespace { start -= 1 }
    return start
  }

  private mutating func moveLine(up: Bool) {
    let start = lineStart(caret)
    let column = caret - start
    if up {
      guard start > 0 else { return }
      caret = min(lineStart(start - 1) + column, start - 1)
    } else {
      let end = lineEnd(caret)
      guard end < scalars.count else { return }
      caret = min(end + 1 + column, lineEnd(end + 1))
    }
  }

  // MARK: - Commands

  /// Returns the command that brings the board up to date; nil if nothing changed. The first letter of a new text
  /// creates the object, under an alias that contains the request id.
  mutating func command(color: UInt32?, request: Int64) throws(CommandError) -> Command? {
    guard let reference else {
      guard !scalars.isEmpty else { return nil }
      let alias = ObjectAlias("typed-\(request)")
      self.reference = alias.map { .alias($0) }
      sent = scalars
      pending.insert(request)
      let letter = BoardPicture.letter
      return .text(
        at: try BoardPoint(rounding: Point(x: place.x - letter.width / 2, y: place.y - letter.height / 2)),
        words: text,
        startsAtCorner: true,
        color: color,
        alias: alias
      )
    }
    guard let (change, before) = nextChange() else { return nil }
    pending.insert(request)
    // The index refers to the text `before`, because other members may have typed since then.
    return .insert(
      reference,
      at: change.range.lowerBound,
      words: change.words,
      replacing: change.range.count,
      was: before
    )
  }

  /// Returns the change since the last call, and the text before it.
  mutating func nextChange() -> (difference: TextDifference, before: String)? {
    guard sent != scalars else { return nil }
    defer { sent = scalars }
    return (TextDifference(from: sent, to: scalars), Self.string(sent[...]))
  }

  /// The command that deletes the text object if it contains nothing visible.
  var deletion: Command? {
    guard !isLabel, let reference, scalars.allSatisfy(\.properties.isWhitespace) else { return nil }
    return .delete([reference])
  }

  mutating func created(_ id: ObjectID, by request: Int64) {
    if pending.contains(request), self.id == nil { self.id = id }
  }

  mutating func finish(_ request: Int64) { pending.remove(request) }

  /// Replaces the text with the text on the board if all requests are answered.
  mutating func settle(_ text: String) {
    let actual = Array(text.unicodeScalars)
    guard pending.isEmpty, actual != scalars else { return }
    caret = TextDifference(from: scalars, to: actual).moved(caret)
    (scalars, sent) = (actual, actual)
  }
}

extension ObjectSnapshot {
  var canBeTypedIn: Bool { kind == .text || form != nil }
}

import Whiteboard
import WhiteboardNode

/// Words that are being typed into a text on the board, seen by everybody as they come.
///
/// Others may type in the same text meanwhile: what they change moves our caret along and is kept.
struct TextTyping: Sendable {
  /// What the verbs call the text; nil before the first letter of a new one.
  private(set) var reference: ObjectReference?
  /// The text on the board, once that is known.
  var id: ObjectID?
  /// Where it is, or is to be.
  let place: Point
  /// The words as they are when all that was typed has been carried out.
  private(set) var scalars: [Unicode.Scalar]
  /// After how many of them the next one goes.
  private(set) var caret: Int
  /// What the node has been told the words are.
  private var told: [Unicode.Scalar]
  /// The verbs that have not been answered.
  var inFlight: Set<Int64> = []

  /// A new text at a place.
  init(at place: Point) {
    self.place = place
    (scalars, told, caret) = ([], [], 0)
  }

  /// A text that is there, the caret at its end.
  init(_ snapshot: ObjectSnapshot) {
    place = snapshot.centerPosition
    id = snapshot.id
    reference = ObjectReference(snapshot.id)
    scalars = Array((snapshot.text ?? "").unicodeScalars)
    (told, caret) = (scalars, scalars.count)
  }

  /// The words.
  var words: String { Self.string(scalars[...]) }

  private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }

  // MARK: - Typing

  /// A key; whether the typing is over.
  mutating func take(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> Bool {
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
    case .up: climb(up: true)
    case .down: climb(up: false)
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

  /// Puts words where the caret is.
  mutating func insert(_ words: String) {
    let new = Array(PlainText.lines(words).unicodeScalars)
    scalars.insert(contentsOf: new, at: caret)
    caret += new.count
  }

  private mutating func remove(_ range: Range<Int>) {
    scalars.removeSubrange(range)
    caret = range.lowerBound
  }

  /// The place a character before another; what a person takes for a character may be several scalars.
  private func before(_ place: Int) -> Int {
    // No character is worth looking further back for.
    let start = max(0, place - 64)
    return place - (Self.string(scalars[start..<place]).last?.unicodeScalars.count ?? 0)
  }

  private func after(_ place: Int) -> Int {
    let end = min(scalars.count, place + 64)
    return place + (Self.string(scalars[place..<end]).first?.unicodeScalars.count ?? 0)
  }

  private func lineStart(_ place: Int) -> Int {
    scalars[..<place].lastIndex(of: "\n").map { $0 + 1 } ?? 0
  }

  private func lineEnd(_ place: Int) -> Int {
    scalars[place...].firstIndex(of: "\n") ?? scalars.count
  }

  private var wordStart: Int {
    var start = caret
    while start > 0, scalars[start - 1].properties.isWhitespace { start -= 1 }
    while start > 0, !scalars[start - 1].properties.isWhitespace { start -= 1 }
    return start
  }

  private mutating func climb(up: Bool) {
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

  // MARK: - Telling

  /// The text is new and is made now, under a name.
  mutating func begins(as name: String) {
    (reference, told) = (ObjectAlias(name).map { .alias($0) }, scalars)
  }

  /// What the node has not been told, and the words that it changes; it is taken for told from now on.
  mutating func takeChange() -> (difference: TextDifference, before: String)? {
    guard told != scalars else { return nil }
    defer { told = scalars }
    return (TextDifference(from: told, to: scalars), Self.string(told[...]))
  }

  /// What the board has when all that was typed has been carried out: others may have typed as well.
  mutating func settle(_ words: String) {
    let actual = Array(words.unicodeScalars)
    guard inFlight.isEmpty, actual != scalars else { return }
    caret = TextDifference(from: scalars, to: actual).moved(caret)
    (scalars, told) = (actual, actual)
  }
}

import Whiteboard
import WhiteboardRendering

/// A line that is being typed: its text, a cursor, and the lines entered before.
package struct LineEditor: Hashable, Sendable {
  let label: String
  private(set) var characters: [Character] = []
  /// The number of characters before the cursor.
  private(set) var cursor = 0
  private var history: [String]
  /// The index of the shown line of the history; the end index means the line being typed.
  private var historyIndex: Int
  /// The line being typed, while a line of the history is shown.
  private var draft: [Character] = []

  static let limit = 4096

  init(label: String, text: String = "", history: [String] = []) {
    self.label = label
    self.history = history
    historyIndex = history.count
    characters = Array(text)
    cursor = characters.count
  }

  package var text: String { String(characters) }

  enum Outcome: Hashable, Sendable {
    /// The line was edited, or nothing happened.
    case typing
    case entered(String)
    case canceled, complete
  }

  mutating func handle(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> Outcome {
    if modifiers.contains(.control), case .character(let letter) = key { return control(letter) }
    switch key {
    case .character(let character) where !modifiers.contains(.alt): insert([character])
    case .enter: return .entered(text)
    case .escape: return .canceled
    case .tab: return .complete
    case .backspace:
      if characters.isEmpty { return .canceled }
      remove(cursor - 1)
    case .delete: remove(cursor)
    case .left: cursor = max(0, cursor - 1)
    case .right: cursor = min(characters.count, cursor + 1)
    case .home: cursor = 0
    case .end: cursor = characters.count
    case .up: recall(historyIndex - 1)
    case .down: recall(historyIndex + 1)
    default: break
    }
    return .typing
  }

  private mutating func control(_ letter: Character) -> Outcome {
    switch letter {
    case "a": cursor = 0
    case "e": cursor = characters.count
    case "u":
      characters.removeFirst(cursor)
      cursor = 0
    case "k": characters.removeLast(characters.count - cursor)
    case "w":
      while cursor > 0, characters[cursor - 1] == " " { remove(cursor - 1) }
      while cursor > 0, characters[cursor - 1] != " " { remove(cursor - 1) }
    case "c", "g": return .canceled
    default: break
    }
    return .typing
  }

  /// Line ends become spaces.
  mutating func insert(_ text: some Sequence<Character>) {
    for character in PlainText.line(String(text)) where characters.count < Self.limit {
      characters.insert(character, at: cursor)
      cursor += 1
    }
  }

  mutating func replace(by text: String) {
    characters = []
    cursor = 0
    insert(text)
  }

  mutating func replaceWord(by word: String) {
    while cursor > 0, characters[cursor - 1] != " " { remove(cursor - 1) }
    insert(word)
  }

  var word: String { String(characters[..<cursor].reversed().prefix { $0 != " " }.reversed()) }

  private mutating func remove(_ index: Int) {
    guard characters.indices.contains(index) else { return }
    characters.remove(at: index)
    if index < cursor { cursor -= 1 }
  }

  /// Draws the line on the first row of the area. Returns the cell of the cursor.
  func draw(on screen: inout Screen, in area: CellArea, _ style: CellStyle) -> (x: Int, y: Int) {
    let y = area.rows.lowerBound
    let start = screen.put(label, x: area.columns.lowerBound, y: y, style.bold, in: area)
    // If the line is too long, the part before the cursor is visible.
    var first = 0
    func columnsBefore() -> Int { CharacterWidth.columns(String(characters[first..<cursor])) }
    while first < cursor, columnsBefore() >= area.columns.upperBound - start { first += 1 }
    screen.put(String(characters[first...]), x: start, y: y, style, in: area)
    return (min(start + columnsBefore(), max(area.columns.upperBound - 1, 0)), y)
  }

  private mutating func recall(_ index: Int) {
    guard (0...history.count).contains(index) else { return }
    if historyIndex == history.count { draft = characters }
    historyIndex = index
    characters = index == history.count ? draft : Array(history[index])
    cursor = characters.count
  }
}

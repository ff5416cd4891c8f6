/// A list of commands from which the user picks one.
struct Menu: Hashable, Sendable {
  struct Item: Hashable, Sendable {
    let command: KeyMap.Command
    let words: String
  }

  let items: [Item]
  /// The index of the highlighted item, which Enter picks.
  private(set) var chosen = 0
  /// The cell beside which the menu opens; nil for the lower left corner.
  let cell: Cell?

  struct Cell: Hashable, Sendable {
    let x: Int
    let y: Int
  }

  init(_ items: [Item], at cell: Cell?) {
    self.items = items
    self.cell = cell
  }

  var command: KeyMap.Command? { items.indices.contains(chosen) ? items[chosen].command : nil }

  /// Moves the highlight up or down; after the last item, the first one follows.
  mutating func step(_ by: Int) {
    guard !items.isEmpty else { return }
    chosen = (chosen + by + items.count) % items.count
  }

  /// Moves the highlight by several items, and stops at the first or the last item.
  mutating func leap(_ by: Int) { choose(min(max(0, chosen + by), items.count - 1)) }

  mutating func choose(_ index: Int) { if items.indices.contains(index) { chosen = index } }

  static func ofSelection(hasText: Bool, hasGame: Bool) -> [Item] {
    var items: [Item] = []
    if hasText { items.append(Item(command: .edit, words: "edit the text")) }
    if hasGame { items.append(Item(command: .edit, words: "play")) }
    return items + [
      Item(command: .duplicate, words: "duplicate"), Item(command: .copy, words: "copy"),
      Item(command: .raise, words: "to the front"), Item(command: .lower, words: "to the back"),
      Item(command: .group, words: "group"), Item(command: .ungroup, words: "ungroup"),
      Item(command: .lock, words: "lock or unlock"), Item(command: .delete, words: "delete"),
      Item(command: .selectNone, words: "deselect"),
    ]
  }

  static let ofBoard: [Item] =
    [Tool.pen, .text, .select, .eraser, .line, .rectangle, .ellipse, .arrow].map {
      Item(command: .tool($0), words: $0.rawValue)
    } + [
      Item(command: .undo, words: "undo"), Item(command: .redo, words: "redo"), Item(command: .paste, words: "paste"),
      Item(command: .photo, words: "photo from a file"), Item(command: .export, words: "export to a file"),
      Item(command: .game, words: "Wordle"), Item(command: .connectFour, words: "Connect Four"),
      Item(command: .fit, words: "show everything"), Item(command: .follow, words: "follow a person"),
      Item(command: .invite, words: "invite"), Item(command: .chat, words: "write a message"),
      Item(command: .readChat, words: "read the chat"), Item(command: .command, words: "any command"),
      Item(command: .help, words: "all keys"), Item(command: .quit, words: "leave"),
    ]
}

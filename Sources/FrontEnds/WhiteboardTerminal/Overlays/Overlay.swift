import WhiteboardKit
import WhiteboardRendering

/// A view that covers the board until a key or a click closes it.
enum Overlay: Hashable, Sendable {
  case panel(Panel)
  /// How others join: with the given browser link, or in every way if the link is nil.
  case invitation(BrowserInvitation?)
  case menu(Menu)
  case unsavedQuestion
  /// Whether to delete all objects; the value is their number.
  case clearQuestion(Int)
  /// Whether to open the address of a link.
  case linkQuestion(String)

  enum Outcome: Hashable, Sendable {
    case none, close
    /// Close, and perform the command that the user picked.
    case perform(KeyMap.Command)
    /// Open the prompt for a chat line; the chat stays open.
    case writeChat
    case redraw, clearBoard
    case openLink(String)
    case copyLink(String)
    case answered(SaveStatus.Answer)
  }

  /// Returns the cells that the overlay covers; the whole screen for dialogs.
  func area(in layout: ScreenLayout) -> CellArea {
    switch self {
    case .menu(let menu): MenuLayout(menu, layout).area
    case .panel: layout.panel
    case .invitation, .unsavedQuestion, .clearQuestion, .linkQuestion: layout.screen
    }
  }

  var isChat: Bool { if case .panel(let panel) = self { panel.content == .chat } else { false } }

  /// Whether the overlay only shows information, so that a question may close it.
  var isInformation: Bool {
    switch self {
    case .invitation, .panel: true
    case .menu, .unsavedQuestion, .clearQuestion, .linkQuestion: false
    }
  }
}

// MARK: - Input

extension Overlay {
  mutating func handle(
    _ key: InputEvent.Key,
    _ modifiers: InputEvent.Modifiers,
    _ keys: KeyMap,
    in layout: ScreenLayout
  ) -> Outcome {
    let command = keys.command(key, modifiers)
    switch self {
    case .panel(var panel):
      if panel.content == .chat, command == .chat || key == .enter { return .writeChat }
      if panel.filter(key, modifiers) {
        self = .panel(panel)
        return .none
      }
      if modifiers.isEmpty, panel.scroll(key) {
        self = .panel(panel)
        return .none
      }
      switch command {
      case .quit, .selectNone, .interrupt, .edit, .help, .readChat: return .close
      case .redraw: return .redraw
      default: return key == .escape || key == .character("q") ? .close : .none
      }
    case .menu(var menu):
      if menu.move(key, in: layout) {
        self = .menu(menu)
        return .none
      }
      if key == .enter { return Self.pick(menu.command) }
      return Self.pick([.menu, .selectNone, .interrupt].contains(command) ? nil : command)
    case .invitation: return .close
    case .clearQuestion: return key == .character("y") ? .clearBoard : .close
    case .linkQuestion(let link):
      switch KeyMap.name(key, modifiers) {
      case "enter": return .openLink(link)
      case "c": return .copyLink(link)
      default: return .close
      }
    case .unsavedQuestion: return .answered(SaveStatus.answer(key, modifiers))
    }
  }

  /// Handles a click, which picks an item of a menu, or closes the overlay. A click inside a panel does nothing.
  func press(atX x: Int, y: Int, in layout: ScreenLayout) -> Outcome {
    switch self {
    case .panel: return layout.panel.contains(x: x, y: y) ? .none : .close
    case .menu(let menu): return Self.pick(menu.item(atX: x, y: y, in: layout).map { menu.items[$0].command })
    case .invitation, .unsavedQuestion, .clearQuestion, .linkQuestion: return .close
    }
  }

  /// Scrolls a panel by three rows, or moves the highlight of a menu by one item.
  mutating func scroll(_ step: Int) {
    switch self {
    case .panel(var panel):
      panel.scroll(by: step * 3)
      self = .panel(panel)
    case .menu(var menu):
      menu.leap(step)
      self = .menu(menu)
    case .invitation, .unsavedQuestion, .clearQuestion, .linkQuestion: break
    }
  }

  private static func pick(_ command: KeyMap.Command?) -> Outcome { command.map { .perform($0) } ?? .close }
}

/// The layout of a menu, with as many columns as its items need. If there is no room for these columns, one column
/// shows the items page by page.
struct MenuLayout: Hashable, Sendable {
  let area: CellArea
  let rows: Int
  let visible: Range<Int>
  private let columnWidth: Int

  var count: Int { rows * max(1, (area.width - 2) / max(columnWidth, 1)) }

  /// Lays out a menu between the title and the last row of the screen.
  init(_ menu: Menu, _ layout: ScreenLayout) {
    let (columns, screenRows) = (layout.columns, layout.rows)
    let widest = menu.items.map { CharacterWidth.columns($0.words) }.max() ?? 0
    columnWidth = min(widest + 10, max(columns - 2, 1))
    let top = screenRows >= 8 ? 1 : 0
    let room = max(screenRows - top - 3, 1)
    let needed = (menu.items.count + room - 1) / room
    let across = needed * columnWidth + 2 <= columns ? max(needed, 1) : 1
    rows = min(room, (menu.items.count + across - 1) / across)
    let (width, height) = (across * columnWidth + 2, rows + 2)
    let corner = menu.cell ?? Menu.Cell(x: 2, y: screenRows)
    area = CellArea(
      x: max(0, min(corner.x + 1, columns - width)),
      y: max(min(top, screenRows - height), min(corner.y, screenRows - 1 - height)),
      width: min(width, columns),
      height: min(height, screenRows)
    )
    let page = max(rows * across, 1)
    let first = menu.chosen / page * page
    visible = first..<min(first + page, max(menu.items.count, first))
  }

  func cells(of index: Int) -> CellArea {
    let offset = index - visible.lowerBound
    let inner = area.inset(by: 1)
    return CellArea(
      x: inner.columns.lowerBound + offset / max(rows, 1) * columnWidth,
      y: inner.rows.lowerBound + offset % max(rows, 1),
      width: columnWidth,
      height: 1
    ).clamped(to: inner)
  }
}

extension Menu {
  func item(atX x: Int, y: Int, in layout: ScreenLayout) -> Int? {
    let layout = MenuLayout(self, layout)
    return layout.visible.first { layout.cells(of: $0).contains(x: x, y: y) }
  }

  /// Handles a key that moves the highlight. Returns whether the key moves it.
  mutating func move(_ key: InputEvent.Key, in layout: ScreenLayout) -> Bool {
    let layout = MenuLayout(self, layout)
    switch key {
    case .down, .tab: step(1)
    case .up: step(-1)
    case .right: leap(layout.rows)
    case .left: leap(-layout.rows)
    case .pageDown: leap(layout.count)
    case .pageUp: leap(-layout.count)
    case .home: choose(0)
    case .end: choose(items.count - 1)
    default: return false
    }
    return true
  }

  func draw(on screen: inout Screen, _ layout: ScreenLayout, _ keys: KeyMap) {
    let isASCII = layout.isASCII
    let layout = MenuLayout(self, layout)
    let area = layout.area
    screen.fill(area, with: .init(.space, .bar))
    screen.frame(area, .bar, isASCII: isASCII)
    for index in layout.visible {
      let item = items[index]
      var style = CellStyle.bar
      if index == chosen { style.attributes.insert(.reversed) }
      let row = layout.cells(of: index)
      let (x, y) = (row.columns.lowerBound, row.rows.lowerBound)
      screen.fill(row, with: .init(.space, style))
      screen.put(" \(keys.key(for: item.command) ?? "")", x: x, y: y, style.bold, in: row)
      screen.put(item.words, x: x + 8, y: y, style, in: row)
    }
    guard layout.visible.count < items.count else { return }
    let (first, last) = (layout.visible.lowerBound + 1, layout.visible.upperBound)
    screen.put(
      " \(first)\(isASCII ? "-" : "–")\(last) of \(items.count) ",
      x: area.columns.lowerBound + 2,
      y: area.rows.upperBound - 1,
      CellStyle.bar.bold,
      in: area
    )
  }
}

struct Menu: Hashable, Sendable {
  struct Item: Hashable, Sendable {
    let command: KeyMap.Command
    let words: String

    init(command: KeyMap.Command, words: String) {
      self.command = command
      self.words = words
    }

    init(_ command: ObjectCommand) { self.init(command: .object(command), words: command.menu) }
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

  mutating func step(_ by: Int) {
    guard !items.isEmpty else { return }
    chosen = (chosen + by + items.count) % items.count
  }

  mutating func leap(_ by: Int) { choose(min(max(0, chosen + by), items.count - 1)) }

  mutating func choose(_ index: Int) { if items.indices.contains(index) { chosen = index } }

  static func ofSelection(hasText: Bool, hasGame: Bool, hasLink: Bool, isArrangeable: Bool) -> [Item] {
    var items: [Item] = []
    if hasText { items.append(Item(command: .edit, words: "edit the text")) }
    if hasGame { items.append(Item(command: .edit, words: "play")) }
    if hasLink { items.append(Item(command: .openLink, words: "open the link")) }
    return items + (ObjectCommand.ofSelection + (isArrangeable ? ObjectCommand.arranging : [])).map { Item($0) }
      + [Item(command: .selectNone, words: "deselect")]
  }

  static let ofBoard: [Item] =
    [Tool.pen, .text, .select, .eraser, .line, .rectangle, .ellipse, .diamond, .note, .arrow].map {
      Item(command: .tool($0), words: $0.rawValue)
    } + [
      Item(command: .undo, words: "undo"), Item(command: .redo, words: "redo"), Item(.paste),
      Item(command: .photo, words: "photo from a file"), Item(command: .export, words: "export to a file"),
      Item(command: .game, words: "Wordle"), Item(command: .connectFour, words: "Connect Four"),
      Item(command: .fit, words: "show everything"), Item(command: .find, words: "find words"),
      Item(command: .present, words: "present the frames"), Item(command: .follow, words: "follow a person"),
      Item(command: .invite, words: "invite"), Item(command: .chat, words: "write a message"),
      Item(command: .readChat, words: "read the chat"), Item(command: .command, words: "any command"),
      Item(command: .clearBoard, words: "clear the board"), Item(command: .help, words: "all keys"),
      Item(command: .quit, words: "leave"),
    ]
}

import CommandLines
import WhiteboardKit

/// The table of key bindings; the hints, the menu and the help use it too.
package struct KeyMap: Hashable, Sendable {
  package enum Command: Hashable, Sendable {
    case tool(Tool)
    case color(Int)
    case thinner, broader
    /// Moves by a dot, or by a whole cell if `isWide`.
    case arrow(dx: Int, dy: Int, isWide: Bool)
    case zoomIn, zoomOut, fit, actualSize, follow, undo, redo
    case object(ObjectCommand)
    case turn(degrees: Double)
    case scale(percent: Double)
    case next, previous, selectAll, selectNone, edit, keyboardPen, snap, chat, command, photo, menu, help, quit, redraw
    case panel, interrupt, find, clearBoard, present, openLink, saved, invite, game, connectFour, readChat, export
    case suspend
  }

  package struct Binding: Hashable, Sendable {
    package let name: String
    package internal(set) var keys: [String]
    package let command: Command
    /// The line that describes the command in the help; empty if the line of another command includes this command.
    package let help: String
    /// The other commands that the help line includes.
    let others: [String]

    init(_ name: String, _ keys: [String], _ command: Command, _ help: String = "", and others: [String] = []) {
      self.name = name
      self.keys = keys
      self.command = command
      self.help = help
      self.others = others
    }

    init(_ command: ObjectCommand) {
      self.init(command.name, command.keys, .object(command), command.help, and: command.others)
    }
  }

  /// All bindings, in the order of the help.
  package private(set) var bindings: [Binding]
  private var table: [String: Command]

  package static let standard = KeyMap(bindings: standardBindings)

  private init(bindings: [Binding]) {
    self.bindings = bindings
    table = Dictionary(
      bindings.flatMap { binding in binding.keys.map { ($0, binding.command) } },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// Creates the standard key bindings with the user's changes. Throws ``WhiteboardError`` with the line of the
  /// settings if a command or a key does not exist. If the user assigns a command to a key, the key loses its standard
  /// command.
  package init(_ changes: [KeyBinding]) throws(WhiteboardError) {
    var bindings = Self.standardBindings
    for change in changes {
      guard let index = bindings.firstIndex(where: { $0.name == change.command }) else {
        let names = bindings.map(\.name)
        let nearest = Spelling.nearest(to: change.command, in: names)
        throw WhiteboardError(
          .badConfiguration,
          "\(change.place): there is no command \(change.command); " + (nearest.map { "did you mean \($0)? " } ?? "")
            + "the commands are \(names.joined(separator: ", "))"
        )
      }
      for key in change.keys where !Self.isKey(key) {
        throw WhiteboardError(
          .badConfiguration,
          "\(change.place): \(key) is not a key; a key is a character or one of \(Self.keyNameList), "
            + "optionally with ctrl+ or alt+ before it"
        )
      }
      for other in bindings.indices { bindings[other].keys.removeAll { other == index || change.keys.contains($0) } }
      bindings[index].keys = change.keys
    }
    self.init(bindings: bindings)
  }

  package func command(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> Command? {
    table[Self.name(key, modifiers)]
  }

  package func key(for command: Command) -> String? {
    bindings.first { $0.command == command }?.keys.first.map(Self.label)
  }

  // MARK: - Names of keys

  static func name(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> String {
    var name: String
    switch key {
    case .character(" "): name = "space"
    case .character(let character): name = String(character)
    case .function(let number): name = "f\(number)"
    default: name = "\(key)"
    }
    if modifiers.contains(.shift), case .tab = key { name = "shift+" + name }
    if modifiers.contains(.alt) { name = "alt+" + name }
    if modifiers.contains(.control) { name = "ctrl+" + name }
    return name
  }

  private static let keyNames =
    [
      "space", "enter", "tab", "shift+tab", "escape", "backspace", "delete", "insert", "up", "down", "left", "right",
      "home", "end", "pageUp", "pageDown",
    ] + (1...12).map { "f\($0)" }

  private static var keyNameList: String { keyNames.joined(separator: ", ") }

  private static func isKey(_ name: String) -> Bool {
    for modifier in ["ctrl+", "alt+"] where name.hasPrefix(modifier) && name.count > modifier.count {
      return isKey(String(name.dropFirst(modifier.count)))
    }
    return name.count == 1 || keyNames.contains(name)
  }

  private static let arrows = ["left": "←", "right": "→", "up": "↑", "down": "↓"]

  private static func label(_ name: String) -> String {
    for modifier in ["ctrl+", "alt+", "shift+"] where name.hasPrefix(modifier) && name.count > modifier.count {
      return modifier.prefix(1).uppercased() + modifier.dropFirst() + label(String(name.dropFirst(modifier.count)))
    }
    if let arrow = arrows[name] { return arrow }
    return name.count == 1 ? name : name.prefix(1).uppercased() + name.dropFirst()
  }

  // MARK: - The table

  private static let standardBindings = leading + ObjectCommand.all.map { Binding($0) } + trailing

  private static let leading: [Binding] =
    Tool.allCases.map { tool in Binding(tool.name, [String(tool.key)], .tool(tool), "\(tool.rawValue): \(tool.hint)") }
    + Pens.colors.indices.map { index in
      Binding(
        "color-\(index)",
        ["\(index)"],
        .color(index),
        index == 0 ? "the color" : "",
        and: index == 0 ? Pens.colors.indices.dropFirst().map { "color-\($0)" } : []
      )
    } + [
      Binding("thinner", ["{"], .thinner, "choose a thinner or a broader pen", and: ["broader"]),
      Binding("broader", ["}"], .broader),
      Binding(
        "left",
        ["left"],
        .arrow(dx: -1, dy: 0, isWide: false),
        "move the board or the selected objects; Ctrl moves them farther",
        and: ["right", "up", "down"]
      ), Binding("right", ["right"], .arrow(dx: 1, dy: 0, isWide: false)),
      Binding("up", ["up"], .arrow(dx: 0, dy: -1, isWide: false)),
      Binding("down", ["down"], .arrow(dx: 0, dy: 1, isWide: false)),
      Binding("far-left", ["ctrl+left"], .arrow(dx: -1, dy: 0, isWide: true)),
      Binding("far-right", ["ctrl+right"], .arrow(dx: 1, dy: 0, isWide: true)),
      Binding("far-up", ["ctrl+up"], .arrow(dx: 0, dy: -1, isWide: true)),
      Binding("far-down", ["ctrl+down"], .arrow(dx: 0, dy: 1, isWide: true)),
      Binding("zoom-in", ["+"], .zoomIn, "zoom in or out; Ctrl+wheel zooms too", and: ["zoom-out"]),
      Binding("zoom-out", ["-"], .zoomOut), Binding("fit", ["="], .fit, "show everything"),
      Binding("actual-size", ["z"], .actualSize, "show the board at its actual size"),
      Binding("find", ["/"], .find, "find words in texts and labels: Enter goes to the next, ↑ to the previous one"),
      Binding("present", ["F"], .present, "present the frames one after the other; Esc ends"),
      Binding("open-link", ["O"], .openLink, "open the link of the selected object"),
      Binding("follow", ["f"], .follow, "follow a member: show what they see"),
      Binding("undo", ["u"], .undo, "undo your last step, or redo it", and: ["redo"]),
      Binding("redo", ["U", "ctrl+y"], .redo),
      Binding("next", ["tab"], .next, "go to the next or the previous object", and: ["previous"]),
      Binding("previous", ["shift+tab"], .previous),
      Binding("select-all", ["ctrl+a"], .selectAll, "select everything in view"),
      Binding("let-go", ["escape"], .selectNone, "deselect; cancel"),
      Binding("edit", ["enter"], .edit, "edit the text or label of what was drawn or selected last, or play the game"),
    ]

  private static let trailing: [Binding] = [
    Binding(
      "turn-right",
      ["."],
      .turn(degrees: 15),
      "rotate the selection by 15°, clockwise or counterclockwise",
      and: ["turn-left"]
    ), Binding("turn-left", [","], .turn(degrees: -15)),
    Binding(
      "turn-a-bit-right",
      [">"],
      .turn(degrees: 1),
      "rotate the selection by 1°, clockwise or counterclockwise",
      and: ["turn-a-bit-left"]
    ), Binding("turn-a-bit-left", ["<"], .turn(degrees: -1)),
    Binding("larger", ["S"], .scale(percent: 110), "make the selection larger or smaller", and: ["smaller"]),
    Binding("smaller", ["s"], .scale(percent: 100 / 1.1)),
    Binding("snap", ["'"], .snap, "turn snapping to other objects on or off"),
    Binding(
      "keyboard-pen",
      [";"],
      .keyboardPen,
      "use the tool with the keyboard: arrows move, Space presses and releases"
    ), Binding("photo", ["I"], .photo, "add a photo from a file"),
    Binding("game", ["w"], .game, "play the board's Wordle game, or start one"),
    Binding("connect-four", ["W"], .connectFour, "play the board's Connect Four game, or start one"),
    Binding("chat", ["c"], .chat, "write a chat message"),
    Binding("read-chat", ["C"], .readChat, "read the chat"),
    Binding(
      "export",
      ["X"],
      .export,
      "export the board to a file: PNG, SVG, PDF and others; `force` after the name overwrites it"
    ), Binding("command", [":"], .command, "type any board command, as in scripts; Tab completes it"),
    Binding("menu", ["space"], .menu, "open a menu of commands; the right mouse button opens it too"),
    Binding("invite", ["J"], .invite, "show how others can join"),
    Binding("panel", ["P"], .panel, "show or hide the tools, the list of people and the chat"),
    Binding("redraw", ["ctrl+l"], .redraw, "redraw the screen"), Binding("save", ["ctrl+s"], .saved),
    Binding("help", ["?", "f1"], .help, "show all keys"),
    Binding(
      "suspend",
      ["ctrl+z"],
      .suspend,
      "suspend the program until fg; meanwhile, others see you as unreachable"
    ), Binding("quit", ["q"], .quit, "leave the board (asks if work is unsaved); Ctrl+C twice leaves too"),
    Binding("interrupt", ["ctrl+c"], .interrupt),
  ]

  var help: [(keys: String, text: String, section: Section)] {
    bindings.compactMap { binding in
      guard !binding.help.isEmpty else { return nil }
      let keys = ([binding.name] + binding.others).compactMap { name in
        bindings.first { $0.name == name }?.keys.first.map(Self.label)
      }
      guard let first = keys.first, let last = keys.last else { return nil }
      let label = keys.count > 4 ? "\(first)–\(last)" : keys.joined(separator: " ")
      return (label, binding.help, binding.command.section)
    }
  }

  /// For each command, the lines contain its keys, its description, and its name in the section `[keys]` of the
  /// settings.
  package var manual: String {
    let includedInOthers = Set(bindings.flatMap(\.others))
    var lines: [String] = []
    for section in Section.allCases {
      lines.append(section.rawValue)
      for binding in bindings where binding.command.section == section {
        guard !includedInOthers.contains(binding.name) else { continue }
        let entry = [binding] + bindings.filter { binding.others.contains($0.name) }
        // A few commands have no line in the help. Their names describe them.
        let action = binding.help.isEmpty ? binding.name.replacing("-", with: " ") : binding.help
        lines.append("  \(entry.flatMap(\.keys).map(Self.label).joined(separator: ", "))")
        lines.append("      \(action)")
        lines.append("      Name: \(entry.map(\.name).joined(separator: ", ")).")
      }
    }
    return lines.joined(separator: "\n")
  }
}

extension KeyMap {
  /// The headings of the help, in their order.
  enum Section: String, Hashable, Sendable, CaseIterable {
    case draw = "Draw"
    case look = "Look around"
    case change = "Select and change"
    case people = "People, chat and games"
    case program = "Board and program"
  }
}

extension KeyMap.Command {
  var section: KeyMap.Section {
    switch self {
    case .tool, .color, .thinner, .broader, .keyboardPen, .snap, .photo: .draw
    case .arrow, .zoomIn, .zoomOut, .fit, .actualSize, .follow, .find, .present, .openLink: .look
    case .chat, .readChat, .invite, .panel, .game, .connectFour: .people
    case .command, .menu, .help, .quit, .redraw, .interrupt, .saved, .export, .suspend: .program
    default: .change
    }
  }
}

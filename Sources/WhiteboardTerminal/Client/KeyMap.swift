/// What keys do on a board, as one table: the keys, the hints and the help are made from it.
package enum KeyMap {
  /// Something that a key does.
  package enum Command: Hashable, Sendable {
    case tool(Tool)
    case color(Int)
    case thinner, broader
    case pan(dx: Int, dy: Int)
    case zoomIn, zoomOut, fit, actualSize
    case undo, redo
    case delete, duplicate, group, ungroup, lock
    case raise, lower
    case turn(degrees: Double)
    case scale(percent: Double)
    case next, previous, selectAll, selectNone
    case edit
    case keyboardPen, penToggle
    case chat, command, help, quit, redraw, panel, interrupt
    case saved, invite, game
  }

  /// One line of the table.
  package struct Binding: Sendable {
    package let keys: [String]
    package let command: Command
    package let help: String

    init(_ keys: [String], _ command: Command, _ help: String = "") {
      self.keys = keys
      self.command = command
      self.help = help
    }
  }

  /// All of it, in the order of the help.
  package static let bindings: [Binding] =
    Tool.allCases.map { Binding([String($0.key)], .tool($0), "\($0.rawValue): \($0.hint)") }
    + Pens.colors.enumerated().map { index, color in
      Binding(["\(index)"], .color(index), index == 0 ? "0–9 the colour" : "")
    }
    + [
      Binding(["{"], .thinner, "{ } a thinner or a broader pen"),
      Binding(["}"], .broader),
      Binding(["left"], .pan(dx: -1, dy: 0), "arrows move the board, or what is selected"),
      Binding(["right"], .pan(dx: 1, dy: 0)),
      Binding(["up"], .pan(dx: 0, dy: -1)),
      Binding(["down"], .pan(dx: 0, dy: 1)),
      Binding(["+", "="], .zoomIn, "+ - larger, smaller"),
      Binding(["-"], .zoomOut),
      Binding(["f"], .fit, "show everything"),
      Binding(["z"], .actualSize, "show it as large as it is"),
      Binding(["u", "ctrl+z"], .undo, "take back your last step"),
      Binding(["U", "ctrl+y"], .redo, "make it again"),
      Binding(["tab"], .next, "Tab, Shift+Tab: select the next, the one before"),
      Binding(["shift+tab"], .previous),
      Binding(["ctrl+a"], .selectAll, "select all that is in view"),
      Binding(["escape"], .selectNone, "let go; cancel"),
      Binding(["enter"], .edit, "edit the text that is selected"),
      Binding(["delete", "backspace", "x"], .delete, "delete what is selected"),
      Binding(["d"], .duplicate, "duplicate it"),
      Binding(["g"], .group, "g G make a group, take it apart"),
      Binding(["G"], .ungroup),
      Binding(["L"], .lock, "lock or unlock it"),
      Binding(["]"], .raise, "] [ to the front, to the back"),
      Binding(["["], .lower),
      Binding(["."], .turn(degrees: 15), ". , turn it by 15°; > < by 1°"),
      Binding([","], .turn(degrees: -15)),
      Binding([">"], .turn(degrees: 1)),
      Binding(["<"], .turn(degrees: -1)),
      Binding(["S"], .scale(percent: 110), "S s larger, smaller"),
      Binding(["s"], .scale(percent: 100 / 1.1)),
      Binding([";"], .keyboardPen, "draw with the keyboard: arrows move, Space puts the pen down"),
      Binding(["space"], .penToggle),
      Binding(["c", "/"], .chat, "say something"),
      Binding(["w"], .game, "begin a Wordle, or play the game that is selected"),
      Binding([":"], .command, "any verb, as in scripts; Tab completes"),
      Binding(["i", "J"], .invite, "how others join"),
      Binding(["P"], .panel, "show or hide people and chat"),
      Binding(["ctrl+l"], .redraw, "draw the screen anew"),
      Binding(["ctrl+s"], .saved),
      Binding(["?", "f1"], .help, "these keys"),
      Binding(["q"], .quit, "q, or Ctrl+C twice: leave the board; it is saved"),
      Binding(["ctrl+c"], .interrupt),
    ]

  private static let table: [String: Command] = Dictionary(
    bindings.flatMap { binding in binding.keys.map { ($0, binding.command) } },
    uniquingKeysWith: { first, _ in first }
  )

  /// What a key does, if anything.
  package static func command(
    _ key: InputEvent.Key,
    _ modifiers: InputEvent.Modifiers
  ) -> Command? {
    table[name(key, modifiers)]
  }

  /// How the table calls a key.
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
}

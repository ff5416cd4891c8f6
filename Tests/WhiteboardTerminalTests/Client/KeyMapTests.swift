import Testing
import WhiteboardKit
import WhiteboardRendering

@testable import Whiteboard
@testable import WhiteboardTerminal

@Suite("What every key does") struct KeyMapTests {
  /// The effect of a key: commands for the board, and a changed state of the client.
  private struct Outcome {
    var commands: [String] = []
    var state: [String: String] = [:]
  }

  private static let selectFirst = ["notice": "select an object first: press v and click it, or press Tab"]

  /// The outcomes without a selection, and with a selected text, whose id is written as ID.
  private static let outcomes: [KeyMap.Command: (unselected: Outcome, selected: Outcome)] = {
    var table: [KeyMap.Command: (unselected: Outcome, selected: Outcome)] = [:]
    func both(_ command: KeyMap.Command, _ commands: String..., state: [String: String] = [:]) {
      let outcome = Outcome(commands: commands, state: state)
      table[command] = (outcome, outcome)
    }
    func selection(_ command: KeyMap.Command, _ line: String) {
      table[command] = (Outcome(state: selectFirst), Outcome(commands: [line]))
    }
    for tool in Tool.allCases { both(.tool(tool), state: ["tool": tool.rawValue]) }
    let colors = [
      "default", "#e69f00ff", "#56b4e9ff", "#1fae84ff", "#f0e442ff", "#3b8fd9ff", "#e8601cff", "#cc79a7ff", "#999999ff",
      "#9a7be0ff",
    ]
    for (index, color) in colors.enumerated() {
      let state = ["color": color]
      table[.color(index)] = (Outcome(state: state), Outcome(commands: ["color ID \(color)"], state: state))
    }
    for (command, width) in [(KeyMap.Command.thinner, "2"), (.broader, "8")] {
      let state = ["width": width]
      table[command] = (Outcome(state: state), Outcome(commands: ["width ID \(width)"], state: state))
    }
    for (dx, dy) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
      table[.arrow(dx: dx, dy: dy, isWide: false)] = (
        Outcome(state: ["center": "\(64 * dx),\(128 * dy)"]), Outcome(commands: ["move ID +\(8 * dx),\(8 * dy)"])
      )
      table[.arrow(dx: dx, dy: dy, isWide: true)] = (
        Outcome(state: ["center": "\(256 * dx),\(512 * dy)"]), Outcome(commands: ["move ID +\(16 * dx),\(32 * dy)"])
      )
    }
    both(.zoomIn, state: ["zoom": "0.63"])
    both(.zoomOut, state: ["zoom": "0.4"])
    both(.actualSize, state: ["zoom": "1"])
    both(.fit, state: ["zoom": "2", "center": "4,8"])
    both(.follow, state: ["following": "Bob", "notice": "following Bob; move the board to stop"])
    both(.undo, "undo")
    both(.redo, "redo")
    selection(.object(.delete), "delete ID")
    selection(.object(.duplicate), "duplicate ID")
    table[.object(.group)] = (
      Outcome(state: selectFirst),
      Outcome(state: ["notice": "a group needs at least two objects; select more (Ctrl+click adds one)"])
    )
    both(.object(.ungroup), state: ["notice": "the selection contains no group"])
    selection(.object(.lock), "lock ID")
    selection(.object(.raise), "order ID front")
    selection(.object(.lower), "order ID back")
    for degrees in [15.0, -15, 1, -1] { selection(.turn(degrees: degrees), "rotate ID \(Int(degrees))") }
    selection(.scale(percent: 110), "scale ID 1.1")
    selection(.scale(percent: 100 / 1.1), "scale ID 0.91")
    let link = "whiteboard://127.0.0.1:1/b?peer=p"
    table[.object(.copy)] = (
      Outcome(commands: ["CLIPBOARD \(link)"], state: ["notice": "copied: whiteboard-peer join '\(link)'"]),
      Outcome(commands: ["copy ID"])
    )
    both(.object(.paste), "paste 0,0")
    both(.next, "select ID")
    both(.previous, "select ID")
    both(.selectAll, "select ID")
    table[.selectNone] = (Outcome(), Outcome(commands: ["deselect"]))
    table[.edit] = (
      Outcome(state: ["notice": "select one text to edit it"]),
      Outcome(commands: ["deselect"], state: ["typing": "hello"])
    )
    both(.keyboardPen, state: ["keyboard pen": "true", "pointer": "0,0"])
    both(.snap, state: ["snapping": "false", "notice": "snapping is off"])
    both(.chat, state: ["prompt": "say: "])
    both(.find, state: ["prompt": "find: "])
    let frames = "there are no frames to present; :frame X,Y label=NAME adds one"
    both(.present, state: ["notice": frames])
    table[.openLink] = (
      Outcome(state: ["notice": "select the object whose link you want to open"]),
      Outcome(state: ["notice": "this object has no link; :link ID ADDRESS adds one"])
    )
    both(.command, state: ["prompt": ":"])
    both(.photo, state: ["prompt": "photo file: "])
    table[.menu] = (
      Outcome(state: ["box": "menu from pen to leave"]), Outcome(state: ["box": "menu from edit the text to deselect"])
    )
    both(.help, state: ["box": "Keys"])
    both(.readChat, state: ["box": "Chat"])
    both(.export, state: ["prompt": "export to file: "])
    both(.suspend, "SUSPEND")
    both(.invite, state: ["box": "invite"])
    both(.panel, state: ["panel": "false"])
    both(.saved, state: ["notice": "every change is saved immediately; :export FILE saves a picture of the board"])
    both(.redraw, "REDRAW")
    both(.quit, "QUIT")
    both(.interrupt, state: ["notice": "Press Ctrl+C again to leave the board; all changes are saved"])
    both(.game, "game wordle 0,0 as=game-begun-by-1", state: ["prompt": "guess: "])
    both(.connectFour, "game connect-four 0,0 as=game-begun-by-1", state: ["prompt": "column, 1 to 7: "])
    return table
  }()

  private func state(_ client: BoardClient) -> [String: String] {
    var state = [
      "tool": client.workspace.toolbox.tool.rawValue,
      "color": client.workspace.toolbox.color.map { ColorText.text($0) } ?? "default",
      "width": CommandLine.text(client.workspace.toolbox.width),
      "center": CommandLine.text(client.workspace.scene.canvas.viewport.center),
      "zoom": DecimalText.hundredths(client.workspace.scene.canvas.viewport.zoom),
      "keyboard pen": "\(client.workspace.toolbox.isKeyboardPen)", "snapping": "\(client.workspace.toolbox.isSnapping)",
      "panel": "\(client.layout.arePanelsWanted)",
    ]
    state["following"] = client.session.members.followed.flatMap { client.session.members.name(of: $0) }
    state["notice"] = client.messages.notice?.text
    state["typing"] = client.workspace.typing?.text
    state["prompt"] = client.prompt.editor?.label
    state["pointer"] = client.workspace.toolbox.pointer.map { CommandLine.text($0) }
    state["gesture"] = client.workspace.toolbox.gesture.map { "\($0)" }
    switch client.overlay {
    case .panel(let panel): state["box"] = panel.title
    case .invitation: state["box"] = "invite"
    case .unsavedQuestion: state["box"] = "unsaved"
    case .clearQuestion: state["box"] = "clear"
    case .linkQuestion: state["box"] = "link"
    case .menu(let menu): state["box"] = "menu from \(menu.items.first?.words ?? "") to \(menu.items.last?.words ?? "")"
    case nil: break
    }
    return state
  }

  /// Returns the bytes that a terminal sends for a key of the table.
  private func bytes(_ key: String) throws -> String {
    let named = [
      "space": " ", "enter": "\r", "tab": "\t", "shift+tab": "^[Z", "escape": "^", "backspace": "\u{7F}",
      "delete": "^[3~", "up": "^[A", "down": "^[B", "right": "^[C", "left": "^[D", "f1": "^OP",
    ]
    if let bytes = named[key] { return bytes }
    guard key.hasPrefix("ctrl+") else { return key }
    let base = String(key.dropFirst(5))
    if let arrow = named[base] { return arrow.replacing("^[", with: "^[1;5") }
    let code = try #require(Character(base).asciiValue) - 0x60
    return String(Character(Unicode.Scalar(code)))
  }

  @Test("every command of the table is tested here") func allCommands() {
    #expect(Set(KeyMap.standard.bindings.map(\.command)) == Set(Self.outcomes.keys))
  }

  @Test("a key sends only these commands and changes nothing else", arguments: KeyMap.standard.bindings) func outcome(
    binding: KeyMap.Binding
  ) throws {
    let expected = try #require(Self.outcomes[binding.command])
    #expect(!binding.keys.isEmpty)
    for key in binding.keys {
      for isSelected in [false, true] {
        var desk = try Desk()
        let id = try desk.board.createText("hello", at: Point(x: 4, y: 8))
        if isSelected { try desk.board.select([id]) }
        desk.sync()
        desk.client.workspace.toolbox.tool = binding.command == .tool(.laser) ? .pen : .laser
        desk.client.workspace.toolbox.ink = 0xABCDEF
        desk.client.workspace.scene.canvas.show(half(desk.client.workspace.scene.canvas.viewport))
        let before = state(desk.client)
        let outcome = isSelected ? expected.selected : expected.unselected
        let commands = desk.type(try bytes(key)).map { $0.replacing("\(id)", with: "ID") }
        #expect(commands == outcome.commands, "\(key) with\(isSelected ? "" : "out") a selection")
        let after = before.merging(outcome.state) { $1 }
        #expect(state(desk.client) == after, "\(key) with\(isSelected ? "" : "out") a selection")
      }
    }
  }

  private func half(_ viewport: Viewport) -> Viewport {
    var viewport = viewport
    viewport.zoom(by: 0.5, around: viewport.center)
    return viewport
  }

  // MARK: - Tools

  /// The outcome of each tool after a press, a drag to the lower right, and a release.
  private static let tools: [Tool: Outcome] = [
    .pen: Outcome(commands: ["pen 4,8 width=5", "pen 12,8 20,8 20,24", "lift"]),
    .line: Outcome(commands: ["line 4,8 20,24 width=5"]),
    .rectangle: Outcome(commands: ["rect 12,16 size=16,16 width=5"]),
    .ellipse: Outcome(commands: ["ellipse 12,16 size=16,16 width=5"]),
    .diamond: Outcome(commands: ["diamond 12,16 size=16,16 width=5"]),
    .note: Outcome(commands: ["note 12,16 size=16,16 width=2"]),
    .arrow: Outcome(commands: ["arrow 4,8 20,24 connect width=5"]),
    .eraser: Outcome(commands: ["erase 4,8 12,8 20,8 20,24 radius=8"]), .remover: Outcome(commands: ["delete ID"]),
    .picker: Outcome(state: ["color": "#123456ff", "tool": "text"]),
    .select: Outcome(commands: ["select ID", "move ID +16,16"]),
    .text: Outcome(commands: ["insert ID 5 \"!\" was=\"hello\""], state: ["typing": "hello!"]),
    .laser: Outcome(commands: ["point 20,24 laser"]),
  ]

  @Test("the mouse and the keyboard have the same result with every tool", arguments: Tool.allCases, [false, true])
  func gesture(tool: Tool, byKeyboard: Bool) throws {
    var desk = try Desk()
    let id = try desk.board.createText("hello", at: Point(x: 4, y: 8), color: 0x1234_56FF)
    desk.sync()
    desk.client.workspace.toolbox.isSnapping = false
    #expect(desk.type("^[<35;38;13M\(tool.key)\(byKeyboard ? ";" : "")") == [])
    let before = state(desk.client)
    let steps =
      byKeyboard
      ? [" ", "^[1;5C", "^[1;5C", "^[1;5B", " "]
      : ["^[<0;38;13M", "^[<32;39;13M", "^[<32;40;13M", "^[<32;40;14M", "^[<0;40;14m"]
    let typed: [String] =
      switch tool {
      // While the user edits a text, keys are typed into it.
      case .text: [steps[0], byKeyboard ? "" : steps[4], "!"]
      // The picked object is selected immediately.
      case .picker: Array(steps.dropLast())
      default: steps
      }
    var commands: [String] = []
    for step in typed {
      for command in desk.type(step) {
        commands.append(command)
        if command == "select \(id)" {
          try desk.board.select([id])
          desk.sync()
        }
      }
    }
    if tool == .laser { commands += desk.tick() }
    commands = commands.map { command in
      let command = command.replacing("\(id)", with: "ID")
      guard tool == .ellipse || tool == .arrow, command.hasPrefix("stroke") else { return command }
      let words = command.split(separator: " ")
      return "\(words[0]) \(words[1]) … \(words[words.count - 1])"
    }
    if tool == .hand {
      // With the keyboard, arrow keys move the board without the hand tool.
      #expect(commands == [])
      #expect((state(desk.client)["center"] == before["center"]) == byKeyboard)
      return
    }
    let expected = try #require(Self.tools[tool])
    #expect(commands == expected.commands)
    var after = before.merging(expected.state) { $1 }
    after["pointer"] = tool == .text ? nil : "20,24"
    #expect(state(desk.client) == after)
  }
}

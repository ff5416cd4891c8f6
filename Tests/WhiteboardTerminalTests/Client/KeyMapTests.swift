import Testing
import WhiteboardNode
import WhiteboardRendering

@testable import Whiteboard
@testable import WhiteboardTerminal

@Suite("What every key does")
struct KeyMapTests {
  /// The effect of a key: commands for the node, and a changed state of the client.
  private struct Outcome {
    var verbs: [String] = []
    var state: [String: String] = [:]
  }

  private static let selectFirst = ["notice": "select something first: v and click, or Tab"]

  /// The outcomes without a selection, and with a selected text, whose id is written as ID.
  private static let outcomes: [KeyMap.Command: (free: Outcome, held: Outcome)] = {
    var table: [KeyMap.Command: (free: Outcome, held: Outcome)] = [:]
    func both(_ command: KeyMap.Command, _ verbs: String..., state: [String: String] = [:]) {
      let outcome = Outcome(verbs: verbs, state: state)
      table[command] = (outcome, outcome)
    }
    func held(_ command: KeyMap.Command, _ verb: String) {
      table[command] = (Outcome(state: selectFirst), Outcome(verbs: [verb]))
    }
    for tool in Tool.allCases { both(.tool(tool), state: ["tool": tool.rawValue]) }
    let colors = [
      "default", "#e69f00ff", "#56b4e9ff", "#1fae84ff", "#f0e442ff", "#3b8fd9ff", "#e8601cff",
      "#cc79a7ff", "#999999ff", "#9a7be0ff",
    ]
    for (index, color) in colors.enumerated() {
      let state = ["color": color]
      table[.color(index)] = (
        Outcome(state: state), Outcome(verbs: ["color ID \(color)"], state: state)
      )
    }
    for (command, width) in [(KeyMap.Command.thinner, "2"), (.broader, "8")] {
      let state = ["width": width]
      table[command] = (
        Outcome(state: state), Outcome(verbs: ["width ID \(width)"], state: state)
      )
    }
    for (dx, dy) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
      table[.arrow(dx: dx, dy: dy, isWide: false)] = (
        Outcome(state: ["center": "\(64 * dx),\(128 * dy)"]),
        Outcome(verbs: ["move ID +\(8 * dx),\(8 * dy)"])
      )
      table[.arrow(dx: dx, dy: dy, isWide: true)] = (
        Outcome(state: ["center": "\(256 * dx),\(512 * dy)"]),
        Outcome(verbs: ["move ID +\(16 * dx),\(32 * dy)"])
      )
    }
    both(.zoomIn, state: ["zoom": "0.63"])
    both(.zoomOut, state: ["zoom": "0.4"])
    both(.actualSize, state: ["zoom": "1"])
    both(.fit, state: ["zoom": "2", "center": "4,8"])
    both(.follow, state: ["following": "Bob", "notice": "following Bob; move the board to stop"])
    both(.undo, "undo")
    both(.redo, "redo")
    held(.delete, "delete ID")
    held(.duplicate, "duplicate ID")
    held(.group, "group ID")
    both(.ungroup, state: ["notice": "the selection contains no group"])
    held(.lock, "lock ID")
    held(.raise, "order ID front")
    held(.lower, "order ID back")
    for degrees in [15.0, -15, 1, -1] {
      held(.turn(degrees: degrees), "rotate ID \(Int(degrees))")
    }
    held(.scale(percent: 110), "scale ID 1.1")
    held(.scale(percent: 100 / 1.1), "scale ID 0.91")
    let link = "whiteboard://127.0.0.1:1/b?peer=p"
    table[.copy] = (
      Outcome(
        verbs: ["CLIPBOARD \(link)"],
        state: ["notice": "copied: whiteboard-peer join '\(link)'"]
      ),
      Outcome(verbs: ["copy ID"])
    )
    both(.paste, "paste 0,0")
    both(.next, "select ID")
    both(.previous, "select ID")
    both(.selectAll, "select ID")
    table[.selectNone] = (Outcome(), Outcome(verbs: ["deselect"]))
    table[.edit] = (
      Outcome(state: ["notice": "select one text to edit it"]),
      Outcome(verbs: ["deselect"], state: ["typing": "hello"])
    )
    both(.keyboardPen, state: ["keyboard pen": "true", "pointer": "0,0"])
    both(.snap, state: ["snapping": "false", "notice": "snapping is off"])
    both(.chat, state: ["prompt": "say: "])
    both(.command, state: ["prompt": ":"])
    both(.photo, state: ["prompt": "photo file: "])
    table[.menu] = (
      Outcome(state: ["box": "menu from pen to leave"]),
      Outcome(state: ["box": "menu from edit the text to deselect"])
    )
    both(.help, state: ["box": "Keys"])
    both(.readChat, state: ["box": "Chat"])
    both(.export, state: ["prompt": "export to file: "])
    both(.suspend, "SUSPEND")
    both(.invite, state: ["box": "invite"])
    both(.panel, state: ["panel": "false"])
    both(
      .saved,
      state: ["notice": "everything is saved at once; :export FILE saves a picture of it"]
    )
    both(.redraw, "REDRAW")
    both(.quit, "QUIT")
    both(.interrupt, state: ["notice": "Ctrl+C again leaves the board; it is saved"])
    both(.game, "game wordle 0,0")
    both(.connectFour, "game connect-four 0,0")
    return table
  }()

  /// Returns the visible state of a client.
  private func state(_ client: BoardClient) -> [String: String] {
    var state = [
      "tool": client.workspace.toolbox.tool.rawValue,
      "color": client.workspace.toolbox.color.map { ColorText.text($0) } ?? "default",
      "width": CommandLine.text(client.workspace.toolbox.width),
      "center": CommandLine.text(client.workspace.scene.canvas.viewport.center),
      "zoom": DecimalText.hundredths(client.workspace.scene.canvas.viewport.zoom),
      "keyboard pen": "\(client.workspace.toolbox.isKeyboardPen)",
      "snapping": "\(client.workspace.toolbox.isSnapping)",
      "panel": "\(client.layout.isSidePanelWanted)",
    ]
    state["following"] = client.session.members.followed.flatMap {
      client.session.members.all[$0]?.name
    }
    state["notice"] = client.messages.notice?.text
    state["typing"] = client.workspace.typing?.words
    state["prompt"] = client.prompt.editor?.lead
    state["pointer"] = client.workspace.toolbox.pointer.map { CommandLine.text($0) }
    state["gesture"] = client.workspace.toolbox.gesture.map { "\($0)" }
    switch client.overlay {
    case .panel(let panel): state["box"] = panel.title
    case .invitation: state["box"] = "invite"
    case .unsavedQuestion: state["box"] = "unsaved"
    case .menu(let menu):
      state["box"] =
        "menu from \(menu.items.first?.words ?? "") to \(menu.items.last?.words ?? "")"
    case nil: break
    }
    return state
  }

  /// Returns the bytes that a terminal sends for a key of the table.
  private func bytes(_ key: String) throws -> String {
    let named = [
      "space": " ", "enter": "\r", "tab": "\t", "shift+tab": "^[Z", "escape": "^",
      "backspace": "\u{7F}", "delete": "^[3~", "up": "^[A", "down": "^[B", "right": "^[C",
      "left": "^[D", "f1": "^OP",
    ]
    if let bytes = named[key] { return bytes }
    guard key.hasPrefix("ctrl+") else { return key }
    let base = String(key.dropFirst(5))
    if let arrow = named[base] { return arrow.replacing("^[", with: "^[1;5") }
    let code = try #require(Character(base).asciiValue) - 0x60
    return String(Character(Unicode.Scalar(code)))
  }

  @Test("every command of the table is tested here")
  func allCommands() {
    #expect(Set(KeyMap.standard.bindings.map(\.command)) == Set(Self.outcomes.keys))
  }

  @Test(
    "a key sends only these commands and changes nothing else",
    arguments: KeyMap.standard.bindings
  )
  func outcome(binding: KeyMap.Binding) throws {
    let expected = try #require(Self.outcomes[binding.command])
    #expect(!binding.keys.isEmpty)
    for key in binding.keys {
      for isHeld in [false, true] {
        var desk = try Desk()
        let id = try desk.board.createText("hello", at: Point(x: 4, y: 8))
        if isHeld { try desk.board.select([id]) }
        desk.sync()
        desk.client.workspace.toolbox.tool = binding.command == .tool(.laser) ? .pen : .laser
        desk.client.workspace.toolbox.ink = 0xABCDEF
        desk.client.workspace.scene.canvas.show(half(desk.client.workspace.scene.canvas.viewport))
        let before = state(desk.client)
        let outcome = isHeld ? expected.held : expected.free
        let verbs = desk.type(try bytes(key)).map { $0.replacing("\(id)", with: "ID") }
        #expect(verbs == outcome.verbs, "\(key) with\(isHeld ? "" : "out") a selection")
        let after = before.merging(outcome.state) { $1 }
        #expect(state(desk.client) == after, "\(key) with\(isHeld ? "" : "out") a selection")
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
    .pen: Outcome(verbs: ["pen 4,8 width=5", "pen 12,8 20,8 20,24", "lift"]),
    .line: Outcome(verbs: ["stroke 4,8 20,24 width=5"]),
    .rectangle: Outcome(verbs: ["stroke 4,8 20,8 20,24 4,24 4,8 width=5"]),
    .ellipse: Outcome(verbs: ["stroke 20,16 … width=5"]),
    .arrow: Outcome(verbs: ["stroke 4,8 … width=5"]),
    .eraser: Outcome(verbs: ["erase 4,8 12,8 20,8 20,24 radius=8"]),
    .remover: Outcome(verbs: ["delete ID"]),
    .picker: Outcome(state: ["color": "#123456ff", "tool": "text"]),
    .select: Outcome(verbs: ["select ID", "move ID +16,16"]),
    .text: Outcome(verbs: ["insert ID 5 \"!\" was=\"hello\""], state: ["typing": "hello!"]),
    .laser: Outcome(verbs: ["point 20,24 laser"]),
  ]

  @Test(
    "the mouse and the keyboard have the same result with every tool",
    arguments: Tool.allCases,
    [false, true]
  )
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
    let wanted: [String] =
      switch tool {
      // While a text is edited, it gets the keys.
      case .text: [steps[0], byKeyboard ? "" : steps[4], "!"]
      // The picked object is selected at once.
      case .picker: Array(steps.dropLast())
      default: steps
      }
    var verbs: [String] = []
    for step in wanted {
      for verb in desk.type(step) {
        verbs.append(verb)
        if verb == "select \(id)" {
          try desk.board.select([id])
          desk.sync()
        }
      }
    }
    if tool == .laser { verbs += desk.tick() }
    verbs = verbs.map { verb in
      let verb = verb.replacing("\(id)", with: "ID")
      guard tool == .ellipse || tool == .arrow, verb.hasPrefix("stroke") else { return verb }
      let words = verb.split(separator: " ")
      return "\(words[0]) \(words[1]) … \(words[words.count - 1])"
    }
    if tool == .hand {
      // The keyboard moves the board with arrow keys, and does not need the hand tool.
      #expect(verbs == [])
      #expect((state(desk.client)["center"] == before["center"]) == byKeyboard)
      return
    }
    let expected = try #require(Self.tools[tool])
    #expect(verbs == expected.verbs)
    var after = before.merging(expected.state) { $1 }
    after["pointer"] = tool == .text ? nil : "20,24"
    #expect(state(desk.client) == after)
  }
}

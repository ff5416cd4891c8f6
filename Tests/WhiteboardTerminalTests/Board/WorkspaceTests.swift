import Testing
import WhiteboardRendering

@testable import Whiteboard
@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("The board that the user edits") struct WorkspaceTests {
  private static let pointed = Point(x: 4, y: 8)

  private let board: Board
  private var workspace: Workspace

  init() throws {
    let own = try Desk.memberID(1)
    board = Board(incarnation: Incarnation(1), member: own, wallClock: 1_700_000_000_000)
    board.authors[Incarnation(1)] = own
    let viewport = Viewport(center: Point(x: 0, y: 0), columns: 80, rows: 20)
    workspace = Workspace(BoardScene(BoardCanvas(viewport, dotStyle: .braille)))
    workspace.scene.ownID = own
  }

  private func commands(_ effects: [BoardEffect]) -> [String] {
    effects.compactMap { if case .command(let request) = $0 { request.line } else { nil } }
  }

  /// Adds a text at the place where ``mouse(_:)`` points, and shows it.
  private mutating func addText(_ words: String, isSelected: Bool) throws -> ObjectID {
    let id = try board.createText(words, at: Self.pointed)
    if isSelected { try board.select([id]) }
    try show(id)
    return id
  }

  @discardableResult private mutating func show(_ id: ObjectID) throws -> [BoardEffect] {
    workspace.showObject(try #require(board.snapshot(id)))
  }

  private func mouse(_ kind: MouseEvent.Kind) -> MouseEvent { MouseEvent(kind, x: 40, y: 10) }

  @Test("the menu of an object that is not selected opens after its selection") mutating func menu() throws {
    let id = try addText("hello", isSelected: false)
    let cell = Menu.Cell(x: 40, y: 10)
    let event = mouse(.press(.right))
    let pressed = workspace.press(.right, event, at: Self.pointed, now: .zero)
    #expect(commands(pressed) == ["select \(id)"] && !pressed.contains(.openMenu(at: cell)))
    try board.select([id])
    let shown = try show(id)
    let again = try show(id)
    #expect(shown == [.openMenu(at: cell)] && again.isEmpty)
    let second = workspace.press(.right, event, at: Self.pointed, now: .zero)
    #expect(second == [.openMenu(at: cell)], "the object is selected already")
  }

  @Test("the menu does not open if the selection fails") mutating func menuAfterFailure() throws {
    let id = try addText("hello", isSelected: false)
    _ = workspace.press(.right, mouse(.press(.right)), at: Self.pointed, now: .zero)
    workspace.fail(1)
    try board.select([id])
    let shown = try show(id)
    #expect(shown.isEmpty && workspace.requests.count == 0)
  }

  @Test("the middle button moves the board, and so does the left button with the hand tool") mutating func panning() {
    for (button, tool) in [(MouseEvent.Button.middle, Tool.pen), (.left, .hand)] {
      workspace.toolbox.tool = tool
      let before = workspace.scene.viewport.center
      let event = mouse(.press(button))
      let pressed = workspace.press(button, event, at: Self.pointed, now: .zero)
      let drag = MouseEvent(.drag(button), x: 41, y: 10)
      let dragged = workspace.drag(drag, to: Self.pointed)
      let end = workspace.endGesture()
      #expect(pressed.isEmpty && dragged == [.viewMoved] && end.isEmpty)
      #expect(workspace.scene.viewport.center == Point(x: before.x - 8, y: before.y))
    }
  }

  @Test("a command for the selection needs a selection") mutating func selectionRequired() throws {
    let without = workspace.changeSelection { .delete($0) }
    #expect(without == [.selectionRequired])
    let id = try addText("hello", isSelected: true)
    let with = workspace.changeSelection { .delete($0) }
    #expect(commands(with) == ["delete \(id)"])
  }

  @Test("the keyboard's pen draws, and the view follows it") mutating func keyboardPen() {
    let on = workspace.toggleKeyboardPen()
    let press = workspace.pressOrRelease(now: .zero)
    #expect(on.isEmpty && commands(press) == ["pen 0,0 width=5"])
    let inView = workspace.move(1, 0, isWide: false)
    let outside = workspace.movePen(by: Point(x: 1_000, y: 0))
    #expect(inView.isEmpty && outside == [.viewMoved])
    #expect(workspace.scene.viewport.center == Point(x: 1_004, y: 0))
    let drawn = workspace.collectUpdates(hasReaders: false, now: .seconds(1))
    #expect(commands(drawn) == ["pen 4,0 1004,0", "point 1004,0"])
    let release = workspace.pressOrRelease(now: .seconds(1))
    #expect(commands(release) == ["lift"])
  }

  @Test("points of a stroke are sent at most once in 12 ms, and the last ones with its end") mutating func pace() {
    _ = workspace.toggleKeyboardPen()
    _ = workspace.pressOrRelease(now: .zero)
    var sent: [[String]] = []
    for time in [1_000, 1_008, 1_016] {
      _ = workspace.movePen(by: Point(x: 1, y: 0))
      let updates = workspace.collectUpdates(hasReaders: false, now: .milliseconds(time))
      sent.append(commands(updates).filter { $0.hasPrefix("pen") })
    }
    #expect(sent == [["pen 1,0"], [], ["pen 2,0 3,0"]])
    let isWaiting = workspace.hasUnsentPoints
    _ = workspace.movePen(by: Point(x: 1, y: 0))
    #expect(!isWaiting && workspace.hasUnsentPoints)
    let release = workspace.pressOrRelease(now: .milliseconds(1_020))
    #expect(commands(release) == ["pen 4,0", "lift"])
  }

  @Test("typing hides the pointer, sends each letter, and deletes an empty text at its end") mutating func typing()
    throws
  {
    workspace.toolbox.pointer = Self.pointed
    _ = workspace.collectUpdates(hasReaders: true, now: .seconds(1))
    workspace.beginTyping(at: Self.pointed)
    let letter = workspace.type(.character("a"), [])
    #expect(commands(letter) == ["point none", #"text 0,0 "a" from=corner as=typed-1"#])
    let erased = workspace.type(.backspace, [])
    #expect(commands(erased) == [#"insert typed-1 0 "" replacing=1 was="a""#])
    let end = workspace.type(.enter, [])
    #expect(commands(end) == ["delete typed-1"] && workspace.typing == nil)
  }

  @Test("Enter on a selected form edits its label, and a form stays without a label") mutating func label() throws {
    let id = try board.createForm(.rectangle, at: Self.pointed, label: "a")
    try board.select([id])
    try show(id)
    let snapshot = try #require(board.snapshot(id))
    let edit = workspace.editSelection()
    #expect(edit == [.typeIn(snapshot)])
    _ = workspace.beginTyping(in: snapshot)
    let typed = workspace.type(.character("b"), [])
    #expect(commands(typed) == [#"insert \#(id) 1 "b" was="a""#])
    _ = workspace.type(.backspace, [])
    let erased = workspace.type(.backspace, [])
    #expect(commands(erased) == [#"insert \#(id) 0 "" replacing=1 was="a""#])
    let end = workspace.type(.enter, [])
    #expect(commands(end).isEmpty && workspace.typing == nil)
  }

  @Test("typing ends when another member deletes the text") mutating func deletedText() throws {
    let id = try addText("hello", isSelected: true)
    let snapshot = try #require(board.snapshot(id))
    let begun = workspace.beginTyping(in: snapshot)
    #expect(commands(begun) == ["deselect"], "so that others can type in it too")
    let removed = workspace.remove(id)
    #expect(removed == [.message("the text was deleted")] && workspace.typing == nil)
  }

  @Test("an object that is out of view is shown when the user goes to it") mutating func going() throws {
    let id = try board.createText("far", at: Point(x: 5_000, y: 0))
    try show(id)
    let far = workspace.go(to: id)
    #expect(far.first == .viewMoved && commands(far) == ["select \(id)"])
    let near = workspace.go(to: id)
    #expect(!near.contains(.viewMoved))
    let everything = workspace.showEverything()
    #expect(everything == [.viewMoved])
  }

  @Test("if editing is discarded, no command is sent") mutating func discarding() {
    _ = workspace.press(.left, mouse(.press(.left)), at: Self.pointed, now: .zero)
    workspace.beginTyping(at: Self.pointed)
    workspace.discardEditing()
    let end = workspace.endEditing()
    #expect(end.isEmpty && workspace.typing == nil)
  }
}

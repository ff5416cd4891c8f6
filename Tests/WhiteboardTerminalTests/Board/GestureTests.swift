import Testing
import WhiteboardRendering

@testable import Whiteboard
@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("Tools and gestures") struct GestureTests {
  private var workspace = Workspace(
    BoardScene(BoardCanvas(Viewport(center: Point(x: 0, y: 0), columns: 80, rows: 20), dotStyle: .braille))
  )

  private mutating func press(_ place: Point) -> [BoardEffect] {
    workspace.press(.left, MouseEvent(.press(.left), x: 40, y: 10), at: place, now: .zero)
  }

  private func commands(_ effects: [BoardEffect]) -> [Command] {
    effects.compactMap { if case .command(let request) = $0 { request.command } else { nil } }
  }

  @Test("a stroke is sent while it grows, and ends with the release") mutating func stroke() throws {
    let points = (0..<130).map { Point(x: Double($0), y: 0) }
    let begun = press(points[0])
    let first = try BoardPoint(rounding: points[0])
    #expect(commands(begun) == [.pen(points: [first], pen: Pen(), alias: nil)])
    for point in points.dropFirst() { workspace.dragTool(to: point) }
    workspace.dragTool(to: points[129])
    let sent = commands(workspace.sendStroke()).map { $0.argument([BoardPoint].self)?.count ?? 0 }
    let more = workspace.sendStroke()
    #expect(sent == [64, 64, 1] && more.isEmpty)
    let end = workspace.endGesture()
    #expect(commands(end) == [.lift])
    #expect(workspace.toolbox.gesture == nil)
  }

  @Test("a canceled stroke is undone, and any other gesture sends nothing") mutating func cancel() {
    for (tool, expected) in [(Tool.pen, [Command.lift, .undo]), (.line, []), (.eraser, [])] {
      workspace.toolbox.tool = tool
      _ = press(Point(x: 0, y: 0))
      let effects = workspace.cancelGesture()
      #expect(commands(effects) == expected, "\(tool)")
    }
  }

  @Test("a place outside the board draws nothing and shows a problem") mutating func outside() {
    let effects = press(Point(x: 1e9, y: 0))
    #expect(effects == [.problem("this place is outside the board")])
  }

  @Test("without a selection, scaling and rotating ask for one") mutating func nothingSelected() {
    let scaling = workspace.scale(byPercent: 200)
    let rotation = workspace.rotate(by: 15)
    let nothing = workspace.rotate(by: 0)
    #expect(scaling == [.selectionRequired] && rotation == [.selectionRequired])
    #expect(nothing.isEmpty)
  }
}

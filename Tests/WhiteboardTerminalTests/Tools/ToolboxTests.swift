import Testing
import WhiteboardRendering

@testable import Whiteboard
@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("Tools and gestures")
struct ToolboxTests {
  private var toolbox = Toolbox()
  private var requests = PendingRequests()
  private let scene = BoardScene(
    BoardCanvas(
      Viewport(center: Point(x: 0, y: 0), columns: 80, rows: 20),
      dotStyle: .braille
    )
  )

  private func commands(_ effects: [BoardEffect]) -> [Command] {
    effects.compactMap { if case .command(let request) = $0 { request.command } else { nil } }
  }

  @Test("a stroke is sent while it grows, and ends with the release")
  mutating func stroke() throws {
    let points = (0..<130).map { Point(x: Double($0), y: 0) }
    let begun = toolbox.press(points[0], on: scene, &requests, now: .zero)
    let first = try BoardPoint(rounding: points[0])
    #expect(commands(begun) == [.pen(points: [first], pen: Pen(), alias: nil)])
    for point in points.dropFirst() { toolbox.drag(to: point, on: scene) }
    toolbox.drag(to: points[129], on: scene)
    let sent = commands(toolbox.continueStroke()).map { command in
      if case .pen(let points, _, _) = command { points.count } else { 0 }
    }
    let more = toolbox.continueStroke()
    #expect(sent == [64, 64, 1] && more.isEmpty)
    let end = toolbox.endGesture(on: scene, &requests)
    #expect(commands(end) == [.lift])
    #expect(toolbox.gesture == nil)
  }

  @Test("a canceled stroke is undone, and any other gesture sends nothing")
  mutating func cancel() {
    for (tool, expected) in [(Tool.pen, [Command.lift, .undo]), (.line, []), (.eraser, [])] {
      toolbox.tool = tool
      _ = toolbox.press(Point(x: 0, y: 0), on: scene, &requests, now: .zero)
      let effects = toolbox.cancelGesture(&requests)
      #expect(commands(effects) == expected, "\(tool)")
    }
  }

  @Test("a place outside the board draws nothing and shows a problem")
  mutating func outside() {
    let effects = toolbox.press(Point(x: 1e9, y: 0), on: scene, &requests, now: .zero)
    #expect(effects == [.problem("this place is outside the board")])
  }

  @Test("without a selection, scaling and rotating ask for one")
  mutating func nothingSelected() {
    let scaling = toolbox.transforms.scale(by: 2, scene, &requests)
    let rotation = toolbox.transforms.rotate(by: 15, scene, &requests)
    let nothing = toolbox.transforms.rotate(by: 0, scene, &requests)
    #expect(scaling == [.selectionRequired] && rotation == [.selectionRequired])
    #expect(nothing.isEmpty)
  }
}

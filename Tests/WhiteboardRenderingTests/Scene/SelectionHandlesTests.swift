import Testing
import Whiteboard

@testable import WhiteboardRendering

@Suite("Handles of a selection")
struct SelectionHandlesTests {
  private func snapshot(angle: Double, scale: Double) throws -> ObjectSnapshot {
    let board = try Scenes.board()
    let id = try board.createText("x", at: Point(x: 10, y: 20))
    try board.object(id)?.changeAngle(to: angle)
    try board.object(id)?.changeScale(to: scale)
    return try #require(board.snapshot(id))
  }

  private func isNear(_ one: Point, _ other: Point) -> Bool {
    abs(one.x - other.x) < 1e-6 && abs(one.y - other.y) < 1e-6
  }

  @Test("corners and knob are where the box shows")
  func places() throws {
    // A text is 200 by 50 units.
    let straight = SelectionHandles(try snapshot(angle: 0, scale: 2), Scenes.viewport)
    let corners = [(-190.0, -30.0), (210, -30), (210, 70), (-190, 70)]
    for (index, corner) in corners.enumerated() {
      #expect(isNear(straight.corner(index), Point(x: corner.0, y: corner.1)))
      #expect(isNear(straight.corner(index - 4), straight.corner(index)))
    }
    #expect(isNear(straight.knob, Point(x: 10, y: -54)))
    let turned = SelectionHandles(try snapshot(angle: .pi / 2, scale: 1), Scenes.viewport)
    #expect(isNear(turned.corner(0), Point(x: 35, y: -80)))
    #expect(isNear(turned.knob, Point(x: 59, y: 20)))
  }

  @Test(
    "a handle is hit about a cell around it, however large the board is shown",
    arguments: [0.5, 1, 8]
  )
  func hits(zoom: Double) throws {
    var viewport = Scenes.viewport
    viewport.zoom = zoom
    for angle in [0.0, 0.7, 3] {
      let handles = SelectionHandles(try snapshot(angle: angle, scale: 1.5), viewport)
      let dot = 1 / viewport.scale
      for index in 0..<4 {
        let corner = handles.corner(index)
        #expect(handles.hit(Point(x: corner.x + 2 * dot, y: corner.y - dot)) == .corner(index))
      }
      #expect(handles.hit(Point(x: handles.knob.x - dot, y: handles.knob.y)) == .knob)
      #expect(handles.hit(Point(x: handles.knob.x + 500 * dot, y: handles.knob.y)) == nil)
    }
    #expect(
      SelectionHandles(try snapshot(angle: 0, scale: 4), viewport).hit(Point(x: 10, y: 20)) == nil
    )
  }
}

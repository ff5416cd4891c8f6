import Testing
import Whiteboard

@testable import WhiteboardTerminal

@Suite("Snapping") struct SnappingTests {
  private let box = Rectangle(Point(x: 0, y: 0), Point(x: 10, y: 10))

  @Test("an edge or center snaps to another edge or center near it") func edges() {
    let other = Rectangle(Point(x: 100, y: 200), Point(x: 120, y: 240))
    let left = Snapping(box, by: Point(x: 98, y: 0), to: [other], grid: nil, reach: 4)
    #expect(left.offset == Point(x: 100, y: 0))
    #expect(left.x == 100 && left.y == nil)
    let middle = Snapping(box, by: Point(x: 104, y: 213.5), to: [other], grid: nil, reach: 4)
    #expect(middle.offset == Point(x: 105, y: 215), "the box snaps to both middles")
    let far = Snapping(box, by: Point(x: 50, y: 50), to: [other], grid: nil, reach: 4)
    #expect(far.offset == Point(x: 50, y: 50) && far.x == nil && far.y == nil)
  }

  @Test("without near objects, the center snaps to the grid") func grid() {
    let snapped = Snapping(box, by: Point(x: 14, y: 36), to: [], grid: 20, reach: 4)
    #expect(snapped.offset == Point(x: 15, y: 35))
    let none = Snapping(box, by: Point(x: 14, y: 36), to: [], grid: 0, reach: 4)
    #expect(none.offset == Point(x: 14, y: 36))
  }
}

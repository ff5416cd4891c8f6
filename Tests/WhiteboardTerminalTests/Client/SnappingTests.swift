import Testing
import Whiteboard

@testable import WhiteboardTerminal

@Suite("Where things come to lie")
struct SnappingTests {
  private let box = Rectangle(Point(x: 0, y: 0), Point(x: 10, y: 10))

  @Test("an edge or a middle that is near another one comes to lie on it")
  func edges() {
    let other = Rectangle(Point(x: 100, y: 200), Point(x: 120, y: 240))
    let left = Snapping(box, by: Point(x: 98, y: 0), to: [other], grid: nil, reach: 4)
    #expect(left.offset == Point(x: 100, y: 0))
    #expect(left.x == 100 && left.y == nil)
    let middle = Snapping(box, by: Point(x: 104, y: 213.5), to: [other], grid: nil, reach: 4)
    #expect(middle.offset == Point(x: 105, y: 215), "both middles")
    let far = Snapping(box, by: Point(x: 50, y: 50), to: [other], grid: nil, reach: 4)
    #expect(far.offset == Point(x: 50, y: 50) && far.x == nil && far.y == nil)
  }

  @Test("where nothing is near, the middle comes to lie on the lines of the board")
  func grid() {
    let snapped = Snapping(box, by: Point(x: 14, y: 36), to: [], grid: 20, reach: 4)
    #expect(snapped.offset == Point(x: 15, y: 35))
    let none = Snapping(box, by: Point(x: 14, y: 36), to: [], grid: 0, reach: 4)
    #expect(none.offset == Point(x: 14, y: 36))
  }
}

import PeerTestKit
import Testing

@testable import Whiteboard

@Suite struct HitTestingTests {
  private let board = TwoBoards.board(1)

  @Test func `objects at a point are found from front to back, even if rotated and scaled`() throws {
    let size = Size(width: 200, height: 50)
    let back = try board.createPhoto(RandomEditing.asset(1), at: Point(x: 0, y: 0), size: size)
    let front = try board.createPhoto(RandomEditing.asset(1), at: Point(x: 0, y: 0), size: size)
    #expect(board.objects(at: Point(x: 99, y: 24)) == [front, back])
    #expect(board.objects(at: Point(x: 101, y: 0)) == [])
    #expect(board.objects(at: Point(x: 101, y: 0), tolerance: 1) == [front, back])
    try board.object(front)?.rotate(to: .degrees(90))
    #expect(board.objects(at: Point(x: 24, y: 99)) == [front])
    #expect(board.objects(at: Point(x: 99, y: 24)) == [back])
    try board.object(back)?.scale(to: 2)
    #expect(board.objects(at: Point(x: 199, y: 49)) == [back])
    try board.reorder([back], .front)
    #expect(board.objects(at: Point(x: 0, y: 0)) == [back, front])
    for number in [Double.nan, .infinity] {
      #expect(board.objects(at: Point(x: number, y: 0)) == [])
      #expect(board.objects(at: Point(x: 0, y: 0), tolerance: -number) == [])
    }
  }

  @Test func `a stroke is found within its line width, except where it was erased`() throws {
    let id = try board.createDrawing(
      [InkPoint(x: 0, y: 0), InkPoint(x: 1600, y: 0), InkPoint(x: 1600, y: 1600)],
      lineWidth: 4
    )
    #expect(board.objects(at: Point(x: 50, y: 2)) == [id])
    #expect(board.objects(at: Point(x: 50, y: 3)) == [])
    #expect(board.objects(at: Point(x: 50, y: 3), tolerance: 1) == [id])
    #expect(board.objects(in: Rectangle(Point(x: 10, y: 90), Point(x: 60, y: 10)), mode: .touching) == [])
    let corner = Rectangle(Point(x: 90, y: -50), Point(x: 150, y: 50))
    #expect(board.objects(in: corner, mode: .touching) == [id])
    #expect(board.objects(in: corner, mode: .inside) == [])
    try board.erase(id, spans: [4...16])
    #expect(board.objects(at: Point(x: 50, y: 0)) == [])
    #expect(board.objects(at: Point(x: 10, y: 0)) == [id])
    let right = Rectangle(Point(x: 90, y: -10), Point(x: 110, y: 110))
    #expect(board.objects(in: right, mode: .inside) == [])
    try board.erase(id, spans: [0...4])
    #expect(board.objects(in: right, mode: .inside) == [id])
    try board.erase(id, spans: [0...32])
    let all = Rectangle(Point(x: -500, y: -500), Point(x: 500, y: 500))
    #expect(board.objects(in: all, mode: .inside) == [])
    #expect(board.objects(in: all, mode: .touching) == [])
  }

  @Test("a box and a rectangle intersect if they have a point in common", arguments: 0..<40) func boxes(seed: UInt64)
    throws
  {
    var random = SeededGenerator(seed: seed)
    let box = Size(width: 200, height: 50)
    let id = try board.createPhoto(RandomEditing.asset(1), at: Point(x: 0, y: 0), size: box)
    let object = try #require(board.object(id))
    var outcomes: Set<Bool> = []
    for _ in 0..<40 {
      try object.move(to: Point(x: Double(random.below(400)) - 200, y: Double(random.below(400)) - 200))
      try object.rotate(to: .radians(Double(random.below(628)) / 100))
      try object.scale(to: 0.3 + Double(random.below(10)) / 10)
      let corner = Point(x: Double(random.below(300)) - 150, y: Double(random.below(300)) - 150)
      let size = (Double(random.below(150)), Double(random.below(150)))
      let rectangle = Rectangle(corner, Point(x: corner.x + size.0, y: corner.y + size.1))
      // Both shapes are convex, so test the points of a fine grid in one of them against the other.
      let placement = try #require(board.state.record(id)).placement(points: nil)
      var isNear = false
      var isWithin = false
      var isAllInside = true
      for column in 0...40 {
        for row in 0...40 {
          let inRectangle = Point(x: corner.x + size.0 * Double(column) / 40, y: corner.y + size.1 * Double(row) / 40)
          let distance = placement.distance(to: inRectangle)
          if distance == 0 { isWithin = true }
          if distance < 4 { isNear = true }
          let inBox = placement.shown(Point(x: (Double(column) / 40 - 0.5) * 200, y: (Double(row) / 40 - 0.5) * 50))
          if rectangle.distance(to: inBox) == 0 { isWithin = true }
          if rectangle.distance(to: inBox) < 4 { isNear = true }
          if rectangle.distance(to: inBox) > 1e-9 { isAllInside = false }
        }
      }
      let touches = !board.objects(in: rectangle, mode: .touching).isEmpty
      if isWithin { #expect(touches) }
      if !isNear { #expect(!touches) }
      #expect(!board.objects(in: rectangle, mode: .inside).isEmpty == isAllInside)
      outcomes.insert(touches)
    }
    #expect(outcomes.count == 2)
  }

  @Test func `a rotation is exact at quarter turns, and accurate at all others`() {
    #expect(Rotation(steps: 0).cosine == 1 && Rotation(steps: 0).sine == 0)
    #expect(Rotation(steps: 1024).cosine == 0 && Rotation(steps: 1024).sine == 1)
    #expect(Rotation(steps: 2048).cosine == -1)
    #expect(Rotation(steps: 3072).sine == -1)
    let half = (0.5 as Double).squareRoot()
    #expect((Rotation(steps: 512).sine - half).magnitude < 1e-15)
    var turned = Point(x: 1, y: 0)
    for step in 0..<4096 {
      let rotation = Rotation(steps: UInt64(step))
      let (cosine, sine) = (rotation.cosine, rotation.sine)
      #expect((cosine * cosine + sine * sine - 1).magnitude < 1e-14)
      #expect((turned.x - cosine).magnitude < 1e-11 && (turned.y - sine).magnitude < 1e-11)
      turned = Rotation(steps: 1).turned(turned)
    }
  }

  @Test func `the bounds of several objects contain all of them`() throws {
    let size = Size(width: 200, height: 50)
    let first = try board.createPhoto(RandomEditing.asset(1), at: Point(x: 0, y: 0), size: size)
    let second = try board.createPhoto(RandomEditing.asset(1), at: Point(x: 300, y: 0), size: size)
    try board.object(second)?.rotate(to: .degrees(90))
    let group = try board.group([first, second])
    #expect(board.bounds(of: [group]) == Rectangle(Point(x: -100, y: -100), Point(x: 325, y: 100)))
    #expect(board.bounds(of: []) == nil)
  }
}

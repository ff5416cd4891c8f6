import Testing

@testable import Whiteboard

@Suite struct AngleTests {
  @Test("angles of equal size in degrees and radians are written as the same cell value") func units() throws {
    let equal: [(Double, Double)] = [(0, 0), (90, .pi / 2), (-45, -.pi / 4), (720, 4 * .pi)]
    for (degrees, radians) in equal {
      let angle = Angle.degrees(degrees)
      #expect(try FixedPoint.angle(angle) == FixedPoint.angle(.radians(radians)))
      #expect(abs(angle.radians - radians) < 1e-12)
      #expect(abs(Angle.radians(radians).degrees - degrees) < 1e-9)
    }
  }

  @Test("[BRD-12] an object rotates to an angle, rounded to 1/4096 turn") func rotating() throws {
    let board = Board(incarnation: Incarnation(1), member: RandomEditing.member(1), wallClock: 1_700_000_000_000)
    let object = try #require(board.object(try board.createText("a", at: Point(x: 1, y: 2))))
    try object.rotate(to: .degrees(-90))
    #expect(board.state.record(object.id)?[.angle]?.value == .unsigned(3072))
    try object.rotate(to: .radians(.pi))
    #expect(object.angle == .pi)
    try object.scale(to: 1.5)
    try object.move(to: Point(x: 40, y: -30))
    #expect(object.scale == 1.5 && object.centerPosition == Point(x: 40, y: -30))
    #expect(throws: BoardError.outOfRange("angle")) { try object.rotate(to: .degrees(.infinity)) }
  }
}

import Whiteboard

/// Merges the boards of two members, with the data model alone.
@main struct Shapes {
  static func main() throws {
    var boards: [Board] = []
    for number: UInt8 in 1...2 {
      guard let incarnation = Incarnation(exactly: UInt64(number)),
        let member = MemberID(bytes: [UInt8](repeating: number, count: 32))
      else { continue }
      boards.append(Board(incarnation: incarnation, member: member, wallClock: 1_000))
    }
    let text = try boards[0].createText("corner", at: Point(x: 30, y: 40))
    for batch in boards[0].takeBatches() { try boards[1].receive(batch) }
    try boards[1][text].rotate(to: .degrees(90))
    for batch in boards[1].takeBatches() { try boards[0].receive(batch) }
    print(boards[0].snapshot(text) == boards[1].snapshot(text))
  }
}

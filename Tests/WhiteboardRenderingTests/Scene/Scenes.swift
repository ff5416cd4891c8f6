import PeerTestKit
import Testing
import Whiteboard

@testable import WhiteboardRendering

/// Boards and canvases for tests.
enum Scenes {
  static let viewport = Viewport(center: Point(x: 0, y: 0), columns: 40, rows: 12)

  static func member(_ number: UInt8 = 1) throws -> MemberID {
    try #require(MemberID(bytes: Array(repeating: number, count: 32)))
  }

  static func board(_ number: UInt8 = 1) throws -> Board {
    Board(incarnation: Incarnation(UInt64(number)), member: try member(number), wallClock: 1_700_000_000_000)
  }

  /// Returns a canvas that shows a board for the first time.
  static func canvas(_ board: Board, _ viewport: Viewport = viewport, _ style: DotStyle = .braille) -> BoardCanvas {
    var canvas = BoardCanvas(viewport, dotStyle: style)
    for snapshot in board.snapshots {
      canvas.set(BoardCanvas.Item(snapshot, game: board.gameView(snapshot.id, for: board.member)))
    }
    canvas.paint()
    return canvas
  }

  static func ink(_ points: [(Double, Double)]) throws -> [InkPoint] {
    try points.map { (point) throws(BoardError) in try InkPoint(Point(x: point.0, y: point.1)) }
  }

  /// Begins a stroke without finishing it.
  static func begin(_ board: Board, _ ink: [InkPoint]) throws -> ObjectID {
    let id = try board.beginDrawing()
    try board.appendInk(ink, to: id, first: 0)
    return id
  }

  static func ellipse(_ center: (x: Double, y: Double), _ width: Double, _ height: Double) throws -> [InkPoint] {
    try ink(
      (0...64).map { step in
        let turn = Rotation(steps: UInt64(step * 64))
        return (center.x + width / 2 * turn.cosine, center.y + height / 2 * turn.sine)
      }
    )
  }

  /// Returns a photo of the given size in pixels.
  static func photo(_ number: UInt8 = 1, width: Int = 640, height: Int = 480) throws -> AssetReference {
    try AssetReference(
      id: try #require(AssetID(Array(repeating: number, count: 32))),
      byteCount: 34_567,
      header: try PhotoHeader(format: .jpeg, width: width, height: height)
    )
  }

  /// Returns a board with a box, an ellipse, a diagonal, a wave drawn fast, and wider lines.
  static func drawing() throws -> Board {
    let board = try board()
    try board.createDrawing(try ink([(-148, -80), (-60, -80), (-60, -24), (-148, -24), (-148, -80)]))
    try board.createDrawing(try ellipse((8, -56), 96, 64), color: 0xE69F_00FF)
    try board.createDrawing(try ink([(80, -24), (148, -84)]), color: 0x56B4_E9FF)
    try board.createDrawing(
      try ink([(-148, 40), (-124, 8), (-100, 40), (-76, 72), (-52, 40), (-28, 8), (-4, 40)]),
      color: 0x1FAE_84FF
    )
    try board.createDrawing(try ink([(16, 8), (72, 8), (44, 40)]), lineWidth: 12, color: 0xCC79_A7FF)
    try board.createDrawing(try ink([(92, 8), (148, 76)]), lineWidth: 20, color: 0xE860_1CFF)
    try board.createDrawing(try ink([(16, 76), (72, 60)]), lineWidth: 2)
    return board
  }

  static func edit(_ board: Board, _ random: inout SeededGenerator) {
    let ids = board.objectIDs
    let id = ids.isEmpty ? nil : ids[random.below(ids.count)]
    let place = point(&random)
    do {
      switch (random.below(19), id) {
      case (0, _), (1, nil): try board.createText(["hello", "漢字\nx", "👩‍👩‍👧 é"][random.below(3)], at: place)
      case (1, let id?): try board.object(id)?.move(to: place)
      case (2, let id?): try board.object(id)?.rotate(to: .radians(Double(random.below(7))))
      case (3, let id?): try board.object(id)?.scale(to: Double(1 + random.below(30)) / 10)
      case (4, let id?): try board.delete(id)
      case (5, let id?): try board.reorder([id], random.chance(50) ? .front : .back)
      case (6, _): try board.createConnectFour(at: place)
      case (7, let id?),
        (8, let id?) where board.object(id)?.kind == .drawing:
        let count = board.snapshot(id)?.ink?.count ?? 0
        let pressure = random.chance(50) ? UInt8(random.below(256)) : 0
        try board.appendInk([InkPoint(place, pressure: pressure)], to: id, first: count)
      case (9, _): _ = try board.erase(along: [place, point(&random)], radius: 12)
      case (10, _): try board.createPhoto(try photo(UInt8(1 + random.below(3))), at: place)
      case (12, _), (13, _): try addForm(board, at: place, &random)
      case (14, let id?): try board.restyle([id], changes(&random))
      case (15, let id?): try board.resize(id, to: Size(width: size(&random), height: size(&random)))
      case (16, let id?): try board.object(id)?.update(text: ["", "Login", "漢字 one two three\nfour"][random.below(3)])
      case (17, let id?): try board.setPoints((0..<3).map { _ in point(&random) }, of: id)
      case (11, _): _ = try begin(board, [InkPoint(place), InkPoint(point(&random))])
      default:
        let points = (0..<1 + random.below(6)).map { _ in point(&random) }
        try board.createDrawing(
          points.map { (point) throws(BoardError) in try InkPoint(point) },
          lineWidth: Double(1 + random.below(40)),
          color: UInt32(random.below(1 << 24)) << 8
        )
      }
    } catch {}
  }

  private static func size(_ random: inout SeededGenerator) -> Double { Double(1 + random.below(160)) }

  private static func addForm(_ board: Board, at place: Point, _ random: inout SeededGenerator) throws {
    let form = DrawingForm.allCases[random.below(7)]
    let end = board.objectIDs.last.flatMap { board.binding(to: $0, at: place) }
    try board.createForm(
      form,
      at: place,
      size: Size(width: size(&random), height: size(&random)),
      points: form.hasPoints ? (0..<2 + random.below(3)).map { _ in point(&random) } : [],
      label: ["", "a", "two words\n漢字"][random.below(3)],
      lineWidth: Double(1 + random.below(12)),
      color: UInt32(random.below(1 << 24)) << 8,
      to: form.hasPoints && random.chance(50) ? end : nil
    )
  }

  private static func changes(_ random: inout SeededGenerator) -> [StyleChange] {
    let fills: [UInt32?] = [nil, 0xFFEC_99FF, 0x3060_C040]
    return switch random.below(6) {
    case 0: [.fill(fills[random.below(3)])]
    case 1: [.lineStyle(LineStyle.allCases[random.below(3)])]
    case 2: [.opacity(Double(random.below(3)) / 2)]
    case 3: [.alignment(TextAlignment.allCases[random.below(3)]), .textSize(Double(8 + random.below(32)))]
    case 4: [.end(LineEnd.allCases[random.below(5)]), .isCurved(random.chance(50))]
    default: [.lineWidth(Double(1 + random.below(20)))]
    }
  }

  static func point(_ random: inout SeededGenerator) -> Point {
    Point(x: Double(random.below(360)) - 180, y: Double(random.below(240)) - 120)
  }
}

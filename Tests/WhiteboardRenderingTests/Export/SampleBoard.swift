import PeerCore
import Testing
import Whiteboard
import WhiteboardRendering

@testable import WhiteboardRendering

struct SampleBoard {
  let board: Board
  /// A PNG of one pixel, and its reference.
  static let png =
    Base64.decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")
    ?? []

  /// Returns a fake hash instead of SHA-256, for tests without a crypto library.
  static func hash(_ bytes: [UInt8]) -> AssetID? {
    var sum: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return AssetID((0..<32).map { UInt8(truncatingIfNeeded: sum >> (UInt64($0 % 8) * 8)) })
  }

  static func empty(_ number: UInt64 = 1) throws -> Board {
    let member = try #require(MemberID(bytes: Array(repeating: UInt8(number), count: 32)))
    return Board(incarnation: Incarnation(number), member: member, wallClock: 1_700_000_000_000)
  }

  static func ink(_ points: [(Double, Double)], pressure: (Int) -> UInt8 = { _ in 0 }) throws -> [InkPoint] {
    try points.enumerated().map { index, point in try InkPoint(Point(x: point.0, y: point.1), pressure: pressure(index))
    }
  }

  init() throws {
    board = try Self.empty()
    let wave = (0..<60).map { (step: Int) -> (Double, Double) in (Double(step) * 6 - 180, step % 12 < 6 ? 20 : -20) }
    try board.createDrawing(try Self.ink(wave), lineWidth: 6, color: 0x3060_C0FF)
    let press = (0..<40).map { (step: Int) -> (Double, Double) in (Double(step) * 8 - 160, 80 + Double(step % 7)) }
    try board.createDrawing(try Self.ink(press) { UInt8(20 + $0 * 5) }, lineWidth: 12, color: 0xE548_4D80)
    let box = try board.createDrawing(try Self.ink([(-200, -120), (200, -120), (200, 120), (-200, 120), (-200, -120)]))
    try board.erase(box, spans: [20...28])
    try board.object(box)?.rotate(to: .radians(0.2))
    let text = try board.createText("Über <b>\"Größe\" & 漢字</b>", at: Point(x: 10, y: -60), color: 0x1A7F_37FF)
    try board.object(text)?.scale(to: 1.5)
    try board.createText("two\nlines  here", at: Point(x: -120, y: 0))
    let asset = try AssetReference(
      id: try #require(Self.hash(Self.png)),
      byteCount: Self.png.count,
      header: PhotoHeader(ofWhole: Self.png)
    )
    board.assets.insert(asset.id)
    let photo = try board.createPhoto(asset, at: Point(x: 120, y: 40), size: Size(width: 80, height: 60))
    try board.object(photo)?.rotate(to: .radians(0.5))
    let dot = try board.createDrawing(try Self.ink([(0, 0)]), lineWidth: 20)
    let group = try board.group([photo, dot])
    try board.group([group, text])
    let game = try board.createConnectFour(at: Point(x: -120, y: 180))
    try board.game(game).play("4")
    var random = SystemRandomNumberGenerator()
    _ = try board.createWordle(at: Point(x: 120, y: 190), using: &random)
    try board.setLocked(dot, true)
    try board.setTitle("Sample")
    try board.setGrid(50)
    try board.say("hello", as: "Ada")
  }

  var export: BoardExport { export() }

  func export(region: Rectangle? = nil) -> BoardExport {
    BoardExport(of: board, id: "abc", name: "sample", region: region) { $0 == Self.hash(Self.png) ? Self.png : nil }
  }

  /// The values that a board and its imported copy have in common.
  static func content(_ board: Board) -> [[String]] {
    let groups = Dictionary(
      board.snapshots.flatMap(\.groups).enumerated().map { ($1, $0) },
      uniquingKeysWith: { first, _ in first }
    )
    return board.snapshots.map { object in
      [
        object.kind.name, "\(object.centerPosition)", "\(object.size)", "\(object.scale)", "\(object.angle)",
        "\(object.color ?? 1)", object.text ?? "", "\(object.points ?? [])", "\((object.ink ?? []).map(\.pressure))",
        "\(object.lineWidth ?? 0)", "\(object.isFinished ?? false)", "\(object.erasedSpans ?? [])",
        "\(object.groups.compactMap { groups[$0] })", "\(object.isLocked)", object.game ?? "",
        "\(object.asset.map { "\($0)" } ?? "")",
      ]
    }
  }
}

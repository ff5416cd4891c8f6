import PeerCore
import PeerTestKit
import Whiteboard

struct RandomEdit {
  let board: Board
  var random: SeededGenerator
  /// Whether edits that `undo` cannot undo are allowed.
  var mayDoWhatStays = true
  /// Whether photos are allowed; their bytes must then be available.
  var mayShowPhotos = true

  /// Performs a random edit, which the board may refuse; returns whether the board accepted it.
  mutating func act() -> Bool {
    do throws(BoardError) {
      try attempt()
      return true
    } catch { return false }
  }

  private mutating func point() -> Point {
    Point(x: Double(random.below(4000)) / 3 - 600, y: Double(random.below(4000)) / 7)
  }

  private mutating func attempt() throws(BoardError) {
    let ids = board.state.storedIDs.sorted()
    guard !ids.isEmpty, !random.chance(14) else { return try create() }
    let id = ids[random.below(ids.count)]
    switch random.below(100) {
    case 0..<20: try transform(id, ids)
    case 20..<36: try type(into: some(of: .text, ids) ?? id)
    case 36..<44: try erase(some(of: .drawing, ids) ?? id)
    case 44..<54: try arrange(id, ids)
    case 54..<62: try style(id)
    case 62..<66: try board.duplicate([id])
    case 66..<74: try remove(id, ids)
    case 74..<78: try adjust()
    case 78..<84: try select(id)
    case 84..<94: if mayDoWhatStays { try play(ids) }
    default: if mayDoWhatStays { try draw(ids) }
    }
  }

  // MARK: - New objects

  private mutating func create() throws(BoardError) {
    let place = point()
    switch random.below(mayDoWhatStays ? 12 : 8) {
    case 0..<3: try board.createText(["", "a", "héllo", "x🙂y"][random.below(4)], at: place)
    case 3..<5:
      let first = try InkPoint(place)
      try board.createDrawing(
        (0..<4).map { InkPoint(x: first.x + $0 * 160, y: first.y - $0 * 90) },
        color: random.chance(50) ? 0x1122_33FF : nil
      )
    case 5 where mayDoWhatStays: _ = try board.beginDrawing(lineWidth: Double(1 + random.below(9)))
    case 6..<8 where mayShowPhotos: try board.createPhoto(Self.asset(UInt8(random.below(5))), at: place)
    case 6..<9 where mayDoWhatStays: _ = try board.createWordle(at: place, using: &random)
    case 9: try board.createConnectFour(at: place)
    case 5..<9: break
    default: try board.say("line \(random.below(100))", as: "Anna")
    }
  }

  static func asset(_ number: UInt8) -> AssetReference {
    guard let id = AssetID(Array(repeating: number, count: 32)),
      let header = try? PhotoHeader(format: .png, width: 30, height: 20),
      let asset = try? AssetReference(id: id, byteCount: 1000, header: header)
    else { preconditionFailure("a legal asset") }
    return asset
  }

  /// Continues or finishes an unfinished stroke of the local member.
  private mutating func draw(_ ids: [ObjectID]) throws(BoardError) {
    let strokes = ids.filter { board.object($0).map { $0 is DrawingObject } ?? false }
    guard let id = random.element(of: strokes), let stroke = board.object(id) as? DrawingObject else { return }
    let place = try InkPoint(point())
    if random.chance(70) {
      try board.appendInk([place, InkPoint(x: place.x + 80, y: place.y)], to: id, first: stroke.ink.count)
    } else {
      try board.endDrawing(id, count: stroke.ink.count)
    }
  }

  // MARK: - Changes

  private mutating func transform(_ id: ObjectID, _ ids: [ObjectID]) throws(BoardError) {
    let place = point()
    switch random.below(6) {
    case 0: try board.object(id)?.scale(to: Double(1 + random.below(50)) / 10)
    case 1: try board.object(id)?.rotate(to: .radians(Double(random.below(700)) / 100))
    case 2:
      // Several objects move in one gesture.
      try board.gesture { () throws(BoardError) in for id in ids.prefix(5) { try board.object(id)?.move(to: place) } }
    case 3: try board.move([id], by: Point(x: 10, y: -10))
    default: try board.object(id)?.move(to: place)
    }
  }

  private mutating func type(into id: ObjectID) throws(BoardError) {
    guard let text = board.snapshot(id)?.text else { return }
    let count = text.unicodeScalars.count
    let start = random.below(count + 1)
    let end = start + random.below(min(3, count - start) + 1)
    try board.text(id).edit(replacing: start..<end, with: ["", "q", "rst"][random.below(3)])
  }

  private mutating func erase(_ id: ObjectID) throws(BoardError) {
    let start = random.below(30)
    if random.chance(30) {
      let from = point()
      _ = try board.erase(along: [from, Point(x: from.x + 300, y: from.y + 90)], radius: 20)
    } else {
      try board.erase(id, spans: [start...(start + 1 + random.below(18))])
    }
  }

  private mutating func arrange(_ id: ObjectID, _ ids: [ObjectID]) throws(BoardError) {
    let other = ids[random.below(ids.count)]
    switch random.below(9) {
    case 0: try board.reorder([id], .front)
    case 1: try board.reorder([id], .back)
    case 2: try board.reorder([id], .forward)
    case 3: try board.reorder([id, other], .backward)
    case 4: try board.reorder([id], .above(other))
    case 5..<8: try board.group([id, other])
    default: try board.ungroup(id)
    }
  }

  private mutating func style(_ id: ObjectID) throws(BoardError) {
    switch random.below(6) {
    case 0..<3: try board.setColor(UInt32(truncatingIfNeeded: random.next()), of: id)
    case 3: try board.setLineWidth(Double(1 + random.below(20)), of: id)
    default: try board.setLocked(id, random.chance(35))
    }
  }

  private mutating func remove(_ id: ObjectID, _ ids: [ObjectID]) throws(BoardError) {
    let gone = random.element(of: ids.filter { board.state.record($0)?.isDeleted ?? false })
    switch random.below(5) {
    case 0, 1: try board.delete(id)
    case 2, 3: try board.undelete(gone ?? id)
    default: if mayDoWhatStays { try board.purge(gone ?? id) }
    }
  }

  private mutating func some(of kind: ObjectKind, _ ids: [ObjectID]) -> ObjectID? {
    random.element(of: ids.filter { board.state.record($0)?.kind == kind })
  }

  private mutating func adjust() throws(BoardError) {
    switch random.below(4) {
    case 0: try board.setTitle("title \(random.below(9))")
    case 1: try board.setBackground(UInt32(truncatingIfNeeded: random.next()))
    case 2: try board.setGrid(random.chance(50) ? 20 : nil)
    default: try board.setLanguage(random.chance(50) ? "en" : "de")
    }
  }

  private mutating func select(_ id: ObjectID) throws(BoardError) {
    switch random.below(3) {
    case 0: try board.object(id)?.deselect()
    case 1: try board.deselectAll()
    default: try board.object(id)?.select()
    }
  }

  private mutating func play(_ ids: [ObjectID]) throws(BoardError) {
    let games = ids.filter { board.object($0).map { $0 is GameObject } ?? false }
    guard let id = random.element(of: games) else { return }
    let words = ["speed", "eerie", "level", "llama", "abbey", "crane", "sleet", "geese"]
    if case .connectFour? = board.gameView(id, for: board.member)?.detail {
      try board.game(id).play(random.chance(3) ? .resign : .drop(column: 1 + random.below(7)))
    } else {
      try board.game(id).play(.guess(words[random.below(words.count)]))
    }
  }
}

/// One object on one board: a view that always shows the board's present state.
///
/// Valid inside the board's isolation only; take a `snapshot` to leave it. Each operation is one cell
/// write. All of them throw `BoardError`: `unknownObject` where it is gone, `held` where a member who
/// is present has selected it, `locked` where it is locked, `outOfRange` for numbers beyond the board.
public class WhiteboardObject {
  /// The board it is on.
  public let board: Board
  /// The object's name.
  public let id: ObjectID

  init(_ id: ObjectID, on board: Board) {
    self.id = id
    self.board = board
  }

  var record: ObjectRecord { board.state.record(id) ?? ObjectRecord() }

  /// The object as a value, or nil where it is gone.
  public var snapshot: ObjectSnapshot? { board.snapshot(id) }
  /// What it is.
  public var kind: ObjectKind { record.kind ?? ObjectKind(rawValue: 0) }
  /// The center in board units.
  public var centerPosition: Point { record.frame(points: nil).center }
  /// Its size before scaling.
  public var size: Size { record.frame(points: nil).size }
  /// How much larger than `size` it shows.
  public var scale: Double { record.scale }
  /// Radians clockwise.
  public var angle: Double { record.angle }
  /// The member who is present and has selected it.
  public var selectedBy: MemberID? { board.holder(of: id) }
  /// Its colour, `0xRRGGBBAA`, where it has one of its own.
  public var color: UInt32? { record.color }
  /// Whether it is locked.
  public var isLocked: Bool { record.isLocked }
  /// The groups around it, innermost first.
  public var groups: [ObjectID] { board.groups(of: id) }
  /// Its place in the stack.
  public var zIndex: [UInt8] { record.zIndex }
  /// Milliseconds since 1970 of the latest write, the selection aside.
  public var updatedAt: UInt64 { record.updatedAt }

  /// Selects it for the board's own member.
  ///
  /// All replicas agree on the winner of a race for it. A selection for another member
  /// does not exist: it would count nowhere (BRD-22).
  public func select() throws(BoardError) {
    try board.requireSelectable(id)
    try board.writeSelection(of: id)
  }

  /// Ends its selection.
  public func deselect() throws(BoardError) {
    try board.requireSelectable(id)
    guard record.selection != nil else { return }
    try board.write(id, .selection, .none)
  }

  /// Scales it to `scale` times its size.
  public func changeScale(to scale: Double) throws(BoardError) {
    try board.requireTransformable(id)
    try board.write(id, .scale, try FixedPoint.scale(scale))
  }

  /// Moves its centre to `position`.
  public func changePosition(to position: Point) throws(BoardError) {
    try board.requireTransformable(id)
    try board.write(id, .position, try FixedPoint.position(position))
  }

  /// Turns it to `angle` radians clockwise.
  public func changeAngle(to angle: Double) throws(BoardError) {
    try board.requireTransformable(id)
    try board.write(id, .angle, try FixedPoint.angle(angle))
  }

  /// Gives it a colour; see `Board.setColor(_:of:)`.
  public func setColor(_ color: UInt32?) throws(BoardError) { try board.setColor(color, of: id) }

  /// Locks or unlocks it; see `Board.setLocked(_:_:)`.
  public func setLocked(_ isLocked: Bool) throws(BoardError) { try board.setLocked(id, isLocked) }

  /// Moves it in the stack; see `Board.reorder(_:_:)`.
  public func reorder(_ move: StackMove) throws(BoardError) { try board.reorder([id], move) }

  /// Copies it; see `Board.duplicate(_:by:)`.
  /// - Returns: The copy.
  @discardableResult
  public func duplicate(by offset: Point) throws(BoardError) -> WhiteboardObject? {
    try board.duplicate([id], by: offset)[id].flatMap { board.object($0) }
  }

  /// Deletes it; see `Board.delete(_:)`.
  public func delete() throws(BoardError) { try board.delete(id) }

  /// Brings it back; see `Board.undelete(_:)`.
  public func undelete() throws(BoardError) { try board.undelete(id) }
}

/// Words on the board.
public final class TextObject: WhiteboardObject {
  /// The text, which may come from another peer.
  public var text: String { record.text }

  /// Makes the words `text`; see `Board.replaceText(_:with:)`.
  public func update(text: String) throws(BoardError) {
    try board.replaceText(id, with: text)
  }
}

/// A stroke.
public final class DrawingObject: WhiteboardObject {
  /// The committed points, where they were drawn.
  public var ink: [InkPoint] { record.points }
  /// The line width in board units.
  public var lineWidth: Double { record.lineWidth }
  /// Gives it a line width; see `Board.setLineWidth(_:of:)`.
  public func setLineWidth(_ width: Double) throws(BoardError) {
    try board.setLineWidth(width, of: id)
  }

  /// The parts that were erased, in 1/16 of the way from one point to the next.
  public var erasedSpans: [ClosedRange<Int>] { record.erased.ranges }

  /// Erases parts of it; see `Board.erase(_:spans:)`.
  public func erase(spans: [ClosedRange<Int>]) throws(BoardError) {
    try board.erase(id, spans: spans)
  }

  /// Whether its author has finished it.
  public var isFinished: Bool { record.isFinished }
  /// The centre of its points, until it is moved.
  public override var centerPosition: Point { record.frame(points: record.points).center }
  /// The extent of its points and its line.
  public override var size: Size { record.frame(points: record.points).size }
}

/// A picture.
public final class PhotoObject: WhiteboardObject {
  /// Its bytes, by reference, or nil where the object came without.
  public var asset: AssetReference? { record.asset }
  /// Whether its bytes are here.
  public var isAssetAvailable: Bool { asset.map { board.assets.contains($0.id) } ?? false }
}

/// A game that lies on the board: see `Board.play(_:_:)`.
public final class GameObject: WhiteboardObject {}

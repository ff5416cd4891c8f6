/// One object on one board: a view that always shows the board's present state.
///
/// Valid inside the board's isolation only; take a `snapshot` to leave it. Each operation is one cell
/// write. All of them throw `BoardError`: `unknownObject` where it is gone, `held` where a member who
/// is present has selected it, `outOfRange` for numbers beyond the board.
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
  /// Its centre in board units.
  public var centerPosition: Point { record.frame(points: nil).center }
  /// Its size before scaling.
  public var size: Size { record.frame(points: nil).size }
  /// How much larger than `size` it shows.
  public var scale: Double { record.scale }
  /// Radians clockwise.
  public var angle: Double { record.angle }
  /// The member who is present and has selected it.
  public var selectedBy: MemberID? { board.holder(of: id) }
  /// Its place in the stack.
  public var zIndex: [UInt8] { record.zIndex }
  /// Milliseconds since 1970 of the latest write, the selection aside.
  public var updatedAt: UInt64 { record.updatedAt }

  /// Selects it for `member`, who is ourselves; a race for it is decided the same everywhere.
  public func select(by member: MemberID) throws(BoardError) {
    try board.requireWritable(id)
    if board.selection(of: id) == member {
      try board.write(id, .selection, .bytes(member.bytes))
    } else {
      // The cell may name the member already, written by somebody else: then it counts as none.
      try board.gesture { () throws(BoardError) in
        try board.stage(id, .selection, .bytes(member.bytes))
      }
    }
  }

  /// Ends its selection.
  public func deselect() throws(BoardError) {
    try board.requireWritable(id)
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
}

/// Words on the board.
public final class TextObject: WhiteboardObject {
  /// The words; text from a peer.
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

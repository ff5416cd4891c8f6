/// One object on a board.
///
/// Its properties always show the current state of the board.
///
/// Use the object only in the isolation of the board; a `snapshot` can leave that isolation. Each method that changes
/// the object throws `BoardError`: `unknownObject` if the object does not exist, `held` if another member that is
/// online has selected it, `locked` if it is locked, `outOfRange` for numbers outside their limits.
public class WhiteboardObject {
  /// The board that contains the object.
  public let board: Board
  /// The id of the object.
  public let id: ObjectID

  init(_ id: ObjectID, on board: Board) {
    self.id = id
    self.board = board
  }

  var record: ObjectRecord { board.state.shown(id) ?? ObjectRecord() }

  /// The state of the object as a value; nil if the object is not shown on the board.
  public final var snapshot: ObjectSnapshot? { board.snapshot(id) }
  /// The kind of object.
  public final var kind: ObjectKind { record.kind ?? ObjectKind(rawValue: 0) }
  /// The center of the object, in board units.
  public var centerPosition: Point { record.frame(points: nil).center }
  /// The size of the object before scaling, in board units.
  public var size: Size { record.frame(points: nil).size }
  /// The scale factor.
  ///
  /// A factor of 1 shows the object at its `size`.
  public final var scale: Double { record.scale }
  /// The rotation in radians, clockwise.
  public final var angle: Double { record.angle }
  /// The member that has the object selected, if that member is online.
  public final var selectedBy: MemberID? { board.holder(of: id) }
  /// The color, `0xRRGGBBAA`; nil if the object has no color of its own.
  public final var color: UInt32? { record.color }
  /// Whether the object is locked.
  public final var isLocked: Bool { record.isLocked }
  /// The groups that contain the object, innermost first.
  public final var groups: [ObjectID] { board.groups(of: id) }
  /// The z index of the object.
  public final var zIndex: [UInt8] { record.zIndex }
  /// The time of the latest write to a property other than the selection, in milliseconds since 1970.
  public final var updatedAt: UInt64 { record.updatedAt }

  /// Selects the object for the local member.
  ///
  /// If several members select the object at the same time, all replicas agree on one of them. A member cannot select
  /// for another member, because peers would ignore such a selection (BRD-22).
  public final func select() throws(BoardError) {
    try board.requireSelectable(id)
    try board.writeSelection(of: id)
  }

  /// Ends the selection of the object.
  public final func deselect() throws(BoardError) {
    try board.requireSelectable(id)
    guard record.selection != nil else { return }
    try board.write(id, .selection, .none)
  }

  /// Moves the center of the object to `position`.
  public final func move(to position: Point) throws(BoardError) { try board.move([id], by: position - record.center) }

  /// Sets the scale of the object.
  ///
  /// A scale of 1 shows the object at its `size`.
  public final func scale(to scale: Double) throws(BoardError) {
    try board.requireTransformable(id)
    try board.write(id, .scale, try FixedPoint.scale(scale))
  }

  /// Rotates the object to `angle`, rounded to the nearest 1/4096 turn.
  public final func rotate(to angle: Angle) throws(BoardError) {
    try board.requireTransformable(id)
    try board.write(id, .angle, try FixedPoint.angle(angle))
  }

  /// Sets the color of the object; see `Board.setColor(_:of:)`.
  public final func setColor(_ color: UInt32?) throws(BoardError) { try board.setColor(color, of: id) }

  /// Locks or unlocks the object; see `Board.setLocked(_:_:)`.
  public final func setLocked(_ isLocked: Bool) throws(BoardError) { try board.setLocked(id, isLocked) }

  /// Moves the object in the stack; see `Board.reorder(_:_:)`.
  public final func reorder(_ move: StackMove) throws(BoardError) { try board.reorder([id], move) }

  /// Copies the object to exactly this offset; see `Board.duplicate(_:by:isExact:)`.
  /// - Returns: The copy.
  @discardableResult public final func duplicate(by offset: Point) throws(BoardError) -> WhiteboardObject? {
    try board.duplicate([id], by: offset, isExact: true)[id].flatMap { board.object($0) }
  }

  /// Deletes the object; see `Board.delete(_:)`.
  public final func delete() throws(BoardError) { try board.delete(id) }

  /// Restores the deleted object; see `Board.undelete(_:)`.
  public final func undelete() throws(BoardError) { try board.undelete(id) }

  // MARK: - Texts and labels

  /// The text of a text object or the label of a form, possibly from a peer; empty for other objects.
  public final var text: String { record.hasText ? record.text : "" }

  /// Replaces the visible characters (Unicode scalars) in `range` with `text`.
  /// - Throws: `unknownObject`, `held`, `locked`, `outOfRange`, `tooLong`, `wrongKind` if the object has neither a text
  ///   nor a label.
  public final func edit(replacing range: Range<Int>, with text: String) throws(BoardError) {
    let text = PlainText.lines(text)
    try board.gesture { () throws(BoardError) in
      try board.requireText(id)
      let tree = TextTree(record)
      try tree.requireRoom(replacing: range, with: text)
      for deletion in tree.deletions(of: range) {
        try board.stage(id, .deletion(board.nextDot()), TextTree.encodeDeletion(deletion))
      }
      if !text.isEmpty { try board.stageRun(text, at: tree.anchor(at: range.lowerBound), of: id) }
    }
  }

  /// Replaces characters as `edit(replacing:with:)` does, while a user types.
  ///
  /// Consecutive edits of the object that are at most one second apart form one undo step, as in text editors. Do not
  /// call this method inside a gesture.
  ///
  /// - Throws: The same errors as `edit(replacing:with:)`.
  public final func type(replacing range: Range<Int>, with text: String) throws(BoardError) {
    precondition(!board.isInGesture, "typing must not happen inside a gesture")
    board.history.beginTyping(into: id, at: board.wallClock)
    defer { board.history.endTyping() }
    try edit(replacing: range, with: text)
  }

  /// Changes the text of the object to `text`, replacing only the part that differs.
  ///
  /// Text that other members type before or after that part is kept.
  /// - Throws: The same errors as `edit(replacing:with:)`.
  public final func update(text: String) throws(BoardError) {
    try board.requireText(id)
    let difference = TextTree(record).leastEdit(to: PlainText.lines(text))
    try edit(replacing: difference.range, with: difference.words)
  }
}

/// A drawing on the board: one stroke, or a form.
public final class DrawingObject: WhiteboardObject {
  /// The committed points of the stroke, at the positions where they were drawn; none for a form.
  public var ink: [InkPoint] { record.ink ?? [] }
  /// The line width of the stroke, in board units.
  public var lineWidth: Double { record.lineWidth }
  /// Sets the line width of the stroke; see `Board.setLineWidth(_:of:)`.
  public func setLineWidth(_ width: Double) throws(BoardError) { try board.setLineWidth(width, of: id) }

  /// The erased parts of the stroke, in units of 1/16 of the distance between consecutive points.
  public var erasedSpans: [ClosedRange<Int>] { record.erased.ranges }

  /// Erases parts of the stroke; see `Board.erase(_:spans:)`.
  public func erase(spans: [ClosedRange<Int>]) throws(BoardError) { try board.erase(id, spans: spans) }

  /// Whether the author has finished the stroke; a form is always finished.
  public var isFinished: Bool { record.isFinished }
  /// The form of the drawing; nil for ink.
  public var form: DrawingForm? { record.form }
  /// The center of the drawing; for ink that was never moved, the center of its points.
  public override var centerPosition: Point { record.frame(points: record.ink).center }
  /// The size of a form, or the extent of the points of ink, of a line or of an arrow, including the line width.
  public override var size: Size { record.frame(points: record.ink).size }
}

/// A photo on the board.
public final class PhotoObject: WhiteboardObject {
  /// The reference to the photo's bytes; nil if the object has no valid reference.
  public var asset: AssetReference? { record.asset }
  /// Whether the photo's bytes are stored locally.
  public var isAssetAvailable: Bool { asset.map { board.assets.contains($0.id) } ?? false }
}

/// The kind of an object.
///
/// Objects of unknown kinds are stored, forwarded and listed (BRD-3).
public struct ObjectKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The number of the kind in the protocol.
  public let rawValue: UInt64

  /// Creates a kind from its number, even if the number is unknown.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// A text object.
  public static let text = ObjectKind(rawValue: 1)
  /// A drawing: one stroke.
  public static let drawing = ObjectKind(rawValue: 2)
  /// A photo.
  public static let photo = ObjectKind(rawValue: 3)
  /// A game, such as Wordle.
  public static let game = ObjectKind(rawValue: 4)
  /// A chat line, which is not shown on the board.
  public static let chat = ObjectKind(rawValue: 5)
  /// A group of objects, which is not shown on the board (BRD-26).
  public static let group = ObjectKind(rawValue: 6)
  /// The settings of the board, which are not shown as an object (BRD-28).
  public static let settings = ObjectKind(rawValue: 7)

  /// Whether objects of this kind are shown on the board.
  ///
  /// Unknown kinds are shown too.
  public var isShown: Bool { self != .chat && self != .group && self != .settings }

  /// The name of the kind in JSON.
  public var name: String {
    switch self {
    case .text: "text"
    case .drawing: "drawing"
    case .photo: "photo"
    case .game: "game"
    case .chat: "chat"
    case .group: "group"
    case .settings: "settings"
    default: "unknown-\(rawValue)"
    }
  }

  /// The name of the kind in JSON, like `name`.
  public var description: String { name }
}

package struct ObjectDraft: Hashable, Sendable {
  /// The content of an object, which also determines its kind.
  package enum Content: Hashable, Sendable {
    /// If the size is nil, the text has the default size of text objects.
    case text(String, size: Size?)
    case drawing([InkPoint], lineWidth: Double, erased: StrokeSpans)
    case form(DrawingForm, size: Size, points: [Point], label: String, lineWidth: Double)
    case photo(AssetReference, size: Size)
    case game(String, setup: [UInt8], size: Size)
  }

  /// The object to which an end of a line is bound, by its index among the drafts.
  package struct End: Hashable, Sendable {
    package var object: Int
    package var anchor: Point
    package var isExact: Bool

    package init(_ object: Int, at anchor: Point, isExact: Bool) {
      (self.object, self.anchor, self.isExact) = (object, anchor, isExact)
    }
  }

  package var content: Content
  /// If nil, a drawing is centered on its points, and any other object is placed at the center of the board.
  package var center: Point?
  package var scale = 1.0
  /// The rotation in radians, clockwise.
  package var angle = 0.0
  /// The color, `0xRRGGBBAA`; nil if the object has no color of its own.
  package var color: UInt32?
  package var isLocked = false
  package var group: Int?
  package var style: ObjectStyle?
  /// The frame that the object belongs to, by its index among the drafts.
  package var frameIndex: Int?
  package var link: String?
  /// The object that the link leads to, by its index among the drafts.
  package var linkedObject: Int?
  /// The part of a photo that is shown, as fractions of its width and height; nil for the whole photo.
  package var crop: Rectangle?
  package var isFlippedHorizontally = false
  package var isFlippedVertically = false
  package var start: End?
  package var end: End?

  package init(_ content: Content, at center: Point? = nil) {
    self.content = content
    self.center = center
  }

  var kind: ObjectKind {
    switch content {
    case .text: .text
    case .drawing, .form: .drawing
    case .photo: .photo
    case .game: .game
    }
  }

  /// The center, and the size before scaling.
  package var frame: (center: Point, size: Size) {
    switch content {
    case .text(let text, let size):
      if let style, style.isAutoWidth {
        (center ?? .zero, TextLayout.automaticSize(text, style))
      } else {
        (center ?? .zero, size ?? ObjectDefaults.size(of: .text))
      }
    case .form(let form, _, let points, _, let width) where form.hasPoints:
      Self.frame(Outline(through: points, isCurved: style?.isCurved ?? false), at: center ?? .zero, width)
    case .photo(_, let size), .game(_, _, let size), .form(_, let size, _, _, _): (center ?? .zero, size)
    case .drawing(let ink, let width, _):
      (
        center ?? InkBounds(ink)?.center ?? .zero,
        InkBounds(ink)?.size(lineWidth: width) ?? ObjectDefaults.size(of: .drawing)
      )
    }
  }

  /// The position of the object: its center. For a text with an automatic width, it is the point from which the text
  /// grows.
  var place: Point? {
    get throws(BoardError) {
      guard case .text(let text, _) = content, let style, style.isAutoWidth else { return center }
      let offset = TextLayout.offset(ofCenter: TextLayout.automaticSize(text, style), style.alignment)
      return (center ?? .zero) - Rotation(steps: try FixedPoint.angleSteps(angle)).turned(offset) * scale
    }
  }

  private static func frame(_ line: Outline?, at origin: Point, _ width: Double) -> (center: Point, size: Size) {
    guard let box = line?.box else { return (origin, Size(width: width, height: width)) }
    let (across, down) = (box.greatest.x - box.least.x, box.greatest.y - box.least.y)
    return (origin + box.center, Size(width: across + width, height: down + width))
  }

  package var bounds: Rectangle {
    let steps = (try? FixedPoint.angleSteps(angle)) ?? 0
    let (center, size) = frame
    return Placement(center: center, size: size, scale: scale, rotation: Rotation(steps: steps)).bounds
  }

  package mutating func move(by offset: Point) {
    if case .form = content {
      center = (center ?? .zero) + offset
      return
    }
    center = frame.center + offset
  }
}

extension Point {
  fileprivate static var zero: Point { Point(x: 0, y: 0) }
}

/// A text object on the board.
///
/// Its text is edited by character, so that edits of several members are merged (BRD-14).
public final class TextObject: WhiteboardObject {}

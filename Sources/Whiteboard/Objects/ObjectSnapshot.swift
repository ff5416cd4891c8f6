/// An object as it was at one moment: a value that may leave the board's isolation.
///
/// Text in it comes from peers: it can hold anything, and is not for printing to a terminal as it is.
public struct ObjectSnapshot: Hashable, Sendable {
  /// The object.
  public let id: ObjectID
  /// The kind of object.
  public let kind: ObjectKind
  /// Its centre, in board units.
  public let centerPosition: Point
  /// Its size before scaling.
  public let size: Size
  /// How much larger than `size` it shows.
  public let scale: Double
  /// Radians clockwise, from 0 up to a full turn.
  public let angle: Double
  /// The present member that has selected it.
  public let selectedBy: MemberID?
  /// Its place in the stack; compares byte by byte, higher in front.
  public let zIndex: [UInt8]
  /// Milliseconds since 1970 of the latest write, the selection aside.
  public let updatedAt: UInt64
  /// The color, `0xRRGGBBAA`, if the object has its own.
  public let color: UInt32?
  /// The words of a text.
  public let text: String?
  /// The committed points of a drawing, where they were drawn; to show them, see `shown(_:)`.
  public let ink: [InkPoint]?
  /// The line width of a drawing.
  public let lineWidth: Double?
  /// Whether a drawing's author has finished it.
  public let isFinished: Bool?
  /// The erased parts of a drawing.
  package let erased: StrokeSpans?
  /// The groups around it, innermost first.
  public let groups: [ObjectID]
  /// Whether it is locked.
  public let isLocked: Bool
  /// Which game a game is; text from a peer.
  public let game: String?
  /// A photo's bytes, by reference.
  public let asset: AssetReference?
  /// Whether a photo's bytes are here.
  public let isAssetAvailable: Bool?

  /// A drawing's points relative to its centre, neither scaled nor rotated, in board units.
  public var points: [Point]? {
    guard let ink else { return nil }
    guard let center = InkBounds(ink)?.center else { return [] }
    return ink.map { Point(x: $0.point.x - center.x, y: $0.point.y - center.y) }
  }

  /// The parts of a drawing that were erased, in 1/16 of the way from one point to the next, so that
  /// point *i* is at 16 *i*.
  public var erasedSpans: [ClosedRange<Int>]? { erased?.ranges }

  /// The parts of a drawing that are left, as `erasedSpans`; a single point is `0...0`.
  public var visibleSpans: [ClosedRange<Int>]? {
    guard let ink else { return nil }
    return (erased ?? StrokeSpans()).rest(ofPoints: ink.count)
  }

  /// The lines of a drawing that are left, as `points`; a line of one point is a dot.
  public var visibleLines: [[Point]]? {
    guard let points else { return nil }
    return (erased ?? StrokeSpans()).rest(of: points)
  }

  /// Where a point shows that is given relative to the centre, neither scaled nor rotated.
  /// - Parameters:
  ///   - offset: the point relative to the centre.
  ///   - sine: the sine of `angle`.
  ///   - cosine: the cosine of `angle`.
  /// - Returns: the place on the board.
  public func shown(_ offset: Point, sine: Double, cosine: Double) -> Point {
    Point(
      x: centerPosition.x + scale * (offset.x * cosine - offset.y * sine),
      y: centerPosition.y + scale * (offset.x * sine + offset.y * cosine)
    )
  }
}

/// One line of the chat.
public struct ChatLine: Hashable, Sendable {
  /// The line's object.
  public let id: ObjectID
  /// The author, according to the line.
  public let author: MemberID
  /// The name its author went by; text from a peer.
  public let name: String?
  /// The icon its author went by: one emoji, or whatever text a peer sent.
  public let icon: String?
  /// The text, which may come from another peer.
  public let text: String
  /// Milliseconds since 1970 by its author's wall clock.
  public let sentAt: UInt64
  /// Its place in the order: lines are sorted by this, then by id.
  public let time: HybridTime
}

/// An object from a file that is not on a board yet.
package struct ObjectDraft: Hashable, Sendable {
  /// The kind of object, and the content of that kind.
  package enum Content: Hashable, Sendable {
    /// Words; without a size they have the box that words have by themselves.
    case text(String, size: Size?)
    /// A finished stroke, in which something may be erased.
    case drawing([InkPoint], lineWidth: Double, erased: StrokeSpans)
    /// A photo, whose bytes are kept apart.
    case photo(AssetReference, size: Size)
    /// A game as it begins.
    case game(String, setup: [UInt8], size: Size)
  }

  /// The content of the object.
  package var content: Content
  /// Its centre; nil for that of the points where they are.
  package var center: Point?
  /// How much larger than its size it shows.
  package var scale = 1.0
  /// Radians clockwise.
  package var angle = 0.0
  /// Its colour, `0xRRGGBBAA`, where it has one of its own.
  package var color: UInt32?
  /// Whether it is locked.
  package var isLocked = false
  /// The innermost group that it belongs to, by its place in the list of groups.
  package var group: Int?

  /// An object as large as it was made, upright, unlocked, in no group and of no colour of its own.
  package init(_ content: Content, at center: Point? = nil) {
    self.content = content
    self.center = center
  }

  /// The kind of object on the board.
  var kind: ObjectKind {
    switch content {
    case .text: .text
    case .drawing: .drawing
    case .photo: .photo
    case .game: .game
    }
  }

  /// The size before scaling, and the centre.
  package var frame: (center: Point, size: Size) {
    switch content {
    case .text(_, let size): (center ?? .zero, size ?? ObjectDefaults.size(of: .text))
    case .photo(_, let size), .game(_, _, let size): (center ?? .zero, size)
    case .drawing(let ink, let width, _):
      (
        center ?? InkBounds(ink)?.center ?? .zero,
        InkBounds(ink)?.size(lineWidth: width) ?? ObjectDefaults.size(of: .drawing)
      )
    }
  }

  /// The rectangle around its turned box.
  package var bounds: Rectangle {
    let steps = (try? FixedPoint.angleSteps(angle)) ?? 0
    let (center, size) = frame
    return Placement(center: center, size: size, scale: scale, rotation: Rotation(steps: steps))
      .bounds
  }

  /// Moves it by so much.
  package mutating func move(by offset: Point) {
    let center = frame.center
    self.center = Point(x: center.x + offset.x, y: center.y + offset.y)
  }
}

extension Point {
  /// The middle of every board.
  fileprivate static var zero: Point { Point(x: 0, y: 0) }
}

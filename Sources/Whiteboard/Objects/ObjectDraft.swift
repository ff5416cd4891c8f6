package struct ObjectDraft: Hashable, Sendable {
  /// The content of an object.
  ///
  /// It also determines the kind of the object.
  package enum Content: Hashable, Sendable {
    /// If the size is nil, the text has the default size of text objects.
    case text(String, size: Size?)
    case drawing([InkPoint], lineWidth: Double, erased: StrokeSpans)
    /// A photo, whose bytes are stored separately.
    case photo(AssetReference, size: Size)
    /// A game before its first move.
    case game(String, setup: [UInt8], size: Size)
  }

  package var content: Content
  /// If the center is nil, a drawing is centered on its points, and any other object is placed at the center of the
  /// board.
  package var center: Point?
  /// A factor of 1 shows the object at its original size.
  package var scale = 1.0
  /// The rotation in radians, clockwise.
  package var angle = 0.0
  /// The color, `0xRRGGBBAA`; nil if the object has no color of its own.
  package var color: UInt32?
  package var isLocked = false
  package var group: Int?

  /// Creates an object without scaling, rotation, lock, group or color of its own.
  package init(_ content: Content, at center: Point? = nil) {
    self.content = content
    self.center = center
  }

  var kind: ObjectKind {
    switch content {
    case .text: .text
    case .drawing: .drawing
    case .photo: .photo
    case .game: .game
    }
  }

  /// The center, and the size before scaling.
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

  package var bounds: Rectangle {
    let steps = (try? FixedPoint.angleSteps(angle)) ?? 0
    let (center, size) = frame
    return Placement(center: center, size: size, scale: scale, rotation: Rotation(steps: steps)).bounds
  }

  package mutating func move(by offset: Point) {
    let center = frame.center
    self.center = Point(x: center.x + offset.x, y: center.y + offset.y)
  }
}

extension Point {
  /// The center of every board.
  fileprivate static var zero: Point { Point(x: 0, y: 0) }
}

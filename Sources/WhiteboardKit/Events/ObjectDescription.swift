import Whiteboard

extension BoardEvent {
  /// One object as lines of output tell it (BRD-19).
  package struct ObjectDescription: Encodable, Sendable, Equatable {
    /// Which.
    package var id: String
    /// `text`, `drawing`, `photo` or `game`; `group` where one asked for a group.
    package var type: String
    /// The centre, board units.
    package var centerPosition: [Double]
    /// Width and height, unscaled.
    package var size: [Double]
    /// 1 is as it was made.
    package var scale: Double
    /// Radians clockwise.
    package var angle: Double
    /// The present member that has it selected.
    package var selectedBy: String?
    /// The position in the stack: hexadecimal, higher in front.
    package var zIndex: String
    /// When it was last changed, RFC 3339.
    package var updatedAt: String
    /// The colour, `#rrggbbaa`, where it has one of its own.
    package var color: String?
    /// The words of a text.
    package var text: String?
    /// The points of a drawing, relative to its centre, neither scaled nor turned.
    package var points: RelativePoints?
    /// The width of a drawing's line.
    package var lineWidth: Double?
    /// Whether a drawing's author has finished it.
    package var isFinished: Bool?
    /// The photo's bytes, by SHA-256.
    package var sha256: String?
    /// The photo's format.
    package var format: String?
    /// How many bytes the photo has.
    package var byteCount: Int?
    /// The photo's width and height in pixels.
    package var pixelSize: [Int]?
    /// Whether the photo's bytes are here.
    package var isAssetAvailable: Bool?
    /// The path of the photo's file, once it was received.
    package var path: String?
    /// The parts of a drawing that were erased: from and to, in points.
    package var erased: [[Double]]?
    /// The groups it belongs to, innermost first.
    package var groups: [String]?
    /// Whether it is locked against changes; absent where it is not.
    package var isLocked: Bool?
    /// A game as we see it.
    package var game: GameDescription?
    /// The objects in a group, from back to front.
    package var members: [String]?
  }
}

/// The points of a drawing, relative to its center; they are computed only when they are written.
package struct RelativePoints: Encodable, Sendable, Equatable {
  private let ink: [InkPoint]

  init(_ ink: [InkPoint]) { self.ink = ink }

  /// The number of points.
  package var count: Int { ink.count }

  /// Calls a closure with each point.
  package func forEach(_ body: (Point) throws -> Void) rethrows {
    guard let center = InkBounds(ink)?.center else { return }
    for point in ink {
      try body(Point(x: point.point.x - center.x, y: point.point.y - center.y))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var list = encoder.unkeyedContainer()
    try forEach { point in try list.encode([point.x, point.y]) }
  }
}

extension BoardEvent.ObjectDescription {
  /// The object as it was at one moment.
  ///
  /// - Parameters:
  ///   - snapshot: The object.
  ///   - game: How it stands, where it is a game.
  ///   - path: Where the photo's bytes lie, if here.
  init(_ snapshot: ObjectSnapshot, game: GameDescription? = nil, path: String? = nil) {
    self.init(
      id: snapshot.id.description,
      type: snapshot.kind.name,
      centerPosition: [snapshot.centerPosition.x, snapshot.centerPosition.y],
      size: [snapshot.size.width, snapshot.size.height],
      scale: snapshot.scale,
      angle: snapshot.angle,
      selectedBy: snapshot.selectedBy?.description,
      zIndex: Hexadecimal.encode(snapshot.zIndex),
      updatedAt: Timestamp.text(milliseconds: snapshot.updatedAt),
      color: snapshot.color.map(ColorText.text),
      text: snapshot.text,
      points: snapshot.ink.map(RelativePoints.init),
      lineWidth: snapshot.lineWidth,
      isFinished: snapshot.isFinished,
      sha256: snapshot.asset?.id.description,
      format: snapshot.asset?.format.name,
      byteCount: snapshot.asset?.byteCount,
      pixelSize: snapshot.asset.map { [$0.width, $0.height] },
      isAssetAvailable: snapshot.isAssetAvailable,
      path: path,
      erased: snapshot.erasedSpans.flatMap { spans in
        // An empty list says nothing.
        spans.isEmpty
          ? nil : spans.map { [Double($0.lowerBound) / 16, Double($0.upperBound) / 16] }
      },
      groups: snapshot.groups.isEmpty ? nil : snapshot.groups.map(\.description),
      isLocked: snapshot.isLocked ? true : nil,
      game: game
    )
  }

  /// A group as it was at one moment: its place and size are those of all in it together.
  init(
    group id: ObjectID,
    of members: [ObjectSnapshot],
    within groups: [ObjectID],
    _ bounds: Rectangle
  ) {
    self.init(
      id: id.description,
      type: "group",
      centerPosition: [bounds.center.x, bounds.center.y],
      size: [bounds.greatest.x - bounds.least.x, bounds.greatest.y - bounds.least.y],
      scale: 1,
      angle: 0,
      zIndex: Hexadecimal.encode(members.last?.zIndex ?? []),
      updatedAt: Timestamp.text(milliseconds: members.map(\.updatedAt).max() ?? 0),
      groups: groups.isEmpty ? nil : groups.map(\.description),
      isLocked: !members.isEmpty && members.allSatisfy(\.isLocked) ? true : nil,
      members: members.map(\.id.description)
    )
  }

  /// The keys by which two moments of an object differ, `selectedBy` and `updatedAt` aside.
  static func changedKeys(_ old: ObjectSnapshot, _ new: ObjectSnapshot) -> [String] {
    var keys: [String] = []
    if old.centerPosition != new.centerPosition { keys.append("centerPosition") }
    if old.size != new.size { keys.append("size") }
    if old.scale != new.scale { keys.append("scale") }
    if old.angle != new.angle { keys.append("angle") }
    if old.zIndex != new.zIndex { keys.append("zIndex") }
    if old.color != new.color { keys.append("color") }
    if old.text != new.text { keys.append("text") }
    if old.ink != new.ink { keys.append("points") }
    if old.lineWidth != new.lineWidth { keys.append("lineWidth") }
    if old.erasedSpans != new.erasedSpans { keys.append("erased") }
    if old.groups != new.groups { keys.append("groups") }
    if old.isLocked != new.isLocked { keys.append("isLocked") }
    if old.isFinished != new.isFinished { keys.append("isFinished") }
    if old.asset != new.asset { keys.append("sha256") }
    if old.isAssetAvailable != new.isAssetAvailable { keys.append("isAssetAvailable") }
    return keys
  }
}

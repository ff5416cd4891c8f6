import Whiteboard

extension NodeEvent.ObjectDescription {
  /// The object as it was at one moment.
  ///
  /// - Parameters:
  ///   - snapshot: The object.
  ///   - path: Where the photo's bytes lie, if here.
  init(_ snapshot: ObjectSnapshot, path: String? = nil) {
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
      color: snapshot.color.map { color in
        let digits = String(color, radix: 16)
        return "#" + String(repeating: "0", count: 8 - digits.count) + digits
      },
      text: snapshot.text,
      points: snapshot.points?.map { [$0.x, $0.y] },
      lineWidth: snapshot.lineWidth,
      isFinished: snapshot.isFinished,
      sha256: snapshot.asset?.id.description,
      format: snapshot.asset?.format.name,
      byteCount: snapshot.asset?.byteCount,
      pixelSize: snapshot.asset.map { [$0.width, $0.height] },
      isAssetAvailable: snapshot.isAssetAvailable,
      path: path
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
    if old.isFinished != new.isFinished { keys.append("isFinished") }
    if old.asset != new.asset { keys.append("sha256") }
    if old.isAssetAvailable != new.isAssetAvailable { keys.append("isAssetAvailable") }
    return keys
  }
}

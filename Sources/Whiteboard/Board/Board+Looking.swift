/// Reading the objects that are shown on the board.
extension Board {
  /// Returns the object with this id, as an instance of the class for its kind; nil if it is not
  /// shown on the board.
  public func object(_ id: ObjectID) -> WhiteboardObject? {
    guard state.isShown(id), let kind = state.record(id)?.kind else { return nil }
    switch kind {
    case .text: return TextObject(id, on: self)
    case .drawing: return DrawingObject(id, on: self)
    case .photo: return PhotoObject(id, on: self)
    case .game: return GameObject(id, on: self)
    default: return WhiteboardObject(id, on: self)
    }
  }

  /// The ids of the objects that are shown on the board, from back to front.
  ///
  /// Chat lines, groups and settings are not included.
  /// - Complexity: O(*n* log *n*).
  public var objectIDs: [ObjectID] {
    state.storedIDs.lazy.filter(state.isShown)
      .map { (id: $0, zIndex: self.state.record($0)?.zIndex ?? []) }
      .sorted {
        $0.zIndex == $1.zIndex ? $0.id < $1.id : ZIndex.isBehind($0.zIndex, $1.zIndex)
      }
      .map(\.id)
  }

  /// The objects that are shown on the board, from back to front.
  public var objects: [WhiteboardObject] { objectIDs.compactMap { object($0) } }

  /// Snapshots of the objects that are shown on the board, from back to front.
  public var snapshots: [ObjectSnapshot] { objectIDs.compactMap { snapshot($0) } }

  /// Returns a snapshot of the object; nil if the object is not shown on the board.
  public func snapshot(_ id: ObjectID) -> ObjectSnapshot? {
    guard state.isShown(id), let record = state.record(id), let kind = record.kind
    else { return nil }
    let ink = kind == .drawing ? record.points : nil
    let frame = record.frame(points: ink)
    let asset = kind == .photo ? record.asset : nil
    return ObjectSnapshot(
      id: id,
      kind: kind,
      centerPosition: frame.center,
      size: frame.size,
      scale: record.scale,
      angle: record.angle,
      selectedBy: holder(of: id),
      zIndex: record.zIndex,
      updatedAt: record.updatedAt,
      color: record.color,
      text: kind == .text ? record.text : nil,
      ink: ink,
      lineWidth: kind == .drawing ? record.lineWidth : nil,
      isFinished: kind == .drawing ? record.isFinished : nil,
      erased: kind == .drawing ? record.erased : nil,
      groups: state.groups(of: id),
      isLocked: record.isLocked,
      game: kind == .game ? record.gameName : nil,
      asset: asset,
      isAssetAvailable: asset.map { assets.contains($0.id) }
    )
  }
}

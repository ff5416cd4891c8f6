import Whiteboard

extension Replica {
  // MARK: - Strokes

  /// Begins a stroke whose points are sent while it is being drawn. The first points are committed immediately.
  /// - Throws: `outOfRange`, `tooLong`, `boardFull`.
  public func beginStroke(lineWidth: Double = 5, color: UInt32? = nil, with points: [Point] = [], now: Moment)
    throws(BoardError) -> (id: ObjectID, actions: [ReplicaAction])
  {
    let ink = try self.ink(points)
    let (id, actions) = try change(now: now) { (board) throws(BoardError) -> ObjectID in
      let id = try board.beginDrawing(lineWidth: lineWidth, color: color)
      try board.appendInk(ink, to: id, first: 0)
      return id
    }
    strokes.insert(id, committed: ink.count, now)
    return (id, actions)
  }

  private func ink(_ points: [Point]) throws(BoardError) -> [InkPoint] {
    var ink: [InkPoint] = []
    for point in points { ink.append(try InkPoint(point)) }
    return ink
  }

  /// The time in milliseconds in which the points of a stroke can be gathered for one call of
  /// ``extendStroke(_:with:now:)``, because no member would see them earlier.
  public var strokeInterval: UInt64 { strokes.interval }

  /// Adds points to a stroke.
  ///
  /// The points are previewed immediately to members that show previews (SYN-49), and committed every 250 ms or 128
  /// points.
  /// - Throws: `unknownObject` if the stroke is not being drawn by this replica, `outOfRange`, `tooLong`.
  public func extendStroke(_ id: ObjectID, with points: [Point], now: Moment) throws(BoardError) -> [ReplicaAction] {
    try extendStroke(id, withInk: try ink(points), now: now)
  }

  /// Adds points with the pressure of a pen to a stroke, as ``extendStroke(_:with:now:)`` does.
  /// - Throws: `unknownObject` if the stroke is not being drawn by this replica, `tooLong`.
  public func extendStroke(_ id: ObjectID, withInk ink: [InkPoint], now: Moment) throws(BoardError) -> [ReplicaAction] {
    try strokes.extend(id, with: ink)
    begin(now)
    strokes.advance(id, isExtended: true, now)
    return finish(now)
  }

  /// Commits the remaining points of a stroke and the given points, and finishes the stroke.
  /// - Throws: `unknownObject` if the stroke is not being drawn by this replica, `empty` if it has no points,
  ///   `outOfRange`, `tooLong`. After `empty`, the stroke can be continued.
  public func endStroke(_ id: ObjectID, with points: [Point] = [], now: Moment) throws(BoardError) -> [ReplicaAction] {
    try strokes.extend(id, with: try ink(points))
    let stroke = try strokes.finishableStroke(id)
    let (_, actions) = try change(now: now) { (board) throws(BoardError) in
      try board.appendInk(stroke.pending, to: id, first: stroke.committed)
      try board.endDrawing(id, count: stroke.count)
    }
    strokes.remove(id)
    return actions
  }

  /// Deletes a stroke that is being drawn.
  /// - Throws: `unknownObject` if the stroke is not being drawn by this replica, `held`, `locked`.
  public func cancelStroke(_ id: ObjectID, now: Moment) throws(BoardError) -> [ReplicaAction] {
    guard strokes.isDrawing(id) else { throw .unknownObject(id) }
    let (_, actions) = try change(now: now) { (board) throws(BoardError) in try board.delete(id) }
    strokes.remove(id)
    return actions
  }

  /// Returns the visible points of a stroke: the committed points, followed by the previewed points.
  public func shownInk(of id: ObjectID) -> [InkPoint] { strokes.visibleInk(of: id) }

  // MARK: - Photos

  /// Records that the bytes of an asset were stored: a local photo, or requested bytes that were verified.
  ///
  /// - Parameters:
  ///   - id: The asset.
  ///   - bytes: The size of the asset; nil for the size that the first object with this asset states.
  ///   - now: The time.
  /// - Returns: The actions.
  public func assetStored(_ id: AssetID, bytes: Int? = nil, now: Moment) -> [ReplicaAction] {
    begin(now)
    photos.stored(id, bytes: bytes, now)
    return finish(now)
  }

  /// Requests an asset from members, because its stored bytes are damaged or missing.
  public func assetLost(_ id: AssetID, now: Moment) -> [ReplicaAction] {
    begin(now)
    photos.lost(id, now)
    return finish(now)
  }

  /// Returns the properties of an asset, as stated by one of the objects that show it.
  public func reference(of id: AssetID) -> AssetReference? { photos.reference(of: id) }

  /// Returns whether an asset was requested from this member.
  public func isAsking(forAsset id: AssetID, from member: MemberID) -> Bool { photos.isRequesting(id, from: member) }

  /// Returns the properties of an asset, as stated by the board's objects.
  ///
  /// The set is empty if the asset was not requested from this member. Objects can state false properties, so the asset
  /// needs to match only one element of the set.
  /// - Complexity: O(*n*), where *n* is the number of objects.
  public func expectedAsset(_ id: AssetID, from member: MemberID) -> Set<AssetReference> {
    photos.expectedAsset(id, from: member)
  }

  /// Records that a part of a requested asset arrived, so that the replica waits longer before it asks another member.
  public func assetProgressed(_ id: AssetID, now: Moment) { photos.progressed(id, now) }

  /// Requests an asset from the next member, because the asset did not arrive or had the wrong properties.
  public func assetFailed(_ id: AssetID, from member: MemberID, now: Moment) -> [ReplicaAction] {
    begin(now)
    photos.unavailable(id, from: member, now)
    return finish(now)
  }

  /// Informs a member that a requested asset cannot be sent.
  public func assetUnavailable(_ id: AssetID, to member: MemberID, now: Moment) -> [ReplicaAction] {
    begin(now)
    if peers[member] != nil { actions.queue(.assetUnavailable(id), to: member) }
    return finish(now)
  }

  /// Records that a `sendAsset` action has ended, whether it succeeded or failed.
  public func assetSent(_ id: AssetID, to member: MemberID, now: Moment) -> [ReplicaAction] {
    begin(now)
    photos.sent(id, to: member)
    return finish(now)
  }

  /// Returns whether a photo of this size is within the budget of its author and of the board.
  ///
  /// The result is always true for a local photo.
  public func hasRoom(forPhoto id: AssetID, bytes: Int) -> Bool { photos.hasRoom(for: id, bytes: bytes) }

  /// Stops requesting a photo that a member offers, because there is no room to store it.
  public func leaveOutPhoto(_ id: AssetID, now: Moment) -> [ReplicaAction] {
    begin(now)
    photos.leaveOut(id, now)
    return finish(now)
  }

  /// Throws `photosUsed` if another local photo would exceed the budget of one author (BRD-38). Deleted photos are
  /// included until they are purged.
  package func requireRoom(for photo: AssetReference) throws(BoardError) { try photos.requireRoom(for: photo) }
}

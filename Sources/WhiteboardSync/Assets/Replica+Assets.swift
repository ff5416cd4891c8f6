import Whiteboard

/// The bytes of photos: whom to ask, and whom to send them (SYN-35 to SYN-37).
extension Replica {
  /// The bytes of an asset are here: a local photo's, or what was asked for, whole and verified.
  ///
  /// - Parameters:
  ///   - id: The asset.
  ///   - bytes: Its size; nil if it is what the object that was seen first states.
  ///   - now: The time.
  public func assetStored(_ id: AssetID, bytes: Int? = nil, now: Moment) {
    begin(now)
    photoBudget.count(id, bytes ?? reference(of: id)?.byteCount ?? 0, of: photoAuthor(id))
    guard board.assets.insert(id).inserted else { return }
    perform(exchange.arrived(id, now: now.uptime))
    for object in board.objectIDs where board.state.record(object)?.asset?.id == id {
      if let snapshot = board.snapshot(object), snapshot.asset?.id == id {
        actions.append(.objectChanged(snapshot, from: nil))
      }
    }
    finish(from: nil, now)
  }

  /// The stored bytes of an asset turned out to be damaged or missing; requests them from others.
  public func assetLost(_ id: AssetID, now: Moment) {
    begin(now)
    if board.assets.remove(id) != nil, let object = assetObjects[id], let asset = reference(of: id)
    {
      wantPhoto(asset, of: object, preferring: nil, now)
    }
    finish(from: nil, now)
  }

  /// The properties of an asset, as one of its objects states them.
  public func reference(of id: AssetID) -> AssetReference? {
    if let asset = assetObjects[id].flatMap({ board.state.record($0)?.asset }), asset.id == id {
      return asset
    }
    // That object was purged.
    guard let (object, record) = board.state.records.first(where: { $0.1.asset?.id == id }) else {
      return nil
    }
    assetObjects[id] = object
    return record.asset
  }

  /// Returns whether an asset was requested from this member.
  public func isAsking(forAsset id: AssetID, from member: MemberID) -> Bool {
    exchange.isAsking(id, from: member)
  }

  /// Returns the properties of an asset as the objects of the board state them; empty if it was not requested
  /// from this member.
  ///
  /// An object can state false properties, so that the asset must match one of them only.
  /// - Complexity: O(*n*) in the objects.
  public func expectedAsset(_ id: AssetID, from member: MemberID) -> Set<AssetReference> {
    guard exchange.isAsking(id, from: member) else { return [] }
    return Set(board.state.records.compactMap { $0.1.asset }.filter { $0.id == id })
  }

  /// Some of an asset that was asked for arrived; puts off asking elsewhere.
  public func assetProgressed(_ id: AssetID, now: Moment) {
    exchange.progressed(id, now: now.uptime)
  }

  /// An asset that was asked for did not arrive, or was not what it should be.
  public func assetFailed(_ id: AssetID, from member: MemberID, now: Moment) {
    begin(now)
    perform(exchange.unavailable(id, from: member, now: now.uptime))
    finish(from: nil, now)
  }

  /// Tells a member that an asset that it requested cannot be sent.
  public func assetUnavailable(_ id: AssetID, to member: MemberID, now: Moment) {
    begin(now)
    if peers[member] != nil { send(.assetUnavailable(id), to: member) }
    finish(from: nil, now)
  }

  /// A `sendAsset` is over, done or failed.
  public func assetSent(_ id: AssetID, to member: MemberID, now: Moment) {
    sendingAssets[member]?.remove(id)
  }

  func serveAsset(_ id: AssetID, to member: MemberID) {
    let sending = sendingAssets[member] ?? []
    // Asked twice while it is under way: it is sent once.
    guard !sending.contains(id) else { return }
    guard board.assets.contains(id), reference(of: id) != nil, let object = assetObjects[id],
      sending.count < Self.assetsPerMember
    else {
      send(.assetUnavailable(id), to: member)
      return
    }
    sendingAssets[member, default: []].insert(id)
    actions.append(
      .sendAsset(
        id,
        ResourceDTO(id: object.description, type: .imageData, sha256: id),
        to: member
      )
    )
  }

  func perform(_ effects: [AssetExchange.Effect]) {
    for case .ask(let id, let member) in effects {
      guard let reference = exchange.reference(of: id) else { continue }
      actions.append(.wantAsset(reference, from: member))
      send(.assetRequest(id), to: member)
    }
  }
}

import Whiteboard

/// The bytes of photos: whom to ask, and whom to send them (SYN-35 to SYN-37).
extension Replica {
  /// The bytes of an asset are here: a local photo's, or what was asked for, whole and verified.
  public func assetStored(_ id: AssetID, now: Moment) {
    begin(now)
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

  /// The properties of an asset, as the object that was seen first states them.
  public func reference(of id: AssetID) -> AssetReference? {
    assetObjects[id].flatMap { board.state.record($0)?.asset }
  }

  /// Returns the properties of an asset as the objects of the board state them; empty if it was not requested
  /// from this member.
  ///
  /// An object can state false properties, so that the asset must match one of them only.
  public func expectedAsset(_ id: AssetID, from member: MemberID) -> [AssetReference] {
    exchange.isAsking(id, from: member) ? exchange.references(of: id) : []
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

  /// A `sendAsset` is over, done or failed.
  public func assetSent(_ id: AssetID, to member: MemberID, now: Moment) {
    sendingAssets[member]?.remove(id)
  }

  func serveAsset(_ id: AssetID, to member: MemberID) {
    let sending = sendingAssets[member] ?? []
    // Asked twice while it is under way: it is sent once.
    guard !sending.contains(id) else { return }
    guard board.assets.contains(id), let object = assetObjects[id],
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
      guard let reference = exchange.references(of: id).first else { continue }
      actions.append(.wantAsset(reference, from: member))
      send(.assetRequest(id), to: member)
    }
  }
}

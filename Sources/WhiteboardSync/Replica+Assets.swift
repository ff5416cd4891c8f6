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

  /// Returns the properties that this asset must have when a member sends it; nil if it was not
  /// requested.
  public func expectedAsset(_ id: AssetID, from member: MemberID) -> AssetReference? {
    exchange.isAsking(id, from: member) ? exchange.reference(of: id) : nil
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

  func wantAssets(_ now: Moment) {
    exchange.beginAgain()
    for id in board.objectIDs {
      if let object = board.object(id) as? PhotoObject, let asset = object.asset,
        !board.assets.contains(asset.id)
      {
        perform(exchange.want(asset, preferring: nil, now: now.uptime))
      }
    }
  }

  func perform(_ effects: [AssetExchange.Effect]) {
    for case .ask(let id, let member) in effects {
      guard let reference = exchange.reference(of: id) else { continue }
      actions.append(.wantAsset(reference, from: member))
      send(.assetRequest(id), to: member)
    }
  }
}

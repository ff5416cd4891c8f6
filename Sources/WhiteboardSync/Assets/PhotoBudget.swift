import Whiteboard

/// The photos whose bytes are here: how many bytes each author has, and all (BRD-38).
///
/// Sizes that objects state do not count, because they may be false.
struct PhotoBudget {
  private struct Photo {
    let author: MemberID?
    let bytes: Int
  }

  private var photos: [AssetID: Photo] = [:]
  private var ofAuthor: [MemberID: Int] = [:]
  private var total = 0

  /// Counts a photo whose bytes are here, for the author of the object that was seen first.
  mutating func count(_ id: AssetID, _ bytes: Int, of author: MemberID?) {
    remove(id)
    photos[id] = Photo(author: author, bytes: bytes)
    total += bytes
    if let author { ofAuthor[author, default: 0] += bytes }
  }

  /// Forgets the photos that no object shows.
  mutating func keep(only shown: Set<AssetID>) {
    for id in photos.keys where !shown.contains(id) { remove(id) }
  }

  /// Returns whether a photo of an author can be requested.
  func hasRoom(for bytes: Int, of author: MemberID?) -> Bool {
    let authors = author.flatMap { ofAuthor[$0] } ?? 0
    return authors + bytes <= BoardLimits.photoBytesPerAuthor
      && total + bytes <= BoardLimits.photoBytesOfBoard
  }

  private mutating func remove(_ id: AssetID) {
    guard let photo = photos.removeValue(forKey: id) else { return }
    total -= photo.bytes
    if let author = photo.author { ofAuthor[author, default: 0] -= photo.bytes }
  }
}

extension Replica {
  /// Requests a photo whose object was added or changed, if its bytes are missing and within the budget.
  func wantPhoto(
    _ asset: AssetReference,
    of object: ObjectID,
    preferring member: MemberID?,
    _ now: Moment
  ) {
    if assetObjects[asset.id] == nil { assetObjects[asset.id] = object }
    guard !board.assets.contains(asset.id) else { return }
    if hasRoom(forPhoto: asset.id, bytes: asset.byteCount) {
      perform(exchange.want(asset, preferring: member, now: now.uptime))
    } else {
      leaveOut(asset.id)
    }
  }

  /// Looks again for the photos that are missing, after some were left out.
  func wantPhotos(_ now: Moment) {
    nextPhotoLook = now.uptime + Self.photoLookInterval
    exchange.beginAgain()
    leavesOutPhotos = false
    photoBudget.keep(only: Set(board.state.records.compactMap { $0.1.asset?.id }))
    for id in board.objectIDs {
      guard let asset = (board.object(id) as? PhotoObject)?.asset else { continue }
      wantPhoto(asset, of: id, preferring: nil, now)
    }
  }

  /// Returns whether a photo of this size is within the budget of its author, and of the board.
  ///
  /// The own photos always are.
  public func hasRoom(forPhoto id: AssetID, bytes: Int) -> Bool {
    let author = photoAuthor(id)
    return author == board.member || photoBudget.hasRoom(for: bytes, of: author)
  }

  /// A member offered a requested photo that has no room.
  public func leaveOutPhoto(_ id: AssetID, now: Moment) {
    begin(now)
    leaveOut(id)
    perform(exchange.arrived(id, now: now.uptime))
    finish(from: nil, now)
  }

  private func leaveOut(_ id: AssetID) {
    leavesOutPhotos = true
    guard let author = photoAuthor(id), photosLeftOut.insert(author).inserted else { return }
    actions.append(.photosLeftOut(author))
  }

  func photoAuthor(_ id: AssetID) -> MemberID? {
    assetObjects[id].flatMap { board.member(of: $0.dot.incarnation) }
  }

  /// Throws if another photo would exceed what one author may have on a board (BRD-38).
  ///
  /// Deleted photos count until they are purged.
  /// - Throws: `photosUsed`.
  /// - Complexity: O(*n*) in the objects.
  package func requireRoom(for photo: AssetReference) throws(BoardError) {
    var seen: [AssetID: Int] = [photo.id: photo.byteCount]
    for (id, record) in board.state.records {
      guard let asset = record.asset, board.member(of: id.dot.incarnation) == board.member else {
        continue
      }
      seen[asset.id] = asset.byteCount
    }
    guard seen.values.reduce(0, +) <= BoardLimits.photoBytesPerAuthor else { throw .photosUsed }
  }
}

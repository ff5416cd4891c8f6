import Whiteboard

/// The photos that a replica requests from others: as many of each author as that author may have, and as
/// many in all as a board may have (BRD-38).
struct PhotoBudget {
  private var ofAuthor: [MemberID: Int] = [:]
  private var total = 0
  private var counted: Set<AssetID> = []
  /// Whether a photo was left out.
  private(set) var hasRefused = false

  /// Counts a photo whose bytes are here.
  mutating func count(_ asset: AssetReference, of author: MemberID?) {
    guard counted.insert(asset.id).inserted else { return }
    total += asset.byteCount
    if let author { ofAuthor[author, default: 0] += asset.byteCount }
  }

  /// Returns whether a photo is within the budget, and counts it if so.
  ///
  /// A photo counts once, for the author of the object that was seen first.
  mutating func admit(_ asset: AssetReference, of author: MemberID?) -> Bool {
    if counted.contains(asset.id) { return true }
    let authors = author.flatMap { ofAuthor[$0] } ?? 0
    guard authors + asset.byteCount <= BoardLimits.photoBytesPerAuthor,
      total + asset.byteCount <= BoardLimits.photoBytesOfBoard
    else {
      hasRefused = true
      return false
    }
    count(asset, of: author)
    return true
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
    let author = board.member(of: object.dot.incarnation)
    // The own photos were within the budget when they were added.
    let isCounted = board.assets.contains(asset.id) || author == board.member
    if isCounted { photoBudget.count(asset, of: author) }
    if board.assets.contains(asset.id) { return }
    if isCounted || photoBudget.admit(asset, of: author) {
      perform(exchange.want(asset, preferring: member, now: now.uptime))
    } else if let author, photosLeftOut.insert(author).inserted {
      actions.append(.photosLeftOut(author))
    }
  }

  /// Looks again for the photos that are missing, after some were left out.
  func wantPhotos(_ now: Moment) {
    nextPhotoLook = now.uptime + Self.photoLookInterval
    exchange.beginAgain()
    photoBudget = PhotoBudget()
    let photos = board.objectIDs.compactMap { id in
      (board.object(id) as? PhotoObject)?.asset.map { (id, $0) }
    }
    // What is here counts first.
    for (id, asset) in photos where board.assets.contains(asset.id) {
      wantPhoto(asset, of: id, preferring: nil, now)
    }
    for (id, asset) in photos where !board.assets.contains(asset.id) {
      wantPhoto(asset, of: id, preferring: nil, now)
    }
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

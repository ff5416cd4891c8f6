import Whiteboard

/// Decides which photos to request, from which member, and which photos to send (SYN-35 to SYN-37, BRD-38).
final class PhotoSharing {
  /// The interval in milliseconds at which photos that exceeded the budget are checked again.
  private static let checkInterval: UInt64 = 60_000
  private static let assetsPerMember = 64

  private let board: Board
  private let pending: PendingReports
  private let actions: ActionQueue
  private(set) var exchange = AssetExchange()
  private var budget = PhotoBudget()
  private var leavesOutPhotos = false
  private var reportedAuthors: Set<MemberID> = []
  private var nextCheck: UInt64 = 0
  private var sending: [MemberID: Set<AssetID>] = [:]
  private var objects: [AssetID: ObjectID] = [:]

  init(_ board: Board, _ pending: PendingReports, _ actions: ActionQueue) {
    self.board = board
    self.pending = pending
    self.actions = actions
  }

  // MARK: - Requesting

  func request(_ asset: AssetReference, of object: ObjectID, preferring member: MemberID?, _ now: Moment) {
    if objects[asset.id] == nil { objects[asset.id] = object }
    guard !board.assets.contains(asset.id) else { return }
    if hasRoom(for: asset.id, bytes: asset.byteCount) {
      perform(exchange.want(asset, preferring: member, now: now.uptime))
    } else {
      leaveOut(asset.id)
    }
  }

  func retryIfNeeded(_ now: Moment) {
    guard exchange.hasOverflowed || (leavesOutPhotos && now.uptime >= nextCheck) else { return }
    nextCheck = now.uptime + Self.checkInterval
    exchange.beginAgain()
    leavesOutPhotos = false
    budget.removeAll(except: Set(photos.map { $0.asset.id }))
    for id in board.state.photoIDs where board.state.isShown(id) {
      guard let asset = board.state.record(id)?.asset else { continue }
      request(asset, of: id, preferring: nil, now)
    }
  }

  func hasRoom(for id: AssetID, bytes: Int) -> Bool {
    let author = author(of: id)
    return author == board.member || budget.hasRoom(for: Int64(bytes), of: author)
  }

  /// Throws an error if another local photo would exceed the budget of one author (BRD-38).
  func requireRoom(for photo: AssetReference) throws(BoardError) {
    var seen: [AssetID: Int64] = [photo.id: Int64(photo.byteCount)]
    for id in board.state.photoIDs where board.member(of: id.dot.incarnation) == board.member {
      guard let asset = board.state.record(id)?.asset else { continue }
      seen[asset.id] = Int64(asset.byteCount)
    }
    guard seen.values.reduce(0, +) <= BoardLimits.photoBytesPerAuthor else { throw .photosUsed }
  }

  func leaveOut(_ id: AssetID, _ now: Moment) {
    leaveOut(id)
    perform(exchange.arrived(id, now: now.uptime))
  }

  private func leaveOut(_ id: AssetID) {
    leavesOutPhotos = true
    guard let author = author(of: id), reportedAuthors.insert(author).inserted else { return }
    actions.append(.photosLeftOut(author))
  }

  private var photos: [(object: ObjectID, asset: AssetReference)] {
    board.state.photoIDs.compactMap { id in board.state.record(id)?.asset.map { (id, $0) } }
  }

  private func author(of id: AssetID) -> MemberID? { objects[id].flatMap { board.member(of: $0.dot.incarnation) } }

  func isRequesting(_ id: AssetID, from member: MemberID) -> Bool { exchange.isAsking(id, from: member) }

  /// Returns the references to an asset; the empty set if the asset was not requested from this member.
  func expectedAsset(_ id: AssetID, from member: MemberID) -> Set<AssetReference> {
    guard isRequesting(id, from: member) else { return [] }
    return Set(photos.map { $0.asset }.filter { $0.id == id })
  }

  func progressed(_ id: AssetID, _ now: Moment) { exchange.progressed(id, now: now.uptime) }

  /// Requests an asset from the next member if this member cannot send it or sent wrong bytes.
  func unavailable(_ id: AssetID, from member: MemberID, _ now: Moment) {
    perform(exchange.unavailable(id, from: member, now: now.uptime))
  }

  var nextDeadline: UInt64? { exchange.nextDeadline }

  func tick(_ now: Moment) { perform(exchange.tick(now.uptime)) }

  private func perform(_ effects: [AssetExchange.Effect]) {
    for case .ask(let id, let member) in effects {
      guard let reference = exchange.reference(of: id) else { continue }
      actions.append(.wantAsset(reference, from: member))
      actions.queue(.assetRequest(id), to: member)
    }
  }

  // MARK: - Stored bytes

  func stored(_ id: AssetID, bytes: Int?, _ now: Moment) {
    budget.count(id, Int64(bytes ?? reference(of: id)?.byteCount ?? 0), of: author(of: id))
    guard board.assets.insert(id).inserted else { return }
    perform(exchange.arrived(id, now: now.uptime))
    for object in board.state.photoIDs
    where board.state.record(object)?.asset?.id == id && !pending.isUnknown(object) {
      if let snapshot = board.snapshot(object), snapshot.asset?.id == id {
        actions.append(.objectChanged(snapshot, from: nil))
      }
    }
  }

  /// Requests an asset whose stored bytes are damaged or missing.
  func lost(_ id: AssetID, _ now: Moment) {
    guard board.assets.remove(id) != nil, let object = objects[id], let asset = reference(of: id) else { return }
    request(asset, of: object, preferring: nil, now)
  }

  func reference(of id: AssetID) -> AssetReference? {
    if let asset = objects[id].flatMap({ board.state.record($0)?.asset }), asset.id == id { return asset }
    // The first object was purged, so look for another object.
    guard let (object, asset) = photos.first(where: { $0.asset.id == id }) else { return nil }
    objects[id] = object
    return asset
  }

  // MARK: - Sending

  func serve(_ id: AssetID, to member: MemberID) {
    let underway = sending[member] ?? []
    guard !underway.contains(id) else { return }
    guard board.assets.contains(id), reference(of: id) != nil, let object = objects[id],
      underway.count < Self.assetsPerMember
    else {
      actions.queue(.assetUnavailable(id), to: member)
      return
    }
    sending[member, default: []].insert(id)
    let name = ResourceDTO(id: object.description, type: .imageData, sha256: id)
    actions.append(.sendAsset(id, name, to: member))
  }

  func sent(_ id: AssetID, to member: MemberID) { sending[member]?.remove(id) }

  // MARK: - Members

  func memberJoined(_ member: MemberID, _ now: Moment) { perform(exchange.memberJoined(member, now: now.uptime)) }

  func memberLeft(_ member: MemberID, _ now: Moment) {
    sending[member] = nil
    perform(exchange.memberLeft(member, now: now.uptime))
  }

  var isReceiving: Bool { exchange.isBusy }

  func isSending(to member: MemberID) -> Bool { sending[member]?.isEmpty == false }

  var isSending: Bool { !sending.values.allSatisfy { $0.isEmpty } }
}

/// The photos whose bytes are stored locally, and their total size for each author and for the board (BRD-38). The
/// sizes that objects state are not counted, because they may be false.
struct PhotoBudget {
  private struct Photo {
    let author: MemberID?
    let bytes: Int64
  }

  private var photos: [AssetID: Photo] = [:]
  private var ofAuthor: [MemberID: Int64] = [:]
  private var total: Int64 = 0

  /// Counts a photo whose bytes are stored locally, for the author of the first object that showed it.
  mutating func count(_ id: AssetID, _ bytes: Int64, of author: MemberID?) {
    remove(id)
    photos[id] = Photo(author: author, bytes: bytes)
    total += bytes
    if let author { ofAuthor[author, default: 0] += bytes }
  }

  mutating func removeAll(except shown: Set<AssetID>) { for id in photos.keys where !shown.contains(id) { remove(id) } }

  func hasRoom(for bytes: Int64, of author: MemberID?) -> Bool {
    let authors = author.flatMap { ofAuthor[$0] } ?? 0
    return authors + bytes <= BoardLimits.photoBytesPerAuthor && total + bytes <= BoardLimits.photoBytesOfBoard
  }

  private mutating func remove(_ id: AssetID) {
    guard let photo = photos.removeValue(forKey: id) else { return }
    total -= photo.bytes
    if let author = photo.author { ofAuthor[author, default: 0] -= photo.bytes }
  }
}

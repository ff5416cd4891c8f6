import PeerCore
import Whiteboard
import WhiteboardSync

extension PageReplica {
  /// Runs a command that is not an edit. Returns nil for any other command.
  func share(_ command: EditCommand, _ now: Moment) throws(BoardError) -> (ids: [ObjectID], actions: [ReplicaAction])? {
    switch command.name {
    case "presence": return ([], replica.show(try presence(command), now: now))
    case "profile":
      let name = PlainText.line(try command.text("name"))
      let icon = try command.text("icon")
      return ([], try replica.setProfile(name: name, icon: icon, now: now))
    case "assetStored":
      let bytes = Int(exactly: try command.number("byteCount"))
      return ([], replica.assetStored(try command.asset(), bytes: bytes, now: now))
    case "assetLost": return ([], replica.assetLost(try command.asset(), now: now))
    case "assetSent": return ([], replica.assetSent(try command.asset(), to: try command.member(), now: now))
    case "assetFailed": return ([], replica.assetFailed(try command.asset(), from: try command.member(), now: now))
    case "assetUnavailable":
      let member = try command.member()
      return ([], replica.assetUnavailable(try command.asset(), to: member, now: now))
    case "answerFailed":
      guard let request = UInt64(exactly: try command.number("request")) else { break }
      return ([], replica.answerFailed(request: request, from: try command.member(), now: now))
    case "leave": return ([], replica.prepareToLeave(now: now))
    case "purge": return ([], try purge(now))
    default: break
    }
    return nil
  }

  private func presence(_ command: EditCommand) throws(BoardError) -> Presence {
    var view: Presence.View?
    if command.has("view") {
      let numbers = try command.numbers("view", count: 4)
      guard let width = Int(exactly: numbers[2]), let height = Int(exactly: numbers[3]) else {
        throw .outOfRange("view")
      }
      let center = Point(x: numbers[0], y: numbers[1])
      view = try Presence.View(center: center, width: width, height: height)
    }
    let cursor = command.has("cursor") ? try command.point("cursor") : nil
    return try Presence(cursor: cursor, isLaser: command.flag("isLaser"), view: view)
  }

  /// Purges objects that were deleted long ago (SYN-8), if this is the connected member with the lowest id.
  private func purge(_ now: Moment) throws(BoardError) -> [ReplicaAction] {
    let board = replica.board
    let ids = deletionAges.purgeable(on: board, at: now.uptime, excluding: board.objectsInUndo)
    guard !ids.isEmpty, replica.members.allSatisfy({ $0 > board.member }) else { return [] }
    return try replica.change(now: now) { (board) throws(BoardError) in
      for id in ids.prefix(1000) { try board.purge(id) }
    }.actions
  }
}

// MARK: - Resources

/// Returns whether to accept a resource that a member offers: an answer or a photo that the replica requested.
///
/// The input is the id of the member, and the name of the resource.
@_expose(wasm, "accepts") @_cdecl("accepts") public func accepts(
  _ count: Int32,
  _ size: Double,
  _ wall: Double,
  _ uptime: Double
) -> Bool {
  guard let (member, name) = namedResource(count), let size = Int(exactly: size) else { return false }
  let replica = current.replica
  if name.type == .whiteboard { return name.byteCount == size && replica.expectsAnswer(name, from: member) }
  guard name.type == .imageData, !name.isDeleted, let id = name.sha256,
    replica.expectedAsset(id, from: member).contains(where: { $0.byteCount == size })
  else { return false }
  if replica.hasRoom(forPhoto: id, bytes: size) { return true }
  current.output(replica.leaveOutPhoto(id, now: moment(wall, uptime)))
  return false
}

/// Reports that a part of a resource arrived; the input is the id of the member, and the name of the resource.
@_expose(wasm, "progressed") @_cdecl("progressed") public func progressed(
  _ count: Int32,
  _ wall: Double,
  _ uptime: Double
) {
  guard let (member, name) = namedResource(count) else { return }
  let (replica, now) = (current.replica, moment(wall, uptime))
  if let request = name.request {
    replica.answerProgressed(request: request, from: member, now: now)
  } else if let id = name.sha256 {
    replica.assetProgressed(id, now: now)
  }
}

private func namedResource(_ count: Int32) -> (MemberID, ResourceDTO)? {
  let input = Buffers.takeInput(count)
  guard let member = member(input.prefix(32)),
    let name = try? ResourceDTO(name: String(decoding: input.dropFirst(32), as: UTF8.self))
  else { return nil }
  return (member, name)
}

// MARK: - Photos

/// Returns whether bytes are a photo that was requested from a member.
///
/// The input is the bytes, the id of the member, and the SHA-256 of the bytes.
@_expose(wasm, "isExpectedPhoto") @_cdecl("isExpectedPhoto") public func isExpectedPhoto(
  _ count: Int32,
  _ wall: Double,
  _ uptime: Double
) -> Bool {
  let (bytes, ids) = photo(count, ids: 2)
  guard let member = member(ids.prefix(32)), let id = AssetID(ids.dropFirst(32)),
    let header = try? PhotoHeader(reading: bytes)
  else { return false }
  return current.replica.expectedAsset(id, from: member).contains {
    $0.byteCount == bytes.count && $0.hasHeader(header)
  }
}

/// Takes the bytes of a photo from the input, and the ids that follow them; a large photo is not copied.
private func photo(_ count: Int32, ids: Int) -> (bytes: [UInt8], ids: [UInt8]) {
  var bytes = Buffers.takeInput(count)
  let tail = Array(bytes.suffix(32 * ids))
  bytes.removeLast(tail.count)
  return (bytes, tail)
}

/// Creates a photo. The input is the photo's bytes and their SHA-256.
///
/// The first action of the output is the result or the error.
@_expose(wasm, "createPhoto") @_cdecl("createPhoto") public func createPhoto(
  _ count: Int32,
  _ x: Double,
  _ y: Double,
  _ wall: Double,
  _ uptime: Double
) {
  let (page, now) = (current, moment(wall, uptime))
  let (replica, before) = (page.replica, page.lastSequence)
  let (bytes, hash) = photo(count, ids: 1)
  let asset: AssetReference
  do throws(PhotoError) {
    let header = try PhotoHeader(ofWhole: bytes)
    guard let id = AssetID(hash) else { throw .malformed }
    asset = try AssetReference(id: id, byteCount: bytes.count, header: header)
  } catch { return page.output { writer in writer.write(photoError: error.code) } }
  let isNew = !replica.board.assets.contains(asset.id)
  do throws(BoardError) {
    try replica.requireRoom(for: asset)
    let stored = replica.assetStored(asset.id, bytes: asset.byteCount, now: now)
    let size = asset.size(PhotoHeader.orientation(of: bytes))
    let (ids, actions) = try replica.change(now: now) { (board) throws(BoardError) in
      [try board.createPhoto(asset, at: Point(x: x, y: y), size: size)]
    }
    page.output(.success((ids, [])), stored + actions, since: before)
  } catch {
    if isNew { replica.board.assets.remove(asset.id) }
    page.output(.failure(error), [], since: before)
  }
}

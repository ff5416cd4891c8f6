import PeerCore
import Whiteboard
import WhiteboardSync

/// Creates the replica of an empty board.
///
/// The input is the id of the board, 16 bytes, and the public key of the author, 65 bytes.
/// - Returns: Whether the input was valid.
@_expose(wasm, "start") @_cdecl("start") public func start(_ count: Int32, _ wall: Double, _ uptime: Double) -> Bool {
  let input = Buffers.takeInput(count)
  guard input.count == 81, let id = Bytes16(input.prefix(16)) else { return false }
  let author = Author(board: BoardID(id), publicKey: Array(input.dropFirst(16)))
  let now = moment(wall, uptime)
  let new = PageReplica(Replica(author: author, now: now, localVerifier: nil))
  page = new
  new.output(new.replica.tick(now: now))
  return true
}

/// Restores a stored change; the input has the form of the action `record`.
///
/// - Returns: Whether the change was restored.
@_expose(wasm, "restore") @_cdecl("restore") public func restore(
  _ count: Int32,
  _ isLast: Bool,
  _ wall: Double,
  _ uptime: Double
) -> Bool {
  let input = Buffers.takeInput(count)
  let now = moment(wall, uptime)
  var changes: [StoredChange] = []
  if !input.isEmpty {
    guard let change = storedChange(input) else { return false }
    changes.append(change)
  }
  do throws(RestoreError) {
    current.output(try current.replica.restore(changes, now: now, isWhole: isLast))
    return true
  } catch { return false }
}

private func storedChange(_ input: [UInt8]) -> StoredChange? {
  guard input.count >= 17 else { return nil }
  func number(_ start: Int) -> UInt64 { input[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
  let bytes = Array(input.dropFirst(17))
  switch input[0] {
  case 0: return Incarnation(exactly: number(1)).map { .author(bytes, $0) }
  case 1: return (try? BatchCoding.decode(bytes)).map { .batch(EncodedBatch($0)) }
  case 2: return .answer(bytes)
  case 3: return Incarnation(exactly: number(1)).map { .head(bytes, $0, sequence: number(9)) }
  case 4: return .keyframe(bytes)
  default: return nil
  }
}

// MARK: - Members and messages

/// Handles a member that joined or left. The input is the id of the member.
@_expose(wasm, "memberChanged") @_cdecl("memberChanged") public func memberChanged(
  _ hasJoined: Bool,
  _ wall: Double,
  _ uptime: Double
) {
  guard let member = member(Buffers.takeInput(32)) else { return }
  let now = moment(wall, uptime)
  let replica = current.replica
  current.output(hasJoined ? replica.peerJoined(member, now: now) : replica.peerLeft(member, now: now))
}

/// Handles a message or a datagram. The input is the id of the member, and the bytes.
@_expose(wasm, "received") @_cdecl("received") public func received(
  _ count: Int32,
  _ isReliable: Bool,
  _ wall: Double,
  _ uptime: Double
) {
  let input = Buffers.takeInput(count)
  guard let member = member(input.prefix(32)) else { return }
  let (now, bytes) = (moment(wall, uptime), Array(input.dropFirst(32)))
  let replica = current.replica
  current.output(
    isReliable
      ? replica.received(bytes, from: member, now: now) : replica.receivedDatagram(bytes, from: member, now: now)
  )
}

/// Handles an answer. The input is the id of the member, and the bytes.
@_expose(wasm, "receivedAnswer") @_cdecl("receivedAnswer") public func receivedAnswer(
  _ count: Int32,
  _ request: Double,
  _ wall: Double,
  _ uptime: Double
) {
  withAnswer(count, request) { (replica, member, request, bytes) in
    replica.receivedAnswer(bytes, request: request, from: member, now: moment(wall, uptime))
  }
}

/// Reports that sending an answer has ended. The input is the id of the member.
@_expose(wasm, "answerSent") @_cdecl("answerSent") public func answerSent(
  _ request: Double,
  _ wall: Double,
  _ uptime: Double
) {
  withAnswer(32, request) { (replica, member, request, _) in
    replica.answerSent(request: request, to: member, now: moment(wall, uptime))
  }
}

/// Passes on the answer to a request. Does nothing if the input is not valid.
private func withAnswer(
  _ count: Int32,
  _ request: Double,
  _ body: (Replica, MemberID, UInt64, [UInt8]) -> [ReplicaAction]
) {
  let input = Buffers.takeInput(count)
  guard let member = member(input.prefix(32)), let request = UInt64(exactly: request) else { return }
  current.output(body(current.replica, member, request, Array(input.dropFirst(32))))
}

/// Accepts a signature that the page created. The input is the signature.
@_expose(wasm, "signed") @_cdecl("signed") public func signed(_ request: Int32, _ wall: Double, _ uptime: Double) {
  let signature = Buffers.takeInput(64)
  guard let id = current.signing.take(UInt32(bitPattern: request)), signature.count == 64 else { return }
  current.output(current.replica.signed(id, signature: signature, now: moment(wall, uptime)))
}

/// Accepts the result of checking a key or a signature.
@_expose(wasm, "verified") @_cdecl("verified") public func verified(
  _ request: Int32,
  _ isValid: Bool,
  _ wall: Double,
  _ uptime: Double
) {
  _ = Buffers.takeInput(0)
  guard let id = current.checking.take(UInt32(bitPattern: request)) else { return }
  current.output(current.replica.verified(id, isValid: isValid, now: moment(wall, uptime)))
}

// MARK: - Time

/// Does the work that is due.
@_expose(wasm, "tick") @_cdecl("tick") public func tick(_ wall: Double, _ uptime: Double) {
  current.output(current.replica.tick(now: moment(wall, uptime)))
}

/// Returns the uptime at which ``tick`` must be called; negative if nothing is due.
@_expose(wasm, "nextDeadline") @_cdecl("nextDeadline") public func nextDeadline() -> Double {
  current.replica.nextDeadline.map { Double($0) } ?? -1
}

/// Writes the digest of the board to the output.
@_expose(wasm, "digest") @_cdecl("digest") public func digest() { Buffers.output = current.replica.digest.bytes }

/// Returns whether a step can be undone (bit 0) and redone (bit 1).
@_expose(wasm, "undoState") @_cdecl("undoState") public func undoState() -> Int32 {
  let board = current.replica.board
  return (board.canUndo ? 1 : 0) | (board.canRedo ? 2 : 0)
}

/// Returns whether a member has the same changes (bit 0), and whether all have the same changes and photos (bit 1).
@_expose(wasm, "syncState") @_cdecl("syncState") public func syncState(_ wall: Double, _ uptime: Double) -> Int32 {
  let (replica, now) = (current.replica, moment(wall, uptime))
  // A program without a board, such as a relay, has nothing to compare.
  let members = replica.members.filter { replica.hasIntroducedItself($0) }
  let synced = members.filter { replica.isSynced(with: $0, now: now) }
  guard !synced.isEmpty else { return 0 }
  let isComplete = synced.count == members.count && !replica.isExchangingAssets(with: members)
  return isComplete ? 3 : 1
}

/// Writes everything on the board to the output, as after a restore.
@_expose(wasm, "readAll") @_cdecl("readAll") public func readAll() {
  let board = current.replica.board
  current.output { writer in
    for object in board.snapshots { writer.write(.objectAdded(object, from: nil)) }
    for line in board.chat { writer.write(.chat(line, from: nil)) }
    writer.write(.role(current.replica.role))
    writer.writeSettings()
  }
}

/// Writes the whole content of the replica to the output, as a stored change that replaces all earlier changes.
///
/// The output is empty while a signature is missing.
@_expose(wasm, "keyframe") @_cdecl("keyframe") public func keyframe() {
  let replica = current.replica
  current.output { writer in
    guard !replica.isAwaitingSignature else { return }
    writer.write(.record(.keyframe(replica.snapshotForKeeping())))
  }
}

import PeerCore
import Whiteboard
import WhiteboardSync

/// The replica of a page, with the requests that the page has not answered.
private final class PageReplica {
  let replica: Replica
  let signing = RequestTable<SigningID>()
  let checking = RequestTable<VerificationID>()

  init(_ replica: Replica) { self.replica = replica }

  /// Makes actions the output of the call.
  func output(_ actions: [ReplicaAction]) {
    var writer = ActionWriter(signing, checking)
    for action in actions { writer.write(action) }
    Buffers.output = writer.bytes
  }

  /// Makes actions or an error the output of the call.
  func output(_ body: () throws(BoardError) -> [ReplicaAction]) {
    do throws(BoardError) {
      output(try body())
    } catch {
      var writer = ActionWriter(signing, checking)
      writer.write(error)
      Buffers.output = writer.bytes
    }
  }
}

nonisolated(unsafe) private var page: PageReplica?

/// The replica, after ``start``.
private var current: PageReplica {
  guard let page else { preconditionFailure("start must be called first") }
  return page
}

private func moment(_ wall: Double, _ uptime: Double) -> Moment {
  func milliseconds(_ clock: Double) -> UInt64 { UInt64(exactly: clock.rounded(.down)) ?? 0 }
  return Moment(wall: milliseconds(wall), uptime: milliseconds(uptime))
}

private func member(_ bytes: some Collection<UInt8>) -> MemberID? {
  Bytes32(bytes).map { MemberID($0) }
}

/// Creates the replica of an empty board.
///
/// The input is the id of the board, 16 bytes, and the public key of the author, 65 bytes.
/// - Returns: Whether the input was valid.
@_expose(wasm, "start")
@_cdecl("start")
public func start(_ count: Int32, _ wall: Double, _ uptime: Double) -> Bool {
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
@_expose(wasm, "restore")
@_cdecl("restore")
public func restore(_ count: Int32, _ isLast: Bool, _ wall: Double, _ uptime: Double) -> Bool {
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
  } catch {
    return false
  }
}

private func storedChange(_ input: [UInt8]) -> StoredChange? {
  guard input.count >= 17 else { return nil }
  func number(_ start: Int) -> UInt64 {
    input[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
  }
  let bytes = Array(input.dropFirst(17))
  switch input[0] {
  case 0: return .author(bytes, Incarnation(number(1)))
  case 1: return (try? BatchCoding.decode(bytes)).map { .batch(EncodedBatch($0)) }
  case 2: return .answer(bytes)
  case 3: return .head(bytes, Incarnation(number(1)), sequence: number(9))
  case 4: return .keyframe(bytes)
  default: return nil
  }
}

// MARK: - Members and messages

/// A member joined or left; the input is its id.
@_expose(wasm, "memberChanged")
@_cdecl("memberChanged")
public func memberChanged(_ hasJoined: Bool, _ wall: Double, _ uptime: Double) {
  guard let member = member(Buffers.takeInput(32)) else { return }
  let now = moment(wall, uptime)
  let replica = current.replica
  current.output(
    hasJoined ? replica.peerJoined(member, now: now) : replica.peerLeft(member, now: now)
  )
}

/// A message or a datagram arrived; the input is the id of the member, and the bytes.
@_expose(wasm, "received")
@_cdecl("received")
public func received(_ count: Int32, _ isReliable: Bool, _ wall: Double, _ uptime: Double) {
  let input = Buffers.takeInput(count)
  guard let member = member(input.prefix(32)) else { return }
  let (now, bytes) = (moment(wall, uptime), Array(input.dropFirst(32)))
  let replica = current.replica
  current.output(
    isReliable
      ? replica.received(bytes, from: member, now: now)
      : replica.receivedDatagram(bytes, from: member, now: now)
  )
}

/// An answer arrived; the input is the id of the member, and the bytes.
@_expose(wasm, "receivedAnswer")
@_cdecl("receivedAnswer")
public func receivedAnswer(_ count: Int32, _ request: Double, _ wall: Double, _ uptime: Double) {
  withAnswer(count, request) { (replica, member, request, bytes) in
    replica.receivedAnswer(bytes, request: request, from: member, now: moment(wall, uptime))
  }
}

/// An answer was sent; the input is the id of the member.
@_expose(wasm, "answerSent")
@_cdecl("answerSent")
public func answerSent(_ request: Double, _ wall: Double, _ uptime: Double) {
  withAnswer(32, request) { (replica, member, request, _) in
    replica.answerSent(request: request, to: member, now: moment(wall, uptime))
  }
}

/// Passes on the answer to a request; does nothing if the input is not valid.
private func withAnswer(
  _ count: Int32,
  _ request: Double,
  _ body: (Replica, MemberID, UInt64, [UInt8]) -> [ReplicaAction]
) {
  let input = Buffers.takeInput(count)
  guard let member = member(input.prefix(32)), let request = UInt64(exactly: request) else {
    return
  }
  current.output(body(current.replica, member, request, Array(input.dropFirst(32))))
}

/// The page created a signature; the input is the signature.
@_expose(wasm, "signed")
@_cdecl("signed")
public func signed(_ request: Int32, _ wall: Double, _ uptime: Double) {
  let signature = Buffers.takeInput(64)
  guard let id = current.signing.take(UInt32(bitPattern: request)), signature.count == 64 else {
    return
  }
  current.output(
    current.replica.signed(id, signature: signature, now: moment(wall, uptime))
  )
}

/// The page checked a key or a signature.
@_expose(wasm, "verified")
@_cdecl("verified")
public func verified(_ request: Int32, _ isValid: Bool, _ wall: Double, _ uptime: Double) {
  _ = Buffers.takeInput(0)
  guard let id = current.checking.take(UInt32(bitPattern: request)) else { return }
  current.output(current.replica.verified(id, isValid: isValid, now: moment(wall, uptime)))
}

// MARK: - Time

/// Does the work that is due.
@_expose(wasm, "tick")
@_cdecl("tick")
public func tick(_ wall: Double, _ uptime: Double) {
  current.output(current.replica.tick(now: moment(wall, uptime)))
}

/// Returns the uptime at which ``tick`` must be called; negative if nothing is due.
@_expose(wasm, "nextDeadline")
@_cdecl("nextDeadline")
public func nextDeadline() -> Double { current.replica.nextDeadline.map { Double($0) } ?? -1 }

/// Makes the digest of the board the output.
@_expose(wasm, "digest")
@_cdecl("digest")
public func digest() { Buffers.output = current.replica.digest.bytes }

// MARK: - Editing

/// Creates a text; the input is the text in UTF-8.
@_expose(wasm, "createText")
@_cdecl("createText")
public func createText(
  _ count: Int32,
  _ x: Double,
  _ y: Double,
  _ wall: Double,
  _ uptime: Double
) {
  let text = String(decoding: Buffers.takeInput(count), as: UTF8.self)
  current.output { () throws(BoardError) in
    try current.replica.change(now: moment(wall, uptime)) { (board) throws(BoardError) in
      try board.createText(text, at: Point(x: x, y: y))
    }
    .actions
  }
}

/// Creates a stroke; the input has the coordinates of its points, 8 bytes each as IEEE 754, the low
/// byte first.
///
/// A negative color is the default color.
@_expose(wasm, "createStroke")
@_cdecl("createStroke")
public func createStroke(
  _ count: Int32,
  _ lineWidth: Double,
  _ color: Double,
  _ wall: Double,
  _ uptime: Double
) {
  let input = Buffers.takeInput(count)
  let numbers = stride(from: 0, to: input.count - 7, by: 8).map { start in
    Double(
      bitPattern: input[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    )
  }
  current.output { () throws(BoardError) in
    try current.replica.change(now: moment(wall, uptime)) { (board) throws(BoardError) in
      var points: [InkPoint] = []
      for start in stride(from: 0, to: numbers.count - 1, by: 2) {
        points.append(try InkPoint(Point(x: numbers[start], y: numbers[start + 1])))
      }
      try board.createDrawing(points, lineWidth: lineWidth, color: UInt32(exactly: color))
    }
    .actions
  }
}

/// Moves an object; the input is its id as text.
@_expose(wasm, "moveObject")
@_cdecl("moveObject")
public func moveObject(
  _ count: Int32,
  _ x: Double,
  _ y: Double,
  _ wall: Double,
  _ uptime: Double
) {
  edit(count, wall, uptime) { (board, id) throws(BoardError) in
    try board.move([id], by: Point(x: x, y: y))
  }
}

/// Deletes an object; the input is its id as text.
@_expose(wasm, "deleteObject")
@_cdecl("deleteObject")
public func deleteObject(_ count: Int32, _ wall: Double, _ uptime: Double) {
  edit(count, wall, uptime) { (board, id) throws(BoardError) in try board.delete(id) }
}

private func edit(
  _ count: Int32,
  _ wall: Double,
  _ uptime: Double,
  _ body: (Board, ObjectID) throws(BoardError) -> Void
) {
  let text = String(decoding: Buffers.takeInput(count), as: UTF8.self)
  guard let id = ObjectID(text) else { return }
  current.output { () throws(BoardError) in
    try current.replica.change(now: moment(wall, uptime)) { (board) throws(BoardError) in
      try body(board, id)
    }
    .actions
  }
}

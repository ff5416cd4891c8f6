import PeerCore
import Whiteboard
import WhiteboardSync

/// Encodes the actions of a replica for the page. Each action is a byte with its kind, the number of bytes that follow
/// as 4 bytes in little-endian order, and those bytes.
struct ActionWriter {
  /// The kinds of actions; `replica.mjs` has the same numbers.
  private enum Kind: UInt8 {
    /// The number of the request as 4 bytes, and the bytes to sign.
    case sign = 1
    /// The number of the request as 4 bytes, and a public key to check.
    case verifyKey = 2
    /// The number of the request as 4 bytes, a signature, a public key, and the signed bytes.
    case verifySignature = 3
    /// The number of members as 4 bytes, their ids, and the bytes of a message.
    case send = 4
    case sendDatagram = 5
    /// The kind of a stored change, its incarnation and its sequence number as 8 bytes each, and its bytes. The
    /// sequence number of a batch is 1 if the batch is local.
    case record = 6
    /// A member's id, the number of bytes in the name of a resource as 4 bytes, the name, and the bytes of an answer.
    case sendAnswer = 7
    /// The id of a member, the hash of an asset, and the name of a resource.
    case sendAsset = 8
    /// The id of a member, 1 for a reliable message or 0 for a datagram, and the bytes that the member's application
    /// sent.
    case data = 9
    /// JSON that describes a change for the user.
    case event = 10
    /// The result of an edit that failed: JSON with the code of the error.
    case error = 11
    case result = 12
  }

  private(set) var bytes: [UInt8] = []
  private let board: Board
  private let signing: RequestTable<SigningID>
  private let checking: RequestTable<VerificationID>

  init(_ board: Board, _ signing: RequestTable<SigningID>, _ checking: RequestTable<VerificationID>) {
    self.board = board
    self.signing = signing
    self.checking = checking
  }

  mutating func write(_ action: ReplicaAction) {
    switch action {
    case .sign(let request): write(.sign, number(signing.number(of: request.id)) + request.bytes)
    case .verify(let request):
      let start = number(checking.number(of: request.id))
      switch request.subject {
      case .key(let key): write(.verifyKey, start + key)
      case .signature(let signature, let signed, let key): write(.verifySignature, start + signature + key + signed)
      }
    case .send(let message, let members): write(.send, list(members) + message)
    case .sendDatagram(let datagram, let members): write(.sendDatagram, list(members) + datagram)
    case .record(let change): write(change)
    case .sendAnswer(let answer, let member):
      // The author has no local key, so the replica has checked the size of the answer.
      guard let (bytes, name) = answer.encoded() else { preconditionFailure("the answer is too large") }
      let encodedName = Array(name.name.utf8)
      write(.sendAnswer, member.bytes + number(UInt32(encodedName.count)) + encodedName + bytes)
    case .sendAsset(let asset, let name, let member):
      write(.sendAsset, member.bytes + asset.bytes + Array(name.name.utf8))
    case .data(let data, let member, let isReliable): write(.data, member.bytes + [isReliable ? 1 : 0] + data)
    default: writeEvent(action)
    }
  }

  mutating func write(_ error: BoardError) {
    var event = EventJSON()
    event.add("code", error.code)
    switch error {
    case .held(_, let member): event.add("by", member.text)
    case .outOfRange(let name), .tooLong(let name): event.add("name", name)
    case .nothingToUndo(let skipped), .nothingToRedo(let skipped): event.add(skipped)
    default: break
    }
    write(.error, event)
  }

  mutating func write(photoError code: String) {
    var event = EventJSON()
    event.add("code", code)
    write(.error, event)
  }

  /// Writes the result of an edit: the objects that the edit concerned, whether it changed anything, and the steps that
  /// an undo or a redo skipped.
  mutating func write(result ids: [ObjectID], isChanged: Bool, skipped: [SkippedStep]) {
    var event = EventJSON()
    event.add("ids", ids)
    event.add("isChanged", json: isChanged ? "true" : "false")
    event.add(skipped)
    write(.result, event)
  }

  mutating func writeSettings() {
    let settings = board.settings
    var event = EventJSON()
    event.begin("settings", from: nil)
    event.add("title", settings.title)
    event.add("background", settings.background.map { "#" + Hexadecimal.encode(number($0).reversed()) })
    if let grid = settings.grid { event.add("grid", grid) }
    event.add("language", settings.language)
    write(.event, event)
  }

  private mutating func write(_ change: StoredChange) {
    let (kind, incarnation, sequence, stored): (UInt8, Incarnation?, UInt64, [UInt8]) =
      switch change {
      case .author(let bytes, let incarnation): (0, incarnation, 0, bytes)
      case .batch(let batch): (1, nil, board.isOwn(batch.batch.author) ? 1 : 0, batch.bytes)
      case .answer(let bytes): (2, nil, 0, bytes)
      case .head(let bytes, let incarnation, let sequence): (3, incarnation, sequence, bytes)
      case .keyframe(let bytes): (4, nil, 0, bytes)
      }
    var writer = ByteWriter()
    writer.byte(kind)
    writer.fixed64(incarnation?.rawValue ?? 0)
    writer.fixed64(sequence)
    write(.record, writer.bytes + stored)
  }

  /// Writes an action that only describes a change for the user.
  private mutating func writeEvent(_ action: ReplicaAction) {
    var event = EventJSON()
    switch action {
    case .objectAdded(let object, let member), .objectChanged(let object, let member):
      event.begin("object", from: member)
      event.add("object", json: object.json)
      event.add("author", board.member(of: object.id.dot.incarnation)?.text)
      if let ink = object.ink, ink.contains(where: { $0.pressure != 0 }) {
        event.add("pressure", json: JSONObject.list(ink.map { Double($0.pressure) }))
      }
      if let view = board.gameView(object.id, for: board.member) { event.add("view", json: view.json) }
    case .objectRemoved(let id, let member):
      event.begin("removed", from: member)
      event.add("id", id.description)
    case .selected(let id, let member):
      event.begin("selected", from: member)
      event.add("id", id.description)
    case .selectionLost(let id, let member):
      event.begin("selectionLost", from: member)
      event.add("id", id.description)
    case .chat(let line, _):
      event.begin("chat", from: line.author)
      event.add("id", line.id.description)
      event.add("name", line.name)
      event.add("icon", line.icon)
      event.add("text", line.text)
      event.add("sentAt", Double(line.sentAt))
      if let about = line.about { event.add("about", about.description) }
      if line.isResolved { event.add("isResolved", json: "true") }
      var order = ByteWriter()
      order.fixed64(line.time.rawValue)
      event.add("order", Hexadecimal.encode(order.bytes))
    case .preview(let preview):
      event.begin("preview", from: preview.member)
      event.add("id", preview.stroke.description)
      event.add("first", Double(preview.first))
      event.add("points", preview.points.map { $0.point })
    case .profile(let member, let name, let icon):
      event.begin("profile", from: member)
      event.add("name", name)
      event.add("icon", icon)
    case .role(let role):
      event.begin("role", from: nil)
      event.add("role", Double(role.rawValue))
    case .memberRole(let member, let role):
      event.begin("role", from: member)
      event.add("role", Double(role.rawValue))
    case .wantAsset(let asset, let member):
      event.begin("wantAsset", from: member)
      event.add("sha256", asset.id.description)
      event.add("byteCount", Double(asset.byteCount))
    case .protocolViolation(let member, let error):
      event.begin("violation", from: member)
      event.add("message", error.message)
    case .caughtUp(let member): event.begin("caughtUp", from: member)
    case .photosLeftOut(let member): event.begin("photosLeftOut", from: member)
    case .diverged(let member, _): event.begin("diverged", from: member)
    case .full(let member): event.begin("full", from: member)
    case .unrecorded(let member): event.begin("unrecorded", from: member)
    case .deletedUnseen(let ids, let member):
      event.begin("deletedUnseen", from: member)
      event.add("ids", ids)
    case .clock(let report): event.begin("clock", from: report.member)
    case .presence(let member, let shown):
      event.begin("presence", from: member)
      event.add("points", shown.cursor.map { [$0] } ?? [])
      if shown.isLaser { event.add("isLaser", 1) }
      if let view = shown.view {
        let numbers = [view.center.x, view.center.y, Double(view.width), Double(view.height)]
        event.add("view", json: JSONObject.list(numbers))
      }
    case .sign, .verify, .send, .sendDatagram, .record, .sendAnswer, .sendAsset, .data:
      preconditionFailure("these actions are not events")
    }
    write(.event, event)
  }

  private mutating func write(_ kind: Kind, _ event: EventJSON) { write(kind, Array(event.text.utf8)) }

  private mutating func write(_ kind: Kind, _ content: [UInt8]) {
    bytes.append(kind.rawValue)
    bytes += number(UInt32(content.count))
    bytes += content
  }

  private func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }

  private func list(_ members: [MemberID]) -> [UInt8] { number(UInt32(members.count)) + members.flatMap { $0.bytes } }
}

/// Numbers for the requests that a page answers. Only a few requests are open at a time, and the page answers them
/// approximately in order.
final class RequestTable<ID> {
  private var requests: [(number: UInt32, id: ID)] = []
  private var last: UInt32 = 0

  func number(of id: ID) -> UInt32 {
    last &+= 1
    requests.append((last, id))
    return last
  }

  func take(_ number: UInt32) -> ID? {
    guard let index = requests.firstIndex(where: { $0.number == number }) else { return nil }
    return requests.remove(at: index).id
  }
}

private struct EventJSON {
  private var json = JSONObject()

  var text: String { json.text }

  mutating func begin(_ event: String, from member: MemberID?) {
    json.add("event", string: event)
    json.add("from", string: member?.text)
  }

  mutating func add(_ key: String, _ text: String?) { json.add(key, string: text) }

  mutating func add(_ key: String, _ number: Double) { json.add(key, number) }

  mutating func add(_ key: String, _ points: [Point]) { json.add(key, points: points) }

  mutating func add(_ key: String, json text: String) { json.add(key, json: text) }

  mutating func add(_ key: String, _ ids: [ObjectID]) { json.add(key, strings: ids.map { $0.description }) }

  /// Adds the number of skipped steps. Steps that would have changed nothing do not count.
  mutating func add(_ skipped: [SkippedStep]) {
    let count = skipped.filter { $0.reason != .unchanged }.count
    if count > 0 { add("skipped", Double(count)) }
  }
}

import FoundationEssentials
import PeerCore
import Whiteboard
import WhiteboardKit

package enum EventLine {
  /// The version of the format, which each line contains as `v`. The version changes if the meaning of a key changes.
  package static let version = 1

  /// Returns UTF-8 with a line feed at the end. `v` and `event` come first, and the other keys follow in alphabetical
  /// order. Control and format characters are escaped, so the line is safe to display. `JSONLines` lists the keys.
  package static func json(_ event: SharedBoard.Output) -> [UInt8] {
    var json = JSONWriter()
    json.write(event)
    return json.bytes
  }

  /// Writes a line that does not describe an event of a board, in the same format.
  package static func json(_ name: String, _ payload: some Encodable) -> [UInt8] {
    // All payloads can be encoded.
    let data = try? JSONEncoder().encode(payload)
    let tree = data.flatMap { try? JSONReader.read(Array($0)) }
    var json = JSONWriter()
    json.begin(line: name)
    for (key, value) in (tree?.members ?? [:]).sorted(by: { $0.key < $1.key }) { json.add(text: key, value) }
    json.endLine()
    return json.bytes
  }
}

extension JSONWriter {
  fileprivate mutating func begin(line name: String) {
    bytes.append(contentsOf: #"{"v":\#(EventLine.version),"event":"\#(name)""#.utf8)
  }

  fileprivate mutating func endLine() { bytes.append(contentsOf: [UInt8(ascii: "}"), UInt8(ascii: "\n")]) }

  private mutating func line(_ members: KeyValuePairs<StaticString, (any JSONValue)?>) {
    bytes.append(contentsOf: #"{"v":\#(EventLine.version)"#.utf8)
    add(members)
    endLine()
  }

  mutating func begin(_ list: ListedObjects) {
    begin(line: "objects")
    add("count", list.count)
    begin("objects")
    bytes.append(UInt8(ascii: "["))
  }

  /// Appends elements of a list, which another writer wrote.
  mutating func append(elements: [UInt8]) {
    guard !elements.isEmpty else { return }
    separate()
    bytes.append(contentsOf: elements)
  }

  mutating func end(_ request: RequestMark?) {
    bytes.append(UInt8(ascii: "]"))
    add("request", request)
    endLine()
  }

  mutating func write(_ event: SharedBoard.Output) {
    switch event {
    case .change(let change, let details): write(change, details)
    case .news(let news): write(news, answering: nil)
    case .answer(let answer, let request): write(answer, to: request)
    }
  }

  private mutating func write(_ change: SharedBoard.Change, _ it: SharedBoard.ChangeDetails) {
    switch change {
    case .added: write(it, "object-added", changed: nil)
    case .changed: write(it, "object-changed", changed: it.object?.changed)
    case .removed(let id, _):
      line(["event": "object-removed", "by": it.member, "hidden": it.isHidden ? true : nil, "id": id])
    case .selected(let id, _): line(["event": "selected", "id": id, "name": it.name, "peer": it.member])
    case .chat(let it, _):
      begin(line: "chat")
      add(it)
      endLine()
    case .settings(let settings): line(["event": "setting-changed", "changed": it.keys, "settings": settings])
    case .personalSetting(let it):
      line(["event": "personal-setting", "applied": it.isApplied, "new": it.new, "old": it.old, "setting": it.key])
    case .joined:
      line([
        "event": "joined", "name": it.name, "peer": it.member, "through": it.route?.member,
        "throughName": it.route?.name,
      ])
    case .left:
      let departure = it.departure
      line([
        "event": "left", "message": departure?.message, "name": it.name, "peer": it.member, "reason": departure?.reason,
        "removedUs": departure?.removedUs == true ? true : nil, "undelivered": departure?.undelivered,
      ])
    case .message(let bytes, _, let mode):
      line([
        "event": "data", "base64": Base64Text(bytes: bytes), "from": it.member, "name": it.name,
        "reliable": mode == .reliable, "size": bytes.count, "text": EventText.words(of: bytes),
      ])
    case .caughtUp: line(["event": "caught-up", "name": it.name, "objects": it.count, "peer": it.member])
    case .saving(let state): write(state, answering: nil)
    // These changes have no lines.
    case .game, .preview, .photo, .presence, .resource, .missed: break
    }
  }

  // Objects are frequent, so their keys are added directly, not collected in a list first.
  private mutating func write(_ it: SharedBoard.ChangeDetails, _ name: String, changed: [String]?) {
    begin(line: name)
    add("by", it.member)
    add("changed", changed)
    if it.isHidden { add("hidden", true) }
    add("id", it.object?.snapshot.id)
    add("object", it.object)
    endLine()
  }

  private mutating func write(_ news: SharedBoard.News, answering request: RequestMark?) {
    switch news {
    case .ready(let it):
      line([
        "event": "ready", "addresses": it.addresses, "admit": it.admit, "admitters": it.admitters,
        "announced": it.announced, "board": it.board, "boardName": it.boardName, "code": it.code, "link": it.link,
        "name": it.name, "peer": it.peer, "port": it.port,
      ])
    case .peerFound(let it): found("peer-found", it)
    case .peerUpdated(let it): found("peer-updated", it)
    case .peerLost(let it): line(["event": "peer-lost", "board": it.board, "name": it.name, "peer": it.peer])
    case .peerState(let it):
      line(["event": "peer-state", "address": it.address, "name": it.name, "peer": it.peer, "state": it.state.rawValue])
    case .joining(let it):
      line([
        "event": "joining", "address": it.address, "boardName": it.boardName, "name": it.name, "peer": it.peer,
        "step": it.step.rawValue,
      ])
    case .invitation(let it):
      line([
        "event": "invitation", "deadline": it.deadline, "direction": it.direction.rawValue, "id": it.id,
        "known": it.known, "mustAnswer": it.mustAnswer, "name": it.name, "peer": it.peer, "seconds": it.seconds,
        "warning": it.warning, "words": it.words,
      ])
    case .removed(let it):
      line([
        "event": "removed", "canContinue": it.canContinue, "message": it.message, "name": it.name, "peer": it.peer,
        "readOnly": it.readOnly, "reason": it.reason,
      ])
    case .admission(let it):
      line([
        "event": "admission", "admit": it.admit, "admitters": it.admitters, "announced": it.announced, "code": it.code,
        "link": it.link,
      ])
    case .carried(let it): line(["event": "carried", "link": it.link, "name": it.name, "relay": it.relay])
    case .selectionLost(let id, let winner, let name):
      line(["event": "selected", "id": id, "lostByUs": true, "name": name, "peer": winner])
    case .profile(let it):
      line(["event": "profile", "icon": it.icon, "name": it.name, "peer": it.peer, "request": request])
    case .invited(let it):
      line([
        "event": "invited", "code": it.code, "expires": it.expires, "fingerprint": it.fingerprint, "link": it.link,
        "links": it.links, "request": request, "role": it.role,
      ])
    case .web(let it):
      line([
        "event": "web", "fingerprint": it.fingerprint, "on": it.isOn, "origins": it.origins, "request": request,
        "selfMade": it.isSelfMade,
      ])
    case .role(let it): line(["event": "role", "name": it.name, "peer": it.peer, "role": it.role, "self": it.isOwn])
    case .resourceOffered(let it):
      line([
        "event": "resource-offered", "deadline": it.deadline, "name": it.name, "peer": it.peer, "sender": it.sender,
        "size": it.size, "transfer": it.transfer,
      ])
    case .resourceStarted(let it):
      line([
        "event": "resource-started", "direction": it.direction.rawValue, "name": it.name, "peer": it.peer,
        "size": it.size, "transfer": it.transfer,
      ])
    case .resourceProgress(let it):
      line([
        "event": "resource-progress", "bytes": it.bytes, "direction": it.direction.rawValue, "peer": it.peer,
        "size": it.size, "transfer": it.transfer,
      ])
    case .resourceFinished(let it):
      line([
        "event": "resource-finished", "direction": it.direction.rawValue, "message": it.message, "name": it.name,
        "outcome": it.outcome.rawValue, "path": it.path, "peer": it.peer, "sha256": it.sha256, "size": it.size,
        "transfer": it.transfer,
      ])
    case .streamOpened(let it):
      line([
        "event": "stream-opened", "direction": it.direction.rawValue, "name": it.name, "peer": it.peer,
        "stream": it.stream,
      ])
    case .streamData(let it):
      line([
        "event": "stream-data", "base64": Base64Text(bytes: it.bytes), "offset": it.offset, "peer": it.peer,
        "stream": it.stream,
      ])
    case .streamClosed(let it):
      line([
        "event": "stream-closed", "direction": it.direction.rawValue, "message": it.message, "name": it.name,
        "outcome": it.outcome.rawValue, "peer": it.peer, "size": it.size, "stream": it.stream,
      ])
    case .note(let it): remark("note", it)
    case .warning(let it): remark("warning", it)
    }
  }

  private mutating func write(_ answer: SharedBoard.Answer, to request: RequestMark?) {
    switch answer {
    case .digest(let digest, let count):
      line(["event": "digest", "digest": digest, "objects": count, "request": request])
    case .objects(let objects):
      begin(objects)
      for object in objects { write(element: object) }
      end(request)
    case .object(let it): line(["event": "object", "id": it.snapshot.id, "object": it, "request": request])
    case .found(let objects, let chat, let members):
      line([
        "event": "found", "chat": chat, "count": objects.count + (chat?.count ?? 0) + (members?.count ?? 0),
        "members": members, "objects": objects, "request": request,
      ])
    case .chat(let lines): line(["event": "chat-history", "count": lines.count, "lines": lines, "request": request])
    case .settings(let it): line(["event": "settings", "request": request, "settings": it])
    case .checkpoints(let list):
      let checkpoints = list.map { JSONTree.object(["at": .string(EventText.at($0.time)), "name": .string($0.name)]) }
      line(["event": "checkpoints", "checkpoints": checkpoints, "count": list.count, "request": request])
    case .diff(let from, let to, let changes):
      line(["event": "diff", "changes": changes, "count": changes.count, "from": from, "request": request, "to": to])
    case .peers(let peers, let count): line(["event": "peers", "count": count, "peers": peers, "request": request])
    case .saving(let state): write(state, answering: request)
    case .news(let news): write(news, answering: request)
    case .help(let text): line(["event": "note", "code": "help", "message": text])
    case .done(let verb, let it):
      line([
        "event": "done", "changed": it.hasChanged, "file": it.file, "id": it.id, "ids": it.ids,
        "left": it.left.map { JSONTree.object($0.mapValues { .number(Double($0)) }) },
        "notSynced": it.sync.flatMap { $0.notSynced.isEmpty ? nil : $0.notSynced }, "objects": it.count,
        "replaced": it.replaced, "request": request, "skipped": it.skipped, "skippedSteps": it.skippedSteps,
        "step": it.step, "synced": it.sync?.synced, "transfers": it.transfers, "verb": verb.rawValue,
      ])
    case .error(let it):
      line([
        "event": "error", "code": it.code.rawValue, "delivered": it.delivery?.delivered, "line": it.line,
        "message": it.message, "request": request, "undelivered": it.delivery?.undelivered, "verb": it.verb,
      ])
    }
  }

  private mutating func found(_ name: String, _ board: SharedBoard.News.FoundBoard) {
    line([
      "event": name, "addresses": board.addresses, "admit": board.admit, "board": board.board,
      "boardName": board.boardName, "name": board.name, "participants": board.participants, "peer": board.peer,
      "role": board.role,
    ])
  }

  private mutating func remark(_ name: String, _ remark: SharedBoard.News.Remark) {
    line([
      "event": name, "code": remark.code, "deadline": remark.deadline, "difference": remark.difference,
      "fingerprint": remark.fingerprint, "invitation": remark.invitation, "links": remark.links,
      "message": remark.message, "peer": remark.peer,
    ])
  }

  private mutating func write(_ state: SaveState, answering request: RequestMark?) {
    line([
      "event": "save-state", "cause": state.problem?.cause.rawValue, "copy": state.problem?.copy,
      "message": state.problem?.message, "request": request, "state": state.word,
    ])
  }

  fileprivate mutating func add(_ line: ChatLine) {
    add("about", line.about)
    add("at", EventText.at(line.sentAt))
    add("icon", line.icon)
    add("id", line.id)
    if line.isResolved { add("isResolved", true) }
    add("name", line.name ?? "")
    add("peer", line.author)
    add("text", line.text)
  }
}

// MARK: - Parts of events

struct Base64Text: JSONValue {
  let bytes: [UInt8]

  func write(to json: inout JSONWriter) {
    json.bytes.append(UInt8(ascii: "\""))
    Base64.append(bytes[...], to: &json.bytes)
    json.bytes.append(UInt8(ascii: "\""))
  }
}

extension ObjectID: JSONValue { func write(to json: inout JSONWriter) { json.write(description) } }

extension RequestMark: JSONValue {
  func write(to json: inout JSONWriter) {
    switch self {
    case .word(let word): json.write(word)
    case .number(let number): json.write(whole: number)
    }
  }
}

extension ChatLine: JSONValue { func write(to json: inout JSONWriter) { json.write { $0.add(self) } } }

extension SharedBoard.News.Admitter: JSONValue {
  func write(to json: inout JSONWriter) { json.write(object: ["name": name, "peer": peer]) }
}

extension SharedBoard.SyncedMember: JSONValue {
  func write(to json: inout JSONWriter) {
    json.write(object: ["hasBoard": hasBoard, "name": name, "peer": peer, "state": state?.rawValue])
  }
}

extension SharedBoard.PeerDescription: JSONValue {
  func write(to json: inout JSONWriter) {
    json.write(object: [
      "address": address, "admittedBy": admittedBy, "admittedByName": admittedByName, "name": name, "peer": peer,
      "role": role, "state": state.rawValue, "through": through, "throughName": throughName,
    ])
  }
}

extension BoardSettings: JSONValue {
  func write(to json: inout JSONWriter) {
    json.write(object: ["background": backgroundText, "grid": grid, "language": language, "title": title])
  }
}

extension SkippedStep: JSONValue {
  func write(to json: inout JSONWriter) { json.write(object: ["reason": reason.rawValue, "step": label]) }
}

extension CommandOutcome.ReplacedObject: JSONValue {
  func write(to json: inout JSONWriter) { json.write(object: ["former": former, "id": id]) }
}

extension DeliveryReport.Undelivered: JSONValue {
  func write(to json: inout JSONWriter) { json.write(object: ["name": name, "peer": peer, "reason": reason]) }
}

// MARK: - Objects

extension ReportedObject: JSONValue {
  func write(to json: inout JSONWriter) {
    let (it, style, usual) = (snapshot, snapshot.style, ObjectStyle(form: snapshot.form))
    let (text, part) = (text, points?.part)
    json.write { json in
      if style.alignment != usual.alignment { json.add("alignment", style.alignment.name) }
      json.add("angle", it.angle)
      json.add("byteCount", it.asset?.byteCount)
      json.add("centerPosition", it.centerPosition)
      json.add("color", it.color.map(ColorText.text))
      json.add("crop", it.crop.map { [$0.least.x, $0.least.y, $0.greatest.x, $0.greatest.y] })
      json.add("endBinding", it.end)
      json.add("erased", erased.map { Self.spans($0.ranges) })
      json.add("erasedCount", erased?.total)
      json.add("fill", style.fill.map(ColorText.text))
      json.add("firstPoint", part?.first)
      json.add("form", it.form?.name)
      json.add("format", it.asset?.format.name)
      json.add("formerErased", erased?.former.map(Self.spans))
      json.add("frame", it.frame)
      json.add("game", game?.view)
      if !it.groups.isEmpty { json.add("groups", it.groups) }
      json.add("id", it.id)
      json.add("isAssetAvailable", it.isAssetAvailable)
      if style.isAutoWidth { json.add("isAutoWidth", true) }
      if style.isBold { json.add("isBold", true) }
      if style.isCurved { json.add("isCurved", true) }
      json.add("isFinished", it.isFinished)
      if it.isFlippedHorizontally { json.add("isFlippedHorizontally", true) }
      if it.isFlippedVertically { json.add("isFlippedVertically", true) }
      if style.isItalic { json.add("isItalic", true) }
      if it.isLocked { json.add("isLocked", true) }
      if style.end != usual.end { json.add("lineEnd", style.end.name) }
      if style.start != usual.start { json.add("lineStart", style.start.name) }
      if style.lineStyle != usual.lineStyle { json.add("lineStyle", style.lineStyle.name) }
      json.add("lineWidth", it.lineWidth)
      json.add("link", it.link)
      json.add("members", members)
      if style.opacity != usual.opacity { json.add("opacity", style.opacity) }
      json.add("path", path)
      json.add("pixelSize", it.asset.map { [$0.width, $0.height] })
      json.add("pointCount", part?.total)
      json.add("points", points)
      json.add("scale", it.scale)
      json.add("selectedBy", it.selectedBy)
      json.add("sha256", it.asset?.id.description)
      json.add("shift", part?.shift)
      json.add("size", Point(x: it.size.width, y: it.size.height))
      json.add("startBinding", it.start)
      json.add("text", text.whole)
      json.add("textChange", text.change)
      json.add("textColor", style.textColor.map(ColorText.text))
      if style.textSize != usual.textSize { json.add("textSize", style.textSize) }
      json.add("type", it.kind.name)
      if style.typeface != usual.typeface { json.add("typeface", style.typeface.name) }
      json.add("updatedAt", Timestamp.text(milliseconds: it.updatedAt))
      if !it.votes.isEmpty { json.add("votes", it.votes) }
      json.add("zIndex", Hexadecimal.encode(it.zIndex))
    }
  }

  private static func spans(_ ranges: [ClosedRange<Int>]) -> [Point] {
    ranges.map { Point(x: Double($0.lowerBound) / 16, y: Double($0.upperBound) / 16) }
  }
}

extension MemberID: JSONValue { func write(to json: inout JSONWriter) { json.write(description) } }

extension Point: JSONValue {
  func write(to json: inout JSONWriter) {
    json.bytes.append(UInt8(ascii: "["))
    json.write(x)
    json.bytes.append(UInt8(ascii: ","))
    json.write(y)
    json.bytes.append(UInt8(ascii: "]"))
  }
}

extension Binding: JSONValue {
  func write(to json: inout JSONWriter) {
    json.write(object: ["anchor": anchor, "id": target, "isExact": isExact ? true : nil])
  }
}

extension Votes: JSONValue {
  func write(to json: inout JSONWriter) { json.write(object: ["members": members, "reaction": reaction]) }
}

extension TextChange: JSONValue {
  func write(to json: inout JSONWriter) { json.write(object: ["at": at, "replacing": replacing, "text": text]) }
}

extension RelativePoints: JSONValue {
  func write(to json: inout JSONWriter) {
    json.bytes.append(UInt8(ascii: "["))
    forEach { json.write(element: $0) }
    json.bytes.append(UInt8(ascii: "]"))
  }
}

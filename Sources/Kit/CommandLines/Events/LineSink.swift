import PeerCore
import Whiteboard
import WhiteboardKit

package struct LineSink: EventSink {
  private let writer: LineWriter
  /// The writer of text; nil if the output is JSON.
  private let narration: Narration?

  package init(_ writer: LineWriter, isJSON: Bool) {
    self.writer = writer
    narration = isJSON ? nil : Narration(writer)
  }

  package var contents: EventContents { .lines }

  package var isBrief: Bool { true }

  /// Waits until the writer has room. The text form leaves out the events that are only for programs. A text that
  /// another member types, or a movement, becomes one line when it is finished.
  package func write(_ events: [SharedBoard.Output]) async throws(OutputError) {
    if let narration { return try await narration.write(events) }
    var json = JSONWriter()
    for event in events {
      if case .answer(.objects(let objects), let request) = event {
        json.begin(objects)
        try await write(objects, with: &json)
        json.end(request)
      } else {
        json.write(event)
      }
      try await writePiece(of: &json)
    }
    if !json.bytes.isEmpty { try await writer.write(json.bytes) }
  }

  private static let objectsAtOnce = 256

  /// Describes and encodes two parts of the list at the same time.
  private func write(_ objects: ListedObjects, with json: inout JSONWriter) async throws(OutputError) {
    let parts = objects.parts(of: Self.objectsAtOnce)
    for first in stride(from: 0, to: parts.count, by: 2) {
      async let later = first + 1 < parts.count ? Self.elements(of: parts[first + 1]) : []
      json.append(elements: Self.elements(of: parts[first]))
      json.append(elements: await later)
      try await writePiece(of: &json)
    }
  }

  private static func elements(of objects: ListedObjects) -> [UInt8] {
    var json = JSONWriter()
    for object in objects { json.write(element: object) }
    return json.bytes
  }

  /// Writes the pending bytes if there are many, so that several large lines or objects are not in memory at the same
  /// time.
  private func writePiece(of json: inout JSONWriter) async throws(OutputError) {
    guard json.bytes.count >= Self.pieceLength else { return }
    // The last byte remains, because it determines whether a comma follows.
    let last = json.bytes.removeLast()
    let piece = json.bytes
    json.bytes = [last]
    try await writer.write(piece)
  }

  /// Writes the lines about texts and movements that are not finished yet.
  package func finish() async throws(OutputError) { try await narration?.finish() }

  fileprivate static let pieceLength = 1 << 18
}

private actor Narration {
  private let writer: LineWriter
  private let clock = ContinuousClock()
  private let began: ContinuousClock.Instant
  private var narrator = BoardNarrator()
  private var isTimerSet = false

  init(_ writer: LineWriter) {
    self.writer = writer
    began = clock.now
  }

  private var now: Duration { clock.now - began }

  func write(_ events: [SharedBoard.Output]) async throws(OutputError) {
    var bytes: [UInt8] = []
    for event in events {
      Self.append(narrator.lines(for: event, now: now), to: &bytes)
      guard bytes.count >= LineSink.pieceLength else { continue }
      let piece = bytes
      bytes = []
      try await writer.write(piece)
    }
    setTimer()
    if !bytes.isEmpty { try await writer.write(bytes) }
  }

  func finish() async throws(OutputError) { try await write(lines: narrator.allLines()) }

  private func write(lines: [String]) async throws(OutputError) {
    guard !lines.isEmpty else { return }
    var bytes: [UInt8] = []
    Self.append(lines, to: &bytes)
    try await writer.write(bytes)
  }

  private static func append(_ lines: [String], to bytes: inout [UInt8]) {
    for line in lines {
      bytes.append(contentsOf: line.utf8)
      bytes.append(UInt8(ascii: "\n"))
    }
  }

  private func setTimer() {
    guard let due = narrator.nextDue, !isTimerSet else { return }
    isTimerSet = true
    // No code waits for this task. The task ends after its sleep, and the next call of `write` reports an error of the
    // output.
    Task {
      try? await clock.sleep(until: began + due, tolerance: .zero)
      isTimerSet = false
      try? await write(lines: narrator.dueLines(now: now))
      setTimer()
    }
  }
}

extension EventText {
  /// Returns the line for an event; nil if the event is only for programs. Unsafe characters are removed from names of
  /// other peers, and escaped in all other text.
  package static func line(_ event: SharedBoard.Output) -> String? {
    switch event {
    case .change(let change, let details): line(change, details)
    case .news(let news): line(news)
    case .answer(let answer, _): line(answer)
    }
  }

  private static func line(_ change: SharedBoard.Change, _ it: SharedBoard.ChangeDetails) -> String? {
    switch change {
    case .added where it.isHidden, .changed where it.isHidden, .removed where it.isHidden: return nil
    case .added: return it.object.map { "+ \(whole($0))" }
    case .changed: return it.object.map { "~ \(self.change(of: $0, $0.changed))" }
    case .removed(let id, _): return "- \(id) deleted"
    case .selected(let id, _): return it.member == nil ? "\(id) is free" : "\(person(it)) selected \(id)"
    case .chat(let line, _): return chat(line)
    case .settings(let settings): return "~ board: \(self.settings(settings)) (\(list(it.keys ?? [])))"
    case .personalSetting(let setting): return settingLine(setting, name: it.name ?? UntrustedText(""))
    case .joined: return "\(person(it)) joined\(route(it.route?.member.description, it.route?.name))"
    case .left: return it.departure.flatMap { leftLine($0, of: person(it)) }
    case .message(let bytes, _, _):
      return "\(person(it)) sent \(words(of: bytes)?.quoted(limit: wordsLimit) ?? count(bytes.count, "byte"))"
    case .caughtUp:
      let name = shortName(it.name ?? UntrustedText(""), it.member?.description ?? "")
      return "up to date with \(name): " + count(it.count ?? 0, "object")
    case .saving(let state): return saveLine(state)
    // These changes have no lines.
    case .game, .preview, .photo, .presence, .resource, .missed: return nil
    }
  }

  private static func person(_ it: SharedBoard.ChangeDetails) -> String {
    person(it.name ?? UntrustedText(""), it.member?.description ?? "")
  }

  package static func line(_ news: SharedBoard.News, isAnswer: Bool = false) -> String? {
    switch news {
    case .ready(let ready): readyLines(ready)
    case .peerFound(let board): "nearby: \(foundLine(board))"
    case .peerUpdated(let board): "nearby, changed: \(foundLine(board))"
    case .peerLost(let board): "no longer nearby: \(person(board.name, board.peer))"
    case .peerState(let change): stateLine(change)
    case .joining(let joining): joiningLine(joining)
    case .invitation(let invitation): invitationLine(invitation)
    case .removed(let removed): removedLine(removed)
    case .admission(let admission): admissionLine(admission)
    case .carried(let carried):
      "the relay \(person(carried.name, carried.relay)) keeps the board open when you leave"
        + (carried.link.isEmpty ? "" : "; link: \(carried.link)")
    case .selectionLost(let id, let winner, let name):
      "\(person(name ?? UntrustedText(""), winner.description)) selected \(id)"
    case .profile(let profile): "\(isAnswer ? "" : "now called ")\(profileLine(profile))"
    case .role(let role): roleLine(role)
    case .invited(let invited): invitedLine(invited)
    case .web(let web): webLine(web)
    case .resourceOffered(let offer):
      "\(offerLine(offer))\n  accept \(UntrustedText(offer.transfer).escaped(limit: 64))   or   decline "
        + UntrustedText(offer.transfer).escaped(limit: 64)
    case .resourceStarted(let start):
      "\(start.direction == .incoming ? "receiving" : "sending") "
        + "\(resource(start.name)), \(start.size) bytes, transfer " + UntrustedText(start.transfer).escaped()
    case .resourceFinished(let end): resourceLine(end)
    case .streamOpened(let stream): "stream \(stream.name.quoted(limit: 80)) is open"
    case .streamClosed(let stream):
      "stream \(stream.name.quoted(limit: 80)) ended after \(stream.size) bytes"
        + (stream.outcome == .delivered ? "" : ": \(stream.message?.escaped() ?? "")")
    case .resourceProgress, .streamData: nil
    case .note(let remark) where remark.code == SharedBoard.News.Remark.savedAgain,
      .warning(let remark) where remark.code == SharedBoard.News.Remark.notSaved:
      // No line is needed, because the save state changes at the same time and has its own line.
      nil
    case .warning(let remark) where remark.code == SharedBoard.News.Remark.noUser:
      // The program exits with this message.
      nil
    case .note(let remark) where remark.code == SharedBoard.News.Remark.announced:
      UntrustedText(remark.message).escaped()
    case .note(let remark): "- \(UntrustedText(remark.message).escaped())\(certificateLines(remark.fingerprint))"
    case .warning(let remark): "! \(UntrustedText(remark.message).escaped())"
    }
  }

  private static func line(_ answer: SharedBoard.Answer) -> String? {
    switch answer {
    case .object(let object): detailed(object)
    case .objects(let objects): lines(count(objects.count, "object"), objects.map { object($0) })
    case .found(let objects, nil, _): lines("\(count(objects.count, "object")) there", objects.map { object($0) })
    case .found(let objects, let chat?, let members):
      lines(
        "\(count(objects.count + chat.count + (members?.count ?? 0), "place")) with these words",
        objects.map { object($0) } + chat.map { "chat: \(self.chat($0))" }
          + (members ?? []).map { "member: \(person($0.name, $0.peer))" }
      )
    case .chat(let lines): self.lines(count(lines.count, "line"), lines.map(chat))
    case .settings(let settings): self.settings(settings)
    case .digest(let digest, let objects): "digest \(UntrustedText(digest).escaped()), \(count(objects, "object"))"
    case .checkpoints(let list):
      lines(
        count(list.count, "checkpoint"),
        list.map { "\(UntrustedText($0.name).quoted(limit: 256)), \(at($0.time))" }
      )
    case .diff(let from, let to, let changes): diffLines(from, to, changes)
    case .peers(let peers, let count): peersLine(peers, connected: count)
    case .saving(let state): saveLine(state)
    case .news(let news): line(news, isAnswer: true)
    // The text of the help comes from this program, so it needs no escaping.
    case .help(let text): text
    case .done(let verb, let outcome): doneLine(verb, outcome)
    case .error(let failure):
      "! \(failure.line.map { "line \($0): " } ?? "")\(UntrustedText(failure.message).escaped())"
    }
  }

  /// Returns the message as text. Returns nil if the message is long, is not UTF-8, or contains control characters.
  /// Users cannot read such a message, and each control character takes six bytes in JSON.
  static func words(of message: [UInt8]) -> UntrustedText? {
    guard message.count <= 1 << 20,
      message.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || (9...10).contains($0) || $0 == 13 })
    else { return nil }
    return String(validating: message, as: UTF8.self).map { UntrustedText($0) }
  }

  static func at(_ milliseconds: UInt64) -> String { Timestamp.text(milliseconds: milliseconds) }
}

extension BoardFile.Content {
  package func lines(json: Bool) -> String {
    events.map { event in
      json ? String(decoding: EventLine.json(event), as: UTF8.self) : EventText.line(event).map { $0 + "\n" } ?? ""
    }.joined()
  }
}

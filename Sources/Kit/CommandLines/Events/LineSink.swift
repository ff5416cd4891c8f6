import PeerCore
import WhiteboardKit

/// A sink that writes events as lines of JSON or of text.
package struct LineSink: EventSink {
  private let writer: LineWriter
  /// The writer of text; nil for JSON.
  private let narration: Narration?

  package init(_ writer: LineWriter, isJSON: Bool) {
    self.writer = writer
    narration = isJSON ? nil : Narration(writer)
  }

  /// Writes the events, and waits until the writer has room; throws if the output cannot be written to.
  ///
  /// The text form leaves out the events that are only for programs. It has one line for a text that another member
  /// types, and for a movement, when they are finished.
  package func write(_ events: [BoardEvent]) async throws(OutputError) {
    if let narration { return try await narration.write(events) }
    var json = JSONWriter()
    for event in events {
      if case .objects(let list) = event {
        json.begin(list)
        for object in list.objects {
          json.write(element: object)
          try await writePiece(of: &json)
        }
        json.end(list)
      } else {
        json.write(event)
      }
      try await writePiece(of: &json)
    }
    if !json.bytes.isEmpty { try await writer.write(json.bytes) }
  }

  /// Writes the pending bytes if there are many, so that several large lines or objects are not in memory at the same time.
  private func writePiece(of json: inout JSONWriter) async throws(OutputError) {
    guard json.bytes.count >= Self.pieceLength else { return }
    // The last byte remains, because it determines whether a comma follows.
    let last = json.bytes.removeLast()
    let piece = json.bytes
    json.bytes = [last]
    try await writer.write(piece)
  }

  /// Writes the lines that wait for the end of a text or a movement, because the board is closed; throws if the output
  /// cannot be written to.
  package func finish() async throws(OutputError) { try await narration?.finish() }

  /// The number of bytes after which lines are written, before more events are encoded.
  fileprivate static let pieceLength = 1 << 18
}

/// The owner of the narrator of one board, which writes its lines.
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

  func write(_ events: [BoardEvent]) async throws(OutputError) {
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

  /// Writes the pending lines when they are due.
  private func setTimer() {
    guard let due = narrator.nextDue, !isTimerSet else { return }
    isTimerSet = true
    // No code waits for this task. It ends after its sleep, and the next call of `write` reports an error of the output.
    Task {
      try? await clock.sleep(until: began + due, tolerance: .zero)
      isTimerSet = false
      try? await write(lines: narrator.dueLines(now: now))
      setTimer()
    }
  }
}

extension EventText {
  /// Returns the line of an event; nil if the event is only for programs.
  ///
  /// Names of other peers are shown without their unsafe characters, and all other text with escapes.
  package static func line(_ event: BoardEvent) -> String? {
    switch event {
    case .ready(let ready): readyLines(ready)
    case .peerFound(let board): "nearby: \(foundLine(board))"
    case .peerUpdated(let board): "nearby, changed: \(foundLine(board))"
    case .peerLost(let board): "no longer nearby: \(person(board.name, board.peer))"
    case .peerState(let change): stateLine(change)
    case .joining(let joining): joiningLine(joining)
    case .caughtUp(let member): caughtUpLine(member)
    case .invitation(let invitation): invitationLine(invitation)
    case .joined(let joined): "\(person(joined.name, joined.peer)) joined\(route(joined.through, joined.throughName))"
    case .left(let left):
      // If the member removed the local peer, another line reports that.
      left.removedUs == true ? nil : leftLine(left)
    case .removed(let removed): removedLine(removed)
    case .admission(let admission): admissionLine(admission)
    case .carried(let carried):
      "the relay \(person(carried.name, carried.relay)) keeps the board open when you leave"
        + (carried.link.isEmpty ? "" : "; link: \(carried.link)")
    case .profile(let profile): profileLine(profile)
    case .role(let role): roleLine(role)
    case .invited(let invited): invitedLine(invited)
    case .web(let web): webLine(web)
    case .peers(let peers): peersLine(peers)
    case .objectAdded(let event) where event.isHidden, .objectChanged(let event) where event.isHidden: nil
    case .objectRemoved(let event) where event.isHidden: nil
    case .objectAdded(let added): "+ \(whole(added.object))"
    case .objectChanged(let change): "~ \(Self.change(of: change.object, change.object.changed))"
    case .objectRemoved(let removed): "- \(removed.id) deleted"
    case .selected(let selected):
      if let peer = selected.peer {
        "\(person(selected.name ?? UntrustedText(""), peer.description)) selected \(selected.id)"
      } else {
        "\(selected.id) is free"
      }
    case .chat(let line): chat(line)
    case .settingChanged(let change): "~ board: \(settings(change.settings)) (\(list(change.changed)))"
    case .data(let data):
      if let text = data.text {
        "\(person(data.name, data.from)) sent \(text.quoted(limit: wordsLimit))"
      } else {
        "\(person(data.name, data.from)) sent \(count(data.size, "byte"))"
      }
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
    case .object(let shown): detailed(shown.object)
    case .objects(let list): lines(count(list.count, "object"), list.objects.map { object($0) })
    case .found(let list):
      lines(
        list.chat == nil ? "\(count(list.count, "object")) there" : "\(count(list.count, "place")) with these words",
        list.objects.map { object($0) } + (list.chat ?? []).map { "chat: \(chat($0))" }
          + (list.members ?? []).map { "member: \(person($0.name, $0.peer))" }
      )
    case .chatHistory(let history): lines(count(history.count, "line"), history.lines.map(chat))
    case .settings(let answer): settings(answer.settings)
    case .digest(let digest): "digest \(UntrustedText(digest.digest).escaped()), \(count(digest.objects, "object"))"
    case .checkpoints(let list):
      lines(
        count(list.count, "checkpoint"),
        list.checkpoints.map {
          "\(UntrustedText($0.name).quoted(limit: 256)), \(UntrustedText($0.at).escaped(limit: 32))"
        }
      )
    case .diff(let diff): diffLines(diff)
    case .saveState(let saving): saveLine(saving.shown)
    case .done(let done): doneLine(done)
    case .error(let failure):
      "! \(failure.line.map { "line \($0): " } ?? "")\(UntrustedText(failure.message).escaped())"
    case .note(let remark) where remark.code == "help":
      // The text of the help comes from this program, so it needs no escaping.
      remark.message
    case .note(let remark) where remark.code == BoardEvent.Remark.savedAgain,
      .warning(let remark) where remark.code == BoardEvent.Remark.notSaved:
      // No line is needed, because the save state changes at the same time and has its own line.
      nil
    case .note(let remark) where remark.code == BoardEvent.Remark.announced: UntrustedText(remark.message).escaped()
    case .note(let remark): "- \(UntrustedText(remark.message).escaped())"
    case .warning(let remark): "! \(UntrustedText(remark.message).escaped())"
    }
  }
}

extension BoardFile.Content {
  package func lines(json: Bool) -> String {
    events.map { event in
      json ? String(decoding: EventLine.json(event), as: UTF8.self) : EventText.line(event).map { $0 + "\n" } ?? ""
    }.joined()
  }
}

import Foundation
import PeerCore
import Testing

@testable import CommandLines
@testable import Whiteboard
@testable import WhiteboardKit

/// Checks that no event can bring text of another peer to a terminal unchanged.
@Suite struct HostileEventTests {
  private static let hostile =
    "\u{1B}]0;x\u{7}\u{9B}2J\n\u{202E}a\u{200B}b\u{E0041}" + String(repeating: "\u{301}", count: 100)

  @Test("no text line of an event contains anything that controls a terminal or hides text") func lines() {
    let plain = Self.events("x").map { EventText.line($0)?.split(separator: "\n").count }
    let events = Self.events(Self.hostile)
    #expect(plain.count { $0 != nil } > 35)
    for (event, count) in zip(events, plain) {
      let line = EventText.line(event)
      #expect(line?.split(separator: "\n").count == count, "\(Self.name(event))")
      var marks = 0
      for scalar in (line ?? "").unicodeScalars where scalar != "\n" {
        marks = scalar.isMark ? marks + 1 : 0
        #expect(scalar.isSafe && marks <= 2, "\(Self.name(event))")
      }
    }
  }

  @Test("no line of the narrator does either") func narration() {
    var narrator = BoardNarrator()
    let events = Self.events(Self.hostile)
    for line in events.flatMap({ narrator.lines(for: $0, now: .zero) }) + narrator.allLines() {
      var marks = 0
      for scalar in line.unicodeScalars where scalar != "\n" {
        marks = scalar.isMark ? marks + 1 : 0
        #expect(scalar.isSafe && marks <= 2)
      }
    }
  }

  @Test("a JSON line contains the text unchanged, with escapes") func json() throws {
    for event in Self.events(Self.hostile) {
      let line = EventLine.json(event)
      let isSafe = String(decoding: line, as: UTF8.self).unicodeScalars.dropLast().allSatisfy { $0.isSafe }
      #expect(isSafe, "\(Self.name(event))")
      _ = try JSONSerialization.jsonObject(with: Data(line))
    }
    let line = EventLine.json(.joined(.init(peer: "p", name: UntrustedText(Self.hostile))))
    struct Read: Decodable { let name: String }
    #expect(try JSONDecoder().decode(Read.self, from: Data(line)).name == Self.hostile)
  }

  @Test("the list of hostile events has every documented event") func isComplete() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../../../Sources/Kit/CommandLines/CommandLines.docc/JSONLines.md"
    )
    var documented: Set<String> = []
    var isTable = false
    let text = try String(contentsOf: file, encoding: .utf8)
    for row in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let cells = row.split(separator: "|")
      guard row.hasPrefix("|"), let first = cells.first else {
        isTable = false
        continue
      }
      if first == " `event` " { isTable = true }
      guard isTable else { continue }
      let words = first.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      documented.formUnion(words.filter { $0.offset % 2 == 1 }.map { String($0.element) })
    }
    documented.remove("event")
    #expect(documented == Set(Self.events("x").map { Self.name($0) }))
  }

  /// Returns the name of an event in its line of JSON.
  private static func name(_ event: BoardEvent) -> String {
    let line = String(decoding: EventLine.json(event), as: UTF8.self)
    return String(line.dropFirst(#"{"v":1,"event":""#.count).prefix { $0 != "\"" })
  }

  /// The fields of payloads that are plain strings, because this program wrote them.
  ///
  /// A field that contains text of another peer must be an `UntrustedText` instead.
  private static let ownFields: [String: Set<String>] = [
    "Admission": ["admit", "code", "link"], "Admitter": ["peer"], "Carried": ["relay", "link"], "CaughtUp": ["peer"],
    "Chat": ["id", "peer", "at", "about"], "CheckpointDescription": ["name", "at"], "Diff": ["from", "to"],
    "Digest": ["digest"],
    "Done": ["verb", "id", "ids", "transfers", "file", "step"], "CommandError": ["message", "verb"],
    "DeliveryReport": ["delivered"],
    "FoundBoard": ["peer", "board", "addresses", "role", "admit"],
    "Invitation": ["id", "peer", "words", "deadline", "warning"],
    "Invited": ["code", "links", "fingerprint", "role", "link", "expires"], "Joined": ["peer", "through"],
    "Joining": ["address", "peer"], "Left": ["peer", "reason"], "LostBoard": ["peer", "board"],
    // The texts of other peers in an object are escaped where lines are written.
    "ObjectSnapshot": ["text", "link", "game"], "ReportedObject": ["path", "changed"], "Votes": ["reaction"],
    "PassedStep": ["step", "reason"],
    "PeerDescription": ["peer", "address", "through", "role", "admittedBy"], "PeerState": ["peer", "address"],
    "Profile": ["peer"], "Ready": ["peer", "addresses", "board", "admit", "code", "link"], "Received": ["from"],
    "Remark": ["code", "message", "peer", "invitation", "deadline"], "Removed": ["peer", "message"],
    "ResourceFinished": ["transfer", "peer", "path", "sha256"], "ResourceOffered": ["transfer", "peer", "deadline"],
    "ResourceProgress": ["transfer", "peer"], "ResourceStarted": ["transfer", "peer"], "Role": ["peer", "role"],
    "SaveProblem": ["message", "copy"], "Saving": ["state", "cause", "message", "copy"],
    "SettingChanged": ["changed"], "SettingsDescription": ["background"],
    "StreamClosed": ["stream", "peer"], "StreamData": ["stream", "peer"], "StreamOpened": ["stream", "peer"],
    "SyncedMember": ["peer"], "Undelivered": ["peer", "reason"], "Web": ["origins", "fingerprint"],
  ]

  @Test("text of other peers in events is `UntrustedText`") func fields() {
    var seen = 0
    func check(_ value: Any) {
      // The values of a game are text of the board; lines about games are `UntrustedText`.
      if value is JSONTree || value is UntrustedText { return }
      let name = String(describing: type(of: value))
      for child in Mirror(reflecting: value).children {
        let type = type(of: child.value)
        if type == String.self || type == String?.self || type == [String].self || type == [String]?.self {
          seen += 1
          let isOwn = Self.ownFields[name]?.contains(child.label ?? "") ?? false
          #expect(isOwn, "\(name).\(child.label ?? "") is a String")
        } else {
          check(child.value)
        }
      }
    }
    for event in Self.events("x") { for payload in Mirror(reflecting: event).children { check(payload.value) } }
    #expect(seen > 100)
  }

  // MARK: - The events

  /// Returns an event of each kind whose fields all contain a text; a new kind does not compile until it is added here.
  private static func events(_ text: String) -> [BoardEvent] {
    let events = otherEvents(text) + objects(text)
    for event in events {
      switch event {
      case .ready, .peerFound, .peerUpdated, .peerLost, .peerState, .joining, .caughtUp, .invitation, .joined, .left,
        .removed, .admission, .carried, .objectAdded, .objectChanged, .objectRemoved, .selected, .chat, .settingChanged,
        .profile, .invited, .web, .role, .data, .resourceOffered, .resourceStarted, .resourceProgress,
        .resourceFinished, .streamOpened, .streamData, .streamClosed, .digest, .objects, .object, .found, .chatHistory,
        .settings, .saveState, .checkpoints, .diff, .peers, .done, .error, .note, .warning:
        break
      }
    }
    return events
  }

  /// Returns the events that describe no objects.
  static func otherEvents(_ text: String) -> [BoardEvent] {
    let outcomes: [BoardEvent] = [
      .saveState(.init(.notSaved(SaveProblem(.init(.full, text), copy: text)))),
      .done(.init(verb: .undo, step: text, skipped: 2, skippedSteps: [.init(step: text, reason: "overwritten")])),
      .done(.init(verb: .export, file: text, objects: 1)),
      .done(.init(verb: .wait, synced: [.init(peer: text, name: UntrustedText(text))])),
      .error(
        CommandError(
          .internal,
          text,
          delivery: DeliveryReport(
            delivered: [text],
            undelivered: [.init(peer: text, name: UntrustedText(text), reason: text)]
          )
        )
      ), .note(.init(code: text, message: text)), .warning(.init(code: text, message: text)),
    ]
    return people(text) + boards(text) + answers(text) + transfers(text) + outcomes
  }

  private static func people(_ text: String) -> [BoardEvent] {
    let theirs = UntrustedText(text)
    let board = BoardEvent.FoundBoard(
      peer: text,
      name: theirs,
      board: text,
      boardName: theirs,
      addresses: [text],
      participants: 3,
      role: text
    )
    var joined = BoardEvent.Joined(peer: Sample.member(1).description, name: theirs)
    joined.through = Sample.member(2).description
    joined.throughName = theirs
    let peer = BoardEvent.PeerDescription(
      peer: text,
      name: theirs,
      state: .connected,
      address: text,
      through: text,
      throughName: theirs,
      admittedBy: text,
      admittedByName: theirs
    )
    let ready = BoardEvent.Ready(
      peer: text,
      name: theirs,
      addresses: [text],
      port: 1,
      board: text,
      boardName: theirs,
      admit: "code",
      code: text,
      link: text,
      announced: true
    )
    var closed = BoardEvent.Admission(ready)
    closed.admitters = [.init(peer: text, name: theirs), .init(peer: text, name: theirs)]
    let invitation = BoardEvent.Invitation(
      id: text,
      peer: text,
      name: theirs,
      words: text,
      direction: .incoming,
      mustAnswer: true,
      deadline: text,
      warning: text
    )
    let removal = Removal(by: text, name: theirs, reason: theirs)
    let removed = BoardEvent.Removed(
      peer: text,
      name: theirs,
      reason: theirs,
      message: removal.sentence,
      readOnly: true,
      canContinue: true
    )
    let left = BoardEvent.Left(
      peer: Sample.member(1).description,
      name: theirs,
      reason: text,
      message: theirs,
      undelivered: 3
    )
    let steps: [BoardEvent.Joining.Step] = [.searching, .awaitingAnswer, .awaitingAcceptance]
    return [
      .ready(ready), .peerFound(board), .peerUpdated(board), .peerLost(.init(peer: text, name: theirs, board: text)),
      .peerState(.init(peer: text, name: theirs, state: .suspect)),
      .peerState(.init(name: theirs, state: .connecting, address: text)),
      .caughtUp(.init(peer: Sample.member(1).description, name: theirs, objects: 1)), .invitation(invitation),
      .joined(joined), .left(left),
      .removed(removed), .admission(BoardEvent.Admission(ready)), .admission(closed),
      .carried(.init(relay: text, name: theirs, link: "whiteboard:x")),
      .profile(.init(peer: text, name: theirs, icon: theirs)),
      .role(.init(peer: text, name: theirs, role: "viewer", isOwn: false)),
      .invited(.init(code: text, role: "viewer", link: text, expires: text)),
      .invited(.init(code: nil, role: nil, link: text, links: [text], fingerprint: text)),
      .web(.init(isOn: true, origins: [text], fingerprint: text, isSelfMade: true)),
      .peers(.init(count: 1, peers: [peer])),
    ] + steps.map { .joining(.init(step: $0, address: text, peer: text, name: theirs, boardName: theirs)) }
  }

  private static func object(_ text: String, since old: String? = nil) -> ReportedObject {
    func snapshot(_ text: String) -> ObjectSnapshot {
      Sample.object(.drawing, text: text, form: .arrow, ink: [], isFull: true, link: text, reaction: text)
    }
    return ReportedObject(
      snapshot(text),
      game: GameDescription(view: .object(["game": .string(text)]), lines: [UntrustedText(text), UntrustedText(text)]),
      path: text,
      since: old.map(snapshot),
      changed: old == nil ? [] : [text]
    )
  }

  private static func chat(_ text: String) -> BoardEvent.Chat {
    BoardEvent.Chat(
      id: Sample.id(7).description,
      peer: Sample.member(1).description,
      name: UntrustedText(text),
      icon: UntrustedText(text),
      text: UntrustedText(text),
      at: Timestamp.text(milliseconds: 1_795_000_000_123)
    )
  }

  private static func settings(_ text: String) -> BoardEvent.SettingsDescription {
    BoardEvent.SettingsDescription(
      title: UntrustedText(text),
      background: "#010203ff",
      grid: 0.5,
      language: UntrustedText(text)
    )
  }

  private static func objects(_ text: String) -> [BoardEvent] {
    [
      .objectAdded(.init(object(text), by: Sample.member(1))),
      .objectChanged(.init(object(text, since: ""), by: Sample.member(1))), .object(.init(object: object(text))),
      .objects(.init(count: 1, objects: [object(text)])),
    ]
  }

  private static func boards(_ text: String) -> [BoardEvent] {
    [
      .objectRemoved(.init(id: Sample.id(7), by: Sample.member(1))),
      .selected(.init(id: Sample.id(7), peer: Sample.member(1), name: UntrustedText(text))),
      .chat(chat(text)), .settingChanged(.init(changed: [text], settings: settings(text))),
    ]
  }

  private static func answers(_ text: String) -> [BoardEvent] {
    let change = JSONTree.object([
      "change": .string("changed"), "id": .string(text), "type": .string(text), "after": .object([text: .string(text)]),
    ])
    return [
      .found(
        .init(
          count: 3,
          objects: [],
          chat: [chat(text)],
          members: [.init(peer: text, name: UntrustedText(text))]
        )
      ), .chatHistory(.init(count: 1, lines: [chat(text)])),
      .settings(.init(settings: settings(text))), .digest(.init(digest: text, objects: 1)),
      .checkpoints(.init(count: 1, checkpoints: [.init(name: text, at: text)])),
      .diff(.init(from: text, to: text, count: 1, changes: [change])),
    ]
  }

  private static func transfers(_ text: String) -> [BoardEvent] {
    let theirs = UntrustedText(text)
    let received = BoardEvent.Received(
      from: Sample.member(1).description,
      name: theirs,
      reliable: true,
      size: text.utf8.count,
      base64: Base64Text(Array(text.utf8)),
      text: text.utf8.allSatisfy { $0 >= 0x20 } ? theirs : nil
    )
    let offer = BoardEvent.ResourceOffered(
      transfer: text,
      peer: text,
      sender: theirs,
      name: theirs,
      size: 1,
      deadline: text
    )
    let start = BoardEvent.ResourceStarted(transfer: text, direction: .incoming, peer: text, name: theirs, size: 1)
    let progress = BoardEvent.ResourceProgress(transfer: text, direction: .incoming, peer: text, bytes: 1, size: 2)
    let finish = BoardEvent.ResourceFinished(
      transfer: text,
      direction: .incoming,
      peer: text,
      name: theirs,
      outcome: .failed,
      path: text,
      message: theirs
    )
    let close = BoardEvent.StreamClosed(
      stream: text,
      direction: .incoming,
      peer: text,
      name: theirs,
      outcome: .failed,
      size: 1,
      message: theirs
    )
    return [
      .data(received), .resourceOffered(offer), .resourceStarted(start), .resourceProgress(progress),
      .resourceFinished(finish), .streamOpened(.init(stream: text, direction: .incoming, peer: text, name: theirs)),
      .streamData(.init(stream: text, peer: text, offset: 0, base64: Base64Text([]))), .streamClosed(close),
    ]
  }
}

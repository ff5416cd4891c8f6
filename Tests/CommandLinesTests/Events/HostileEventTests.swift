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

  @Test("no line of the narrator contains anything that controls a terminal or hides text") func narration() {
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
    let line = EventLine.json(Sample.joined(Sample.member(1), UntrustedText(Self.hostile)))
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
  private static func name(_ event: SharedBoard.Output) -> String {
    let line = String(decoding: EventLine.json(event), as: UTF8.self)
    return String(line.dropFirst(#"{"v":1,"event":""#.count).prefix { $0 != "\"" })
  }

  /// The fields of payloads that may be plain strings, because this program wrote their contents.
  ///
  /// A field that contains text of another peer must be an `UntrustedText` instead.
  private static let ownFields: [String: Set<String>] = [
    "(String, objects: Int)": [".0"], "(name: String, time: UInt64)": ["name"],
    "(from: String, to: Optional<String>, Array<JSONTree>)": ["from", "to"],
    "Admitter": ["peer"], "Carried": ["relay", "link"],
    "ChangeDetails": ["keys"], "CommandOutcome": ["transfers", "file", "step", "clipboard"], "Departure": ["reason"],
    "CommandError": ["message", "verb"],
    "DeliveryReport": ["delivered"],
    "FoundBoard": ["peer", "board", "addresses", "role", "admit"],
    "Invitation": ["id", "peer", "words", "deadline", "warning"],
    "Invited": ["code", "links", "fingerprint", "role", "link", "expires"],
    "Joining": ["address", "peer"],
    // The texts of other peers on a board are escaped where lines are written.
    "BoardSettings": ["title", "language"], "ChatLine": ["name", "icon", "text"],
    "ObjectSnapshot": ["text", "link", "game"], "ReportedObject": ["path", "changed"], "Votes": ["reaction"],
    "SkippedStep": ["label"],
    // The user's own programs wrote these settings.
    "PersonalSettingChange": ["key", "old", "new"],
    "PeerDescription": ["peer", "address", "through", "role", "admittedBy"], "PeerState": ["peer", "address"],
    "Profile": ["peer"], "Ready": ["peer", "addresses", "board", "admit", "code", "link"],
    "Remark": ["code", "message", "peer", "invitation", "deadline", "links", "fingerprint"],
    "Removed": ["peer", "message"],
    "ResourceFinished": ["transfer", "peer", "path", "sha256"], "ResourceOffered": ["transfer", "peer", "deadline"],
    "ResourceProgress": ["transfer", "peer"], "ResourceStarted": ["transfer", "peer"], "Role": ["peer", "role"],
    "SaveProblem": ["message", "copy"],
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
  private static func events(_ text: String) -> [SharedBoard.Output] {
    let events = otherEvents(text) + objects(text)
    for event in events {
      switch event {
      case .change(let change, _):
        switch change {
        case .added, .changed, .removed, .selected, .chat, .settings, .joined, .left, .message, .caughtUp, .saving,
          .game, .preview, .photo, .presence, .resource, .personalSetting, .missed:
          break
        }
      case .news(let news), .answer(.news(let news), _):
        switch news {
        case .ready, .peerFound, .peerUpdated, .peerLost, .peerState, .joining, .invitation, .removed, .admission,
          .carried, .selectionLost, .profile, .invited, .web, .role, .resourceOffered, .resourceStarted,
          .resourceProgress, .resourceFinished, .streamOpened, .streamData, .streamClosed, .note, .warning:
          break
        }
      case .answer(let answer, _):
        switch answer {
        case .digest, .objects, .object, .found, .chat, .settings, .checkpoints, .diff, .peers, .saving, .news, .help,
          .done, .error:
          break
        }
      }
    }
    return events
  }

  /// Returns the events that describe no objects.
  static func otherEvents(_ text: String) -> [SharedBoard.Output] {
    let skipped = [SkippedStep(label: text, reason: .overwritten)]
    let synced = SyncReport(synced: [.init(peer: text, name: UntrustedText(text))])
    let outcomes: [SharedBoard.Output] = [
      .change(.saving(.notSaved(SaveProblem(.init(.full, text), copy: text))), .init()),
      .answer(.done(.undo, CommandOutcome(step: text, skipped: 2, skippedSteps: skipped))),
      .answer(.done(.export, CommandOutcome(file: text, count: 1))),
      .answer(.done(.wait, CommandOutcome(sync: synced))),
      .answer(
        .error(
          CommandError(
            .internal,
            text,
            delivery: DeliveryReport(
              delivered: [text],
              undelivered: [.init(peer: text, name: UntrustedText(text), reason: text)]
            )
          )
        )
      ), .news(.note(.init(code: text, message: text, links: [text], fingerprint: text))),
      .news(.warning(.init(code: text, message: text))),
    ]
    return people(text) + boards(text) + answers(text) + transfers(text) + outcomes
  }

  private static func people(_ text: String) -> [SharedBoard.Output] {
    let theirs = UntrustedText(text)
    let board = SharedBoard.News.FoundBoard(
      peer: text,
      name: theirs,
      board: text,
      boardName: theirs,
      addresses: [text],
      participants: 3,
      role: text
    )
    let peer = SharedBoard.PeerDescription(
      peer: text,
      name: theirs,
      state: .connected,
      address: text,
      through: text,
      throughName: theirs,
      admittedBy: text,
      admittedByName: theirs
    )
    let ready = SharedBoard.News.Ready(
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
    var closed = ready
    closed.admitters = [.init(peer: text, name: theirs), .init(peer: text, name: theirs)]
    let invitation = SharedBoard.News.Invitation(
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
    let removed = SharedBoard.News.Removed(
      peer: text,
      name: theirs,
      reason: theirs,
      message: removal.sentence,
      readOnly: true,
      canContinue: true
    )
    let departure = SharedBoard.ChangeDetails.Departure(reason: text, message: theirs, undelivered: 3)
    let (ben, cy) = (Sample.member(1), Sample.member(2))
    let member = SharedBoard.Member(id: .init(ben), name: "")
    let steps: [SharedBoard.News.Joining.Step] = [.searching, .awaitingAnswer, .awaitingAcceptance]
    let news: [[SharedBoard.News]] = [
      [
        .ready(ready), .peerFound(board), .peerUpdated(board), .peerLost(.init(peer: text, name: theirs, board: text)),
        .peerState(.init(peer: text, name: theirs, state: .suspect)),
        .peerState(.init(name: theirs, state: .connecting, address: text)),
      ], [.invitation(invitation)],
      [
        .removed(removed), .admission(ready), .admission(closed),
        .carried(.init(relay: text, name: theirs, link: "whiteboard:x")),
        .profile(.init(peer: text, name: theirs, icon: theirs)),
        .role(.init(peer: text, name: theirs, role: "viewer", isOwn: false)),
        .invited(.init(code: text, role: "viewer", link: text, expires: text)),
        .invited(.init(code: nil, role: nil, link: text, links: [text], fingerprint: text)),
        .web(.init(isOn: true, origins: [text], fingerprint: text, isSelfMade: true)),
      ], steps.map { .joining(.init(step: $0, address: text, peer: text, name: theirs, boardName: theirs)) },
    ]
    let output = news.map { $0.map { SharedBoard.Output.news($0) } }
    return output[0] + [.change(.caughtUp, .init(member: ben, name: theirs, count: 1))] + output[1]
      + [
        .change(.joined(member), .init(member: ben, name: theirs, route: (cy, theirs))),
        .change(.left(member), .init(member: ben, name: theirs, departure: departure)),
      ] + output[2] + [.answer(.peers([peer], connected: 1))] + output[3]
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

  private static func objects(_ text: String) -> [SharedBoard.Output] {
    [
      Sample.added(object(text), by: Sample.member(1)), Sample.changed(object(text, since: ""), by: Sample.member(1)),
      .answer(.object(object(text))), .answer(.objects(ListedObjects([object(text)]))),
    ]
  }

  private static func settings(_ text: String) -> BoardSettings {
    BoardSettings(title: text, background: 0x0102_03FF, grid: 0.5, language: text)
  }

  private static func boards(_ text: String) -> [SharedBoard.Output] {
    let member = Sample.member(1)
    return [
      .change(.removed(Sample.id(7), by: .me), .init(member: member)),
      .change(.selected(Sample.id(7), by: .me), .init(member: member, name: UntrustedText(text))),
      Sample.chat(member, name: text, icon: text, text), .change(.settings(settings(text)), .init(keys: [text])),
      .change(
        .personalSetting(.init(key: "name", old: text, new: text, isApplied: true)),
        .init(member: member, name: UntrustedText(text))
      ),
    ]
  }

  private static func answers(_ text: String) -> [SharedBoard.Output] {
    let change = JSONTree.object([
      "change": .string("changed"), "id": .string(text), "type": .string(text), "after": .object([text: .string(text)]),
    ])
    let line = Sample.chatLine(Sample.member(1), name: text, icon: text, text)
    return [
      .answer(.found([], chat: [line], members: [.init(peer: text, name: UntrustedText(text))])),
      .answer(.chat([line])), .answer(.settings(settings(text))), .answer(.digest(text, objects: 1)),
      .answer(.checkpoints([(text, UInt64(1_795_000_000_123))])), .answer(.diff(from: text, to: text, [change])),
    ]
  }

  private static func transfers(_ text: String) -> [SharedBoard.Output] {
    let theirs = UntrustedText(text)
    let ben = SharedBoard.Member(id: .init(Sample.member(1)), name: "")
    let offer = SharedBoard.News.ResourceOffered(
      transfer: text,
      peer: text,
      sender: theirs,
      name: theirs,
      size: 1,
      deadline: text
    )
    let start = SharedBoard.News.ResourceStarted(
      transfer: text,
      direction: .incoming,
      peer: text,
      name: theirs,
      size: 1
    )
    let progress = SharedBoard.News.ResourceProgress(
      transfer: text,
      direction: .incoming,
      peer: text,
      bytes: 1,
      size: 2
    )
    let finish = SharedBoard.News.ResourceFinished(
      transfer: text,
      direction: .incoming,
      peer: text,
      name: theirs,
      outcome: .failed,
      path: text,
      message: theirs
    )
    let close = SharedBoard.News.StreamClosed(
      stream: text,
      direction: .incoming,
      peer: text,
      name: theirs,
      outcome: .failed,
      size: 1,
      message: theirs
    )
    let news: [SharedBoard.News] = [
      .resourceOffered(offer), .resourceStarted(start), .resourceProgress(progress), .resourceFinished(finish),
      .streamOpened(.init(stream: text, direction: .incoming, peer: text, name: theirs)),
      .streamData(.init(stream: text, peer: text, offset: 0, bytes: [])), .streamClosed(close),
    ]
    let details = SharedBoard.ChangeDetails(member: Sample.member(1), name: theirs)
    return [.change(.message(Array(text.utf8), from: ben, mode: .reliable), details)] + news.map { .news($0) }
  }
}

import FoundationEssentials
import PeerCore
import PeerSession
import Testing
import WhiteboardRendering

@testable import CommandLines
@testable import Whiteboard
@testable import WhiteboardKit

@Suite struct EventTextTests {
  private func invitation(_ direction: Direction, mustAnswer: Bool) -> String? {
    EventText.line(
      .news(
        .invitation(
          .init(
            id: "to-1",
            peer: "abcdefghijkl",
            name: "ada",
            words: "one two three",
            direction: direction,
            mustAnswer: mustAnswer
          )
        )
      )
    )
  }

  @Test("a failure in a script has its line number") func lines() {
    let error = CommandError(.noSuchObject, "no", verb: "move").answering(verb: nil, request: nil, line: 3)
    #expect(EventText.line(.answer(.error(error))) == "! line 3: no")
    #expect(
      String(decoding: EventLine.json(.answer(.error(error))), as: UTF8.self)
        == #"{"v":1,"event":"error","code":"no-such-object","line":3,"message":"no","verb":"move"}"# + "\n"
    )
    #expect(WhiteboardError(error) == WhiteboardError(.no, "line 3: move: no"))
  }

  @Test("the reason why a member left is a plain sentence") func departures() {
    let reasons: [DepartureReason] = [
      .left, .shuttingDown, .kicked(reason: ""), .disconnected, .lost, .reset, .restarted, .rerouted, .overrun,
    ]
    for reason in reasons {
      let line = EventText.departure(reason.word, of: "Ada")
      #expect(line.hasPrefix("Ada ") && !line.contains("-") && !line.hasSuffix(": \(reason.word)"), "\(line)")
    }
    #expect(EventText.departure("shutting-down", of: "Ada") == "Ada left: the program there was closed")
    #expect(EventText.departure("protocol-error", "too long", of: "Ada") == #"Ada disconnected: "too long""#)
    #expect(EventText.departure("full", of: "Ada") == "Ada disconnected: full")
  }

  @Test("a personal setting that another program changed is reported with what this program does") func settings() {
    func line(_ key: String, _ old: String?, _ new: String?, isApplied: Bool = true) -> String? {
      EventText.line(
        .change(.personalSetting(.init(key: key, old: old, new: new, isApplied: isApplied)), .init(name: "Guest"))
      )
    }
    #expect(
      line("name", "Ann", "Bo\u{1B}b")
        == #"- In another program, you changed your name to "Bo\u{1b}b" (before: "Ann"). This program uses it too."#
    )
    #expect(
      line("name", nil, "Bob", isApplied: false)
        == #"- In another program, you changed your name to "Bob". This program keeps the name "Guest", "#
        + "which was chosen when it started."
    )
    #expect(line("icon", nil, "👻") == "- In another program, you changed your icon to 👻.")
    #expect(line("icon", "👻", nil) == "- In another program, you removed your icon.")
    #expect(line("hidden", nil, "a b") == "- In another program, you changed the hidden authors: now 2 authors.")
    #expect(line("theme", nil, "dark") == nil, "another program's setting")
  }

  @Test("each command is answered by a line; queries are answered by their results only") func answers() throws {
    let id = try #require(ObjectID("1-abcdefghijklm"))
    let second = try #require(ObjectID("2-abcdefghijklm"))
    for name in CommandName.allCases {
      let isTold = EventText.line(.answer(.done(name, CommandOutcome(id: id)))) == nil
      let asks: Set<CommandName> = [
        .objects, .show, .find, .chat, .settings, .peers, .digest, .checkpoints, .diff, .help, .profile, .invite, .web,
        .save,
      ]
      #expect(isTold == asks.contains(name), "\(name)")
    }
    var done = CommandOutcome(id: id)
    #expect(EventText.line(.answer(.done(.move, done))) == "ok: move 1-abcdefghijklm")
    let many = CommandOutcome(ids: Array(repeating: id, count: 9), hasChanged: true)
    #expect(EventText.line(.answer(.done(.delete, many))) == "ok: delete 9 objects")
    #expect(EventText.line(.answer(.done(.set, CommandOutcome(hasChanged: true)))) == "ok: set")
    let written = CommandOutcome(file: "a\u{1B}.svg", count: 1)
    #expect(EventText.line(.answer(.done(.export, written))) == #"ok: export 1 object to "a\u{1b}.svg""#)
    #expect(
      EventText.line(.answer(.done(.erase, CommandOutcome(ids: [], hasChanged: false))))
        == "ok: there was nothing to erase"
    )
    done.hasChanged = false
    #expect(EventText.line(.answer(.done(.move, done))) == "ok: 1-abcdefghijklm did not change")
    #expect(
      String(decoding: EventLine.json(.answer(.done(.move, done))), as: UTF8.self).contains(
        #""changed":false,"id":"1-abcdefghijklm""#
      )
    )
    done.id = nil
    done.ids = [id, second]
    #expect(EventText.line(.answer(.done(.move, done))) == "ok: 1-abcdefghijklm, 2-abcdefghijklm did not change")
  }

  @Test("undo and redo report the step, and the changes that they skipped") func steps() {
    var done = CommandOutcome(hasChanged: true, step: "move", skipped: 0)
    #expect(EventText.line(.answer(.done(.undo, done))) == "ok: Undone: move.")
    done.skipped = 2
    done.left = ["overwritten": 2]
    #expect(
      EventText.line(.answer(.done(.undo, done)))
        == "ok: Undone: move. 2 changes skipped: others changed the same values later."
    )
    #expect(
      String(decoding: EventLine.json(.answer(.done(.undo, done))), as: UTF8.self)
        == #"{"v":1,"event":"done","changed":true,"left":{"overwritten":2},"skipped":2,"#
        + #""step":"move","verb":"undo"}"# + "\n"
    )
    done.left = ["purged": 1, "played": 1]
    #expect(
      EventText.line(.answer(.done(.undo, done)))
        == "ok: Undone: move. 1 game stays: moves were made in it. 1 change skipped: the object was " + "purged."
    )
  }

  @Test("undo and redo name the steps that they skipped, and why, in everyday words") func skippedSteps() {
    var done = CommandOutcome(hasChanged: true, step: "scale", skipped: 0)
    #expect(EventText.line(.answer(.done(.redo, done))) == "ok: Redone: resize.")
    done.skippedSteps = [
      .init(label: "scale", reason: .overwritten), .init(label: "text", reason: .purged),
      .init(label: "move", reason: .overwritten),
    ]
    #expect(
      EventText.line(.answer(.done(.redo, done)))
        == "ok: Redone: resize. Skipped: resize and move (others changed the same values later). "
        + "Skipped: text (the object was purged)."
    )
    #expect(
      String(decoding: EventLine.json(.answer(.done(.redo, done))), as: UTF8.self).contains(
        #""skippedSteps":[{"reason":"overwritten","step":"scale"},"#
      )
    )
    let error = CommandError(.nothingToUndo(skipped: [.init(label: "move", reason: .played)])) { _ in "" }
    #expect(error.code == .nothingToUndo)
    #expect(error.message == "Nothing to undo. Skipped: move (moves were made in the game).")
  }

  @Test("a diff has one line for each changed object") func differences() throws {
    let changes = try [
      #"{"change":"added","id":"3-a","type":"text","after":{"text":"x","angle":0}}"#,
      #"{"change":"changed","id":"2-a","type":"photo","before":{"scale":1},"after":{"scale":2.5}}"#,
      #"{"change":"removed","id":"1-a","type":"drawing","before":{"points":[]}}"#,
    ].map { try #require(JSONTree($0)) }
    let diff = SharedBoard.Answer.diff(from: "a", to: nil, changes)
    #expect(
      EventText.line(.answer(diff)) == """
        3 changes from "a" to now
          + text 3-a
          ~ photo 2-a (scale)
          - drawing 1-a
        """
    )
    #expect(
      String(decoding: EventLine.json(.answer(diff)), as: UTF8.self).contains(
        #"{"after":{"scale":2.5},"before":{"scale":1},"change":"changed","id":"2-a","type":"photo"}"#
      )
    )
  }

  @Test("a JSON value is written as it was read") func values() throws {
    let json = #"{"a":[null,true,1,-2.5,18446744073709551615,"x\u001b"],"b":{}}"#
    let value = try #require(JSONTree(json))
    var writer = JSONWriter()
    value.write(to: &writer)
    #expect(String(decoding: writer.bytes, as: UTF8.self) == json)
    #expect(JSONTree("{") == nil)
    #expect(JSONTree(String(repeating: "[", count: 100_000)) == nil)
  }

  @Test("a game is shown in several lines; a locked or grouped object says so") func wholeObjects() {
    let object = ReportedObject(
      Sample.object(.game, center: Point(x: 0, y: 0), scale: 1, angle: 0, groups: [Sample.id(2)], isLocked: true),
      game: GameDescription(view: .object(["game": .string("wordle")]), lines: ["crane =-~--"])
    )
    let added = Sample.added(object, by: Sample.member(1))
    #expect(
      EventText.line(added) == """
        + game 7-abcdefghijklm "wordle" at 0,0, locked, in group 2-abcdefghijklm
            crane =-~--
            (play 7-abcdefghijklm WORD; = right place, ~ elsewhere in the word, - not in the word)
        """
    )
  }

  @Test("[BRD-19] the points of a drawing are written relative to its center") func points() {
    let points = RelativePoints([InkPoint(x: 0, y: 0), InkPoint(x: 16, y: 32)])
    #expect(points.count == 2)
    for (points, json) in [(points, "[[-0.5,-1],[0.5,1]]"), (RelativePoints([]), "[]")] {
      var writer = JSONWriter()
      points.write(to: &writer)
      #expect(String(decoding: writer.bytes, as: UTF8.self) == json)
    }
  }

  @Test("the details of an object contain its appearance and its contents") func details() throws {
    let drawing = Sample.object(
      .drawing,
      ink: [InkPoint(x: 0, y: 0), InkPoint(x: 16, y: 16)],
      isFinished: true,
      center: Point(x: 5, y: 5),
      size: Size(width: 13, height: 13),
      scale: 1,
      angle: 0,
      groups: [Sample.id(2), Sample.id(3)]
    )
    #expect(
      EventText.line(.answer(.object(ReportedObject(drawing))))
        == "drawing 7-abcdefghijklm, 2 points at 5,5, in group 2-abcdefghijklm, that in group 3-abcdefghijklm, "
        + "size 13 by 13, line 2.5 wide, changed 2026-11-18T11:06:40.123Z"
    )
    let photo = Sample.object(
      .photo,
      isFull: true,
      asset: try Sample.photo,
      center: Point(x: 0, y: 0),
      scale: 1,
      angle: 0
    )
    #expect(
      EventText.line(.answer(.object(ReportedObject(photo, path: "/tmp/a"))))?.contains(
        "size 100 by 0.1, color #12ab34cd, 3 by 4 pixels, png, 99 bytes, in /tmp/a, changed 2026-11-18T11:06:40.123Z"
      ) == true
    )
    let linked = Sample.object(.text, text: "a", isFull: true, link: "https://example.org/?a=b", reaction: "👍")
    #expect(
      EventText.line(.answer(.object(ReportedObject(linked))))?.contains(
        "Z, in frame 8-abcdefghijklm, link https://example.org/?a=b, 👍 from 2 members"
      ) == true
    )
    let group = ObjectSnapshot(
      group: Sample.id(2),
      of: [drawing, drawing],
      within: [],
      bounds: Rectangle(Point(x: -0.5, y: -1), Point(x: 0.5, y: 1))
    )
    #expect(
      EventText.line(.answer(.object(ReportedObject(group, members: [Sample.id(1), Sample.id(4)]))))
        == "group 2-abcdefghijklm, of 2 objects at 0,0, size 1 by 2, changed 2026-11-18T11:06:40.123Z, "
        + "holds 1-abcdefghijklm, 4-abcdefghijklm"
    )
  }

  @Test("the event of an invitation shows the command that answers it, on both sides") func invitations() {
    #expect(
      invitation(.outgoing, mustAnswer: true)
        == "Asking ada (abcdefgh) to admit you. Both screens must show: one two three. "
        + "Are they the same on both screens?\n  accept to-1   or   decline to-1"
    )
    let timed = EventText.line(
      .news(
        .invitation(
          .init(
            id: "1",
            peer: "abcdefghijkl",
            name: "ada",
            direction: .incoming,
            mustAnswer: true,
            deadline: "2026-11-28T14:05:00.000Z",
            seconds: 300
          )
        )
      )
    )
    #expect(timed?.contains("asks to join. Answer within 5 minutes.\n  accept 1") == true)
    #expect(EventText.timeLeft(.seconds(299.5)) == "5:00")
    #expect(EventText.timeLeft(.seconds(61)) == "1:01")
    #expect(EventText.timeLeft(.seconds(-1)) == "0:00")
    #expect(invitation(.outgoing, mustAnswer: false)?.contains("accept") == false)
    #expect(invitation(.incoming, mustAnswer: true)?.contains("accept to-1") == true)
  }
}

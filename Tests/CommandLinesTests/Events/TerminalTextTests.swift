import FoundationEssentials
import Testing
import WhiteboardRendering

@testable import CommandLines
@testable import Whiteboard
@testable import WhiteboardKit

@Suite
struct TerminalTextTests {
  @Test("control and format characters are shown as escapes")
  func controls() {
    #expect(TerminalText.cleaned("a\u{1B}[31m") == #"a\u{1b}[31m"#)
    #expect(TerminalText.cleaned("a\nb\r") == #"a\nb\u{d}"#)
    #expect(TerminalText.cleaned("\u{202E}x\u{200B}") == #"\u{202e}x\u{200b}"#)
    #expect(TerminalText.cleaned("Zoë 漢字") == "Zoë 漢字")
  }

  @Test("long text is cut, and the number of combining marks is limited")
  func bounds() {
    #expect(TerminalText.cleaned("abcdef", limit: 3) == "abc…")
    #expect(TerminalText.cleaned("abc", limit: 3) == "abc")
    let piled = "a" + String(repeating: "\u{301}", count: 100)
    #expect(TerminalText.cleaned(piled).unicodeScalars.count == 5)
    #expect(TerminalText.cleaned("\u{301}a") == "a")
  }

  @Test("no text line contains anything that controls a terminal")
  func eventLines() throws {
    let hostile = "\u{1B}]0;x\u{7}\u{9B}2J\u{202E}"
    let object = BoardEvent.ObjectDescription(
      id: hostile,
      type: hostile,
      centerPosition: [0, 0],
      size: [1, 1],
      scale: 2,
      angle: 1,
      selectedBy: hostile,
      zIndex: hostile,
      updatedAt: hostile,
      color: hostile,
      text: hostile,
      points: RelativePoints([InkPoint(x: 0, y: 0)]),
      lineWidth: 1,
      sha256: hostile,
      path: hostile,
      erased: [[0, 1]],
      groups: [hostile],
      isLocked: true,
      game: GameDescription(
        view: .object(["game": .string(hostile)]),
        lines: [hostile, hostile]
      )
    )
    let settings = BoardEvent.SettingsDescription(
      title: hostile,
      background: hostile,
      grid: 0.5,
      language: hostile
    )
    let chat = BoardEvent.Chat(
      id: hostile,
      peer: hostile,
      name: hostile,
      icon: hostile,
      text: hostile,
      at: hostile
    )
    let change = JSONValue.object([
      "change": .string("changed"), "id": .string(hostile), "type": .string(hostile),
      "after": .object([hostile: .string(hostile)]),
    ])
    let peer = BoardEvent.PeerDescription(
      peer: hostile,
      name: hostile,
      state: .connected,
      address: hostile
    )
    let events: [BoardEvent] = [
      .ready(
        .init(
          peer: hostile,
          name: hostile,
          addresses: [hostile],
          port: 1,
          board: hostile,
          boardName: hostile,
          admit: "code",
          code: hostile,
          link: hostile,
          announced: true
        )
      ),
      .peerFound(
        .init(
          peer: hostile,
          name: hostile,
          board: hostile,
          boardName: hostile,
          addresses: [hostile],
          participants: 3,
          role: hostile
        )
      ),
      .peerLost(.init(peer: hostile, name: hostile, board: hostile)),
      .peerState(.init(peer: hostile, name: hostile, state: .suspect)),
      .invitation(
        .init(
          id: hostile,
          peer: hostile,
          name: hostile,
          words: hostile,
          direction: .incoming,
          mustAnswer: true,
          deadline: hostile,
          warning: hostile
        )
      ),
      .joined(.init(peer: hostile, name: hostile)),
      .left(.init(peer: hostile, name: hostile, reason: hostile, message: hostile, undelivered: 3)),
      .objectAdded(.init(id: hostile, object: object, by: hostile)),
      .objectChanged(.init(id: hostile, changed: [hostile], object: object, by: hostile)),
      .objectRemoved(.init(id: hostile, by: hostile)),
      .selected(.init(id: hostile, peer: hostile, name: hostile)),
      .chat(chat),
      .settingChanged(.init(changed: [hostile], settings: settings)),
      .profile(.init(peer: hostile, name: hostile, icon: hostile)),
      .role(.init(peer: hostile, name: hostile, role: "viewer", isOwn: false)),
      .invited(.init(code: hostile, role: "viewer", link: hostile, expires: hostile)),
      .object(.init(id: hostile, object: object)),
      .found(.init(count: 1, objects: [object])),
      .chatHistory(.init(count: 1, lines: [chat])),
      .settings(.init(settings: settings)),
      .checkpoints(.init(count: 1, checkpoints: [.init(name: hostile, at: hostile)])),
      .diff(.init(from: hostile, to: hostile, count: 1, changes: [change])),
      .data(
        .init(
          from: hostile,
          name: hostile,
          reliable: true,
          size: 1,
          base64: Base64Text([]),
          text: hostile
        )
      ),
      .resourceOffered(
        .init(
          transfer: hostile,
          peer: hostile,
          sender: hostile,
          name: hostile,
          size: 1,
          deadline: hostile
        )
      ),
      .resourceStarted(
        .init(transfer: hostile, direction: .incoming, peer: hostile, name: hostile, size: 1)
      ),
      .resourceFinished(
        .init(
          transfer: hostile,
          direction: .incoming,
          peer: hostile,
          name: hostile,
          outcome: .failed,
          path: hostile,
          message: hostile
        )
      ),
      .streamOpened(.init(stream: hostile, direction: .incoming, peer: hostile, name: hostile)),
      .streamClosed(
        .init(
          stream: hostile,
          direction: .incoming,
          peer: hostile,
          name: hostile,
          outcome: .failed,
          size: 1,
          message: hostile
        )
      ),
      .objects(.init(count: 1, objects: [object])),
      .peers(.init(count: 1, peers: [peer])),
      .done(.init(verb: .undo, step: hostile, skipped: 2)),
      .error(.init(code: hostile, message: hostile)),
      .note(.init(code: hostile, message: hostile)),
    ]
    for event in events {
      let line = try #require(EventText.line(event), "\(event.name)")
      for scalar in line.unicodeScalars where scalar != "\n" {
        #expect(TerminalText.isSafe(scalar), "\(event.name)")
      }
    }
  }
}

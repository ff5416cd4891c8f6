import CommandLines
import Foundation
import PeerCore
import Testing
import Whiteboard
import WhiteboardDocument
import WhiteboardPrograms

@testable import WhiteboardKit

/// The commands of the board, run by real boards.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoardCommandTests: BoardSuite {
  private func shown(_ scriptedBoard: ScriptedBoard, _ name: String) async throws -> ReportedObject {
    try await scriptedBoard.perform("show \(name)")
    var last: ReportedObject?
    for case .answer(.object(let object), _) in await scriptedBoard.events { last = object }
    return try #require(last)
  }

  private func object(_ scriptedBoard: ScriptedBoard, _ name: String) async throws -> ObjectSnapshot {
    try await shown(scriptedBoard, name).snapshot
  }

  private func found(_ scriptedBoard: ScriptedBoard, _ line: String) async throws -> [String] {
    try await scriptedBoard.perform(line)
    return try await foundAll(scriptedBoard).objects.map(\.snapshot.id.description)
  }

  private func foundAll(_ scriptedBoard: ScriptedBoard) async throws -> (
    objects: [ReportedObject], chat: [ChatLine]?, members: [SharedBoard.SyncedMember]?
  ) {
    var last: (objects: [ReportedObject], chat: [ChatLine]?, members: [SharedBoard.SyncedMember]?)?
    for case .answer(.found(let objects, let chat, let members), _) in await scriptedBoard.events {
      last = (objects, chat, members)
    }
    return try #require(last)
  }

  private func settings(_ scriptedBoard: ScriptedBoard) async throws -> BoardSettings {
    try await scriptedBoard.perform("settings")
    var last: BoardSettings?
    for case .answer(.settings(let answer), _) in await scriptedBoard.events { last = answer }
    return try #require(last)
  }

  private func id(_ scriptedBoard: ScriptedBoard, _ line: String) async throws -> ObjectID {
    try #require(try await scriptedBoard.perform(line).id)
  }

  @Test("a board stays open after the end of its input, and says so", arguments: [false, true])
  func endOfInput(isTyped: Bool) async throws {
    try await withRoom { room in
      var configuration = await room.configuration(.host(boardName: "plan"), "ada")
      configuration.isTyped = isTyped
      let (feed, sink) = (CommandFeed(), ScriptedBoard())
      feed.push(try #require(try CommandParser.parse("text 0,0 hi")))
      feed.finish()
      let board = SharedBoard(configuration, input: feed, sink: sink)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await board.run() }
        let isSaid = await sink.sees {
          switch $0 {
          case .news(.note(let note)): note.code == "input-ended"
          case .answer(.done, _): isTyped
          default: false
          }
        }
        #expect(isSaid)
        #expect(await board.objects.count == 1)
        await board.requestEnd()
        try await group.waitForAll()
      }
      let notes = await sink.events.count {
        if case .news(.note(let note)) = $0 { note.code == "input-ended" } else { false }
      }
      #expect(notes == (isTyped ? 0 : 1))
    }
  }

  @Test("[BRD-55] a link can name an object like any other command") func links() async throws {
    try await withHost { host in
      let a = try await id(host, "text 0,0 a as=a")
      let b = try await id(host, "text 100,0 b as=b")
      for (target, linked) in [
        ("#\(a)", a), ("\(a.dot.sequence)", a), ("#b", b), ("last", b), ("a", a), ("\(b)", b),
      ] {
        try await host.perform("link a \(target)")
        #expect(try await object(host, "a").link == "#\(linked)")
      }
      try await host.perform("link a https://example.org/#x")
      #expect(try await object(host, "a").link == "https://example.org/#x")
      #expect(await error(host, "link a example.org") == .noSuchObject)
      #expect(await error(host, "link a #99") == .noSuchObject)
      try await host.perform("link a none")
      #expect(try await object(host, "a").link == nil)
    }
  }

  @Test("a copied frame is pasted with the objects in it, and a copied game can be played") func pastes() async throws {
    try await withHost { host in
      try await host.perform("text 0,0 in")
      let frame = try await id(host, "frame 0,0 size=400,300 label=Plan")
      try await host.perform("copy \(frame)")
      #expect(try await host.perform("paste 0,2000").ids?.count == 2)
      let game = try await id(host, "game wordle 5000,0")
      try await host.perform("copy \(game)")
      try await host.perform("paste 6000,0")
      try await host.perform("play last crane")
      try await host.perform("duplicate \(game)")
      try await host.perform("play last crane")
    }
  }

  @Test("`select` selects exactly the named objects, and `selected` means the user's whole selection") func hands()
    async throws
  {
    try await withHost { host in
      let a = try await id(host, "text 0,0 a as=a")
      let b = try await id(host, "text 100,0 b as=b")
      try await host.perform("text 200,0 c as=c")
      #expect(await error(host, "move selected +1,1") == .noSuchObject)
      #expect(try await host.perform("select a c").ids?.count == 2)
      #expect(try await host.perform("select a b").ids == [a, b])
      #expect(try await host.perform("select b a").hasChanged == false)
      let moved = try await host.perform("move selected +10,5")
      #expect(moved.ids.map(Set.init) == [a, b])
      #expect(moved.hasChanged == true)
      #expect(try await object(host, "a").centerPosition == Point(x: 10, y: 5))
      #expect(try await object(host, "b").centerPosition == Point(x: 110, y: 5))
      #expect(try await object(host, "c").centerPosition == Point(x: 200, y: 0))
      #expect(await error(host, "edit selected x") == .ambiguous)
      try await host.perform("select c")
      try await host.perform("edit selected x")
      #expect(try await object(host, "c").text == "x")
      try await host.perform("deselect")
      #expect(await error(host, "delete selected") == .noSuchObject)
    }
  }

  @Test("one object gets a position, scale or angle; several are transformed about their center") func transforms()
    async throws
  {
    try await withHost { host in
      try await host.perform("text 0,0 a as=a")
      try await host.perform("text 100,0 b as=b")
      try await host.perform("scale a 2")
      try await host.perform("scale a 2")
      #expect(try await object(host, "a").scale == 2)
      try await host.perform("scale a 1")
      try await host.perform("scale a b 2")
      #expect(try await object(host, "a").scale == 2)
      #expect(try await object(host, "a").centerPosition == Point(x: -50, y: 0))
      #expect(try await object(host, "b").centerPosition == Point(x: 150, y: 0))
      try await host.perform("rotate a b 90")
      #expect(try await object(host, "a").centerPosition == Point(x: 50, y: -100))
      #expect(try await object(host, "b").centerPosition == Point(x: 50, y: 100))
      try await host.perform("move a b 0,0")
      #expect(try await object(host, "a").centerPosition == Point(x: 0, y: -100))
      #expect(try await object(host, "b").centerPosition == Point(x: 0, y: 100))
    }
  }

  @Test("a group moves as one object, and can be ungrouped") func groups() async throws {
    try await withHost { host in
      let a = try await id(host, "text 0,0 a as=a")
      try await host.perform("text 100,0 b as=b")
      let group = try await id(host, "group a b as=g")
      #expect(try await object(host, "a").groups == [group])
      #expect(try await host.perform("move g +0,10").id == group)
      #expect(try await object(host, "b").centerPosition == Point(x: 100, y: 10))
      try await host.perform("select g")
      #expect(try await host.perform("delete selected").ids?.count == 2)
      try await host.perform("undo")
      try await host.perform("scale g 2")
      #expect(try await object(host, "a").centerPosition == Point(x: -50, y: 10))
      #expect(await error(host, "ungroup a") == .wrongKind)
      let shown = try await shown(host, "g")
      #expect(shown.snapshot.id == group && shown.snapshot.kind == .group)
      #expect(shown.members?.first == a && shown.members?.count == 2)
      #expect(shown.snapshot.centerPosition == Point(x: 50, y: 10))
      try await host.perform("ungroup \(group)")
      #expect(try await object(host, "a").groups.isEmpty)
      #expect(await error(host, "move g +1,1") == .noSuchObject)
      let told = await host.sees { event in
        guard case .change(.changed, let details) = event, let object = details.object else { return false }
        return object.snapshot.id == a && object.changed == ["groups"]
      }
      #expect(told)
    }
  }

  @Test("words are found in texts, labels, aliases, the chat and names, however they are written") func words()
    async throws
  {
    try await withHost { host in
      let lower = try await id(host, #"text 0,100 "Login\nserver""#)
      let upper = try await id(host, "rect 50,0 label=\"the LOGIN sérver\"")
      let named = try await id(host, "ellipse 100,0 as=login-server")
      try await host.perform("text 0,0 other")
      try await host.perform(#"say "is the login server up?""#)
      #expect(try await found(host, #"find text "login SERVER""#) == [upper, lower].map(\.description))
      let all = try await foundAll(host)
      #expect(all.objects.count == 2 && all.chat?.count == 1 && all.members?.isEmpty == true)
      #expect(try await found(host, "find text login-s") == [named.description])
      #expect(try await found(host, "find text nothing") == [])
      try await host.perform("find text ADA")
      #expect(try await foundAll(host).members?.map(\.name.displayed) == ["ada"])
    }
  }

  @Test("objects are aligned, distributed and cleared, each in one step") func arranging() async throws {
    try await withHost { host in
      try await host.perform("rect 0,0 size=20,20 as=a")
      try await host.perform("rect 30,40 size=20,20 as=b")
      #expect(await error(host, "align left") == .noSuchObject)
      #expect(await error(host, "align left a") == .badArgument)
      try await host.perform("align left a b")
      #expect(try await object(host, "b").centerPosition == Point(x: 0, y: 40))
      try await host.perform("rect 0,200 size=20,20 as=c")
      try await host.perform("select a b c")
      try await host.perform("distribute vertically")
      #expect(try await object(host, "b").centerPosition == Point(x: 0, y: 100))
      try await host.perform("lock c")
      #expect(try await host.perform("clear board sure").ids?.count == 2)
      #expect(try await host.perform("undo").step == "clear")
      #expect(try await found(host, "find -1000,-1000 1000,1000").count == 3)
    }
  }

  @Test("colors, widths, locks and the stacking order are set and reported") func looks() async throws {
    try await withHost { host in
      let line = try await id(host, "stroke 0,0 100,0 as=line")
      let text = try await id(host, "text 50,0 hi as=t")
      try await host.perform("color line t #3060c080")
      #expect(try await object(host, "line").color == 0x3060_C080)
      try await host.perform("color t default")
      #expect(try await object(host, "t").color == nil)
      #expect(try await host.perform("color t default").hasChanged == false)
      try await host.perform("width line 12.5")
      #expect(try await object(host, "line").lineWidth == 12.5)
      #expect(await error(host, "width t 3") == .wrongKind)

      #expect(try await found(host, "find 50,0") == [text, line].map(\.description))
      try await host.perform("order line front")
      #expect(try await found(host, "find 50,0") == [line, text].map(\.description))
      try await host.perform("order line below=t")
      #expect(try await found(host, "find 50,0") == [text, line].map(\.description))
      try await host.perform("order t backward")
      #expect(try await found(host, "find -1000,-1000 1000,1000 inside") == [line, text].map(\.description))
      #expect(try await found(host, "find 40,-2 44,2") == [line, text].map(\.description))
      #expect(try await found(host, "find 40,-2 44,2 inside") == [])

      try await host.perform("lock line t")
      #expect(try await object(host, "t").isLocked == true)
      #expect(await error(host, "move t 0,0") == .locked)
      #expect(await error(host, "delete line") == .locked)
      try await host.perform("unlock line")
      try await host.perform("delete line")
      #expect(await error(host, "delete line") == .noSuchObject)
    }
  }

  @Test("objects are duplicated; deleted objects are restored unless they were purged") func copies() async throws {
    try await withHost { host in
      let a = try await id(host, "text 0,0 a as=a")
      let copy = try await id(host, "duplicate a as=b")
      #expect(try await object(host, "b").centerPosition == Point(x: 20, y: 20))
      _ = try await id(host, "duplicate a as=d")
      #expect(try await object(host, "d").centerPosition == Point(x: 40, y: 40))
      for name in ["e", "f"] {
        _ = try await id(host, "duplicate a by=20,20 as=\(name)")
        #expect(try await object(host, name).centerPosition == Point(x: 20, y: 20))
      }
      let copies = try await host.perform("duplicate a b by=1,1")
      #expect(copies.ids?.count == 2)
      #expect(await error(host, "duplicate a b as=c") == .badArgument)
      #expect(await error(host, "duplicate a as=b") == .aliasTaken)

      #expect(await error(host, "undelete a") == .refused)
      #expect(await error(host, "undelete \(a)") == .refused)
      #expect(await error(host, "purge a") == .refused)
      #expect(await error(host, "order a above=a") == .badArgument)
      try await host.perform("delete \(a)")
      #expect(try await host.perform("undelete \(a)").id == a)
      #expect(try await object(host, "a").text == "a")
      try await host.perform("delete a b")
      try await host.perform("purge \(copy)")
      #expect(await error(host, "undelete \(copy)") == .noSuchObject)
      try await host.perform("undelete a")
      let undone = try await host.perform("undo")
      #expect(undone.step == "undelete" && undone.left == nil)
      let left = try await host.perform("undo").left
      #expect(left == ["purged": 1])
    }
  }

  @Test("a user who types `purge --author` must add `sure`") func typedPurge() async throws {
    try await withRoom { room in
      let host = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        var hosting = await room.configuration(.host(boardName: "board"), "ada")
        hosting.isTyped = true
        let configuration = hosting
        group.addTask { try await host.run(configuration) }
        try #require(await host.ready() != nil)
        try await host.perform("text 0,0 one")
        #expect(await error(host, "purge --author ada") == .missingArgument)
        #expect(try await host.perform("purge --author ada sure").count == 1)
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  @Test("all objects of an author are permanently removed, including locked objects") func purgeAuthor() async throws {
    try await withHost { host in
      _ = try await id(host, "text 0,0 a as=a")
      _ = try await id(host, "text 0,9 b as=b")
      try await host.perform("lock b")
      #expect(await error(host, "purge --author nobody") == .noSuchPeer)
      #expect(try await host.perform("purge --author ada").count == 2)
      #expect(await error(host, "show a") == .noSuchObject)
      #expect(await error(host, "show b") == .noSuchObject)
      #expect(try await host.perform("purge --author ada").count == 0)
    }
  }

  @Test("[BRD-36] the answer names the copy that replaces a frozen object, and so does the object's alias")
  func frozen() async throws {
    try await withHost { host in
      try await host.perform("text 0,0 words as=t")
      let id = try await object(host, "t").id
      try await host.sharedBoard?.freeze(id, .selection, .bytes([UInt8](repeating: 7, count: 32)))
      let done = try await host.perform("take t")
      let copy = try #require(done.id)
      #expect(copy != id && done.replaced == [.init(former: id, id: copy)])
      #expect(try await object(host, "t").id == copy)
      #expect(try await object(host, "last").id == copy)
      try await host.sharedBoard?.freeze(copy, .lock, .unsigned(1))
      #expect(try await host.perform("unlock t t").replaced?.first?.former == copy)
      #expect(try await host.perform("lock t").replaced == nil)
    }
  }

  @Test("text is inserted at an offset, and parts of a stroke are erased") func parts() async throws {
    try await withHost { host in
      try await host.perform(#"text 0,0 "Zoë ok" as=t"#)
      try await host.perform(#"insert t 3 " is""#)
      #expect(try await object(host, "t").text == "Zoë is ok")
      try await host.perform(#"insert t 0 "Ada" replacing=3"#)
      #expect(try await object(host, "t").text == "Ada is ok")
      try await host.perform(#"insert t 0 "I, " was="Ada""#)
      try await host.perform(#"insert t 3 "!" was="Ada""#)
      try await host.perform(#"insert t 0 "" replacing=3 was="Ada!""#)
      try await host.perform(#"insert t 3 "Ada" was="I, !""#)
      try await host.perform(#"insert t 6 "" replacing=1 was="I, Ada!""#)
      try await host.perform(#"insert t 0 "" replacing=3 was="I, Ada""#)
      #expect(await error(host, "insert t 9 x replacing=1") == .badArgument)
      #expect(await error(host, #"insert t 4 x was="Ada""#) == .badArgument)
      try await host.perform("stroke 0,100 100,100 as=line")
      #expect(await error(host, "insert line 0 x") == .wrongKind)

      let line = try await object(host, "line").id
      #expect(try await host.perform("erase 50,0 50,50").ids == [])
      #expect(try await host.perform("erase 50,0 50,50").hasChanged == false)
      #expect(try await host.perform("erase 50,90 50,110 radius=10").ids == [line])
      let spans = try #require(try await object(host, "line").erasedSpans)
      #expect(spans.count == 1)
      #expect(spans[0].lowerBound > 5 && spans[0].upperBound < 11)
      #expect(try await found(host, "find 50,100") == [])
      #expect(try await found(host, "find 20,100") == [line.description])
    }
  }

  @Test("each command is one undo step, and so is a stroke that is drawn live") func steps() async throws {
    try await withHost { host in
      #expect(await error(host, "undo") == .nothingToUndo)
      try await host.perform("text 0,0 a as=a")
      try await host.perform("text 9,0 b as=b")
      try await host.perform("move a b +5,5")
      let undone = try await host.perform("undo")
      #expect(undone.hasChanged == true)
      #expect(undone.skipped == 0)
      #expect(undone.step == "move")
      #expect(try await object(host, "a").centerPosition == Point(x: 0, y: 0))
      #expect(try await object(host, "b").centerPosition == Point(x: 9, y: 0))
      try await host.perform("redo")
      #expect(try await object(host, "b").centerPosition == Point(x: 14, y: 5))
      #expect(await error(host, "redo") == .nothingToRedo)

      try await host.perform("stroke 0,0 5,0 10,0 15,0 20,0 over=0.6 as=line")
      #expect(try await host.perform("undo").step == "drawing")
      #expect(await error(host, "show line") == .noSuchObject)
      try await host.perform("wait objects=2")
      try await host.perform("redo")
      #expect(try await object(host, "line").points?.count == 5)
    }
  }

  @Test("a line with one point is refused, and the message says how to write it") func pointsOfLine() async throws {
    try await withHost { host in
      try await host.perform("line 0,0 5,5 as=line")
      for (command, usage) in [("line 0,0", "line X,Y X,Y …"), ("points line 0,0", "points ID X,Y X,Y …")] {
        do throws(CommandError) {
          try await host.perform(command)
          Issue.record("\(command) was accepted")
        } catch {
          #expect(error.code == .missingArgument)
          #expect(error.message == "a line needs at least two points; write `\(usage)`")
        }
      }
      #expect(try await object(host, "line").points?.count == 2)
      // A stroke with one point is a dot.
      try await host.perform("stroke 9,9 as=dot")
      #expect(try await object(host, "dot").points?.count == 1)
    }
  }

  @Test("a line that is drawn point by point is one line and one undo step") func pen() async throws {
    try await withHost { host in
      try await host.perform("pen 0,0 color=#102030 width=8 as=line")
      try await host.perform("pen 5,0 10,0")
      try await host.perform("say hello")
      try await host.perform("pen 15,0")
      let lifted = try await host.perform("lift")
      let line = try await object(host, "line")
      #expect(lifted.id == line.id)
      #expect(line.points?.count == 4 && line.isFinished == true)
      #expect(line.lineWidth == 8 && line.color == 0x1020_30FF)
      #expect(try await host.perform("lift").hasChanged == false)

      // Any other change finishes the stroke.
      try await host.perform("pen 0,50 9,50 as=other")
      try await host.perform("text 0,0 a")
      #expect(try await object(host, "other").isFinished == true)
      try await host.perform("undo")
      #expect(try await host.perform("undo").step == "drawing")
      #expect(await error(host, "show other") == .noSuchObject)
      try await host.perform("wait objects=1")
    }
  }

  @Test("[SYN-30] [SYN-31] [SYN-34] peers see a growing line, and a member's pointer and viewport") func growing()
    async throws
  {
    try await withRoom { room in
      let host = ScriptedBoard()
      let watcher = Watcher()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let hosting = await room.configuration(.host(boardName: "board"), "ada")
        group.addTask { try await host.run(hosting) }
        let ready = try #require(await host.ready())
        let joining = try await room.joining(ready)
        let guest = SharedBoard(joining, input: nil, sink: watcher)
        group.addTask { try await guest.run() }
        try await host.perform("wait peers=1 timeout=30")
        try await host.perform("pen 0,0")
        // Draws until the other board has seen the expected events.
        let drawing = Task {
          var step = 0
          while !Task.isCancelled {
            step += 1
            try await host.perform("pen \(step % 1000),\(step / 1000)")
            try await host.perform("point \(step % 1000),7 laser")
            try await host.perform("view 5,\(step % 1000) 80 24")
          }
        }
        var hasPreview = false
        var hasPresence = false
        for await change in watcher.changes {
          switch change {
          case .preview(let preview): hasPreview = hasPreview || !preview.points.isEmpty
          case .presence(let presence, _):
            let isWhole = presence.cursor?.y == 7 && presence.isLaser && presence.view?.width == 80
            hasPresence = hasPresence || isWhole
          default: break
          }
          if hasPreview, hasPresence { break }
        }
        drawing.cancel()
        _ = await drawing.result
        await guest.requestEnd()
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  @Test("events name a photo's file when it is placed, when it arrives and when it is stored") func photoFiles()
    async throws
  {
    try await withRoom { room in
      let sun = room.path("sun.png")
      try Data(Demo.photo).write(to: URL(fileURLWithPath: sun))
      let watchers = (host: Watcher(), guest: Watcher(), again: Watcher())
      let feed = CommandFeed()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let hosting = await room.configuration(.host(boardName: "board"), "ada")
        let host = SharedBoard(hosting, input: feed, sink: watchers.host)
        group.addTask { try await host.run() }
        let ready = try #require(await watchers.host.ready())
        let guest = SharedBoard(try await room.joining(ready), input: nil, sink: watchers.guest)
        group.addTask { try await guest.run() }
        feed.push("photo 5,5 \(sun)")
        let put = try #require(await watchers.host.photo(host))
        let arrived = try #require(await watchers.guest.photo(guest))
        #expect(put.id == arrived.id)
        #expect(put.path.hasPrefix(room.path("ada/assets/")))
        #expect(arrived.path.hasPrefix(room.path("ben/assets/")))
        #expect(try Data(contentsOf: URL(fileURLWithPath: arrived.path)) == Data(Demo.photo))
        await guest.requestEnd()
        await host.requestEnd()
        try await group.waitForAll()
        // Now only the document has the photo.
        try FileManager.default.removeItem(atPath: put.path)
        let again = SharedBoard(hosting, input: nil, sink: watchers.again)
        group.addTask { try await again.run() }
        let kept = try #require(await watchers.again.photo(again))
        #expect(kept.id == put.id && kept.path == put.path)
        #expect(try Data(contentsOf: URL(fileURLWithPath: kept.path)) == Data(Demo.photo))
        await again.requestEnd()
        try await group.waitForAll()
      }
    }
  }

  private final class Watcher: EventSink {
    let changes: AsyncStream<SharedBoard.Change>
    private let continuation: AsyncStream<SharedBoard.Change>.Continuation
    private let told: AsyncStream<SharedBoard.Output>
    private let telling: AsyncStream<SharedBoard.Output>.Continuation

    init() {
      (changes, continuation) = AsyncStream.makeStream()
      (told, telling) = AsyncStream.makeStream()
    }

    func write(_ events: [SharedBoard.Output]) async throws(OutputError) {
      for event in events { telling.yield(event) }
    }

    func boardChanged(_ change: SharedBoard.Change) { continuation.yield(change) }

    func ready() async -> SharedBoard.News.Ready? {
      for await case .news(.ready(let ready)) in told { return ready }
      return nil
    }

    func photo(_ sharedBoard: SharedBoard) async -> (id: AssetID, path: String)? {
      for await case .photo(let id) in changes { return await sharedBoard.openPhoto(id).map { (id, $0) } }
      return nil
    }
  }

  @Test("an undo leaves later changes by other users") func othersStay() async throws {
    try await withPair { _, host, guest in
      let id = try await id(guest, "text 0,0 a")
      try await guest.perform("wait synced timeout=30")
      try await host.perform("scale \(id) 2")
      try await host.perform("move \(id) 5,5")
      try await host.perform("wait synced timeout=30")
      try await guest.perform("move \(id) 7,7")
      try await guest.perform("wait synced timeout=30")
      let undone = try await host.perform("undo")
      #expect(undone.step == "scale" && undone.hasChanged == true)
      #expect(undone.skippedSteps?.map(\.label) == ["move"] && undone.skippedSteps?.first?.reason == .overwritten)
      #expect(try await object(host, "\(id)").scale == 1)
      #expect(try await object(host, "\(id)").centerPosition == Point(x: 7, y: 7))
      #expect(await error(host, "undo") == .nothingToUndo)
    }
  }

  @Test("settings are shared by all members, and each change is reported once") func sharedSettings() async throws {
    try await withPair { _, host, guest in
      #expect(try await settings(host) == .init())
      try await host.perform(#"set title "Our plan""#)
      try await host.perform("set background #102030")
      try await host.perform("set grid 25")
      try await host.perform("set language en-GB")
      #expect(try await host.perform("set grid 25").hasChanged == false)
      let all = BoardSettings(title: "Our plan", background: 0x1020_30FF, grid: 25, language: "en-GB")
      #expect(try await settings(host) == all)
      let told = await guest.sees { event in
        guard case .change(.settings(let settings), _) = event else { return false }
        return settings == all
      }
      #expect(told)
      try await guest.perform("set background default")
      try await guest.perform("set grid 0")
      #expect(try await settings(guest).backgroundText == nil)
      #expect(try await settings(guest).grid == nil)
      var changed: [[String]] = []
      for case .change(.settings, let details) in await host.events { changed.append(details.keys ?? []) }
      #expect(Array(changed.prefix(4)) == [["title"], ["background"], ["grid"], ["language"]])
    }
  }

  @Test("games are started and played, and an illegal move is refused") func games() async throws {
    try await withHost { host in
      let word = try await id(host, "game wordle 0,0 as=word")
      #expect(try await object(host, "word").kind == .game)
      #expect(await error(host, "play word qqqqq") == .gameRefused)
      #expect(await error(host, "play word 4") == .gameRefused)
      try await host.perform("play word crane")
      let told = await host.sees { event in
        guard case .change(.changed, let details) = event, let object = details.object, object.snapshot.id == word
        else { return false }
        return object.changed == ["game"] && object.game?.view["moves"] == .number(1)
      }
      #expect(told)
      #expect(try await shown(host, "word").game?.lines.first?.raw.hasPrefix("crane ") == true)
      #expect(await error(host, "game wordle 0,0 opponent=ben") == .badArgument)
      #expect(await error(host, "game connect-four 0,0 opponent=ben") == .noSuchPeer)
      #expect(await error(host, "play word crane") == .gameRefused)
      #expect(await error(host, "undo") == .nothingToUndo)
      #expect(try await object(host, "word").kind == .game)

      try await host.perform("game connect-four 300,0 as=four")
      try await host.perform("play four 4")
      #expect(await error(host, "play four 4") == .gameRefused)
      #expect(await error(host, "play four 8") == .gameRefused)
      #expect(try await shown(host, "four").game?.view["game"] == .string("connect-four"))
      try await host.perform("text 0,0 x as=x")
      #expect(await error(host, "play x 1") == .wrongKind)
      try await host.perform("set language ko")
      #expect(await error(host, "game wordle 0,0") == .gameRefused)
    }
  }

  @Test("two users play by turns, and both see the same game") func playing() async throws {
    try await withPair { _, host, guest in
      let four = try await id(host, "game connect-four 0,0 opponent=ben")
      try await guest.perform("wait objects=1 timeout=30")
      for (column, isHost) in [(1, true), (2, false), (1, true), (2, false), (1, true), (2, false)] {
        let (player, other) = isHost ? (host, guest) : (guest, host)
        try await player.perform("play \(four) \(column)")
        #expect(await error(player, "play \(four) 7") == .gameRefused)
        try await player.perform("wait synced timeout=30")
        try await other.perform("wait synced timeout=30")
      }
      try await host.perform("play \(four) 1")
      try await host.perform("wait synced timeout=30")
      try await guest.perform("wait synced timeout=30")
      #expect(await error(guest, "play \(four) 3") == .gameRefused)
      let (here, there) = (try await shown(host, "\(four)").game, try await shown(guest, "\(four)").game)
      for game in [here, there] {
        #expect(game?.view["state"] == .string("won"))
        #expect(game?.view["moves"] == .number(7))
        #expect(game?.lines.contains { $0.raw.hasPrefix("R is ada (") } == true)
        #expect(game?.lines.contains { $0.raw.hasPrefix("Y is ben (") } == true)
      }
      #expect(here?.view["winners"] == there?.view["winners"])
    }
  }

  @Test("chat messages are stored with the names and icons that their authors had then") func chat() async throws {
    try await withPair { _, host, guest in
      try await host.perform("say one")
      try await host.perform("profile name=Countess icon=ghost")
      try await host.perform("say two")
      try await guest.perform("wait synced timeout=30")
      let heard = await guest.sees { event in
        guard case .change(.chat(let line, _), _) = event else { return false }
        return line.text == "two" && line.name == "Countess" && line.icon == "👻"
      }
      #expect(heard)
      try await guest.perform("chat")
      for case .answer(.chat(let lines), _) in await guest.events {
        #expect(lines.count == 2)
        #expect(lines.map(\.text) == ["one", "two"])
        #expect(lines.map(\.name) == ["ada", "Countess"])
        #expect(lines.map(\.icon) == [nil, "👻"])
      }
      let told = await guest.sees { event in
        guard case .news(.profile(let profile)) = event else { return false }
        return profile.name == "Countess" && profile.icon == "👻"
      }
      #expect(told)
      try await host.perform("profile")
      var profiles: [SharedBoard.News.Profile] = []
      for case .answer(.news(.profile(let profile)), _) in await host.events { profiles.append(profile) }
      #expect(profiles.last?.name == "Countess")
      try await host.perform("profile icon=none")
      let removed = await guest.sees { event in
        guard case .news(.profile(let profile)) = event else { return false }
        return profile.name == "Countess" && profile.icon == nil
      }
      #expect(removed)
    }
  }

  @Test("the copy of a duplicated board opens with its objects") func duplicatedBoard() async throws {
    try await withRoom { room in
      let host = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let hosting = await room.configuration(.host(boardName: "board"), "ada")
        group.addTask { try await host.run(hosting) }
        try #require(await host.ready() != nil)
        try await host.perform("text 0,0 one")
        try await host.perform("say hello")
        await host.end()
        try await group.waitForAll()
        let library = BoardLibrary(directory: hosting.boardsDirectory)
        let file = try #require(try await library.list().first)
        let copy = try await BoardFile.duplicate(file.path, as: "copy", in: library)
        let content = try await BoardFile.read(copy)
        #expect(content.objects.map(\.text) == ["one"])
        #expect(content.chat.map(\.text) == ["hello"])
      }
    }
  }

  @Test("a checkpoint during other users' edits loses nothing from the file") func checkpointWhileOthersDraw()
    async throws
  {
    try await withPair { room, host, guest in
      for number in 0..<20 {
        async let drawn: Void = { for text in 0..<10 { try await guest.perform("text 0,0 \(number).\(text)") } }()
        try await host.perform("checkpoint c\(number)")
        try await drawn
      }
      try await host.perform("wait objects=200 timeout=60")
      // This command is answered after everything before it is saved.
      try await host.perform("text 0,0 last")
      let library = BoardLibrary(directory: room.path("ada/boards"))
      let file = try #require(try await library.list().first)
      let content = try await BoardFile.read(file.path)
      #expect(content.objects.count == 201)
    }
  }

  @Test("a name and an icon stay from run to run") func profileFromRunToRun() async throws {
    try await withRoom { room in
      let settings = PersonalSettings(path: room.path("settings.json"))
      for line in ["profile name=Countess icon=ghost", "profile"] {
        let host = ScriptedBoard()
        try await withThrowingTaskGroup(of: Void.self) { group in
          var hosting = await room.configuration(.host(boardName: "board"), "ada")
          hosting.personalSettings = settings
          let configuration = hosting
          group.addTask { try await host.run(configuration) }
          try #require(await host.ready() != nil)
          try await host.perform(line)
          var icons: [UntrustedText?] = []
          for case .answer(.news(.profile(let profile)), _) in await host.events { icons.append(profile.icon) }
          #expect(icons == ["👻"])
          await host.end()
          try await group.waitForAll()
        }
      }
      #expect(try await settings.name == "Countess")
    }
  }

  @Test("stored settings are not reported as changes") func storedSettings() async throws {
    try await withRoom { room in
      for line in ["set title Plan", "set grid 20"] {
        let host = ScriptedBoard()
        try await withThrowingTaskGroup(of: Void.self) { group in
          let hosting = await room.configuration(.host(boardName: "board"), "ada")
          group.addTask { try await host.run(hosting) }
          try #require(await host.ready() != nil)
          try await host.perform(line)
          var changed: [[String]] = []
          for case .change(.settings, let details) in await host.events { changed.append(details.keys ?? []) }
          #expect(changed == [[String(line.split(separator: " ")[1])]])
          await host.end()
          try await group.waitForAll()
        }
      }
    }
  }

  @Test("a profile that equals the one of the handshake is not reported") func profileOfAHandshake() async throws {
    try await withPair { _, host, guest in
      try await guest.perform("wait synced timeout=30")
      try await host.perform("wait synced timeout=30")
      for event in await host.events + guest.events {
        if case .news(.profile(let profile)) = event { Issue.record("\(profile)") }
      }
    }
  }

  @Test("versions are refused for a board without a file, and work for one with a file") func versions() async throws {
    try await withHost(isKept: false) { host in
      for line in ["checkpoint a", "checkpoints", "diff a", "restore a", "save-as f"] {
        #expect(await error(host, line) == .refused)
      }
    }
    try await withHost { host in
      try await host.perform("checkpoint empty")
      let a = try await id(host, "text 0,0 a as=a")
      #expect(await error(host, "restore full") == .noSuchCheckpoint)
      #expect(await error(host, "diff empty full") == .noSuchCheckpoint)
      try await host.perform("checkpoints")
      try await host.perform("diff empty")
      for event in await host.events {
        switch event {
        case .answer(.checkpoints(let list), _): #expect(list.map(\.name) == ["empty"])
        case .answer(.diff(_, _, let changes), _):
          #expect(changes.count == 1)
          #expect(changes[0]["id"] == .string("\(a)"))
          #expect(changes[0]["change"] == .string("added"))
        default: break
        }
      }
      let restored = try await host.perform("restore empty")
      #expect(restored.ids == [a])
      #expect(restored.hasChanged == true)
      #expect(await error(host, "show a") == .noSuchObject)
      #expect(try await host.perform("undo").step == "restore")
      #expect(try await object(host, "a").text == "a")
      let file = "/tmp/whiteboard-save-as-\(UInt64.random(in: 0...UInt64.max)).whiteboard"
      defer { try? FileManager.default.removeItem(atPath: file) }
      try await host.perform("save-as \(file)")
      let copy = try await BoardFile.read(file)
      #expect(copy.objects.map(\.text) == ["a"])
      #expect(await error(host, "save-as \(file)") == .refused)
    }
  }
}

extension SharedBoard {
  /// Writes a cell with the latest possible time, as another member does.
  func freeze(_ id: ObjectID, _ property: Property, _ value: Value) throws {
    guard let board = serving?.active.replica.board else { return }
    let author = Incarnation(99)
    let first = (board.state.context[author].ranges.last?.upperBound ?? 0) + 1
    let operations = [Whiteboard.Operation(id, property, value)]
    try board.receive(
      Batch(author: author, firstSequence: first, time: HybridTime(BoardLimits.time), operations: operations)
    )
  }
}

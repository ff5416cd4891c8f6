import CommandLines
import PeerCore
import PeerTestKit
import Testing
import WhiteboardRendering
import WhiteboardSync

@testable import Whiteboard
@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("The board on a terminal") struct BoardClientTests {
  @Test("every key has only one command, and every tool has a key") func keyMap() {
    let keys = KeyMap.standard.bindings.flatMap(\.keys)
    #expect(Set(keys).count == keys.count, "\(keys)")
    for tool in Tool.allCases { #expect(KeyMap.standard.command(.character(tool.key), []) == .tool(tool)) }
  }

  @Test("mouse gestures become the same commands as in a script") func mouse() throws {
    var desk = try Desk()
    // The board is 74 columns wide, and its center is at the origin.
    #expect(desk.type("^[<0;38;13M") == ["pen 4,8 width=5"])
    #expect(desk.type("^[<32;40;13M^[<32;40;14M") == [])
    #expect(desk.tick() == ["pen 20,8 20,24", "point 20,24"])
    #expect(desk.type("^[<0;40;14m") == ["lift"])
    #expect(desk.type("3}l^[<0;38;13M^[<32;42;13M^[<0;42;13m") == ["line 4,8 36,8 color=#1fae84ff width=8"])
    #expect(desk.type("0r^[<0;38;13M^[<32;39;14M^[<0;39;14m") == ["rect 8,16 size=8,16 width=8"])
    #expect(desk.type("e^[<0;38;13M^[<32;39;13M^[<0;39;13m") == ["erase 4,8 12,8 radius=8"])
    let before = desk.client.workspace.scene.canvas.viewport.center
    #expect(desk.type("h^[<0;38;13M^[<32;39;13M^[<0;39;13m^[<65;3;3M") == [])
    #expect(desk.client.workspace.scene.canvas.viewport.center == Point(x: before.x - 8, y: before.y + 48))
  }

  @Test("[BRD-33] a bracketed paste with CR becomes lines, on the board and at the prompt") func paste() throws {
    var desk = try Desk()
    let pasted = desk.type("^[200~one\rtwo\r\nthree^[201~")
    #expect(pasted == [#"text 0,0 "one\ntwo\nthree""#])
    // A chat line contains no line ends.
    #expect(desk.type("c^[200~a\r\nb\u{7}^[201~\r") == [#"say "a b""#])
  }

  @Test("an unknown command is not sent, and a similar one is suggested") func mistyped() throws {
    var desk = try Desk()
    #expect(desk.type(":flit\r") == [])
    #expect(desk.client.messages.notice?.text.contains("did you mean") == true)
    #expect(desk.type(":zom 50\r") == [])
    #expect(desk.client.messages.notice?.text.contains("zoom") == true)
    #expect(desk.type(#":text 0,0 "abc"# + "\r") == [], "the closing quotation mark is missing")
    #expect(desk.client.messages.notice?.kind == .problem && desk.client.workspace.requests.count == 0)
    #expect(desk.type(":digest\r") == ["digest"])
  }

  @Test("a board without a title, as after its undo, shows its own name") func title() throws {
    var desk = try Desk()
    desk.client.applyChange(.settings(.init(title: "Plan B")))
    #expect(desk.client.session.board.name == "Plan B")
    desk.client.applyChange(.settings(.init()))
    #expect(desk.client.session.board.name == "Plans")
  }

  @Test("a selection is moved, rotated, colored and deleted by keys and by the mouse") func selection() throws {
    var desk = try Desk()
    let id = try desk.board.createText("hello", at: Point(x: 4, y: 8))
    desk.sync()
    #expect(desk.type("d").isEmpty, "nothing is selected")
    #expect(desk.type("v^[<0;38;13M") == ["select \(id)"])
    try desk.board.select([id])
    desk.sync()
    #expect(desk.type("^[<32;40;13M^[<0;40;13m") == ["move \(id) +16,0"])
    #expect(desk.type("^[C^[1;5C") == ["move \(id) +4,0", "move \(id) +8,0"])
    // Keys arrive faster than answers, and each key has an effect.
    #expect(desk.type(".>") == ["rotate \(id) 15", "rotate \(id) 16"])
    #expect(desk.type("SS") == ["scale \(id) 1.1", "scale \(id) 1.21"])
    #expect(desk.type("2") == ["color \(id) #56b4e9ff"])
    #expect(
      desk.type("][Ldx") == ["order \(id) front", "order \(id) back", "lock \(id)", "duplicate \(id)", "delete \(id)"]
    )
    #expect(desk.type("y'") == ["copy \(id)"])
    #expect(desk.type("^") == ["deselect"])
    #expect(desk.type("^[<0;70;3M^[<32;3;22M^[<0;3;22m") == ["deselect", "select \(id)"])
  }

  @Test("the keyboard draws as the mouse does") func keyboardPen() throws {
    var desk = try Desk()
    #expect(desk.type("; ") == ["pen 0,0 width=5"])
    #expect(desk.type("^[C^[C^[B") == [])
    #expect(desk.tick() == ["pen 4,0 8,0 8,4", "point 8,4"])
    #expect(desk.type(" ;") == ["lift"])
  }

  @Test("text goes to the chat, the board and the prompt unchanged") func words() throws {
    var desk = try Desk()
    #expect(desk.type("chi \\ \"there\"\r") == [#"say "hi \\ \"there\"""#])
    #expect(desk.type(":move last +1,1\r") == ["move last +1,1"])
    #expect(desk.type(":m\u{7F}\u{7F}u") == ["undo"], "Backspace closes an empty prompt")
    #expect(desk.type(":q\r") == ["QUIT"])
    #expect(desk.type(":dese\t\r") == ["deselect"])
    #expect(desk.type("^[200~two\nlines^[201~") == [#"text 0,0 "two\nlines""#])
    #expect(desk.type("^[200~/tmp/a b.PNG^[201~") == [#"photo 0,0 "/tmp/a b.PNG""#])
    #expect(desk.type("^[200~'/tmp/a b.jpg' ^[201~") == [#"photo 0,0 "/tmp/a b.jpg""#])
    #expect(desk.type("^[200~file:///tmp/a\\ b.jpg^[201~") == [#"photo 0,0 "/tmp/a b.jpg""#])
    desk.client.setHome("/home/anna")
    #expect(desk.type("I~/pic\t") == ["FILES /home/anna/pic"])
    desk.client.complete(files: ["/home/anna/picture.png"], for: "/home/anna/pic")
    #expect(desk.type("\r") == [#"photo 0,0 "/home/anna/picture.png""#])
    #expect(desk.type("y") == ["CLIPBOARD whiteboard://127.0.0.1:1/b?peer=p"])
    #expect(desk.type("V") == ["paste 0,0"])
    #expect(desk.type("w") == ["game wordle 0,0 as=game-begun-by-11"])
  }

  @Test("typing in a text sends each letter, and several users can type at once") func typing() throws {
    var desk = try Desk()
    #expect(
      desk.type("t^[<0;38;13M^[<0;38;13mhi") == [
        #"text 0,0 "h" from=corner as=typed-1"#, #"insert typed-1 1 "i" was="h""#,
      ]
    )
    let id = try desk.board.createText("hi", at: Point(x: 0, y: 0), isAutoWidth: true)
    desk.sync()
    for request: Int64 in [1, 2] {
      #expect(desk.client.receive(CommandOutcome(id: id), of: .number(request)) == [])
      _ = desk.client.receive(.answer(.done(.text, CommandOutcome()), to: .number(request)))
    }
    #expect(desk.client.frame().cursor?.y == 12, "the caret is in the text")
    try desk.board.text(id).edit(replacing: 0..<0, with: "oh ")
    desk.sync()
    #expect(desk.type("\u{7F}") == [#"insert typed-1 4 "" replacing=1 was="oh hi""#])
    #expect(desk.type("\r") == [])
    #expect(desk.type("p") == [], "keys choose tools again")
    // After a click on a text, the user types in it. An empty text is deleted at the end.
    #expect(desk.type("t^[<0;38;13M^[<0;38;13m\u{15}") == [#"insert \#(id) 0 "" replacing=5 was="oh hi""#])
    #expect(desk.type("^") == ["delete \(id)"])
    #expect(desk.type("^[<0;9;4M^[<0;9;4m^") == [], "nothing was typed")
  }

  private static func asset() throws -> AssetReference {
    let header = try PhotoHeader(format: .png, width: 200, height: 50)
    return try AssetReference(id: try #require(AssetID(Array(repeating: 1, count: 32))), byteCount: 100, header: header)
  }

  @Test("a corner resizes, a handle rotates, and a drag snaps unless snapping is off") func handles() throws {
    var desk = try Desk()
    let size = Size(width: 200, height: 50)
    let id = try desk.board.createPhoto(try Self.asset(), at: Point(x: 4, y: 8), size: size)
    let other = try desk.board.createText("other", at: Point(x: 10, y: 166))
    desk.sync()
    try desk.board.select([id])
    desk.sync()
    // The box is 200 by 50: its corners are 12 cells and about 2 rows from the middle, and the frame is a cell outside.
    #expect(desk.lines().filter { $0.contains("■") }.count == 2)
    #expect(desk.type("v^[<0;51;16M^[<32;76;17M^[<0;76;17m") == ["scale \(id) 1.96 about=-96,-17"])
    #expect(desk.type("^[<0;38;8M^[<32;50;13M^[<0;50;13m") == ["rotate \(id) 90"])
    #expect(desk.type("^[<0;38;13M^[<32;39;20M^[<0;39;20m") == ["move \(id) +6,112"])
    desk.now += .seconds(1)
    #expect(desk.type("'^[<0;38;13M^[<32;39;20M^[<0;39;20m") == ["move \(id) +8,112"])
    desk.now += .seconds(1)
    #expect(desk.type("^[<0;38;13M^[<32;39;20M^") == [], "Escape cancels")
    #expect(desk.type("^[<0;39;20m") == [])
    #expect(desk.type("E^[<0;38;25M^[<32;38;24M^[<0;38;24m") == [])
    #expect(other != id)
  }

  @Test("the menu lists the possible actions, and runs them by key, by arrows and by the mouse") func menu() throws {
    var desk = try Desk()
    #expect(desk.type(" ") == [])
    #expect(desk.lines().contains { $0.contains("photo from a file") })
    #expect(desk.type("^[A\r") == ["QUIT"], "the last item")
    #expect(desk.type(" u") == ["undo"], "the key of another command runs that command")
    #expect(desk.type(" ^") == [], "Escape closes the menu")
    let id = try desk.board.createText("hello", at: Point(x: 4, y: 8))
    desk.sync()
    #expect(desk.type("^[<2;38;13M") == ["select \(id)"])
    try desk.board.select([id])
    desk.sync()
    let row = try #require(desk.lines().firstIndex { $0.contains("edit the text") })
    #expect(desk.type("^[<0;45;\(row + 2)M") == ["duplicate \(id)"])
    #expect(desk.client.overlay == nil)
  }

  @Test("words are found one after the other, and each object with them is selected and centered") func find() throws {
    var desk = try Desk()
    let below = try desk.board.createText("the SERVER", at: Point(x: 4000, y: 3000))
    let above = try desk.board.createForm(.rectangle, at: Point(x: 0, y: 0), label: "sérver room")
    try desk.board.createText("other", at: Point(x: 0, y: 100))
    desk.sync()
    func center() -> Point { desk.client.workspace.scene.viewport.center }
    #expect(desk.type("/server\r") == ["select \(above)"])
    #expect(desk.client.messages.notice?.text == "1 of 2")
    #expect(desk.type("\r") == ["select \(below)"])
    let bounds = try #require(desk.client.workspace.scene.snapshot(below)?.bounds)
    #expect(center() == bounds.center)
    #expect(desk.type("\r") == ["select \(above)"], "after the last one, the first one follows")
    #expect(desk.type("^[A") == ["select \(below)"])
    #expect(desk.type("^") == [])
    #expect(desk.type("/Bob\r") == [])
    #expect(desk.client.messages.notice?.text == "no object contains these words; they are in 1 member")
  }

  @Test("the board is cleared only after a question") func clear() throws {
    var desk = try Desk()
    #expect(desk.type(":clear board\r") == [] && desk.client.overlay == nil)
    try desk.board.createText("hello", at: Point(x: 4, y: 8))
    desk.sync()
    #expect(desk.type(":clear board\rn") == [] && desk.client.overlay == nil)
    #expect(desk.type(":clear board\r") == [])
    #expect(desk.lines().contains { $0.contains("Delete all objects on the board (1)?") })
    #expect(desk.type("y") == ["clear board sure"])
  }

  @Test("a new note is typed in at once") func notes() throws {
    var desk = try Desk()
    #expect(desk.type("n^[<0;38;13M^[<0;38;13m") == ["note 4,8 width=2"])
    let id = try desk.board.createForm(.note, at: Point(x: 4, y: 8))
    #expect(desk.client.receive(CommandOutcome(id: id), of: .number(1)) == [])
    desk.sync()
    #expect(desk.type("A") == [#"insert \#(id) 0 "A" was="""#])
    _ = desk.type("^")
  }

  @Test("a handle changes the width and the height of a shape independently, and with Shift in proportion")
  func freeResize() throws {
    var desk = try Desk()
    let id = try desk.board.createForm(.rectangle, at: Point(x: 0, y: 0), size: Size(width: 80, height: 64))
    try desk.board.select([id])
    desk.sync()
    let frame = try #require(desk.client.workspace.scene.selectionFrame)
    let from = try #require(frame.grips.first { $0.value == .init(x: 1, y: 1) }).point
    let to = Point(x: from.x + 40, y: from.y + 16)
    var resize = SelectionFrame.Resize(frame: frame, grip: .init(x: 1, y: 1), from: from, to: to)
    #expect(resize.free.half == Size(width: 60, height: 40) && resize.free.center == Point(x: 20, y: 8))
    var transforms = SelectionTransforms()
    var requests = PendingRequests()
    func line(_ effects: [BoardEffect]) -> String? {
      guard case .command(let request)? = effects.first else { return nil }
      return request.line
    }
    let scene = desk.client.workspace.scene
    #expect(line(transforms.resize(resize, scene, &requests)) == "resize \(id) 120,80 at=20,8")
    resize.isCentered = true
    #expect(line(transforms.resize(resize, scene, &requests)) == "resize \(id) 160,96 at=0,0")
    (resize.isCentered, resize.keepsProportions) = (false, true)
    #expect(line(transforms.resize(resize, scene, &requests))?.hasPrefix("scale \(id) ") == true)
  }

  @Test("no two members have the same color while there are enough colors") func colors() throws {
    var members = Members()
    for number: UInt8 in 2...9 {
      _ = members.join(try Desk.memberID(number), name: UntrustedText("\(number)"), now: .zero)
    }
    let colors = members.colors(try Desk.memberID(1))
    #expect(colors.count == 9 && Set(colors.values).count == Pens.memberColors.count)
    _ = members.leave(
      try Desk.memberID(9),
      UntrustedText("9"),
      .init(reason: "left", undelivered: 0)
    )
    #expect(Set(members.colors(try Desk.memberID(1)).values).count == 8)
  }

  @Test("`go` and following a user show them, and scrolling ends the following") func navigation() throws {
    var desk = try Desk()
    let id = try desk.board.createText("far away", at: Point(x: 5_000, y: 5_000))
    desk.sync()
    #expect(desk.type(":go FAR\r") == ["select \(id)"])
    #expect(desk.client.workspace.scene.canvas.viewport.center == Point(x: 5_000, y: 5_000))
    let bob = try Desk.memberID(2)
    desk.client.applyChange(.presence(try Presence(cursor: Point(x: -300, y: 40)), of: Desk.member(bob)))
    #expect(desk.type("f") == [])
    _ = desk.tick()
    #expect(desk.client.workspace.scene.canvas.viewport.center == Point(x: -300, y: 40))
    let view = try Presence.View(center: Point(x: 0, y: 100), width: 148 * 8, height: 40)
    desk.client.applyChange(.presence(try Presence(cursor: nil, view: view), of: Desk.member(bob)))
    _ = desk.tick()
    #expect(desk.client.workspace.scene.canvas.viewport.center == Point(x: 0, y: 100))
    #expect(desk.client.workspace.scene.canvas.viewport.zoom == 0.5, "the same part as Bob sees")
    #expect(desk.lines()[0].contains("following Bob"))
    #expect(desk.type("+") == [])
    #expect(desk.client.session.members.followed == nil)
  }

  @Test("keys run the commands of the settings, and invalid settings name their place") func rebinding() throws {
    let keys = try KeyMap([
      KeyBinding(command: "undo", keys: ["ctrl+u", "d"], place: "config:3"),
      KeyBinding(command: "follow", keys: [], place: "config:4"),
    ])
    #expect(keys.command(.character("u"), .control) == .undo)
    #expect(keys.command(.character("d"), []) == .undo, "the key of duplicate")
    #expect(keys.command(.character("u"), []) == nil && keys.command(.character("f"), []) == nil)
    #expect(keys.help.contains { $0.keys == "Ctrl+u U" })
    #expect(!keys.help.contains { $0.text.contains("follow a member") })
    for (command, key) in [("fly", "x"), ("undo", "ctrl+"), ("undo", "hyper")] {
      let binding = KeyBinding(command: command, keys: [key], place: "config:7")
      #expect { try KeyMap([binding]) } throws: { error in
        (error as? WhiteboardError)?.message.hasPrefix("config:7: ") == true
      }
    }
  }

  @Test("Ctrl+C leaves if it is pressed twice, and q leaves at once") func leaving() throws {
    var desk = try Desk()
    #expect(desk.type("\u{3}") == [])
    #expect(desk.type("\u{3}") == ["QUIT"])
    var other = try Desk()
    #expect(other.type("\u{3}") == [])
    other.now += .seconds(3)
    #expect(other.tick() == ["view 0,0 592 352"], "the view, so that others can follow it")
    #expect(other.type("\u{3}") == [])
    #expect(other.type("q") == ["QUIT"])
  }

  @Test("the screen shows the board, the members, the chat and the state") func screen() throws {
    var desk = try Desk()
    #expect(desk.lines().contains { $0.contains("Drag to draw") })
    try desk.board.createText("hello", at: Point(x: 0, y: 0))
    desk.sync()
    let bob = try Desk.memberID(2)
    desk.client.applyChange(.presence(try Presence(cursor: Point(x: -100, y: -100)), of: Desk.member(bob)))
    _ = desk.client.receive(Desk.chat(bob, "hi\u{1B}[2J"))
    let lines = desk.lines()
    #expect(lines[0].contains("Plans") && lines[0].contains("2 people"))
    #expect(lines.contains { $0.contains("hello") })
    let pointed = try #require(lines.firstIndex { $0.contains("▲") })
    #expect(lines[pointed + 1].contains("Bob"))
    #expect(lines.contains { $0.contains("● Bob") })
    #expect(lines.contains { $0.contains(#"Bob: hi\u{1b}[2J"#) })
    #expect(lines.last?.contains("saved; synced with 1") == true)
    let away = SharedBoard.News.PeerState(peer: bob.description, name: "Bob", state: .reconnecting)
    // The idle time before the event is not included.
    desk.now += .seconds(30)
    desk.client.advance(to: desk.now)
    _ = desk.client.receive(.news(.peerState(away)))
    desk.now += .seconds(8)
    _ = desk.tick()
    #expect(desk.lines().last?.contains("Bob unreachable for 8 s; your changes are sent later") == true)
  }

  @Test("an object that another user selected shows that user's name") func selectedByOthers() throws {
    var desk = try Desk()
    let id = try desk.board.createText("hello", at: Point(x: 0, y: 0))
    let bob = try Desk.memberID(2)
    let other = Board(incarnation: Incarnation(2), member: bob, wallClock: 1_700_000_000_000)
    for batch in desk.board.takeBatches() { try other.receive(batch) }
    try other.select([id])
    desk.board.authors[Incarnation(2)] = bob
    for batch in other.takeBatches() { try desk.board.receive(batch) }
    #expect(desk.board.snapshot(id)?.selectedBy == bob)
    desk.sync()
    #expect(desk.lines().contains { $0.contains(" Bob ") && $0.contains("·") })
    #expect(desk.client.workspace.scene.selection.isEmpty)
  }

  @Test("everything is drawn at every size", arguments: [(1, 1), (3, 2), (40, 12), (89, 15), (300, 100)]) func sizes(
    columns: Int,
    rows: Int
  ) throws {
    var desk = try Desk()
    try desk.board.createDrawing([InkPoint(x: -900, y: -900), InkPoint(x: 900, y: 900)])
    desk.sync()
    desk.client.resize(columns: columns, rows: rows)
    let pressed = ["", "?", "q", "C", "q", "J", "x", " ", "^", "c漢字", "^", "l^[<0;2;2M^[<32;3;3M"]
    for keys in pressed {
      _ = desk.type(keys)
      let screen = desk.client.frame().screen
      #expect(screen.width == columns && screen.height == rows)
    }
  }

  @Test("an invitation shows a question that one key answers") func invitations() throws {
    var desk = try Desk()
    let invitation = SharedBoard.News.Invitation(
      id: "i1",
      peer: "abcdefgh",
      name: "Eve",
      words: "one two three four",
      direction: .incoming,
      mustAnswer: true,
      deadline: nil,
      warning: nil
    )
    _ = desk.client.receive(.news(.invitation(invitation)))
    #expect(desk.lines().contains { $0.contains("one two three four") })
    #expect(desk.type("y") == [#"accept "i1""#])
    #expect(desk.client.session.questions.invitations.isEmpty)
    _ = desk.client.receive(.news(.invitation(invitation)))
    #expect(desk.lines().contains { $0.contains("A always admit Eve") })
    #expect(desk.type("A") == [#"accept "i1" always"#])
    for panel in ["J", "?"] {
      #expect(desk.type(panel) == [])
      _ = desk.client.receive(.news(.invitation(invitation)))
      #expect(desk.lines().contains { $0.contains("asks to join") }, "over \(panel)")
      #expect(desk.type("n") == [#"decline "i1""#])
    }
  }

  @Test("an offered file shows its question after a request to join, and one key answers it") func fileOffers() throws {
    var desk = try Desk()
    func offer(_ transfer: String) -> SharedBoard.Output {
      .news(
        .resourceOffered(
          .init(
            transfer: transfer,
            peer: "abcdefgh",
            sender: "Ben",
            name: "photo.jpg",
            size: 2_100_000,
            deadline: "2026-11-24T12:00:00Z"
          )
        )
      )
    }
    func finished(_ transfer: String, _ outcome: SharedBoard.News.ResourceFinished.Outcome) -> SharedBoard.Output {
      .news(
        .resourceFinished(
          .init(
            transfer: transfer,
            direction: .incoming,
            peer: "abcdefgh",
            name: "photo.jpg",
            outcome: outcome,
            path: outcome == .delivered ? "/inbox/\(transfer)" : nil
          )
        )
      )
    }
    for transfer in ["t1", "t2", "t3"] { _ = desk.client.receive(offer(transfer)) }
    #expect(desk.lines().contains { $0.contains(#"wants to send you "photo.jpg" (2.1 MB)."#) })
    #expect(desk.lines().contains { $0.contains("y accept   n decline") })
    #expect(desk.type("A") != [#"accept "t1" always"#])
    #expect(desk.type("y") == [#"accept "t1""#])
    #expect(desk.type("n") == [#"decline "t2""#])
    // The sender cancels the third offer.
    _ = desk.client.receive(finished("t3", .cancelled))
    #expect(desk.client.session.questions.fileOffers.isEmpty)
    #expect(!desk.type("y").contains { $0.hasPrefix("accept") })
    _ = desk.client.receive(finished("t1", .delivered))
    #expect(desk.lines().last?.contains("/inbox/t1") == true)
  }

  @Test("a question disappears when the peer cancels it, and keys have their normal commands again")
  func invitationEnded() throws {
    var desk = try Desk()
    _ = desk.client.receive(
      .news(
        .invitation(
          .init(
            id: "i1",
            peer: "abcdefgh",
            name: "Eve",
            words: "one two three",
            direction: .incoming,
            mustAnswer: true,
            seconds: 300,
            known: true
          )
        )
      )
    )
    #expect(desk.client.isTicking)
    #expect(desk.lines().contains { $0.contains("5:00 left to answer") })
    #expect(desk.lines().contains { $0.contains("You already know this peer's key.") })
    #expect(!desk.lines().contains { $0.contains("must show these words") })
    _ = desk.client.receive(
      .news(
        .note(
          .init(code: "invitation-ended", message: "Eve (abcdefgh) stopped waiting for an answer.", invitation: "i1")
        )
      )
    )
    #expect(desk.client.session.questions.invitations.isEmpty)
    #expect(desk.lines().last?.contains("Eve (abcdefgh) stopped waiting") == true)
    #expect(!desk.type("y").contains { $0.hasPrefix("accept") })
  }

  @Test("while an accepted newcomer compares the words, the last line names it and the time that is left")
  func newcomerCompares() throws {
    var desk = try Desk()
    let peer = try Desk.memberID(3).description
    func ask(_ id: String) {
      _ = desk.client.beginFrame(now: .zero)
      _ = desk.client.receive(
        .news(
          .invitation(
            .init(
              id: id,
              peer: peer,
              name: "Eve",
              words: "one two three",
              direction: .incoming,
              mustAnswer: true,
              seconds: 300
            )
          )
        )
      )
      #expect(desk.type("y").contains { $0.hasPrefix("accept") })
      _ = desk.client.receive(.news(.note(.init(code: "comparing", message: "Eve joins later.", invitation: id))))
      _ = desk.client.beginFrame(now: .seconds(90))
    }
    for end: SharedBoard.Output in [
      .news(.note(.init(code: "invitation-ended", message: "Eve left.", invitation: "i1"))),
      Desk.joined(try Desk.memberID(3), "Eve"),
    ] {
      ask("i1")
      #expect(desk.client.isTicking)
      #expect(desk.lines().last?.contains("Eve compares the words (3:30 left)") == true, "\(desk.lines())")
      _ = desk.client.receive(end)
      _ = desk.client.beginFrame(now: .seconds(200))
      #expect(desk.lines().last?.contains("compares") == false)
    }
  }
}

import CommandLines
import PeerCore
import PeerTestKit
import Testing
import WhiteboardRendering

@testable import Whiteboard
@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("The answers to actions on a terminal") struct ActionMessageTests {
  private func failure(_ code: CommandError.Code, _ message: String, _ request: Int64) -> SharedBoard.Output {
    .answer(.error(CommandError(code, message).answering(verb: "move", request: .number(request))))
  }

  @Test("the success of a later command replaces an error, but not a warning") func errorEnds() throws {
    var desk = try Desk()
    #expect(desk.type(":set grid 20\r:flit\r").count == 1)
    #expect(desk.lines().last?.contains("there is no command flit") == true)
    _ = desk.client.receive(.answer(.done(.set, CommandOutcome()), to: .number(1)))
    #expect(desk.lines().last?.contains("the grid is 20") == true, "the answer to an earlier command")
    _ = desk.type(":flit\r")
    _ = desk.client.receive(.answer(.done(.pen, CommandOutcome()), to: .number(1)))
    #expect(desk.lines().last?.contains("there is no command flit") == true)
    _ = desk.type(":deselect\r")
    _ = desk.client.receive(.answer(.done(.deselect, CommandOutcome()), to: .number(2)))
    #expect(desk.lines().last?.hasPrefix(" nothing is selected") == true)
    _ = desk.client.receive(failure(.refused, "the board is full", 3))
    _ = desk.type("l")
    #expect(desk.lines().last?.contains("the board is full") == false, "a tool was chosen")
    _ = desk.client.receive(.news(.warning(.init(code: "x", message: "the clock is wrong"))))
    _ = desk.type(":undo\rp")
    _ = desk.client.receive(.answer(.done(.pen, CommandOutcome()), to: .number(4)))
    #expect(desk.lines().last?.contains("the clock is wrong") == true)
  }

  @Test(
    "a typed command is answered with one line",
    arguments: [
      (":set title \"Plan A\"\r", CommandName.set, "the title is \"Plan A\""),
      (":set grid 0\r", .set, "the grid is off"), (":set grid 20\r", .set, "the grid is 20 units wide"),
      (":set background default\r", .set, "the background is the default"),
      (":set language de\r", .set, "the language of games is \"de\""),
      (":lock selected\r", .lock, "locked 1 object; L unlocks"),
      (":checkpoint one\r", .checkpoint, "saved the checkpoint \"one\""), (":accept ben\r", .accept, "accept"),
    ]
  ) func typed(_ keys: String, _ verb: CommandName, _ message: String) throws {
    var desk = try Desk()
    #expect(desk.type(keys).count == 1)
    _ = desk.client.receive(.answer(.done(verb, CommandOutcome()), to: .number(1)))
    #expect(desk.lines().last?.hasPrefix(" \(message)") == true, "\(desk.lines().last ?? "")")
  }

  @Test("copies are selected, unless the user selects or deselects something meanwhile") func duplicate() throws {
    var desk = try Desk()
    let id = try desk.board.createText("hello", at: Point(x: 4, y: 8))
    try desk.board.select([id])
    desk.sync()
    #expect(desk.type("d") == ["duplicate \(id)"])
    let copy = try desk.board.createText("hello", at: Point(x: 12, y: 16))
    let done = SharedBoard.Answer.done(.duplicate, CommandOutcome(ids: [copy], hasChanged: true))
    let outcome = CommandOutcome(ids: [copy])
    #expect(desk.client.receive(outcome, of: .number(1)).compactMap(Desk.line) == ["select \(copy)"])
    #expect(desk.client.receive(.answer(done, to: .number(1))) == [])
    #expect(desk.lines().last?.hasPrefix(" duplicated 1 object") == true)
    #expect(desk.type("d^") == ["duplicate \(id)", "deselect"])
    #expect(desk.client.receive(outcome, of: .number(3)) == [])
    #expect(desk.client.receive(.answer(done, to: .number(3))) == [])
  }

  @Test("one object is not a group") func group() throws {
    var desk = try Desk()
    let first = try desk.board.createText("one", at: Point(x: 4, y: 8))
    let second = try desk.board.createText("two", at: Point(x: 40, y: 8))
    try desk.board.select([first])
    desk.sync()
    #expect(desk.type("g") == [])
    #expect(desk.lines().last?.contains("at least two objects") == true)
    try desk.board.select([first, second])
    desk.sync()
    #expect(desk.type("g") == ["group \(first) \(second)"])
  }

  @Test("the error about a locked object names the key that unlocks it") func locked() throws {
    var desk = try Desk()
    let id = try desk.board.createText("one", at: Point(x: 4, y: 8))
    try desk.board.setLocked(id, true)
    desk.sync()
    _ = desk.client.receive(failure(.locked, "\(id) is locked; `unlock` it first", 1))
    #expect(desk.lines().last?.hasPrefix(" the text is locked; select it and press L to unlock it") == true)
  }

  @Test("a key for a game opens the prompt at once, and no letter of a guess runs a command") func newGame() throws {
    var desk = try Desk()
    #expect(
      desk.type("wcrane\rslate\r") == [
        "game wordle 0,0 as=game-begun-by-1", "play game-begun-by-1 \"crane\"", "play game-begun-by-1 \"slate\"",
      ]
    )
    var generator = SystemRandomNumberGenerator()
    let game = try desk.board.createWordle(at: Point(x: 0, y: 0), using: &generator)
    #expect(desk.client.receive(CommandOutcome(id: game), of: .number(1)) == [])
    desk.sync()
    #expect(desk.type("house\r") == ["play \(game) \"house\""])
    #expect(desk.type("^p") == [], "Escape closes the prompt")
  }

  @Test("a second game or photo does not cover the first") func placing() throws {
    var desk = try Desk()
    let first = try desk.board.createConnectFour(at: Point(x: 0, y: 0))
    desk.sync()
    let scene = desk.client.workspace.scene
    let place = scene.freePlace(for: scene.gameSize, near: Point(x: 0, y: 0))
    let taken = try #require(scene.snapshot(first)).bounds
    #expect(!taken.contains(Rectangle(place, place)))
    #expect(place.x > taken.greatest.x && scene.viewport.rectangle.contains(Rectangle(place, place)))
    let free = Point(x: 0, y: 900)
    #expect(scene.freePlace(for: scene.gameSize, near: free) == free)
    let second = try desk.board.createConnectFour(at: place)
    desk.sync()
    let bounds = try #require(desk.board.snapshot(second)).bounds
    #expect(!taken.touches(bounds))
  }

  @Test("new photos, games and notes of any size do not overlap others, wherever they are placed") func boxes() throws {
    var desk = try Desk()
    var random = SeededGenerator(seed: 5)
    var boxes: [Rectangle] = []
    for round in 0..<40 {
      let near = Point(x: Double(random.below(900)) - 450, y: Double(random.below(500)) - 250)
      let scene = desk.client.workspace.scene
      let size = round % 3 == 0 ? BoardScene.photoSize : round % 3 == 1 ? scene.gameSize : Size(width: 200, height: 200)
      let place = scene.freePlace(for: size, near: near)
      let id: ObjectID
      switch round % 3 {
      case 0:
        let (width, height) = (100 + random.below(4_000), 100 + random.below(4_000))
        let asset = try AssetReference(
          id: try #require(AssetID(Array(repeating: UInt8(round), count: 32))),
          byteCount: 9,
          header: try PhotoHeader(format: .jpeg, width: width, height: height)
        )
        id = try desk.board.createPhoto(asset, at: place)
      case 1: id = try desk.board.createConnectFour(at: place)
      default: id = try desk.board.createForm(.note, at: place, label: "note \(round)")
      }
      desk.sync()
      let bounds = try #require(desk.client.workspace.scene.canvas.item(id)?.bounds)
      #expect(boxes.allSatisfy { !$0.touches(bounds) }, "round \(round)")
      boxes.append(bounds)
    }
  }

  @Test("the prompt closes if the game could not begin") func refusedGame() throws {
    var desk = try Desk()
    _ = desk.type("wcr")
    _ = desk.client.receive(failure(.viewer, "you can only view this board", 1))
    #expect(!desk.client.prompt.isOpen)
  }

  @Test("the tools stay visible at 80 columns while chat lines wait", arguments: [1, 12]) func tools(_ count: Int)
    throws
  {
    var desk = try Desk()
    desk.client.resize(columns: 80, rows: 24)
    for _ in 0..<count {
      _ = desk.client.receive(
        Desk.chat(try Desk.memberID(2), "hi")
      )
    }
    let buttons = desk.client.titleBar.toolButtons.buttons
    #expect(buttons.count == Tool.allCases.count + Pens.colors.count)
    #expect(desk.lines()[0].contains("\(count) new"))
    desk.client.applyChange(.settings(.init(title: "A board with an extraordinarily long title")))
    #expect(desk.client.titleBar.toolButtons.buttons.count == buttons.count)
  }
}

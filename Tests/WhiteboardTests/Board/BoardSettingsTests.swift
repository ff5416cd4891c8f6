import Testing

@testable import Whiteboard

@Suite struct BoardSettingsTests {
  private let boards = TwoBoards()

  @Test("[BRD-28] settings are shared, and stored on one object if one exists") func shared() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    #expect(anna.settings == BoardSettings())
    try anna.setTitle("Trip")
    try anna.setBackground(0xFFFF_FFFF)
    try boards.share()
    try bob.setGrid(12.5)
    try bob.setLanguage("pt-BR")
    try boards.share()
    for board in [anna, bob] {
      #expect(board.settings.title == "Trip" && board.settings.background == 0xFFFF_FFFF)
      #expect(board.settings.grid == 12.5 && board.settings.language == "pt-BR")
      #expect(board.state.settingsIDs.count == 1)
      #expect(board.objectIDs.isEmpty && board.chat.isEmpty && board.takeChanges().isEmpty)
    }
    try bob.setGrid(nil)
    try bob.setTitle(nil)
    #expect(bob.settings.grid == nil && bob.settings.title == nil)
    _ = bob.takeBatches()
    try bob.setTitle(nil)
    #expect(bob.takeBatches().isEmpty)
  }

  @Test("[BRD-28] a board reports a possible change of its settings, and only then") func changes() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    func mayHaveChanged(_ board: Board) -> Bool {
      _ = board.takeChanges()
      return board.takeSettingsChange()
    }
    try anna.createText("no setting", at: Point(x: 0, y: 0))
    try boards.share()
    #expect(!mayHaveChanged(anna) && !mayHaveChanged(bob))
    try anna.setTitle("Trip")
    try boards.share()
    #expect(mayHaveChanged(anna) && mayHaveChanged(bob))
    #expect(!mayHaveChanged(anna) && !mayHaveChanged(bob))
    try anna.restore(BoardState())
    try boards.share()
    #expect(mayHaveChanged(bob) && bob.settings.title == nil)
  }

  @Test("[BRD-28] of two concurrent settings objects, the later write of each setting counts") func atOnce() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    bob.wallClock += 1000
    try anna.gesture {
      try anna.setTitle("Anna's")
      try anna.setGrid(1)
    }
    #expect(anna.state.settingsIDs.count == 1)
    try bob.setTitle("Bob's")
    try boards.share()
    #expect(anna.settings == bob.settings)
    #expect(anna.settings.title == "Bob's" && anna.settings.grid == 1)
    // Anna writes to the object with the smallest id, although the overwritten cell is on the other object.
    try anna.setTitle("Ours")
    try boards.share()
    #expect(anna.settings.title == "Ours" && bob.settings.title == "Ours")
    #expect(anna.state.settingsIDs.count == 2)
  }

  @Test("[I9] an undo keeps a setting that another user changed later, even on another object")
  func undoOfASettingThatIsNotInForce() throws {
    let boards = TwoBoards()
    let (anna, bob) = (boards.anna, boards.bob)
    try anna.setTitle("one")
    try anna.setTitle("two")
    bob.wallClock += 10
    try bob.setTitle("three")
    try boards.share()
    #expect(anna.state.settingsIDs.count == 2)
    let skipped = Array(repeating: SkippedStep(label: "settings", reason: .overwritten), count: 2)
    #expect(throws: BoardError.nothingToUndo(skipped: skipped)) { try anna.undo() }
    try boards.share()
    #expect(anna.settings.title == "three" && bob.settings.title == "three")
  }

  @Test("[I9] an undo of the first setting keeps the others on the same object") func undoOfTheFirstSetting() throws {
    let boards = TwoBoards()
    let (anna, bob) = (boards.anna, boards.bob)
    try anna.setTitle("Plan")
    try boards.share()
    try bob.setBackground(0xFFEE_DDFF)
    try boards.share()
    try anna.undo()
    try boards.share()
    #expect(anna.settings == BoardSettings(background: 0xFFEE_DDFF))
    #expect(bob.settings == anna.settings)
    try anna.redo()
    try boards.share()
    #expect(bob.settings == BoardSettings(title: "Plan", background: 0xFFEE_DDFF))
  }

  @Test("[BRD-30] settings beyond their limits are refused, and read as absent") func limits() throws {
    let board = boards.anna
    #expect(throws: BoardError.tooLong("title")) {
      try board.setTitle(String(repeating: "x", count: BoardLimits.titleBytes + 1))
    }
    try board.setTitle(String(repeating: "x", count: BoardLimits.titleBytes))
    #expect(throws: BoardError.tooLong("language")) { try board.setLanguage("de-1996-abcdefghi") }
    #expect(throws: BoardError.outOfRange("language")) { try board.setLanguage("en us") }
    for spacing in [0, -1, Double.nan, .infinity, BoardLimits.grid + 1] {
      #expect(throws: BoardError.outOfRange("grid")) { try board.setGrid(spacing) }
    }
    let id = try #require(board.state.settingsIDs.first)
    try board.gesture {
      try board.stage(id, .title, .text(String(repeating: "y", count: 1000)))
      try board.stage(id, .background, .unsigned(1 << 40))
      try board.stage(id, .grid, .text("wide"))
      try board.stage(id, .language, .text(String(repeating: "z", count: 17)))
    }
    #expect(board.settings == BoardSettings())
  }

  @Test("AirplaIN 1.2: equal profiles have equal hashes; each icon is one emoji that fits") func profiles() throws {
    let profile = Profile(name: "Kim", icon: .foggy)
    #expect(Set([profile, Profile(name: "Kim", icon: .foggy)]).count == 1)
    #expect(ProfileIcon.allCases.count == 9)
    for icon in ProfileIcon.allCases {
      #expect(icon.emoji.count == 1 && icon.emoji.utf8.count <= BoardLimits.iconBytes)
    }
    let board = boards.anna
    try board.say("hello", as: profile)
    #expect(board.chat.map(\.icon) == ["😶‍🌫️"])
    #expect(board.chat.first?.json.contains(#""name":"Kim","icon":"😶‍🌫️""#) ?? false)
    #expect(throws: BoardError.tooLong("name")) {
      try board.say("x", as: Profile(name: String(repeating: "n", count: 65), icon: .angel))
    }
    let id = board.chat[0].id
    try board.gesture { try board.stage(id, .chatIcon, .text("seventeen bytes..")) }
    #expect(board.chat.first?.icon == nil)
  }

  @Test func `color and line width can be set on an object, and on a group through the board`() throws {
    let board = boards.anna
    let drawing = try board.createDrawing([InkPoint(x: 0, y: 0)])
    let photo = try board.createPhoto(RandomEditing.asset(1), at: Point(x: 0, y: 0))
    let object = try #require(board.object(drawing) as? DrawingObject)
    try object.setColor(0x1234)
    try object.setLineWidth(7.5)
    #expect(object.color == 0x1234 && object.lineWidth == 7.5)
    #expect(throws: BoardError.wrongKind(photo)) { try board.setColor(1, of: photo) }
    #expect(throws: BoardError.wrongKind(photo)) { try board.setLineWidth(1, of: photo) }
    for width in [0, -1, Double.nan, 1025] {
      #expect(throws: BoardError.outOfRange("lineWidth")) { try object.setLineWidth(width) }
    }
    let group = try board.group([drawing])
    try board.setColor(0xFF, of: group)
    #expect(object.color == 0xFF)
    try object.setColor(nil)
    #expect(object.snapshot?.color == nil)
    _ = board.takeBatches()
    try object.setColor(nil)
    #expect(board.takeBatches().isEmpty)
    try board.undo()
    #expect(object.color == 0xFF)
  }
}

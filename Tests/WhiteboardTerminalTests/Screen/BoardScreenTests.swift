import Testing
import WhiteboardRendering

@testable import Whiteboard
@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("The composition of the screen") struct BoardScreenTests {
  @Test("the parts are drawn from the board to the warning, each over the ones before") func order() throws {
    var desk = try Desk()
    desk.client.resize(columns: 80, rows: 24)
    #expect(desk.lines()[11].contains("Drag to draw"))
    desk.client.overlay = .panel(Panel("Objects", .lines(["one"])))
    #expect(!desk.lines().contains { $0.contains("Drag to draw") }, "a panel covers the board")
    desk.client.say(String(repeating: "long ", count: 40), isBad: true)
    #expect(desk.lines()[22].contains("Esc closes") && desk.lines()[1].contains("Objects"))
    #expect(desk.lines()[23].contains("saved"), "the last row stays visible")
  }

  @Test("the prompt replaces the message in the last row, and the message moves up") func lastRow() throws {
    var desk = try Desk()
    desk.client.say("a message")
    #expect(desk.lines()[23].hasPrefix(" a message"))
    _ = desk.type(":und")
    #expect(desk.lines()[23] == ":und" && desk.lines()[22].hasPrefix(" a message"))
  }

  @Test("the cursor is in the prompt, else in the text, else at the keyboard's pen") func cursor() throws {
    var desk = try Desk()
    #expect(desk.client.frame().cursor == nil)
    _ = desk.type(";")
    let pen = try #require(desk.client.frame().cursor)
    #expect(pen == (37, 12))
    _ = desk.type("t^[B^[B^[B^[B ")
    let text = try #require(desk.client.frame().cursor)
    #expect(desk.client.workspace.typing != nil && text != pen)
    _ = desk.type("\r:ab")
    let prompt = try #require(desk.client.frame().cursor)
    #expect(prompt == (3, 23))
  }
}

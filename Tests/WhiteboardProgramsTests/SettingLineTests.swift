import CommandLines
import PeerSession
import Testing

@testable import WhiteboardPrograms

@Suite struct SettingLineTests {
  @Test("a secret setting is named with its origin, but its value is in no output") func secret() throws {
    let code = JoinCode.random().text
    let settings = try Settings(
      SettingEntry.ofBoard,
      environment: { $0 == "WHITEBOARD_CODE" ? code : $0 == "WHITEBOARD_NAME" ? "Ada" : nil },
      file: nil
    )
    func line(_ name: String) throws -> SettingLine {
      SettingLine(try #require(SettingEntry.ofBoard.first { $0.name == name }), settings)
    }
    for text in try [line("code").json, line("code").text(withOrigin: true), line("code").text(withOrigin: false)] {
      #expect(!text.contains(code))
      #expect(text.contains("WHITEBOARD_CODE"))
    }
    #expect(try line("name").text(withOrigin: false) == "name = Ada\n")
  }
}

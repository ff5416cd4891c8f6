import CommandLines
import Testing
import WhiteboardKit
import WhiteboardRendering
import WhiteboardTerminal

@Suite struct TerminalSettingsTests {
  private func settings(_ file: String, _ environment: [String: String] = [:]) throws -> Settings {
    try Settings(
      SettingEntry.ofBoard + SettingEntry.ofTerminal,
      environment: { environment[$0] },
      file: SettingsFile(file, path: "config")
    )
  }

  @Test("the settings file configures the terminal") func values() throws {
    let file = "graphics = sixel\npen = half\nmouse = off\ncolor = 24bit\nmotion = false\nkeys.undo = u"
    let settings = TerminalSettings(try settings(file))
    #expect(settings.graphics == .sixel)
    #expect(settings.pen == .half)
    #expect(settings.mouse == .off)
    #expect(settings.color == .full)
    #expect(!settings.allowsMotion)
    #expect(settings.keys == [KeyBinding(command: "undo", keys: ["u"], place: "config:6")])
    #expect(TerminalSettings(try self.settings("")) == TerminalSettings())
  }

  @Test("the user's settings have precedence over the terminal's capabilities") func features() throws {
    let features = TerminalFeatures { ["TERM": "xterm-256color", "LANG": "en_US.UTF-8"][$0] }
    #expect(features.applying(TerminalSettings()) == features)
    let chosen = features.applying(TerminalSettings(try settings("pen = ascii\ncolor = 16")))
    #expect(chosen.depth == .sixteen)
    #expect(chosen.dotStyle == .ascii)
  }

  @Test("links are shown only by terminals that are known to show them, and not in a multiplexer") func links() {
    func hasLinks(_ environment: [String: String]) -> Bool { TerminalFeatures { environment[$0] }.hasLinks }
    #expect(hasLinks(["TERM": "xterm-kitty"]) && hasLinks(["TERM": "foot-extra"]))
    #expect(hasLinks(["TERM": "xterm-256color", "VTE_VERSION": "7200"]))
    #expect(hasLinks(["TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"]))
    #expect(!hasLinks(["TERM": "xterm-256color"]) && !hasLinks(["TERM": "linux"]))
    #expect(!hasLinks(["TERM": "xterm-256color", "VTE_VERSION": "4800"]))
    #expect(!hasLinks(["TERM": "xterm-kitty", "TMUX": "/tmp/tmux"]))
  }

  @Test("NO_COLOR has precedence over the file, and WHITEBOARD_COLOR over NO_COLOR") func colorless() throws {
    let file = "color = 256"
    #expect(TerminalSettings(try settings(file, ["NO_COLOR": "1"])).color == .none)
    let both = ["NO_COLOR": "1", "WHITEBOARD_COLOR": "16"]
    #expect(TerminalSettings(try settings(file, both)).color == .sixteen)
  }

  @Test("every setting has its own name, flag and variable") func names() {
    let entries = SettingEntry.ofBoard + SettingEntry.ofTerminal
    #expect(Set(entries.map(\.name)).count == entries.count)
    #expect(Set(entries.map(\.flag)).count == entries.count)
    for entry in entries {
      if case .value(let text) = entry.standard { #expect(throws: Never.self) { try entry.check(text) } }
    }
  }
}

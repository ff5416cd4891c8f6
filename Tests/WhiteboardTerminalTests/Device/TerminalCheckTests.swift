import Testing
import WhiteboardDoctor
import WhiteboardKit
import WhiteboardTerminal

@Suite struct TerminalCheckTests {
  private func finding(_ environment: [String: String], tmux: String? = nil, size: (Int, Int)? = (100, 30))
    -> Doctor.Finding
  {
    let reading = SystemReading(
      file: { _ in nil },
      exists: { _ in false },
      output: { $0 == .tmuxPassthrough ? tmux : nil },
      environment: { environment[$0] }
    )
    return TerminalCheck(reading, TerminalSettings(), size: size).finding
  }

  @Test("the report of a terminal has its colors, line style and likely graphics") func fine() {
    let kitty = finding(["TERM": "xterm-kitty", "COLORTERM": "truecolor", "LANG": "C.UTF-8"])
    #expect(kitty.verdict == .fine)
    #expect(kitty.seen == "xterm-kitty, 100x30, all colors, lines drawn with braille, likely with kitty graphics.")
  }

  @Test("problems of a terminal are reported with a remedy") func notes() {
    let utf8 = ["TERM": "xterm", "LANG": "C.UTF-8"]
    #expect(finding(utf8, size: nil).verdict == .note)
    #expect(finding(["LANG": "C.UTF-8"]).advice?.contains("export TERM=") == true)
    #expect(finding(["TERM": "dumb"]).seen.contains("dumb"))
    #expect(finding(utf8, size: (30, 30)).seen.contains("30x30"))
    #expect(finding(["TERM": "xterm", "LANG": "C"]).advice?.contains("LC_ALL=C.UTF-8") == true)
    #expect(finding(["TERM": "linux", "LANG": "C.UTF-8"]).verdict == .fine)
    let tmux = utf8.merging(["TMUX": "/tmp/t,1,0", "KITTY_WINDOW_ID": "1"]) { $1 }
    #expect(finding(tmux, tmux: "off\n").advice?.contains("allow-passthrough on") == true)
    #expect(finding(tmux, tmux: "on\n").verdict == .fine)
  }
}

import Testing
import WhiteboardRendering

@testable import WhiteboardKit
@testable import WhiteboardTerminal

/// What `whiteboard-peer watch` shows on a terminal.
@Suite struct BroadcastScreenTests {
  private static let cell = TerminalFeatures.CellSize(width: 10, height: 20)

  private static func features(_ environment: [String: String], _ settings: TerminalSettings = TerminalSettings())
    -> TerminalFeatures
  { TerminalFeatures { environment[$0] }.applying(settings) }

  private static let colored = features(["TERM": "xterm-direct", "LANG": "C.UTF-8"])
  private static let plain = features(["TERM": "xterm", "LANG": "C.UTF-8", "NO_COLOR": "1"])

  private static let pixelGraphics: [TerminalSettings.Graphics] = [.kitty, .sixel]

  private func screen(_ events: WatchedEvent...) -> BroadcastScreen {
    var screen = BroadcastScreen(title: "standup")
    for event in events { screen.handle(event) }
    return screen
  }

  /// An event with a picture; `color` gives the color of each pixel.
  private func picture(_ width: Int, _ height: Int, _ color: (Int, Int) -> UInt32) throws -> WatchedEvent {
    let size = try #require(FrameSize(width: width, height: height))
    var pixels = FramePixels(size: size)
    let colors = (0..<height).flatMap { y in (0..<width).map { color($0, y) } }
    try #require(pixels.apply(FramePatch(area: size.area, pixels: colors)) != nil)
    return .picture(BroadcastPicture(number: 1, time: 0, content: .whole([])), pixels: pixels)
  }

  @Test("the last row names the board and the state") func states() throws {
    let format = BroadcastFormat(size: .fullHD, rate: 15, codec: .raw)
    func line(_ screen: BroadcastScreen) -> String {
      screen.drawing(60, 5, Self.cell, Self.colored).screen.lines[4].trimmed
    }
    var screen = screen()
    #expect(line(screen) == "standup · waiting for a member to broadcast · q quits")
    let failure = BroadcastNotice(code: "source-failed", message: "no paper\u{1B}[31m")
    for (event, words) in [
      (WatchedEvent.started(format), "standup · q quits"), (.paused, "standup · paused · q quits"),
      (.resumed, "standup · q quits"),
      (.finished(BroadcastNotice(.finished)), "standup · the broadcast has ended · q quits"),
      (.failed(BroadcastNotice(.sourceFailed)), "standup · the broadcaster has a problem · q quits"),
    ] {
      screen.handle(event)
      #expect(line(screen) == words)
    }
    screen.handle(.failed(failure))
    #expect(line(screen).contains("no paper") && !line(screen).contains("\u{1B}"))
    screen.waiting()
    #expect(line(screen).contains("waiting"))
  }

  @Test("with colors, each cell shows two pixels, and the picture keeps its proportions") func cells() throws {
    let event = try picture(40, 40) { x, y in x < 20 ? 0xFF0000 : y < 20 ? 0x00FF00 : 0x0000FF }
    let drawing = screen(event).drawing(40, 11, Self.cell, Self.colored)
    #expect(drawing.pixels.isEmpty)
    // Ten rows of cells are as high as 20 columns are wide.
    let row = drawing.screen.lines[0]
    #expect(row.trimmed == String(repeating: "▀", count: 20))
    #expect(row.prefix { $0 == " " }.count == 10)
    #expect(drawing.screen[10, 0].style.foreground == CellColor(rgb: 0xFF0000))
    #expect(drawing.screen[29, 0].style.background == CellColor(rgb: 0x00FF00))
    #expect(drawing.screen[29, 9].style.background == CellColor(rgb: 0x0000FF))
  }

  @Test("without half blocks, each cell has the color of its part of the picture") func latin1() throws {
    let event = try picture(40, 40) { x, _ in x < 20 ? 0xFF0000 : 0x0000FF }
    let features = Self.features(["TERM": "xterm-direct", "LANG": "de_DE.ISO-8859-1"])
    let screen = screen(event).drawing(20, 11, Self.cell, features).screen
    #expect(!screen.lines.joined().contains("▀"))
    #expect(screen[0, 0].style.background == CellColor(rgb: 0xFF0000))
    #expect(screen[19, 5].style.background == CellColor(rgb: 0x0000FF))
  }

  @Test("NO_COLOR shows what differs from the background of the board as dots, in no color") func dots() throws {
    for (paper, ink) in [(UInt32(0xFFFFFF), UInt32(0)), (0x101010, 0xFFFF00)] {
      // A thin line, which takes only a part of each dot.
      let event = try picture(400, 400) { x, y in (100...102).contains(y) ? ink : paper }
      let screen = screen(event).drawing(20, 11, Self.cell, Self.plain).screen
      let marked = screen.lines.prefix(10).map { $0.contains { $0 != " " } }
      #expect(marked.indices.filter { marked[$0] } == [2])
      let row = screen.lines[2]
      #expect(Set(row).count == 1 && row.allSatisfy { "\u{2801}"..."\u{28FF}" ~= $0 })
      for x in 0..<20 { #expect(screen[x, 2].style == .plain) }
    }
  }

  @Test("without colors, an area has fewer dots than a line on it") func shading() throws {
    let event = try picture(400, 400) { x, y in
      guard x >= 200 else { return 0xFFFFFF }
      return (300...320).contains(y) ? 0 : 0xFFF3BF
    }
    let screen = screen(event).drawing(20, 11, Self.cell, Self.plain).screen
    func dots(_ x: Int, _ y: Int) -> Int {
      screen.lines[y].dropFirst(x).first?.unicodeScalars.first.map { ($0.value & 0xFF).nonzeroBitCount } ?? 0
    }
    #expect(screen.lines[1].hasPrefix("          "))
    #expect(dots(15, 7) > dots(15, 1))
    let ascii = Self.features(["TERM": "xterm", "LANG": "C", "NO_COLOR": "1"])
    let lines = self.screen(event).drawing(20, 11, Self.cell, ascii).screen.lines
    #expect(lines.prefix(10).allSatisfy { $0.allSatisfy { $0.isASCII } })
    #expect(lines[7].hasSuffix("##########"))
  }

  @Test("pixels replace the cells if the terminal supports graphics", arguments: pixelGraphics)
  func graphics(_ graphics: TerminalSettings.Graphics) throws {
    var settings = TerminalSettings()
    settings.graphics = graphics
    let event = try picture(40, 40) { _, _ in 0xFF0000 }
    let drawing = screen(event).drawing(20, 11, Self.cell, Self.features(["TERM": "xterm-direct"], settings))
    let start = graphics == .kitty ? "\u{1B}_G" : "\u{1B}P"
    #expect(String(decoding: drawing.pixels, as: UTF8.self).contains(start))
    #expect(!drawing.screen.lines.joined().contains("▀"))
  }

  @Test("the smallest terminals and pictures are drawn", arguments: [1, 2, 3]) func tiny(_ side: Int) throws {
    for (width, height) in [(1, 1), (4_096, 1), (1, 4_096)] {
      let screen = screen(try picture(width, height) { _, _ in 0x123456 })
      for features in [Self.colored, Self.plain] {
        #expect(screen.drawing(side, side, Self.cell, features).screen.lines.count == side)
      }
    }
  }
}

extension String {
  /// The text without the spaces at its ends.
  fileprivate var trimmed: String {
    guard let first = firstIndex(where: { $0 != " " }), let last = lastIndex(where: { $0 != " " }) else { return "" }
    return String(self[first...last])
  }
}

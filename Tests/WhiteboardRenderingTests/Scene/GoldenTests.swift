import PeerTestKit
import Testing

@testable import Whiteboard
@testable import WhiteboardRendering

/// Pictures of boards in cells; look at the files in `Goldens` to judge them.
@Suite("Golden pictures of boards") struct GoldenTests {
  @Test("lines in every dot style", arguments: DotStyle.allCases) func lines(style: DotStyle) throws {
    Golden.check(Scenes.canvas(try Scenes.drawing(), Scenes.viewport, style).screen, "lines-\(style)")
  }

  @Test("lines without colors", arguments: [DotStyle.braille, .ascii]) func monochrome(style: DotStyle) throws {
    var canvas = Scenes.canvas(try Scenes.drawing(), Scenes.viewport, style)
    canvas.isMonochrome = true
    canvas.paint()
    Golden.check(canvas.screen, "lines-\(style)-monochrome")
  }

  /// The written bytes, with ^ for Escape.
  @Test("the bytes of some lines, for terminals of every color depth", arguments: ColorDepth.allCases) func depths(
    depth: ColorDepth
  ) throws {
    let screen = Scenes.canvas(try Scenes.drawing()).screen
    let bytes = ScreenWriter(depth: depth).bytes(from: nil, to: screen)
    let text = String(decoding: bytes, as: UTF8.self).replacing("\u{1B}", with: "␛")
    Golden.check(text.replacing("\n", with: "␊") + "\n", "depth-\(depth.rawValue)")
  }

  @Test("zoomed in and zoomed out", arguments: [25, 50, 400]) func zooms(percent: Int) throws {
    let board = try Scenes.drawing()
    try board.createText("hello there", at: Point(x: -100, y: -50))
    var viewport = Scenes.viewport
    viewport.zoom = Double(percent) / 100
    if percent > 100 { viewport.center = Point(x: -100, y: -40) }
    Golden.check(Scenes.canvas(board, viewport).screen, "zoom-\(percent)")
  }

  @Test("texts: wide and joined letters, colors, lines, sizes and angles", arguments: DotStyle.allCases) func texts(
    style: DotStyle
  ) throws {
    guard style != .half else { return }
    let board = try Scenes.board()
    try board.createText("hello 漢字", at: Point(x: -100, y: -84))
    try board.createText("👩‍👩‍👧 🇩🇪 e\u{301} ❤️", at: Point(x: 60, y: -84), color: 0xE69F_00FF)
    try board.createText("one line that is longer than its box\nand another", at: Point(x: -60, y: -20))
    let large = try board.createText("large", at: Point(x: 100, y: -20))
    try board.object(large)?.scale(to: 2)
    let small = try board.createText("small", at: Point(x: 100, y: 12))
    try board.object(small)?.scale(to: 0.5)
    let turned = try board.createText("turned", at: Point(x: -100, y: 60), color: 0x56B4_E9FF)
    try board.object(turned)?.rotate(to: .degrees(30))
    try board.createText("שלום abc", at: Point(x: 60, y: 60))
    let foreign = try board.createText("", at: Point(x: 100, y: 84))
    try board.gesture { () throws(BoardError) in try board.stageText("[2J\u{1B}[31m", of: foreign) }
    Golden.check(Scenes.canvas(board, Scenes.viewport, style).screen, "texts-\(style)")
  }

  @Test("wide letters at the edges of the view") func edges() throws {
    let board = try Scenes.board()
    for (row, shift) in [-168.0, -160, -152, 152, 160, 168].enumerated() {
      try board.createText("漢字漢", at: Point(x: shift, y: Double(row) * 32 - 88))
    }
    Golden.check(Scenes.canvas(board).screen, "wide-edges")
  }

  @Test("objects in front hide those behind") func overlap() throws {
    let board = try Scenes.board()
    let back = try board.createText("behind the others", at: Point(x: 0, y: -40))
    try board.createDrawing(try Scenes.ink([(-150, -80), (150, 80)]), lineWidth: 12, color: 0xE860_1CFF)
    try board.createDrawing(try Scenes.ink([(-150, 80), (150, -80)]), lineWidth: 12, color: 0x3B8F_D9FF)
    try board.createText("in front", at: Point(x: 0, y: 0))
    try board.createConnectFour(at: Point(x: 100, y: 0))
    Golden.check(Scenes.canvas(board).screen, "overlap")
    try board.reorder([back], .front)
    Golden.check(Scenes.canvas(board).screen, "overlap-raised")
  }

  @Test("strokes that are scaled, rotated and partly erased") func strokes() throws {
    let board = try Scenes.board()
    let box = try Scenes.ink([(-40, -24), (40, -24), (40, 24), (-40, 24), (-40, -24)])
    for (place, angle, scale) in [
      (Point(x: -104, y: -40), 0.5, 1.0), (Point(x: 0, y: -40), 0, 1.5), (Point(x: 104, y: -40), .pi / 4, 0.5),
    ] {
      let id = try board.createDrawing(box)
      try board.object(id)?.move(to: place)
      try board.object(id)?.rotate(to: .radians(angle))
      try board.object(id)?.scale(to: scale)
    }
    try board.createDrawing(try Scenes.ink([(-150, 56), (150, 56)]), lineWidth: 8)
    _ = try board.erase(along: [Point(x: -60, y: 30), Point(x: -20, y: 80)], radius: 10)
    let pressed = (0...20).map { step in
      let pressure = UInt8(min(255, 13 * step + 1))
      return InkPoint(x: Int32(240 * step - 2_400), y: 1_280, pressure: pressure)
    }
    try board.createDrawing(pressed, lineWidth: 24)
    Golden.check(Scenes.canvas(board).screen, "strokes")
  }

  @Test("games in progress", arguments: DotStyle.allCases) func games(style: DotStyle) throws {
    guard style != .half else { return }
    let board = try Scenes.board()
    let game = try board.createConnectFour(at: Point(x: -80, y: 0))
    try board.game(game).play(.drop(column: 3))
    var random = SeededGenerator(seed: 3)
    let word = try board.createWordle(at: Point(x: 80, y: 0), using: &random)
    for guess in ["crane", "moist"] { try board.game(word).play(.guess(guess)) }
    var canvas = Scenes.canvas(board, Scenes.viewport, style)
    canvas.names = [board.member: "anna"]
    canvas.paint()
    Golden.check(canvas.screen, "games-\(style)")
  }

  @Test("photos: missing, loaded, in pixels, and rotated") func photos() throws {
    let board = try Scenes.board()
    let assets = try [Scenes.photo(1), Scenes.photo(2), Scenes.photo(3), Scenes.photo(4)]
    board.assets = Set(assets.dropFirst().map(\.id))
    let size = Size(width: 64, height: 96)
    for (index, asset) in assets.enumerated() {
      let id = try board.createPhoto(
        asset,
        at: Point(x: Double(index) * 84 - 124, y: 0),
        size: index == 0 ? Size(width: 80, height: 96) : size
      )
      if index == 3 { try board.object(id)?.rotate(to: .radians(0.6)) }
    }
    try board.createDrawing(try Scenes.ink([(-156, 60), (156, -20)]), color: 0xFFFF_FFFF)
    var canvas = Scenes.canvas(board)
    let pixels = PhotoPixels(width: 4, height: 4, pixels: (0..<16).map { 0x102030 * UInt32($0) })
    canvas.setPhoto(pixels, of: assets[1].id)
    canvas.setPhoto(pixels, of: assets[3].id)
    canvas.shownAsPixels = [assets[2].id]
    canvas.paint()
    Golden.check(canvas.screen, "photos")
  }
}

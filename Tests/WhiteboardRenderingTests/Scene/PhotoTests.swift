import Testing
import Whiteboard

@testable import WhiteboardRendering

@Suite("Photos on a terminal") struct PhotoTests {
  @Test("cells of a photo that the terminal shows are blank, and lines over it are visible") func blank() throws {
    let board = try Scenes.board()
    let asset = try Scenes.photo()
    board.assets = [asset.id]
    try board.createPhoto(asset, at: Point(x: 0, y: 0), size: Size(width: 160, height: 96))
    try board.createDrawing(try Scenes.ink([(-40, 0), (40, 0)]))
    var canvas = Scenes.canvas(board)
    canvas.setPhoto(PhotoPixels(width: 1, height: 1, pixels: [0xFF0000]), of: asset.id)
    canvas.paint()
    #expect(canvas.screen[12, 4].style.background.rgb == 0xFF0000)
    canvas.shownAsPixels = [asset.id]
    canvas.paint()
    let area = CellArea(x: 10, y: 3, width: 20, height: 6)
    for y in area.rows where y != 5 && y != 6 { for x in area.columns { #expect(canvas.screen[x, y] == ScreenCell()) } }
    #expect(canvas.screen[20, 5].glyph != .space)
    #expect(canvas.screen[20, 5].style.background == .terminal)
    // A background of the board would cover the pixels.
    canvas.background = 0xFFFFFF
    canvas.paint()
    var screen = Screen(width: 50, height: 14)
    screen.copy(canvas.screen, to: (5, 1))
    canvas.setBackground(of: &screen, in: CellArea(x: 5, y: 1, width: 40, height: 12))
    #expect(screen[15, 4] == ScreenCell(.space, CellStyle(CellColor(rgb: 0))))
    #expect(screen[6, 2].style.background == CellColor(rgb: 0xFFFFFF))
    #expect(screen[2, 2] == ScreenCell())
    canvas.background = nil
    canvas.shownAsPixels = []
    canvas.paint()
    #expect(canvas.screen[12, 4].style.background.rgb == 0xFF0000)
  }
}

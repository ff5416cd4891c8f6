import Testing
import Whiteboard

@testable import WhiteboardRendering

@Suite("Photos in view")
struct PhotoInViewTests {
  @Test("a photo says its cells, its part in view, and what covers it")
  func photos() throws {
    let board = try Scenes.board()
    let asset = try Scenes.photo()
    board.assets = [asset.id]
    let size = Size(width: 160, height: 96)
    let left = try board.createPhoto(asset, at: Point(x: -160, y: 0), size: size)
    try board.createDrawing(try Scenes.ink([(-150, 0), (-120, 16)]))
    let turned = try board.createPhoto(asset, at: Point(x: 40, y: 0), size: size)
    try board.object(turned)?.changeAngle(to: 1)
    // Not here, and not in view.
    try board.createPhoto(try Scenes.photo(2), at: Point(x: 100, y: 0))
    try board.createPhoto(asset, at: Point(x: 5_000, y: 0))
    let photos = Scenes.canvas(board).photosInView()
    #expect(photos.map(\.id) == [left, turned])
    let first = try #require(photos.first)
    #expect(first.area == CellArea(x: 0, y: 3, width: 10, height: 6))
    #expect(first.crop == Rectangle(Point(x: 0.5, y: 0), Point(x: 1, y: 1)))
    #expect(first.angle == 0)
    #expect(first.covers.count == 1)
    #expect(photos.last?.angle != 0)
    #expect(photos.last?.covers.count == 1, "the photo that is on its way")
  }

  @Test(
    "however far a photo is cut, its part in view is that of its cells",
    arguments: [0.3, 1, 7]
  )
  func crops(zoom: Double) throws {
    let board = try Scenes.board()
    let asset = try Scenes.photo()
    board.assets = [asset.id]
    try board.createPhoto(asset, at: Point(x: 3, y: 5))
    var viewport = Scenes.viewport
    viewport.zoom = zoom
    for shift in stride(from: -300.0, through: 300, by: 37) {
      viewport.center = Point(x: shift, y: -shift / 2)
      for photo in Scenes.canvas(board, viewport).photosInView() {
        let area = photo.area
        #expect(
          !area.isEmpty && area.clamped(to: CellArea(x: 0, y: 0, width: 40, height: 12)) == area
        )
        let (least, greatest) = (photo.crop.least, photo.crop.greatest)
        #expect(least.x >= 0 && least.y >= 0 && greatest.x <= 1 && greatest.y <= 1)
        // As many cells for the whole width wherever it is cut.
        let whole = Double(area.width) / (greatest.x - least.x)
        #expect(abs(whole - whole.rounded()) < 1e-6)
        #expect(abs(whole - 200 * viewport.scale / 2) < 1.01)
      }
    }
  }

  @Test("cells of a photo that the terminal shows are blank, and lines over it show")
  func blank() throws {
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
    let area = try #require(canvas.photosInView().first?.area)
    #expect(area == CellArea(x: 10, y: 3, width: 20, height: 6))
    for y in area.rows where y != 5 && y != 6 {
      for x in area.columns { #expect(canvas.screen[x, y] == Cell()) }
    }
    #expect(canvas.screen[20, 5].glyph != .space)
    #expect(canvas.screen[20, 5].style.background == .terminal)
    canvas.shownAsPixels = []
    canvas.paint()
    #expect(canvas.screen[12, 4].style.background.rgb == 0xFF0000)
  }
}

import CCairo
import Whiteboard
import WhiteboardRendering

/// Draws a board on a page of cairo.
struct PagePainter {
  let picture: BoardPicture
  let page: OpaquePointer
  /// Pixels, or points of a PDF, for each board unit.
  let scale: Double
  let isPDF: Bool
  let ink: PageInk

  init(_ picture: BoardPicture, on page: OpaquePointer, scale: Double, isPDF: Bool) {
    self.picture = picture
    self.page = page
    self.scale = scale
    self.isPDF = isPDF
    ink = PageInk(paper: picture.background)
  }

  /// Draws the paper and every object of the region.
  func paint() throws(PicturePageError) {
    if let background = picture.background {
      set(PageInk.Color(rgb: background))
      cairo_paint(page)
    }
    cairo_scale(page, scale, scale)
    cairo_translate(page, -picture.region.least.x, -picture.region.least.y)
    for item in picture.items where item.pageBounds.touches(picture.region) {
      cairo_save(page)
      draw(item)
      cairo_restore(page)
      try PicturePage.check(cairo_status(page))
    }
  }

  private func draw(_ item: BoardCanvas.Item) {
    let snapshot = item.snapshot
    switch snapshot.kind {
    case .drawing:
      PageStroke(snapshot, picture.region, scale).draw(on: page, ink.color(snapshot.color))
    case .text:
      drawText(snapshot)
    case .photo:
      drawPhoto(snapshot)
    case .game:
      guard let game = item.game else { return }
      drawPanel(
        GamePanel.label(game, isASCII: false) {
          picture.names[$0] ?? String($0.description.prefix(8))
        },
        snapshot
      )
    default:
      drawBox("?", snapshot)
    }
  }

  /// Makes the object's own coordinates, from its centre on, those that are drawn in.
  func enter(_ snapshot: ObjectSnapshot) {
    cairo_translate(page, snapshot.centerPosition.x, snapshot.centerPosition.y)
    cairo_rotate(page, snapshot.angle)
    cairo_scale(page, snapshot.scale, snapshot.scale)
  }

  func set(_ color: PageInk.Color) {
    cairo_set_source_rgba(page, color.red, color.green, color.blue, color.opacity)
  }
}

import Whiteboard
import WhiteboardRendering

/// A page in characters, as a terminal that is large enough would show it.
package enum TextPage {
  /// The maximum number of columns; a wider board is scaled down.
  package static let columnLimit = 160
  /// The maximum number of rows; a taller board is scaled down.
  package static let rowLimit = 400

  /// Returns the page as lines that end with line feeds.
  package static func text(_ picture: BoardPicture) -> String {
    let region = picture.region
    let columns = (region.greatest.x - region.least.x) / BoardPicture.letter.width
    let rows = (region.greatest.y - region.least.y) / BoardPicture.letter.height
    let shrink = min(1, Double(columnLimit) / max(columns, 1), Double(rowLimit) / max(rows, 1))
    var viewport = Viewport(
      center: region.center,
      scale: Viewport.unitScale * shrink,
      columns: Int((columns * shrink).rounded(.up)),
      rows: Int((rows * shrink).rounded(.up))
    )
    viewport.columns = min(viewport.columns, columnLimit)
    viewport.rows = min(viewport.rows, rowLimit)
    var canvas = BoardCanvas(viewport)
    canvas.names = picture.names
    canvas.grid = picture.grid
    for item in picture.items { canvas.set(item) }
    canvas.paint()
    return canvas.screen.lines.map { $0 + "\n" }.joined()
  }
}

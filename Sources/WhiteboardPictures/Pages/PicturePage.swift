import CCairo
import Whiteboard
import WhiteboardRendering

/// Pages of a board as files: PNG and PDF.
///
/// Objects show as on the board: strokes with round ends, as broad as they are and thinner where the pen was
/// pressed less, without what was erased; words in letters of 8 by 16 board units times the object's scale, broken
/// into lines where a terminal breaks them at 100 %; photos turned and scaled, those that are not here as grey boxes;
/// games as the panel that a terminal has. What of a stroke is not committed yet is not on a page.
///
/// Words are set by cairo's simple interface, in the system's `monospace`: letters that this one font lacks show as
/// boxes, Arabic is not joined, and letters larger than 8,000 pixels are left out. In a PDF words stay words, and a JPEG goes in as it is.
package enum PicturePage {
  /// The most pixels of a PNG, and the most of a side.
  package static let pixelLimit = BoardLimits.photoPixels
  /// The most pixels of a side of a PNG.
  package static let sideLimit = CairoImage.longestSide
  /// The longest side of a PDF's page in points; a larger board is drawn smaller.
  static let pointLimit = 14_400.0
  /// Points of a PDF for each board unit: a unit is a pixel of a 96th of an inch.
  static let pointsPerUnit = 0.75

  /// The page as a PNG of so many pixels for each board unit.
  ///
  /// It takes time and memory in proportion to its pixels: call it off the main loop.
  package static func png(
    _ picture: BoardPicture,
    scale: Double
  ) throws(PicturePageError) -> [UInt8] {
    let (width, height) = try size(picture)
    guard scale.isFinite, scale > 0 else { throw .scale(scale) }
    let across = max((width * scale).rounded(.up), 1)
    let down = max((height * scale).rounded(.up), 1)
    let longest = Double(sideLimit)
    guard across * down <= Double(pixelLimit), across <= longest, down <= longest else {
      let fitting = min(
        (Double(pixelLimit) / (width * height)).squareRoot(),
        longest / max(width, height)
      )
      throw .tooLarge(width: across, height: down, fitting: fitting)
    }
    guard let image = CairoImage(width: Int(across), height: Int(down), hasOpacity: true) else {
      throw .outOfMemory
    }
    try draw(picture, on: image.surface, scale: scale, isPDF: false)
    let sink = ByteSink()
    try check(
      withExtendedLifetime(image) {
        cairo_surface_write_to_png_stream(image.surface, ByteSink.write, sink.closure)
      }
    )
    return sink.bytes
  }

  /// Returns the page as a PDF with one page.
  package static func pdf(_ picture: BoardPicture) throws(PicturePageError) -> [UInt8] {
    let (width, height) = try size(picture)
    let scale = min(pointsPerUnit, pointLimit / max(width, height))
    let sink = ByteSink()
    guard
      let surface = cairo_pdf_surface_create_for_stream(
        ByteSink.write,
        sink.closure,
        max(width * scale, 1),
        max(height * scale, 1)
      )
    else { throw .outOfMemory }
    defer { cairo_surface_destroy(surface) }
    // The surface writes until it is finished, whatever goes wrong before.
    defer { withExtendedLifetime(sink) { cairo_surface_finish(surface) } }
    try draw(picture, on: surface, scale: scale, isPDF: true)
    cairo_surface_finish(surface)
    try check(cairo_surface_status(surface))
    return sink.bytes
  }

  private static func size(
    _ picture: BoardPicture
  ) throws(PicturePageError) -> (width: Double, height: Double) {
    let region = picture.region
    let width = region.greatest.x - region.least.x
    let height = region.greatest.y - region.least.y
    guard width > 0, height > 0, width.isFinite, height.isFinite else { throw .empty }
    return (width, height)
  }

  private static func draw(
    _ picture: BoardPicture,
    on surface: OpaquePointer,
    scale: Double,
    isPDF: Bool
  ) throws(PicturePageError) {
    guard let page = cairo_create(surface) else { throw .outOfMemory }
    defer { cairo_destroy(page) }
    try PagePainter(picture, on: page, scale: scale, isPDF: isPDF).paint()
    if isPDF { cairo_show_page(page) }
    try check(cairo_status(page))
  }

  static func check(_ status: cairo_status_t) throws(PicturePageError) {
    guard status != CAIRO_STATUS_SUCCESS else { return }
    if status == CAIRO_STATUS_NO_MEMORY { throw .outOfMemory }
    throw .cairo(String(cString: cairo_status_to_string(status)))
  }
}

/// The reason why there is no page.
package enum PicturePageError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The region has no area.
  case empty
  /// A scale that is no number above zero.
  case scale(Double)
  /// More pixels than a picture may have, and the scale at which they fit.
  case tooLarge(width: Double, height: Double, fitting: Double)
  /// There is no memory for it.
  case outOfMemory
  /// The library's own words.
  case cairo(String)

  package var description: String {
    switch self {
    case .empty: return "there is nothing to show: the region has no width or no height"
    case .scale(let scale): return "\(scale) is no scale; give a number above 0"
    case .tooLarge(let width, let height, let fitting):
      let floor = (fitting * 1000).rounded(.down) / 1000
      let advice =
        floor > 0 ? "use a scale of at most \(floor), or a smaller region" : "use a smaller region"
      return
        "the picture would be \(Self.whole(width)) by \(Self.whole(height)) pixels, and at most "
        + "\(PicturePage.pixelLimit / 1_000_000) million are drawn, \(PicturePage.sideLimit) in a side; "
        + advice
    case .outOfMemory: return "there is no memory for a picture of this size; use a smaller scale"
    case .cairo(let words): return "the picture cannot be drawn: \(words)"
    }
  }

  private static func whole(_ value: Double) -> String {
    Int(exactly: value.rounded()).map { "\($0)" } ?? "\(value)"
  }
}

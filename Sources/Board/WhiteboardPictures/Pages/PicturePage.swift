import CCairo
import Whiteboard
import WhiteboardRendering

/// A namespace for drawing pages of a board as PNG and PDF files. Objects look as they do on the board. Strokes have
/// round ends and their real width, are thinner where the pen pressure was lower, and omit erased parts. Letters are 8
/// by 16 board units, times the object's scale; lines break in the same places as on a terminal at 100 % zoom. Photos
/// are rotated and scaled; missing photos are gray boxes. Games look like their panels on a terminal. The part of a
/// stroke that is not committed yet is not on the page. Words are drawn with Pango. Letters that no font of the system
/// has are shown as boxes with a warning, and letters larger than 8,000 pixels are left out. In a PDF, words stay text,
/// and a JPEG is embedded unchanged.
package enum PicturePage {
  package static let pixelLimit = BoardLimits.photoPixels
  package static let sideLimit = CairoImage.longestSide
  /// The longest side of a PDF page, in points; a larger board is scaled down.
  static let pointLimit = 14_400.0
  /// The number of PDF points for each board unit; a board unit is a pixel of 1/96 inch.
  static let pointsPerUnit = 0.75
  private static let margin = 36.0
  /// The number of PNG pixels for each board unit if the user gave none; small letters are legible.
  static let pixelsPerUnit = 2.0

  /// Returns the page as a PNG with `scale` pixels for each board unit. If `scale` is nil, the default is 2, or less on
  /// a large board. If `longestSide` is not nil, each side has at most this number of pixels. Time and memory are
  /// proportional to the number of pixels. Call this function off the main loop.
  package static func png(_ picture: BoardPicture, scale chosen: Double?, longestSide: Int? = nil)
    throws(PicturePageError) -> ExportedFile
  {
    var scale = chosen ?? pixelsPerUnit
    guard scale.isFinite, scale > 0 else { throw .scale(scale) }
    func fitting(_ picture: BoardPicture) throws(PicturePageError) -> Double {
      let (width, height) = try size(picture)
      // Subtract a pixel from each side, because sides are rounded up.
      let area = (Double(pixelLimit) / (width * height)).squareRoot() - 1 / min(width, height)
      return min(max(area, 1 / max(width, height)), Double(sideLimit - 1) / max(width, height))
    }
    var (picture, warnings) = (picture, [String]())
    if try fitting(picture) < scale, let kept = picture.withoutStrays() {
      picture = kept.picture
      warnings.append(warning(about: kept.strays))
    }
    let (width, height) = try size(picture)
    // Sides are rounded up.
    if let longestSide { scale = min(scale, (Double(longestSide) - 0.5) / max(width, height)) }
    let largest = try fitting(picture)
    if scale > largest {
      guard chosen == nil else { throw .tooLarge(width: width * scale, height: height * scale, fitting: largest) }
      scale = largest
      let pixels = (largest * 1_000).rounded(.down) / 1_000
      warnings.append(
        "the board is large, so the picture has only \(pixels) pixels for each unit; export a region for more"
      )
    }
    let across = max((width * scale).rounded(.up), 1)
    let down = max((height * scale).rounded(.up), 1)
    guard let image = CairoImage(width: Int(across), height: Int(down), hasOpacity: true) else { throw .outOfMemory }
    warnings += try draw(picture, on: image.surface, scale: scale, isPDF: false)
    let sink = ByteSink()
    let isFlat = picture.background != nil && !picture.items.contains { $0.snapshot.kind == .photo }
    try check(
      withExtendedLifetime(image) {
        isFlat
          ? encodeFlat(image, to: sink)
          : cairo_surface_write_to_png_stream(image.surface, ByteSink.write, sink.closure)
      }
    )
    return ExportedFile(bytes: sink.bytes, warnings: warnings)
  }

  /// Encodes an opaque picture without photos.
  private static func encodeFlat(_ image: CairoImage, to sink: ByteSink) -> cairo_status_t {
    cairo_surface_flush(image.surface)
    guard let pixels = cairo_image_surface_get_data(image.surface) else { return CAIRO_STATUS_NO_MEMORY }
    let stride = cairo_image_surface_get_stride(image.surface)
    let (width, height) = (Int32(image.width), Int32(image.height))
    let isWritten = whiteboard_png(pixels, width, height, stride, ByteSink.write, sink.closure)
    return isWritten == 0 ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS
  }

  /// Returns a PDF with a page for each picture. Each page has the orientation of its picture, and the size of its
  /// picture if `paper` is nil.
  package static func pdf(_ pictures: [BoardPicture], on paper: PaperSize? = nil) throws(PicturePageError)
    -> ExportedFile
  {
    var warnings: [String] = []
    let sink = ByteSink()
    guard let surface = cairo_pdf_surface_create_for_stream(ByteSink.write, sink.closure, 1, 1) else {
      throw .outOfMemory
    }
    defer { cairo_surface_destroy(surface) }
    // Finish the surface even after an error, because an unfinished surface may still write.
    defer { withExtendedLifetime(sink) { cairo_surface_finish(surface) } }
    for picture in pictures {
      var picture = picture
      var (width, height) = try size(picture)
      if max(width, height) * pointsPerUnit > pointLimit, let kept = picture.withoutStrays() {
        picture = kept.picture
        (width, height) = try size(picture)
        warnings.append(warning(about: kept.strays))
      }
      var scale = min(pointsPerUnit, pointLimit / max(width, height))
      var page = Size(width: max(width * scale, 1), height: max(height * scale, 1))
      if let paper {
        let (short, long) = paper.sides
        page = width > height ? Size(width: long, height: short) : Size(width: short, height: long)
        let (across, down) = (page.width - 2 * margin, page.height - 2 * margin)
        scale = min(across / width, down / height, 2 * pointsPerUnit)
      }
      cairo_pdf_surface_set_size(surface, page.width, page.height)
      let corner = Point(x: (page.width - width * scale) / 2, y: (page.height - height * scale) / 2)
      let problems = try draw(picture, on: surface, scale: scale, isPDF: true, at: paper == nil ? nil : corner)
      warnings += problems.filter { !warnings.contains($0) }
    }
    cairo_surface_finish(surface)
    try check(cairo_surface_status(surface))
    return ExportedFile(bytes: sink.bytes, warnings: warnings)
  }

  private static func warning(about strays: [BoardCanvas.Item]) -> String {
    let names = strays.prefix(3).map { stray in
      let center = stray.snapshot.centerPosition
      return "\(stray.snapshot.id) at \(DecimalText.hundredths(center.x)),\(DecimalText.hundredths(center.y))"
    }
    let more = strays.count > 3 ? " and \(strays.count - 3) more" : ""
    let verbs =
      strays.count == 1
      ? "an object is far from the others and is" : "\(strays.count) objects are far from the others and are"
    let advice =
      strays.count == 1 ? "to see it, export the region around it" : "to see them, export the regions around them"
    return "\(verbs) not in the picture: \(names.joined(separator: ", "))\(more); \(advice)"
  }

  private static func size(_ picture: BoardPicture) throws(PicturePageError) -> (width: Double, height: Double) {
    let region = picture.region
    let width = region.greatest.x - region.least.x
    let height = region.greatest.y - region.least.y
    guard width > 0, height > 0, width.isFinite, height.isFinite else { throw .empty }
    return (width, height)
  }

  /// Draws a picture; returns the warnings about the page. If `corner` is given, the upper left corner of the region is
  /// at `corner`, and nothing outside the region is drawn.
  private static func draw(
    _ picture: BoardPicture,
    on surface: OpaquePointer,
    scale: Double,
    isPDF: Bool,
    at corner: Point? = nil
  ) throws(PicturePageError) -> [String] {
    guard let page = cairo_create(surface) else { throw .outOfMemory }
    defer { cairo_destroy(page) }
    if let corner {
      let (width, height) = try size(picture)
      cairo_translate(page, corner.x, corner.y)
      cairo_rectangle(page, 0, 0, width * scale, height * scale)
      cairo_clip(page)
    }
    let fonts = PageFonts()
    try PagePainter(picture, on: page, scale: scale, isPDF: isPDF, fonts: fonts).paint()
    if isPDF { cairo_show_page(page) }
    try check(cairo_status(page))
    return fonts.warning.map { [$0] } ?? []
  }

  static func check(_ status: cairo_status_t) throws(PicturePageError) {
    guard status != CAIRO_STATUS_SUCCESS else { return }
    if status == CAIRO_STATUS_NO_MEMORY { throw .outOfMemory }
    throw .cairo(String(cString: cairo_status_to_string(status)))
  }
}

package enum PicturePageError: Error, Hashable, Sendable, CustomStringConvertible {
  case empty
  case scale(Double)
  /// The page would have too many pixels. The values are its size in pixels, and the maximum scale at which it fits.
  case tooLarge(width: Double, height: Double, fitting: Double)
  case outOfMemory
  case cairo(String)

  package var description: String {
    switch self {
    case .empty: return "there is nothing to show: the region has no width or no height"
    case .scale(let scale): return "the scale \(scale) is not valid; use a number above 0"
    case .tooLarge(let width, let height, let fitting):
      let floor = (fitting * 1000).rounded(.down) / 1000
      let advice = floor > 0 ? "use a scale of at most \(floor), or a smaller region" : "use a smaller region"
      return "the picture would be \(Self.whole(width)) by \(Self.whole(height)) pixels, but the "
        + "limit is \(PicturePage.pixelLimit / 1_000_000) million, and \(PicturePage.sideLimit) on a side; " + advice
    case .outOfMemory: return "there is not enough memory for a picture of this size; use a smaller scale"
    case .cairo(let words): return "the picture cannot be drawn: \(words)"
    }
  }

  private static func whole(_ value: Double) -> String { Int(exactly: value.rounded()).map { "\($0)" } ?? "\(value)" }
}

enum PNGFile {
  static func encode(_ photo: PhotoPixels) throws(PictureError) -> [UInt8] {
    try encode(photo.pixels, width: photo.width, height: photo.height, hasOpacity: false)
  }

  /// If `hasOpacity` is true, the colors must be premultiplied.
  static func encode(_ pixels: [UInt32], width: Int, height: Int, hasOpacity: Bool) throws(PictureError) -> [UInt8] {
    let sink = ByteSink()
    var pixels = pixels
    let status = pixels.withUnsafeMutableBytes { buffer in
      let surface = cairo_image_surface_create_for_data(
        buffer.baseAddress?.assumingMemoryBound(to: UInt8.self),
        hasOpacity ? CAIRO_FORMAT_ARGB32 : CAIRO_FORMAT_RGB24,
        Int32(width),
        Int32(height),
        Int32(width * 4)
      )
      defer { cairo_surface_destroy(surface) }
      return cairo_surface_write_to_png_stream(surface, ByteSink.write, sink.closure)
    }
    guard status == CAIRO_STATUS_SUCCESS else { throw .undecodable(String(cString: cairo_status_to_string(status))) }
    return sink.bytes
  }
}

/// A sink that collects the bytes that cairo writes. Keep the object alive as long as cairo can write to it, since
/// cairo does not retain it.
final class ByteSink {
  private(set) var bytes: [UInt8] = []

  var closure: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  static let write: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<UInt8>?, UInt32) -> cairo_status_t = {
    closure,
    start,
    count in
    guard let closure, let start else { return CAIRO_STATUS_WRITE_ERROR }
    let sink = Unmanaged<ByteSink>.fromOpaque(closure).takeUnretainedValue()
    sink.bytes.append(contentsOf: UnsafeBufferPointer(start: start, count: Int(count)))
    return CAIRO_STATUS_SUCCESS
  }
}

package struct CairoPages: PageWriter {
  private let longestSide: Int?

  /// `longestSide` is the maximum number of pixels of each side of a PNG; if it is nil, only the scale sets the size.
  package init(longestSide: Int? = nil) { self.longestSide = longestSide }

  package func png(_ picture: BoardPicture, scale: Double?) throws(ExportError) -> ExportedFile {
    do throws(PicturePageError) { return try PicturePage.png(picture, scale: scale, longestSide: longestSide) } catch {
      throw .page(error.description)
    }
  }

  package func pdf(_ pictures: [BoardPicture], on paper: PaperSize?) throws(ExportError) -> ExportedFile {
    do throws(PicturePageError) { return try PicturePage.pdf(pictures, on: paper) } catch {
      throw .page(error.description)
    }
  }
}

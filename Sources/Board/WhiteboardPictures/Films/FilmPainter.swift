import CCairo
import Whiteboard
import WhiteboardRendering

/// The part of a frame that differs from the previous frame.
package struct FilmFrame: Hashable, Sendable {
  /// The column and the row of the upper left pixel; both are even, as WebP requires.
  package let x: Int
  package let y: Int
  package let width: Int
  package let height: Int
  /// The pixels `0xRRGGBB`, row by row. ``changed`` is added to each pixel that differs from the previous frame.
  package let pixels: [UInt32]

  package static let changed: UInt32 = 1 << 24

  package init(x: Int, y: Int, width: Int, height: Int, pixels: [UInt32]) {
    precondition(x % 2 == 0 && y % 2 == 0 && pixels.count == width * height)
    (self.x, self.y, self.width, self.height, self.pixels) = (x, y, width, height, pixels)
  }

  /// The smallest frame that changes nothing. It continues a frame that is shown longer than a format can express.
  static let unchanged = FilmFrame(x: 0, y: 0, width: 1, height: 1, pixels: [0])
}

/// A writer of a film file. The writer passes on its bytes while it receives frames, and keeps only the last frame.
package protocol FilmEncoder {
  /// Adds a frame. The first frame covers the whole picture.
  /// - Parameters:
  ///   - frame: The part of the frame that differs from the previous frame.
  ///   - time: The time in milliseconds; later than the time of the previous frame.
  /// - Throws: ``FilmError``, or an error of writing the file.
  mutating func add(_ frame: FilmFrame, at time: Int64) throws

  /// Ends the film at a time in milliseconds, after the time of the last frame.
  mutating func finish(at time: Int64) throws
}

package struct FilmError: Error, Hashable, Sendable {
  package let message: String

  package init(_ message: String) { self.message = message }
}

/// Draws the frames of a film. An instance is confined to one thread.
package final class FilmPainter {
  package let width: Int
  package let height: Int
  private let image: CairoImage
  private let fonts = PageFonts()
  /// The pixels of the previous frame; empty before the first frame.
  private var shown: [UInt32] = []

  /// The sizes in pixels that a side of a film can have.
  package static let sides = 16...4_096

  /// Creates a painter; nil if there is not enough memory.
  package init?(width: Int, height: Int) {
    guard Self.sides.contains(width), Self.sides.contains(height),
      let image = CairoImage(width: width, height: height, hasOpacity: true)
    else { return nil }
    (self.width, self.height, self.image) = (width, height, image)
  }

  package var warning: String? { fonts.warning }

  /// Draws the picture again where it changed. The region of the picture must have the proportions of the film.
  /// - Parameters:
  ///   - picture: The content of the frame.
  ///   - area: The part of the board that changed since the last call; nil for all.
  /// - Throws: An error of drawing.
  package func draw(_ picture: BoardPicture, changedIn area: Rectangle?) throws(PicturePageError) {
    guard let page = cairo_create(image.surface) else { throw .outOfMemory }
    defer { cairo_destroy(page) }
    let region = picture.region
    let scale = Double(width) / (region.greatest.x - region.least.x)
    guard scale.isFinite, scale > 0 else { throw .empty }
    var part: Rectangle?
    if let area {
      // Thin lines and the edges of letters can extend a little beyond an object.
      let margin = 4.0
      func pixel(_ place: Double, _ least: Double) -> Double { (place - least) * scale }
      let left = max((pixel(area.least.x, region.least.x) - margin).rounded(.down), 0)
      let top = max((pixel(area.least.y, region.least.y) - margin).rounded(.down), 0)
      let right = min((pixel(area.greatest.x, region.least.x) + margin).rounded(.up), Double(width))
      let bottom = min((pixel(area.greatest.y, region.least.y) + margin).rounded(.up), Double(height))
      guard left < right, top < bottom else { return }
      cairo_rectangle(page, left, top, right - left, bottom - top)
      cairo_clip(page)
      part = Rectangle(
        Point(x: region.least.x + (left - margin) / scale, y: region.least.y + (top - margin) / scale),
        Point(x: region.least.x + (right + margin) / scale, y: region.least.y + (bottom + margin) / scale)
      )
    }
    try PagePainter(picture, on: page, scale: scale, isPDF: false, fonts: fonts).paint(touching: part)
    try PicturePage.check(cairo_status(page))
  }

  /// Returns the difference from the frame that the last call returned; nil if there is none.
  package func takeFrame() -> FilmFrame? {
    cairo_surface_flush(image.surface)
    guard let data = cairo_image_surface_get_data(image.surface) else { return nil }
    let stride = Int(cairo_image_surface_get_stride(image.surface)) / 4
    let isFirst = shown.isEmpty
    if isFirst { shown = Array(repeating: 0, count: width * height) }
    return data.withMemoryRebound(to: UInt32.self, capacity: stride * height) { drawn in
      shown.withUnsafeMutableBufferPointer { shown in
        var (left, right, top, bottom) = isFirst ? (0, width - 1, 0, height - 1) : (width, -1, height, -1)
        if !isFirst {
          for row in 0..<height {
            for column in 0..<width
            where (drawn[row * stride + column] ^ shown[row * width + column]) & 0xFF_FFFF != 0 {
              (left, right) = (min(left, column), max(right, column))
              (top, bottom) = (min(top, row), row)
            }
          }
        }
        guard right >= left else { return nil }
        (left, top) = (left & ~1, top & ~1)
        var pixels: [UInt32] = []
        pixels.reserveCapacity((right - left + 1) * (bottom - top + 1))
        for row in top...bottom {
          for column in left...right {
            let pixel = drawn[row * stride + column] & 0xFF_FFFF
            let isSame = !isFirst && shown[row * width + column] == pixel
            shown[row * width + column] = pixel
            pixels.append(isSame ? pixel : pixel | FilmFrame.changed)
          }
        }
        return FilmFrame(x: left, y: top, width: right - left + 1, height: bottom - top + 1, pixels: pixels)
      }
    }
  }
}

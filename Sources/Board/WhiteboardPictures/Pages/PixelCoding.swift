import CCairo
import CTurboJPEG
import Whiteboard
import WhiteboardRendering

extension PicturePage {
  /// Returns the pixels of a part of a page, as `0xRRGGBB` in rows from the top. The corner of the picture's region is the
  /// first pixel of the page.
  ///
  /// - Parameters:
  ///   - picture: The objects to paint; objects that do not touch the part may be left out.
  ///   - scale: The number of pixels for each board unit.
  ///   - left: The number of pixels of the page to the left of the part.
  ///   - top: The number of pixels of the page above the part.
  ///   - width: The width of the part, in pixels.
  ///   - height: The height of the part, in pixels.
  /// - Returns: The colors of the part.
  /// - Throws: If there is not enough memory, or the picture cannot be drawn.
  package static func pixels(
    of picture: BoardPicture,
    scale: Double,
    left: Int,
    top: Int,
    width: Int,
    height: Int
  ) throws(PicturePageError) -> [UInt32] {
    guard let image = CairoImage(width: width, height: height, hasOpacity: false),
      let page = cairo_create(image.surface)
    else { throw .outOfMemory }
    defer { cairo_destroy(page) }
    // Paint the paper on all pixels, because a transparent background is black here.
    PageColor(rgb: 0xFFFFFF).set(on: page)
    cairo_paint(page)
    cairo_translate(page, Double(-left), Double(-top))
    try PagePainter(picture, on: page, scale: scale, isPDF: false, fonts: PageFonts()).paint()
    try check(cairo_status(page))
    cairo_surface_flush(image.surface)
    guard let data = cairo_image_surface_get_data(image.surface) else { throw .outOfMemory }
    let stride = Int(cairo_image_surface_get_stride(image.surface)) / 4
    return withExtendedLifetime(image) {
      data.withMemoryRebound(to: UInt32.self, capacity: stride * height) { start in
        [UInt32](unsafeUninitializedCapacity: width * height) { buffer, count in
          for row in 0..<height {
            for column in 0..<width { buffer[row * width + column] = start[row * stride + column] & 0xFF_FFFF }
          }
          count = width * height
        }
      }
    }
  }
}

/// Encodes and decodes the pictures of broadcasts, which have no orientation and no opacity.
package enum PixelCoding {
  /// Encodes a JPEG with a quality from 1 to 100. With 88, thin lines on white stay clean.
  package static func jpeg(_ pixels: [UInt32], width: Int, height: Int, quality: Int32 = 88) throws(PictureError)
    -> [UInt8]
  {
    guard pixels.count == width * height, let library = tjInitCompress() else { throw .outOfMemory }
    defer { tjDestroy(library) }
    var file: UnsafeMutablePointer<UInt8>?
    defer { tjFree(file) }
    var count: UInt = 0
    let status = pixels.withUnsafeBytes { buffer in
      tjCompress2(
        library,
        buffer.baseAddress?.assumingMemoryBound(to: UInt8.self),
        Int32(width),
        0,
        Int32(height),
        Int32(TJPF_BGRX.rawValue),
        &file,
        &count,
        Int32(TJSAMP_420.rawValue),
        quality,
        0
      )
    }
    guard status == 0, let file else { throw .undecodable("it cannot be encoded as a JPEG") }
    return Array(UnsafeBufferPointer(start: file, count: Int(count)))
  }

  package static func png(_ pixels: [UInt32], width: Int, height: Int) throws(PictureError) -> [UInt8] {
    guard pixels.count == width * height else { throw .outOfMemory }
    return try PNGFile.encode(pixels, width: width, height: height, hasOpacity: false)
  }

  /// Decodes a picture; throws if its format or size is not exactly the given one. Ignores the orientation in the file
  /// (CST-3).
  package static func pixels(of bytes: [UInt8], as format: PhotoFormat, width: Int, height: Int) throws(PictureError)
    -> [UInt32]
  {
    // Check the header first, so that a picture of another size is not decoded.
    let header = try PhotoDecoder.header(bytes)
    guard header.format == format else { throw .undecodable("it has another format") }
    guard header.width == width, header.height == height else { throw .undecodable("it has another size") }
    let photo = try PhotoDecoder.pixels(of: PhotoHeader.upright(bytes), within: width, height)
    guard photo.width == width, photo.height == height else { throw .undecodable("it has another size") }
    return photo.pixels
  }
}

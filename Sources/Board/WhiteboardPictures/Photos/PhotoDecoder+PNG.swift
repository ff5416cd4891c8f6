import CCairo
import Whiteboard
import WhiteboardRendering

extension PhotoDecoder {
  static func png(_ bytes: [UInt8], within limit: (width: Int, height: Int), on paper: UInt32) throws(PictureError)
    -> PhotoPixels
  {
    let image = try CairoImage(png: bytes)
    let orientation = PhotoHeader.orientation(of: bytes)
    let limit = orientation.isSideways ? (limit.height, limit.width) : limit
    let wanted = PhotoPixels.size(of: (image.width, image.height), within: limit)
    guard let pixels = image.averaged(to: wanted) else { throw .outOfMemory }
    return PhotoPixels(
      width: wanted.width,
      height: wanted.height,
      pixels: image.hasOpacity ? laid(pixels, on: paper) : pixels.map { $0 & 0xFF_FFFF }
    ).upright(orientation)
  }
}

final class CairoImage {
  let surface: OpaquePointer

  var width: Int { Int(cairo_image_surface_get_width(surface)) }
  var height: Int { Int(cairo_image_surface_get_height(surface)) }
  var hasOpacity: Bool { cairo_image_surface_get_format(surface) == CAIRO_FORMAT_ARGB32 }

  static let longestSide = 32_767

  /// Creates an empty picture; nil if there is not enough memory, or a side is too long.
  convenience init?(width: Int, height: Int, hasOpacity: Bool) {
    guard (1...Self.longestSide).contains(width), (1...Self.longestSide).contains(height),
      let surface = cairo_image_surface_create(
        hasOpacity ? CAIRO_FORMAT_ARGB32 : CAIRO_FORMAT_RGB24,
        Int32(width),
        Int32(height)
      )
    else { return nil }
    self.init(owned: surface)
    guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS else { return nil }
  }

  /// Decodes a PNG file, after checking its header against the limits.
  convenience init(png bytes: [UInt8]) throws(PictureError) {
    let header = try PhotoDecoder.header(bytes)
    guard header.format == .png else { throw .photo(.unknownFormat) }
    guard header.width <= Self.longestSide, header.height <= Self.longestSide else {
      throw .undecodable("a side is longer than \(Self.longestSide) pixels")
    }
    var reader = ByteSource(bytes: bytes)
    let surface = withUnsafeMutablePointer(to: &reader) { reader in
      cairo_image_surface_create_from_png_stream(
        { closure, target, count in
          guard let closure, let target,
            closure.assumingMemoryBound(to: ByteSource.self).pointee.read(Int(count), into: target)
          else { return CAIRO_STATUS_READ_ERROR }
          return CAIRO_STATUS_SUCCESS
        },
        reader
      )
    }
    guard let surface else { throw .outOfMemory }
    self.init(owned: surface)
    let status = cairo_surface_status(surface)
    if status == CAIRO_STATUS_NO_MEMORY {
      // The library returns this status if the data is damaged, and also if there is not enough memory.
      throw .undecodable("its data is damaged, or there is not enough memory for it")
    }
    guard status == CAIRO_STATUS_SUCCESS else { throw .undecodable(String(cString: cairo_status_to_string(status))) }
    let format = cairo_image_surface_get_format(surface)
    guard format == CAIRO_FORMAT_ARGB32 || format == CAIRO_FORMAT_RGB24, width > 0, height > 0 else {
      throw .undecodable("its pixel format is not supported")
    }
  }

  private init(owned surface: OpaquePointer) { self.surface = surface }

  deinit { cairo_surface_destroy(surface) }

  /// Returns the pixels of the picture at a smaller size, with premultiplied colors if the picture has opacity; nil if
  /// the pixels cannot be read.
  func averaged(to size: (width: Int, height: Int)) -> [UInt32]? {
    guard let data = cairo_image_surface_get_data(surface) else { return nil }
    let stride = Int(cairo_image_surface_get_stride(surface)) / 4
    return data.withMemoryRebound(to: UInt32.self, capacity: stride * height) { start in
      BoxFilter.averaged(
        UnsafeBufferPointer(start: start, count: stride * height).span,
        stride: stride,
        width: width,
        height: height,
        across: size.width,
        down: size.height
      )
    }
  }
}

/// A source of bytes that a library reads in pieces.
private struct ByteSource {
  let bytes: [UInt8]
  private var position = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) -> Bool {
    guard count >= 0, count <= bytes.count - position else { return false }
    bytes.withUnsafeBufferPointer { source in
      guard let start = source.baseAddress else { return }
      target.update(from: start + position, count: count)
    }
    position += count
    return true
  }
}

import CCairo
import WhiteboardRendering

/// A namespace for encoding pixels as PNG files.
enum PNGFile {
  /// Returns the PNG file of a photo.
  static func encode(_ photo: PhotoPixels) throws(PictureError) -> [UInt8] {
    try encode(photo.pixels, width: photo.width, height: photo.height, hasOpacity: false)
  }

  /// Returns the PNG file of some pixels.
  ///
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

/// A sink that collects the bytes that cairo writes.
///
/// Keep the object alive as long as cairo can write to it, since cairo does not retain it.
final class ByteSink {
  /// The bytes that cairo has written so far.
  private(set) var bytes: [UInt8] = []

  /// The closure argument that cairo passes to ``write``.
  var closure: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// A callback through which cairo appends bytes to the sink to which `closure` points.
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

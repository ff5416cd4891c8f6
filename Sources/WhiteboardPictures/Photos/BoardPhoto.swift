import CTurboJPEG
import CWebP
import Whiteboard
import WhiteboardRendering

/// A namespace for converting picture files to the formats that a board accepts: JPEG and PNG (BRD-16).
package enum BoardPhoto {
  /// The quality of a JPEG converted from a WebP, from 0 to 100.
  private static let quality: Int32 = 90

  /// A JPEG or a PNG stays unchanged.
  ///
  /// A WebP becomes a PNG if it is lossless or transparent, otherwise a JPEG.
  ///
  /// - Complexity: O(*n*) time and memory for a WebP, where *n* is the number of its pixels. Call this function off the
  ///   main loop.
  package static func file(of bytes: [UInt8]) throws(PictureError) -> [UInt8] {
    guard try PictureFormat(of: bytes) == .webP else {
      _ = try PhotoDecoder.header(bytes)
      return bytes
    }
    let size = try PhotoDecoder.webPSize(bytes)
    let pixels = try PhotoDecoder.webPPixels(bytes, in: size)
    var features = WebPBitstreamFeatures()
    let isLossy =
      WebPGetFeatures(bytes, bytes.count, &features) == VP8_STATUS_OK && features.format == 1 && features.has_alpha == 0
    let file =
      isLossy
      ? try jpeg(pixels, size) : try PNGFile.encode(pixels, width: size.width, height: size.height, hasOpacity: true)
    guard file.count <= BoardLimits.photoBytes else { throw .photo(.tooManyBytes) }
    return file
  }

  private static func jpeg(_ pixels: [UInt32], _ size: (width: Int, height: Int)) throws(PictureError) -> [UInt8] {
    guard let library = tjInitCompress() else { throw .outOfMemory }
    defer { tjDestroy(library) }
    var file: UnsafeMutablePointer<UInt8>?
    defer { tjFree(file) }
    var count: UInt = 0
    let status = pixels.withUnsafeBytes { buffer in
      tjCompress2(
        library,
        buffer.baseAddress?.assumingMemoryBound(to: UInt8.self),
        Int32(size.width),
        0,
        Int32(size.height),
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
}

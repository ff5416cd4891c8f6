import Whiteboard
import WhiteboardRendering

/// Files of photos to pixels: JPEG, PNG and WebP.
///
/// Whatever the bytes are, there are pixels or a ``PictureError``; nothing larger than
/// `BoardLimits.photoBytes` and `BoardLimits.photoPixels` is decoded. A JPEG is decoded at the least eighth of
/// its size that is enough, so that the largest photo takes little memory where a small picture is wanted; a
/// progressive one still takes up to six bytes for each of its pixels, a PNG and a lossless WebP four.
package enum PhotoDecoder {
  /// The photo as it is shown, upright, in as many pixels as fit into a limit.
  ///
  /// - Parameters:
  ///   - bytes: The file.
  ///   - width: The most pixels across.
  ///   - height: The most pixels down.
  ///   - paper: The colour under transparent parts, `0xRRGGBB`.
  /// - Returns: The pixels; no more than the photo has.
  /// - Throws: Why there are none.
  /// - Complexity: O(pixels of the photo). Call it off the main loop.
  package static func pixels(
    of bytes: [UInt8],
    within width: Int,
    _ height: Int,
    on paper: UInt32 = 0xFFFFFF
  ) throws(PictureError) -> PhotoPixels {
    let limit = (width: max(width, 1), height: max(height, 1))
    switch try PictureFormat(of: bytes) {
    case .jpeg: return try jpeg(bytes, within: limit)
    case .png: return try png(bytes, within: limit, on: paper)
    case .webP: return try webP(bytes, within: limit, on: paper)
    }
  }
}

/// The format of a picture file, by its first bytes.
enum PictureFormat: Hashable, Sendable {
  case jpeg
  case png
  case webP

  /// - Throws: `PictureError.photo` for what is none of them, or of a size that is never taken.
  init(of bytes: [UInt8]) throws(PictureError) {
    guard !bytes.isEmpty, bytes.count <= BoardLimits.photoBytes else {
      throw .photo(.tooManyBytes)
    }
    if bytes.starts(with: [0xFF, 0xD8]) {
      self = .jpeg
    } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) {
      self = .png
    } else if PhotoHeader.isWebP(bytes) {
      self = .webP
    } else {
      throw .photo(.unknownFormat)
    }
  }
}

/// The size of a picture as it is shown, read without decoding it.
package struct PhotoSize: Hashable, Sendable {
  /// Pixels across.
  package let width: Int
  /// Pixels down.
  package let height: Int

  /// Reads the size of a whole file; that of a JPEG whose pixels lie sideways is the upright one.
  /// - Throws: `photo` if there is no such picture, `isAnimated`.
  package static func read(_ bytes: [UInt8]) throws(PictureError) -> PhotoSize {
    switch try PictureFormat(of: bytes) {
    case .webP:
      let size = try PhotoDecoder.webPSize(bytes)
      return PhotoSize(width: size.width, height: size.height)
    case .jpeg, .png:
      let header = try PhotoDecoder.header(bytes)
      let isSideways = PhotoHeader.orientation(of: bytes).isSideways
      return PhotoSize(
        width: isSideways ? header.height : header.width,
        height: isSideways ? header.width : header.height
      )
    }
  }
}

extension PhotoDecoder {
  /// The header of a JPEG or PNG that is all there.
  static func header(_ bytes: [UInt8]) throws(PictureError) -> PhotoHeader {
    do {
      return try PhotoHeader(ofWhole: bytes)
    } catch {
      throw .photo(error)
    }
  }

  /// Pixels that are multiplied by their opacity, laid on paper.
  static func laid(_ pixels: [UInt32], on paper: UInt32) -> [UInt32] {
    pixels.map { pixel in
      let rest = 255 - (pixel >> 24)
      guard rest > 0 else { return pixel & 0xFF_FFFF }
      func channel(_ shift: UInt32) -> UInt32 {
        let under = (paper >> shift & 0xFF) * rest
        return min((pixel >> shift & 0xFF) + (under + 127) / 255, 255) << shift
      }
      return channel(16) | channel(8) | channel(0)
    }
  }
}

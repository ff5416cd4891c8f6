import CWebP
import Whiteboard
import WhiteboardRendering

/// A namespace for decoding photo files to pixels: JPEG, PNG and WebP. For any input, the result is pixels or a
/// ``PictureError``. Nothing larger than `BoardLimits.photoBytes` and `BoardLimits.photoPixels` is decoded. A JPEG is
/// decoded at a reduced size: the smallest multiple of one eighth of its full size that is large enough. Therefore a
/// small picture of a large photo needs little memory. However, a progressive JPEG takes up to six bytes for each pixel
/// of the photo. A PNG and a lossless WebP take four bytes for each pixel.
package enum PhotoDecoder {
  /// Returns the photo upright, in as many pixels as fit into a limit, but never more than the photo has; throws if the
  /// photo cannot be decoded. Call this function off the main loop: its time is proportional to the number of pixels of
  /// the photo.
  package static func pixels(of bytes: [UInt8], within width: Int, _ height: Int, on paper: UInt32 = 0xFFFFFF)
    throws(PictureError) -> PhotoPixels
  {
    let limit = (width: max(width, 1), height: max(height, 1))
    switch try PictureFormat(of: bytes) {
    case .jpeg: return try jpeg(bytes, within: limit)
    case .png: return try png(bytes, within: limit, on: paper)
    case .webP: return try webP(bytes, within: limit, on: paper)
    }
  }
}

enum PictureFormat: Hashable, Sendable {
  case jpeg, png, webP

  init(of bytes: [UInt8]) throws(PictureError) {
    guard !bytes.isEmpty, bytes.count <= BoardLimits.photoBytes else { throw .photo(.tooManyBytes) }
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

/// The displayed size of a picture, read from its header without decoding the picture.
package struct PhotoSize: Hashable, Sendable {
  package let width: Int
  package let height: Int

  /// Reads the size from a complete file; throws if the file is not a valid picture, or is animated. If the file's
  /// metadata rotates the picture, the result is the size after the rotation.
  package static func read(_ bytes: [UInt8]) throws(PictureError) -> PhotoSize {
    let size: (width: Int, height: Int)
    switch try PictureFormat(of: bytes) {
    case .webP: size = try PhotoDecoder.webPSize(bytes)
    case .jpeg, .png:
      let header = try PhotoDecoder.header(bytes)
      size = (header.width, header.height)
    }
    let isSideways = PhotoDecoder.orientation(of: bytes).isSideways
    return PhotoSize(width: isSideways ? size.height : size.width, height: isSideways ? size.width : size.height)
  }
}

extension PhotoDecoder {
  static func header(_ bytes: [UInt8]) throws(PictureError) -> PhotoHeader {
    do { return try PhotoHeader(ofWhole: bytes) } catch { throw .photo(error) }
  }

  static func orientation(of bytes: [UInt8]) -> PhotoOrientation {
    guard PhotoHeader.isWebP(bytes) else { return PhotoHeader.orientation(of: bytes) }
    var offset = 12
    // A chunk of a WebP is a name, a length, that number of bytes, and a byte more if the length is odd.
    while bytes.count - offset >= 8 {
      let length = bytes[(offset + 4)..<(offset + 8)].reversed().reduce(0) { $0 << 8 | Int($1) }
      let start = offset + 8
      if bytes[offset..<(offset + 4)].elementsEqual("EXIF".utf8) {
        let data = bytes[start..<min(start + length, bytes.count)]
        let hasPrefix = data.starts(with: "Exif\0\0".utf8)
        return PhotoHeader.orientation(tiff: hasPrefix ? data.dropFirst(6) : data)?.orientation ?? .upright
      }
      offset = start + length + length % 2
    }
    return .upright
  }

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

extension PhotoDecoder {
  static func webP(_ bytes: [UInt8], within limit: (width: Int, height: Int), on paper: UInt32) throws(PictureError)
    -> PhotoPixels
  {
    let orientation = orientation(of: bytes)
    let limit = orientation.isSideways ? (limit.height, limit.width) : limit
    let size = PhotoPixels.size(of: try webPSize(bytes), within: limit)
    let pixels = try webPPixels(bytes, in: size)
    return PhotoPixels(width: size.width, height: size.height, pixels: laid(pixels, on: paper)).upright(orientation)
  }

  /// Decodes a WebP to exactly `size` pixels, with premultiplied colors.
  static func webPPixels(_ bytes: [UInt8], in size: (width: Int, height: Int)) throws(PictureError) -> [UInt32] {
    let natural = try webPSize(bytes)
    let count = size.width * size.height
    var config = WebPDecoderConfig()
    guard WebPInitDecoderConfig(&config) != 0 else { throw .outOfMemory }
    config.options.use_scaling = size == natural ? 0 : 1
    config.options.scaled_width = Int32(size.width)
    config.options.scaled_height = Int32(size.height)
    config.output.colorspace = MODE_bgrA
    config.output.is_external_memory = 1
    config.output.u.RGBA.stride = Int32(size.width * 4)
    config.output.u.RGBA.size = count * 4
    var status = VP8_STATUS_OK
    let pixels = [UInt32](unsafeUninitializedCapacity: count) { buffer, filled in
      buffer.initialize(repeating: 0)
      filled = count
      config.output.u.RGBA.rgba = UnsafeMutableRawPointer(buffer.baseAddress)?.assumingMemoryBound(to: UInt8.self)
      status = WebPDecode(bytes, bytes.count, &config)
      WebPFreeDecBuffer(&config.output)
    }
    try check(status)
    return pixels
  }

  /// Returns the size of a WebP, after checking it against the limits.
  static func webPSize(_ bytes: [UInt8]) throws(PictureError) -> (width: Int, height: Int) {
    var features = WebPBitstreamFeatures()
    try check(WebPGetFeatures(bytes, bytes.count, &features))
    guard features.has_animation == 0 else { throw .isAnimated }
    let (width, height) = (Int(features.width), Int(features.height))
    guard width > 0, height > 0, width * height <= BoardLimits.photoPixels else { throw .photo(.tooManyPixels) }
    return (width, height)
  }

  private static func check(_ status: VP8StatusCode) throws(PictureError) {
    switch status {
    case VP8_STATUS_OK: return
    case VP8_STATUS_OUT_OF_MEMORY: throw .outOfMemory
    case VP8_STATUS_NOT_ENOUGH_DATA, VP8_STATUS_SUSPENDED: throw .photo(.truncated)
    case VP8_STATUS_UNSUPPORTED_FEATURE: throw .undecodable("it uses an unsupported feature")
    default: throw .undecodable("its data is damaged")
    }
  }
}

package enum PictureError: Error, Hashable, Sendable, CustomStringConvertible {
  case photo(PhotoError)
  case isAnimated
  case undecodable(String)
  case outOfMemory

  package var description: String {
    switch self {
    case .photo(.unknownFormat): "this is not a JPEG, PNG or WebP picture"
    case .photo(.malformed): "the picture's header is damaged"
    case .photo(.truncated): "the file is cut off before the end of its picture"
    case .photo(.tooManyPixels):
      "the picture has no pixels, or more than \(BoardLimits.photoPixels / 1_000_000) million"
    case .photo(.tooManyBytes): "the file is empty, or larger than \(BoardLimits.photoBytes >> 20) MiB"
    case .isAnimated: "this is an animated picture; only still pictures can be shown"
    case .undecodable(let words): "the picture cannot be decoded: \(words)"
    case .outOfMemory: "there is not enough memory for this picture"
    }
  }
}

/// A namespace for checking picture files, and converting them to JPEG and PNG, the formats that a board accepts
/// (BRD-16).
package enum BoardPhoto {
  /// The quality of a converted JPEG, from 0 to 100.
  private static let quality: Int32 = 90
  /// The size in bytes above which a PNG becomes a JPEG, if the caller allows this change.
  private static let largePNG = 1 << 20

  /// A WebP becomes a PNG if it is lossless or transparent, otherwise a JPEG. A JPEG with a complete picture gets its
  /// end marker if the marker is missing. Other JPEGs and PNGs stay unchanged, but if `mayCompress` is true, a large
  /// PNG without transparency becomes a JPEG. Time and memory grow with the number of pixels, so call this function off
  /// the main loop.
  package static func file(of bytes: [UInt8], mayCompress: Bool = false) throws(PictureError) -> [UInt8] {
    let file: [UInt8]
    if PhotoHeader.isWebP(bytes) {
      file = try converted(webP: bytes)
    } else if mayCompress, bytes.count > largePNG, let smaller = try compressed(png: bytes) {
      file = smaller
    } else {
      file = completed(bytes)
      _ = try PhotoDecoder.pixels(of: file, within: 1, 1)
    }
    guard file.count <= BoardLimits.photoBytes else { throw .photo(.tooManyBytes) }
    return file
  }

  /// If a JPEG lacks only its end marker, returns the JPEG with that marker. Returns any other file unchanged.
  private static func completed(_ bytes: [UInt8]) -> [UInt8] {
    do throws(PhotoError) { _ = try PhotoHeader(ofWhole: bytes) } catch {
      let completed = bytes + [0xFF, 0xD9]
      if error == .truncated, PhotoDecoder.isIntactJPEG(completed) { return completed }
    }
    return bytes
  }

  private static func converted(webP bytes: [UInt8]) throws(PictureError) -> [UInt8] {
    let stored = try PhotoDecoder.webPSize(bytes)
    let upright = PhotoPixels(
      width: stored.width,
      height: stored.height,
      pixels: try PhotoDecoder.webPPixels(bytes, in: stored)
    ).upright(PhotoDecoder.orientation(of: bytes))
    var features = WebPBitstreamFeatures()
    let isLossy =
      WebPGetFeatures(bytes, bytes.count, &features) == VP8_STATUS_OK && features.format == 1 && features.has_alpha == 0
    return isLossy
      ? try PixelCoding.jpeg(upright.pixels, width: upright.width, height: upright.height, quality: quality)
      : try PNGFile.encode(upright.pixels, width: upright.width, height: upright.height, hasOpacity: true)
  }

  /// Returns a PNG as a JPEG; nil if it can be transparent.
  private static func compressed(png bytes: [UInt8]) throws(PictureError) -> [UInt8]? {
    let image = try CairoImage(png: bytes)
    guard !image.hasOpacity else { return nil }
    guard let pixels = image.averaged(to: (image.width, image.height)) else { throw .outOfMemory }
    return try PixelCoding.jpeg(pixels, width: image.width, height: image.height, quality: quality)
  }
}

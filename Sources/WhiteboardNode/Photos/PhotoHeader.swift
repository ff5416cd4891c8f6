/// What the first bytes of a photo say of it: its format and how many pixels it has.
///
/// Only headers are read, never the picture itself; a file whose header does not add up is no
/// photo.
package struct PhotoHeader: Equatable, Sendable {
  /// The formats a board carries.
  package enum Format: String, Sendable {
    case jpeg
    case png
    case gif
    case webp
  }

  /// The format.
  package let format: Format
  /// How wide it is shown, in pixels.
  package let width: Int
  /// How high it is shown, in pixels.
  package let height: Int

  /// The most bytes of a photo.
  package static let maximumBytes = 32 * 1024 * 1024
  /// The most pixels of a photo.
  package static let maximumPixels = 64_000_000

  /// Reads the header of a file's bytes.
  ///
  /// - Throws: ``PhotoError`` by what is wrong.
  package init(_ bytes: [UInt8]) throws(PhotoError) {
    guard bytes.count <= PhotoHeader.maximumBytes else { throw .tooManyBytes(bytes.count) }
    let found: (Format, Int, Int)? =
      if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
        PhotoHeader.png(bytes)
      } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
        PhotoHeader.jpeg(bytes)
      } else if bytes.starts(with: Array("GIF87a".utf8)) || bytes.starts(with: Array("GIF89a".utf8))
      {
        PhotoHeader.gif(bytes)
      } else if bytes.starts(with: Array("RIFF".utf8)) {
        PhotoHeader.webp(bytes)
      } else {
        nil
      }
    guard let (format, width, height) = found, width > 0, height > 0 else { throw .unreadable }
    // Each is below 2^32, so the product fits.
    guard width * height <= PhotoHeader.maximumPixels else { throw .tooManyPixels(width, height) }
    self.format = format
    self.width = width
    self.height = height
  }

  private static func png(_ bytes: [UInt8]) -> (Format, Int, Int)? {
    guard bytes.count >= 33, Array(bytes[12..<16]) == Array("IHDR".utf8) else { return nil }
    return (.png, bigEndian(bytes, at: 16, count: 4), bigEndian(bytes, at: 20, count: 4))
  }

  private static func gif(_ bytes: [UInt8]) -> (Format, Int, Int)? {
    guard bytes.count >= 13 else { return nil }
    return (.gif, littleEndian(bytes, at: 6, count: 2), littleEndian(bytes, at: 8, count: 2))
  }

  private static func webp(_ bytes: [UInt8]) -> (Format, Int, Int)? {
    guard bytes.count >= 30, Array(bytes[8..<12]) == Array("WEBP".utf8) else { return nil }
    switch String(decoding: bytes[12..<16], as: UTF8.self) {
    case "VP8 ":
      guard Array(bytes[23..<26]) == [0x9D, 0x01, 0x2A] else { return nil }
      return (
        .webp, littleEndian(bytes, at: 26, count: 2) & 0x3FFF,
        littleEndian(bytes, at: 28, count: 2) & 0x3FFF
      )
    case "VP8L":
      guard bytes[20] == 0x2F else { return nil }
      let bits = littleEndian(bytes, at: 21, count: 4)
      return (.webp, (bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1)
    case "VP8X":
      return (
        .webp, littleEndian(bytes, at: 24, count: 3) + 1, littleEndian(bytes, at: 27, count: 3) + 1
      )
    default:
      return nil
    }
  }

  private static func jpeg(_ bytes: [UInt8]) -> (Format, Int, Int)? {
    var position = 2
    var isTurned = false
    while position + 4 <= bytes.count {
      guard bytes[position] == 0xFF else { return nil }
      let marker = bytes[position + 1]
      if marker == 0xFF {
        position += 1
        continue
      }
      if marker == 0x01 || (0xD0...0xD8).contains(marker) {
        position += 2
        continue
      }
      let length = bigEndian(bytes, at: position + 2, count: 2)
      guard length >= 2, position + 2 + length <= bytes.count else { return nil }
      switch marker {
      case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
        guard length >= 8 else { return nil }
        let height = bigEndian(bytes, at: position + 5, count: 2)
        let width = bigEndian(bytes, at: position + 7, count: 2)
        return isTurned ? (.jpeg, height, width) : (.jpeg, width, height)
      case 0xE1:
        isTurned = isTurned || liesOnItsSide(Array(bytes[(position + 4)..<(position + 2 + length)]))
      case 0xD9, 0xDA:
        return nil
      default:
        break
      }
      position += 2 + length
    }
    return nil
  }

  /// Whether the camera noted in Exif that it was held sideways.
  private static func liesOnItsSide(_ segment: [UInt8]) -> Bool {
    guard segment.starts(with: [0x45, 0x78, 0x69, 0x66, 0, 0]) else { return false }
    let tiff = Array(segment.dropFirst(6))
    guard tiff.count >= 14 else { return false }
    let isLittle = tiff[0] == 0x49
    func number(_ at: Int, _ count: Int) -> Int {
      guard at >= 0, at + count <= tiff.count else { return 0 }
      return isLittle
        ? littleEndian(tiff, at: at, count: count) : bigEndian(tiff, at: at, count: count)
    }
    let directory = number(4, 4)
    for entry in 0..<min(number(directory, 2), 512) {
      let at = directory + 2 + entry * 12
      guard at + 12 <= tiff.count else { return false }
      if number(at, 2) == 0x0112 {
        return (5...8).contains(number(at + 8, 2))
      }
    }
    return false
  }

  private static func bigEndian(_ bytes: [UInt8], at: Int, count: Int) -> Int {
    bytes[at..<(at + count)].reduce(0) { $0 << 8 | Int($1) }
  }

  private static func littleEndian(_ bytes: [UInt8], at: Int, count: Int) -> Int {
    bytes[at..<(at + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}

/// Why a file is not a photo that a board carries.
package enum PhotoError: Error, Equatable, Sendable, CustomStringConvertible {
  case unreadable
  case tooManyBytes(Int)
  case tooManyPixels(Int, Int)

  /// What is wrong and what would do.
  package var description: String {
    switch self {
    case .unreadable:
      "the file is no JPEG, PNG, GIF or WebP, or its header is damaged"
    case .tooManyBytes(let count):
      "the photo has \(count) bytes; at most \(PhotoHeader.maximumBytes) fit"
    case .tooManyPixels(let width, let height):
      "the photo has \(width) × \(height) pixels; at most \(PhotoHeader.maximumPixels) fit"
    }
  }
}

import Foundation
import Whiteboard
import WhiteboardRendering

/// The pictures of the tests: 24 by 16 pixels, red and green above blue and white.
enum Pictures {
  static let names = [
    "deep.png", "half.png", "palette.png", "plain.png", "grey.jpg", "printer.jpg", "progressive.jpg", "upright.jpg",
    "half.webp", "lossless.webp", "lossy.webp",
  ]

  /// Returns the bytes of a file.
  static func bytes(_ name: String) throws -> [UInt8] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    return Array(try Data(contentsOf: folder.appending(path: "Pictures/\(name)")))
  }

  /// Returns a PNG or WebP with Exif data.
  static func picture(_ name: String, _ orientation: PhotoOrientation) throws -> [UInt8] {
    let tiff: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation.rawValue, 0, 0]
    let bytes = try self.bytes(name)
    guard name.hasSuffix("png") else { return bytes + Array("EXIF".utf8) + [UInt8(tiff.count), 0, 0, 0] + tiff }
    let header = 8 + 25
    let chunk = [0, 0, 0, UInt8(tiff.count)] + Array("eXIf".utf8) + tiff + [0, 0, 0, 0]
    return bytes.prefix(header) + chunk + bytes.dropFirst(header)
  }

  static func jpeg(_ orientation: PhotoOrientation, isLittle: Bool = false) throws -> [UInt8] {
    let value = orientation.rawValue
    let tiff: [UInt8] =
      isLittle
      ? [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, value, 0, 0, 0]
      : [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, value, 0, 0]
    let segment = Array("Exif\0\0".utf8) + tiff + [0, 0, 0, 0]
    let bytes = try self.bytes("upright.jpg")
    return bytes.prefix(2) + [0xFF, 0xE1, 0, UInt8(segment.count + 2)] + segment + bytes.dropFirst(2)
  }

  /// Returns the color in the center of each quarter, row by row: `r`, `g`, `b`, `w`, `k`, or its value.
  static func quarters(_ photo: PhotoPixels) -> String {
    [(1, 1), (3, 1), (1, 3), (3, 3)].map { across, down in
      name(photo.pixels[photo.height * down / 4 * photo.width + photo.width * across / 4])
    }.joined()
  }

  static func name(_ pixel: UInt32) -> String {
    let channels = [pixel >> 16 & 0xFF, pixel >> 8 & 0xFF, pixel & 0xFF]
    switch channels.map({ $0 > 200 ? 1 : $0 < 55 ? 0 : 2 }) {
    case [1, 0, 0]: return "r"
    case [0, 1, 0]: return "g"
    case [0, 0, 1]: return "b"
    case [1, 1, 1]: return "w"
    case [0, 0, 0]: return "k"
    default: return "(" + String(pixel, radix: 16) + ")"
    }
  }
}

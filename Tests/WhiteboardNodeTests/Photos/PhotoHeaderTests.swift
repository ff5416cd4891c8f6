import Testing

@testable import WhiteboardNode

@Suite
struct PhotoHeaderTests {
  /// Headers of each format for a picture of 300 by 200 pixels.
  private static let png: [UInt8] =
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]
    + Array("IHDR".utf8) + [0, 0, 1, 44, 0, 0, 0, 200, 8, 2, 0, 0, 0, 0, 0, 0, 0]
  private static let gif: [UInt8] = Array("GIF89a".utf8) + [44, 1, 200, 0, 0, 0, 0]
  private static let frame: [UInt8] = [0xFF, 0xC0, 0, 11, 8, 0, 200, 1, 44, 1, 1, 0x11, 0]
  private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 0, 0] + frame
  private static let lossyWebP: [UInt8] =
    Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBPVP8 ".utf8) + [0, 0, 0, 0, 0, 0, 0]
    + [0x9D, 0x01, 0x2A, 44, 1, 200, 0]
  private static let extendedWebP: [UInt8] =
    Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBPVP8X".utf8) + [10, 0, 0, 0, 0, 0, 0, 0]
    + [43, 1, 0, 199, 0, 0]
  private static let losslessWebP: [UInt8] =
    Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBPVP8L".utf8) + [0, 0, 0, 0, 0x2F]
    + [0x2B, 0xC1, 0x31, 0, 0, 0, 0, 0, 0]

  private static func exif(_ orientation: UInt8) -> [UInt8] {
    let tiff: [UInt8] =
      [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0] + [0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0]
    let body = Array("Exif\0\0".utf8) + tiff
    return [0xFF, 0xD8, 0xFF, 0xE1, 0, UInt8(body.count + 2)] + body + frame
  }

  @Test(
    "each format tells its size",
    arguments: [
      (png, PhotoHeader.Format.png), (gif, .gif), (jpeg, .jpeg), (lossyWebP, .webp),
      (extendedWebP, .webp), (losslessWebP, .webp), (exif(1), .jpeg),
    ]
  )
  func sizes(bytes: [UInt8], format: PhotoHeader.Format) throws {
    let header = try PhotoHeader(bytes)
    #expect(header.format == format)
    #expect(header.width == 300)
    #expect(header.height == 200)
  }

  @Test("a photo taken sideways is as high as it is shown")
  func orientation() throws {
    for orientation in UInt8(5)...8 {
      let header = try PhotoHeader(Self.exif(orientation))
      #expect(header.width == 200)
      #expect(header.height == 300)
    }
  }

  @Test("what is cut off or changed anywhere is refused or read, never a trap")
  func damage() {
    var generator = SeededGenerator(seed: 7)
    var refused = 0
    for whole in [
      Self.png, Self.gif, Self.jpeg, Self.lossyWebP, Self.extendedWebP, Self.losslessWebP,
      Self.exif(6),
    ] {
      for length in 0..<whole.count {
        if (try? PhotoHeader(Array(whole.prefix(length)))) == nil {
          refused += 1
        }
      }
      for _ in 0..<2_000 {
        var bytes = whole
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
          in: 0...255,
          using: &generator
        )
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
          in: 0...255,
          using: &generator
        )
        if let header = try? PhotoHeader(bytes) {
          #expect(header.width > 0 && header.height > 0)
          #expect(header.width * header.height <= PhotoHeader.maximumPixels)
        } else {
          refused += 1
        }
      }
    }
    #expect(refused > 1_000)
  }

  @Test("too many bytes or pixels are told as what they are")
  func limits() {
    var huge = Self.png
    huge.replaceSubrange(16..<24, with: [0, 0, 0x40, 0, 0, 0, 0x40, 0])
    #expect(throws: PhotoError.tooManyPixels(16_384, 16_384)) { try PhotoHeader(huge) }
    let fat = Self.png + [UInt8](repeating: 0, count: PhotoHeader.maximumBytes)
    #expect(throws: PhotoError.tooManyBytes(fat.count)) { try PhotoHeader(fat) }
    #expect(throws: PhotoError.unreadable) { try PhotoHeader([]) }
  }
}

import CChafa
import Glibc
import WhiteboardRendering

/// The bytes of sixels.
enum SixelPicture {
  /// Bytes beyond which a picture is sent in sixteen colours.
  static let byteBudget = 512 << 10

  /// Part of a photo, scaled to so many pixels of the screen, of which those down are a multiple of 6; nil
  /// where there is no memory.
  static func encode(
    _ photo: PhotoPixels,
    part: PixelArea,
    across: Int,
    down: Int
  ) -> [UInt8]? {
    guard across > 0, down >= 6 else { return nil }
    // Without opacity the library would leave everything out.
    var pixels: [UInt32] = []
    pixels.reserveCapacity(part.width * part.height)
    for row in part.y..<part.y + part.height {
      let start = row * photo.width + part.x
      pixels += photo.pixels[start..<start + part.width].lazy.map { $0 | 0xFF00_0000 }
    }
    let fine = encode(pixels, part, across, down, hasFewColors: false)
    guard let fine, fine.count > byteBudget else { return fine }
    return encode(pixels, part, across, down, hasFewColors: true)
  }

  private static func encode(
    _ pixels: [UInt32],
    _ part: PixelArea,
    _ across: Int,
    _ down: Int,
    hasFewColors: Bool
  ) -> [UInt8]? {
    var count = 0
    let text = whiteboard_sixels(
      pixels,
      Int32(part.width),
      Int32(part.height),
      Int32(part.width * 4),
      Int32(across),
      Int32(down / 6 * 6),
      hasFewColors ? 1 : 0,
      &count
    )
    guard let text else { return nil }
    defer { free(text) }
    return text.withMemoryRebound(to: UInt8.self, capacity: count) {
      Array(UnsafeBufferPointer(start: $0, count: count))
    }
  }
}

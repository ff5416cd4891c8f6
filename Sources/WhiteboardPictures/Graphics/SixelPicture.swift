import CChafa
import Glibc
import WhiteboardRendering

/// A namespace for encoding pictures as sixels.
enum SixelPicture {
  /// The size in bytes above which a picture is encoded again with only sixteen colors.
  static let byteBudget = 512 << 10

  /// Encodes a part of a photo, scaled to a size in screen pixels; nil if there is not enough memory.
  ///
  /// The height `down` must be at least 6, and is cut to a multiple of 6, the height of a sixel.
  static func encode(_ photo: PhotoPixels, part: PixelArea, across: Int, down: Int) -> [UInt8]? {
    guard across > 0, down >= 6 else { return nil }
    // Set the opacity. Without it, the library would treat all pixels as transparent.
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

  private static func encode(_ pixels: [UInt32], _ part: PixelArea, _ across: Int, _ down: Int, hasFewColors: Bool)
    -> [UInt8]?
  {
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

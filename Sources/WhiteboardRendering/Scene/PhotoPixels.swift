/// A photo reduced to the few pixels needed for cells.
package struct PhotoPixels: Hashable, Sendable {
  package let width: Int
  package let height: Int
  /// The pixels `0xRRGGBB`, row by row.
  package let pixels: [UInt32]

  /// Creates a photo from its pixels.
  ///
  /// - Precondition: `width` and `height` are positive, and `pixels` has `width` times `height` elements.
  package init(width: Int, height: Int, pixels: [UInt32]) {
    precondition(width > 0 && height > 0 && pixels.count == width * height)
    self.width = width
    self.height = height
    self.pixels = pixels
  }

  /// Returns the pixel at a fraction of the width and of the height.
  func color(_ x: Double, _ y: Double) -> CellColor {
    let column = min(max(Int(x * Double(width)), 0), width - 1)
    let row = min(max(Int(y * Double(height)), 0), height - 1)
    return CellColor(rgb: pixels[row * width + column])
  }
}

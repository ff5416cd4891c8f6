/// A photo as a few pixels: enough for cells.
package struct PhotoPixels: Hashable, Sendable {
  /// Pixels across.
  package let width: Int
  /// Pixels down.
  package let height: Int
  /// Row by row, `0xRRGGBB`.
  package let pixels: [UInt32]

  /// - Precondition: There are `width` times `height` pixels, and at least one.
  package init(width: Int, height: Int, pixels: [UInt32]) {
    precondition(width > 0 && height > 0 && pixels.count == width * height)
    self.width = width
    self.height = height
    self.pixels = pixels
  }

  /// The pixel at a share of the width and of the height.
  func color(_ x: Double, _ y: Double) -> CellColor {
    let column = min(max(Int(x * Double(width)), 0), width - 1)
    let row = min(max(Int(y * Double(height)), 0), height - 1)
    return CellColor(rgb: pixels[row * width + column])
  }
}

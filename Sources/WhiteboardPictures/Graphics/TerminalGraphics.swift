import WhiteboardRendering

/// By which of its languages a terminal shows pixels.
package enum TerminalGraphics: Hashable, Sendable, CaseIterable {
  /// kitty's graphics: a photo is sent once and then shown, moved and cut by a few bytes.
  case kitty
  /// Sixels: what is seen is sent whenever it changes.
  case sixel
}

/// A photo as a terminal is sent it.
///
/// Making one decodes and encodes, which takes long: do it off the main loop, once for each photo and size.
package struct TerminalPhoto: Hashable, Sendable {
  /// Its pixels.
  package let pixels: PhotoPixels
  /// The PNG in base64, where the terminal takes that: half as many bytes as deflated pixels.
  let png: [UInt8]

  /// The most pixels of what is worth sending to a terminal.
  package static let pixelLimit = 1_000_000

  /// Creates the data to send for existing pixels.
  package init(_ pixels: PhotoPixels, for graphics: TerminalGraphics) throws(PictureError) {
    let most = Self.within(pixels.width, pixels.height)
    self.pixels = pixels.averaged(within: most.width, most.height)
    png = graphics == .kitty ? Array(Base64.encode(try PNGFile.encode(self.pixels)).utf8) : []
  }

  /// What is sent of a file, in as many pixels as fit where it is shown.
  ///
  /// - Parameters:
  ///   - bytes: The file.
  ///   - width: The pixels across that it is shown in.
  ///   - height: The pixels down.
  ///   - paper: The colour under transparent parts, `0xRRGGBB`.
  ///   - graphics: What the terminal takes.
  /// - Throws: Why the file cannot be shown.
  package init(
    of bytes: [UInt8],
    within width: Int,
    _ height: Int,
    on paper: UInt32,
    for graphics: TerminalGraphics
  ) throws(PictureError) {
    let most = Self.within(width, height)
    try self.init(
      try PhotoDecoder.pixels(of: bytes, within: most.width, most.height, on: paper),
      for: graphics
    )
  }

  private static func within(_ width: Int, _ height: Int) -> (width: Int, height: Int) {
    let (width, height) = (min(max(width, 1), 1 << 15), min(max(height, 1), 1 << 15))
    let share = (Double(pixelLimit) / Double(width * height)).squareRoot()
    guard share < 1 else { return (width, height) }
    return (max(Int(Double(width) * share), 1), max(Int(Double(height) * share), 1))
  }
}

/// The part of a picture's pixels that is shown.
struct PixelArea: Hashable, Sendable {
  let x: Int
  let y: Int
  let width: Int
  let height: Int

  /// The part of a picture that shows in some cells of the box that all of it fills; at least a pixel.
  init(of size: (width: Int, height: Int), showing area: CellArea, in box: CellArea) {
    (x, width) = Self.part(area.columns, of: box.columns, in: size.width)
    (y, height) = Self.part(area.rows, of: box.rows, in: size.height)
  }

  private static func part(
    _ shown: Range<Int>,
    of whole: Range<Int>,
    in pixels: Int
  ) -> (first: Int, count: Int) {
    let each = Double(pixels) / Double(max(whole.count, 1))
    func pixel(_ cell: Int) -> Int {
      min(max(Int((Double(cell - whole.lowerBound) * each).rounded()), 0), pixels)
    }
    let first = min(pixel(shown.lowerBound), pixels - 1)
    return (first, max(pixel(shown.upperBound) - first, 1))
  }
}

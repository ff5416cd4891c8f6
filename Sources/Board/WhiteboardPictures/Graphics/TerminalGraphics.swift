import PeerCore
import WhiteboardRendering

/// The protocol with which a terminal shows pixels.
package enum TerminalGraphics: Hashable, Sendable, CaseIterable {
  /// The kitty graphics protocol: a photo is sent once. After that, a few bytes show, move or crop it.
  case kitty
  /// Sixels: the visible part of a photo is sent each time it changes.
  case sixel
}

/// A photo that is ready to be sent to a terminal. Creating a value is slow, because it decodes and encodes the photo.
/// Create it outside the main loop, and only once for each photo and size.
package struct TerminalPhoto: Hashable, Sendable {
  package let pixels: PhotoPixels
  /// The photo as a PNG in base64, for kitty; empty for sixels. A PNG has half as many bytes as deflated pixels.
  let png: [UInt8]

  /// The maximum number of pixels of a photo that is sent to a terminal; a larger photo is reduced first.
  package static let pixelLimit = 1_000_000

  package init(_ pixels: PhotoPixels, for graphics: TerminalGraphics) throws(PictureError) {
    let most = Self.within(pixels.width, pixels.height)
    self.pixels = pixels.averaged(within: most.width, most.height)
    png = graphics == .kitty ? Array(Base64.encode(try PNGFile.encode(self.pixels)).utf8) : []
  }

  /// Creates the data to send, with as many pixels as fit into `width` and `height`; throws if the file cannot be
  /// shown.
  package init(of bytes: [UInt8], within width: Int, _ height: Int, on paper: UInt32, for graphics: TerminalGraphics)
    throws(PictureError)
  {
    let most = Self.within(width, height)
    try self.init(try PhotoDecoder.pixels(of: bytes, within: most.width, most.height, on: paper), for: graphics)
  }

  private static func within(_ width: Int, _ height: Int) -> (width: Int, height: Int) {
    let (width, height) = (min(max(width, 1), 1 << 15), min(max(height, 1), 1 << 15))
    let share = (Double(pixelLimit) / Double(width * height)).squareRoot()
    guard share < 1 else { return (width, height) }
    return (max(Int(Double(width) * share), 1), max(Int(Double(height) * share), 1))
  }
}

extension TerminalPhoto {
  /// Returns the bytes that show the photo at the cursor, in its own size, and move the cursor to the next line; nil if
  /// the photo cannot be encoded. For kitty, the photo must have been created for kitty.
  package func printed(for graphics: TerminalGraphics) -> [UInt8]? {
    switch graphics {
    case .kitty: return png.isEmpty ? nil : KittyCommands.show(self) + [0x0A]
    case .sixel:
      let all = CellArea(x: 0, y: 0, width: 1, height: 1)
      let part = PixelArea(of: (pixels.width, pixels.height), showing: all, in: all)
      return SixelPicture.encode(pixels, part: part, across: pixels.width, down: pixels.height).map { $0 + [0x0A] }
    }
  }
}

struct PixelArea: Hashable, Sendable {
  let x: Int
  let y: Int
  let width: Int
  let height: Int

  /// Creates the part of a picture that appears in some cells; at least one pixel.
  init(of size: (width: Int, height: Int), showing area: CellArea, in box: CellArea) {
    (x, width) = Self.part(area.columns, of: box.columns, in: size.width)
    (y, height) = Self.part(area.rows, of: box.rows, in: size.height)
  }

  private static func part(_ shown: Range<Int>, of whole: Range<Int>, in pixels: Int) -> (first: Int, count: Int) {
    let each = Double(pixels) / Double(max(whole.count, 1))
    func pixel(_ cell: Int) -> Int { min(max(Int((Double(cell - whole.lowerBound) * each).rounded()), 0), pixels) }
    let first = min(pixel(shown.lowerBound), pixels - 1)
    return (first, max(pixel(shown.upperBound) - first, 1))
  }
}

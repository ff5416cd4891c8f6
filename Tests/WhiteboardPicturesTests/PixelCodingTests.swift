import Testing
import Whiteboard
import WhiteboardRendering

@testable import WhiteboardPictures

@Suite("Pictures of broadcasts") struct PixelCodingTests {
  private static let (width, height, scale) = (300, 200, 1.37)

  private func picture() throws -> BoardPicture {
    let world = try PicturePageTests.World()
    try world.board.createForm(
      .ellipse,
      at: Point(x: 10, y: -5),
      size: Size(width: 90, height: 60),
      lineWidth: 3,
      color: 0xFF00_00FF
    )
    try world.board.createText("words on a board", at: Point(x: -20, y: 30))
    let region = Rectangle(
      Point(x: -100, y: -70),
      Point(x: -100 + Double(Self.width) / Self.scale, y: -70 + Double(Self.height) / Self.scale)
    )
    return world.picture(region)
  }

  private func pixels(_ left: Int, _ top: Int, _ width: Int, _ height: Int) throws -> [UInt32] {
    try PicturePage.pixels(of: picture(), scale: Self.scale, left: left, top: top, width: width, height: height)
  }

  @Test("a PNG keeps all pixels, and a JPEG nearly") func encodings() throws {
    let whole = try pixels(0, 0, Self.width, Self.height)
    let png = try PixelCoding.png(whole, width: Self.width, height: Self.height)
    #expect(try PixelCoding.pixels(of: png, as: .png, width: Self.width, height: Self.height) == whole)
    let jpeg = try PixelCoding.jpeg(whole, width: Self.width, height: Self.height)
    let decoded = try PixelCoding.pixels(of: jpeg, as: .jpeg, width: Self.width, height: Self.height)
    var difference = 0
    for (one, other) in zip(whole, decoded) {
      for shift: UInt32 in [16, 8, 0] {
        difference += abs(Int(one >> shift & 0xFF) - Int(other >> shift & 0xFF))
      }
    }
    let mean = Double(difference) / Double(whole.count)
    #expect(mean < 12, "\(mean)")
  }

  @Test("a picture of another size, or a damaged one, is rejected") func refusals() throws {
    let pixels = [UInt32](repeating: 0x102030, count: 32 * 16)
    let jpeg = try PixelCoding.jpeg(pixels, width: 32, height: 16)
    let png = try PixelCoding.png(pixels, width: 32, height: 16)
    func decode(_ bytes: [UInt8], _ format: PhotoFormat, _ width: Int, _ height: Int) throws {
      _ = try PixelCoding.pixels(of: bytes, as: format, width: width, height: height)
    }
    #expect(throws: PictureError.self) { try decode(jpeg, .jpeg, 16, 32) }
    #expect(throws: PictureError.self) { try decode(jpeg, .png, 32, 16) }
    #expect(throws: PictureError.self) { try decode(png, .jpeg, 32, 16) }
    #expect(throws: PictureError.self) { try decode(Array(jpeg.prefix(40)), .jpeg, 32, 16) }
    #expect(throws: PictureError.self) { try decode([], .jpeg, 32, 16) }
    #expect(throws: PictureError.self) { try PixelCoding.jpeg(pixels, width: 32, height: 17) }
  }

  @Test("[CST-3] the orientation in a file has no meaning") func orientation() throws {
    for format in [PhotoFormat.jpeg, .png] {
      let turned = format == .jpeg ? try Pictures.jpeg(.quarterTurn) : try Pictures.picture("plain.png", .quarterTurn)
      #expect(PhotoHeader.orientation(of: turned) == .quarterTurn)
      let pixels = try PixelCoding.pixels(of: turned, as: format, width: 24, height: 16)
      #expect(Pictures.quarters(PhotoPixels(width: 24, height: 16, pixels: pixels)) == "rgbw")
    }
  }
}

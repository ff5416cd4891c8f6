import PeerTestKit
import Testing
import Whiteboard
import WhiteboardRendering

@testable import WhiteboardPictures

@Suite("Decoding photo files") struct PhotoDecoderTests {
  @Test("every file format is decoded with its colors", arguments: Pictures.names) func decodes(_ name: String) throws {
    let bytes = try Pictures.bytes(name)
    #expect(try PhotoSize.read(bytes) == PhotoSize(width: 24, height: 16))
    let photo = try PhotoDecoder.pixels(of: bytes, within: 1_000, 1_000)
    #expect((photo.width, photo.height) == (24, 16))
    if name.hasPrefix("grey") {
      #expect(photo.pixels.allSatisfy { $0 >> 16 == $0 & 0xFF })
    } else if !name.hasPrefix("half"), !name.hasPrefix("printer") {
      #expect(Pictures.quarters(photo) == "rgbw")
    }
    let small = try PhotoDecoder.pixels(of: bytes, within: 6, 1_000)
    #expect((small.width, small.height) == (6, 4))
    let least = try PhotoDecoder.pixels(of: bytes, within: 0, -1)
    #expect((least.width, least.height) == (1, 1))
  }

  @Test("CMYK colors are close to those of a screen") func printer() throws {
    let photo = try PhotoDecoder.pixels(of: try Pictures.bytes("printer.jpg"), within: 24, 16)
    let pixels = [(6, 4), (18, 4), (6, 12), (18, 12)].map { photo.pixels[$0.1 * 24 + $0.0] }
    #expect(pixels[0] >> 16 > 200 && pixels[0] & 0xFF < 80)
    #expect(pixels[1] >> 8 & 0xFF > 150 && pixels[1] >> 16 < 100)
    #expect(pixels[2] & 0xFF > 150 && pixels[2] >> 16 < 100)
    #expect(Pictures.name(pixels[3]) == "w")
  }

  @Test("a half-transparent photo shows the paper through it", arguments: ["half.png", "half.webp"]) func paper(
    _ name: String
  ) throws {
    let bytes = try Pictures.bytes(name)
    for (paper, wanted) in [(0x000000, 0x80), (0xFFFFFF, 0xFF)] as [(UInt32, UInt32)] {
      let photo = try PhotoDecoder.pixels(of: bytes, within: 24, 16, on: paper)
      let red = photo.pixels[4 * 24 + 6]
      #expect(abs(Int(red >> 16) - Int(wanted)) <= 2)
      #expect(abs(Int(red & 0xFF) - Int(paper & 0xFF) / 2) <= 2)
    }
  }

  @Test("a photo is upright for every camera orientation", arguments: [true, false]) func orientation(isLittle: Bool)
    throws
  {
    let wanted: [PhotoOrientation: String] = [
      .upright: "rgbw", .mirrored: "grwb", .halfTurn: "wbgr", .flipped: "bwrg", .transposed: "rbgw",
      .quarterTurn: "brwg", .transversed: "wgbr", .quarterTurnBack: "gwrb",
    ]
    let pictures = try PhotoOrientation.allCases.flatMap { orientation in
      [(orientation, try Pictures.jpeg(orientation, isLittle: isLittle))]
        + (try ["plain.png", "lossless.webp"].map { (orientation, try Pictures.picture($0, orientation)) })
    }
    for (orientation, bytes) in pictures {
      #expect(PhotoDecoder.orientation(of: bytes) == orientation)
      let upright = PhotoHeader.upright(bytes)
      #expect(PhotoHeader.orientation(of: upright) == .upright)
      let size = orientation.isSideways ? (16, 24) : (24, 16)
      #expect(try PhotoSize.read(bytes) == PhotoSize(width: size.0, height: size.1))
      let photo = try PhotoDecoder.pixels(of: bytes, within: size.0, size.1)
      #expect((photo.width, photo.height) == size)
      #expect(Pictures.quarters(photo) == wanted[orientation], "\(orientation)")
    }
  }

  @Test("a truncated file is rejected with a message", arguments: Pictures.names) func truncated(_ name: String) throws
  {
    let bytes = try Pictures.bytes(name)
    // The last two bytes of a PNG or WebP are not needed for the picture.
    for count in 0..<bytes.count - 2 {
      let error = #expect(throws: PictureError.self, "\(count)") {
        try PhotoDecoder.pixels(of: Array(bytes.prefix(count)), within: 24, 16)
      }
      #expect(error?.description.isEmpty == false)
    }
  }

  @Test("changed bytes give pixels or an error", arguments: Pictures.names) func damaged(_ name: String) throws {
    let bytes = try Pictures.bytes(name)
    var random = SeededGenerator(seed: 11)
    for _ in 0..<400 {
      var changed = bytes
      for _ in 0...random.below(4) { changed[random.below(changed.count)] = UInt8(random.below(256)) }
      guard let photo = try? PhotoDecoder.pixels(of: changed, within: 30, 30) else { continue }
      #expect(photo.width <= 30 && photo.height <= 30)
    }
  }

  @Test("a photo with too many pixels is rejected before it is decoded") func tooManyPixels() throws {
    var png = try Pictures.bytes("plain.png")
    func setSize(_ width: UInt32, _ height: UInt32) {
      for (index, value) in [width, height].enumerated() {
        for byte in 0..<4 { png[16 + 4 * index + byte] = UInt8(value >> (24 - 8 * UInt32(byte)) & 0xFF) }
      }
    }
    setSize(8_000, 8_001)
    #expect(throws: PictureError.photo(.tooManyPixels)) { try PhotoSize.read(png) }
    #expect(throws: PictureError.photo(.tooManyPixels)) { try PhotoDecoder.pixels(of: png, within: 10, 10) }
    setSize(40_000, 10)
    #expect(throws: PictureError.undecodable("a side is longer than 32767 pixels")) {
      try PhotoDecoder.pixels(of: png, within: 10, 10)
    }

    var webP = Array("RIFF".utf8) + [22, 0, 0, 0] + Array("WEBPVP8X".utf8) + [10, 0, 0, 0]
    webP += [0, 0, 0, 0, 0xFE, 0x3F, 0, 0xFE, 0x3F, 0]
    #expect(throws: PictureError.self) { try PhotoSize.read(webP) }
    webP[20] = 2
    #expect(throws: PictureError.self) { try PhotoDecoder.pixels(of: webP, within: 10, 10) }
  }

  @Test("files that are not images, and images that are too large, have different errors") func noPicture() {
    #expect(throws: PictureError.photo(.unknownFormat)) {
      try PhotoDecoder.pixels(of: Array("GIF89a".utf8), within: 1, 1)
    }
    #expect(throws: PictureError.photo(.tooManyBytes)) { try PhotoSize.read([]) }
    let most = [UInt8](repeating: 0xFF, count: BoardLimits.photoBytes + 1)
    #expect(throws: PictureError.photo(.tooManyBytes)) { try PhotoSize.read(most) }
  }

  @Test("a WebP is converted and keeps its transparency; other formats stay unchanged") func boardPhoto() throws {
    for name in ["upright.jpg", "deep.png"] {
      let bytes = try Pictures.bytes(name)
      #expect(try BoardPhoto.file(of: bytes) == bytes)
    }
    for (name, format) in [("half.webp", .png), ("lossless.webp", .png), ("lossy.webp", .jpeg)]
      as [(String, PhotoFormat)]
    {
      let bytes = try Pictures.bytes(name)
      let file = try BoardPhoto.file(of: bytes)
      let header = try PhotoHeader(ofWhole: file)
      #expect(header == (try PhotoHeader(format: format, width: 24, height: 16)))
      for paper in [0x000000, 0xFFFFFF] as [UInt32] {
        let (before, after) = (
          try PhotoDecoder.pixels(of: bytes, within: 24, 16, on: paper),
          try PhotoDecoder.pixels(of: file, within: 24, 16, on: paper)
        )
        let names = [before, after].map(Pictures.quarters)
        #expect(names[0] == names[1] || name == "half.webp")
        let reds = [before, after].map { Int($0.pixels[4 * 24 + 6] >> 16) }
        #expect(abs(reds[0] - reds[1]) <= 16)
      }
    }
    // A JPEG that lacks only the marker of its end is completed; a JPEG that lacks a part of its picture is refused.
    let jpeg = try Pictures.bytes("upright.jpg")
    #expect(try BoardPhoto.file(of: Array(jpeg.dropLast(2))) == jpeg)
    #expect(throws: PictureError.photo(.truncated)) { try BoardPhoto.file(of: Array(jpeg.prefix(jpeg.count - 40))) }
    var damaged = try Pictures.bytes("plain.png")
    let data = try #require(PNGChunks(damaged).first { $0.name.elementsEqual("IDAT".utf8) }?.data)
    damaged[data.lowerBound + 12] ^= 0xFF
    #expect(throws: PictureError.self) { try BoardPhoto.file(of: damaged) }
    #expect(throws: PictureError.self) { try BoardPhoto.file(of: Array("RIFF1234WEBPVP8 ".utf8)) }
    #expect(throws: PictureError.photo(.unknownFormat)) { try BoardPhoto.file(of: [1, 2, 3]) }
  }
}

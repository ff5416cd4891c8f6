import Testing

@testable import WhiteboardRendering

@Suite("Reducing pictures") struct BoxFilterTests {
  private static let photo = PhotoPixels(
    width: 4,
    height: 2,
    pixels: [0x000000, 0xFF0000, 0x00FF00, 0x00FF00, 0x0000FF, 0x000000, 0x00FF00, 0x00FF00]
  )

  @Test("a pixel is the average of the pixels it replaces") func averages() {
    let small = Self.photo.averaged(within: 2, 2)
    #expect((small.width, small.height) == (2, 1))
    #expect(small.pixels == [0x400040, 0x00FF00])
  }

  @Test("a picture that fits is unchanged, and enlarging it repeats pixels") func sizes() {
    #expect(Self.photo.averaged(within: 4, 9) == Self.photo)
    let large = Self.photo.averaged(to: 8, 2)
    #expect(large.pixels[0..<4] == [0, 0, 0xFF0000, 0xFF0000])
    #expect(Self.photo.averaged(to: 0, -3).pixels.count == 1)
  }

  @Test("the aspect ratio stays, and no side becomes zero") func shape() {
    #expect(PhotoPixels.size(of: (4_000, 3_000), within: (400, 400)) == (400, 300))
    #expect(PhotoPixels.size(of: (3_000, 1), within: (30, 30)) == (30, 1))
    #expect(PhotoPixels.size(of: (3, 2), within: (30, 30)) == (3, 2))
  }
}

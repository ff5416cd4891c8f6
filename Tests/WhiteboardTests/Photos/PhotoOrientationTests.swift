import Testing

@testable import Whiteboard

@Suite struct PhotoOrientationTests {
  /// Returns a JPEG that consists only of a header with an Exif segment.
  private func jpeg(_ tiff: [UInt8], before: [UInt8] = []) -> [UInt8] {
    let segment = Array("Exif\0\0".utf8) + tiff
    return [0xFF, 0xD8] + before + [0xFF, 0xE1, 0, UInt8(segment.count + 2)] + segment
  }

  private let quarter: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0]

  @Test("the orientation is found after other segments and fill bytes") func found() {
    #expect(PhotoHeader.orientation(of: jpeg(quarter)) == .quarterTurn)
    let other: [UInt8] = [0xFF, 0xE0, 0, 4, 1, 2, 0xFF]
    #expect(PhotoHeader.orientation(of: jpeg(quarter, before: other)) == .quarterTurn)
  }

  @Test("the orientation of a file can be set to upright, and the rest stays unchanged") func upright() {
    let little: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]
    for tiff in [quarter, little] {
      let file = jpeg(tiff)
      let upright = PhotoHeader.upright(file)
      #expect(PhotoHeader.orientation(of: file) == .quarterTurn)
      #expect(PhotoHeader.orientation(of: upright) == .upright)
      #expect(zip(file, upright).filter { $0 != $1 }.map(\.1) == [1])
    }
    for file in [[], [0xFF, 0xD8, 0xFF], jpeg(Array(quarter.prefix(12)))] as [[UInt8]] {
      #expect(PhotoHeader.upright(file) == file)
    }
  }

  @Test("the first Exif chunk of a PNG counts; an upright copy has none") func png() {
    func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
      [0, 0, 0, UInt8(data.count)] + Array(name.utf8) + data + [0, 0, 0, 0]
    }
    let beginning = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", [])
    let file = beginning + chunk("eXIf", quarter) + chunk("eXIf", quarter) + chunk("IEND", [])
    #expect(PhotoHeader.orientation(of: file) == .quarterTurn)
    #expect(PhotoHeader.upright(file) == beginning + chunk("IEND", []))
    #expect(PhotoHeader.orientation(of: beginning + chunk("eXIf", Array(quarter.prefix(15)))) == .upright)
    #expect(
      PhotoHeader.orientation(of: beginning + [0xFF, 0xFF, 0xFF, 0xFF] + Array("eXIf".utf8) + quarter) == .upright
    )
  }

  @Test("a missing or invalid orientation counts as upright") func nonsense() {
    for value in [0, 9, 255] as [UInt8] {
      var tiff = quarter
      tiff[19] = value
      #expect(PhotoHeader.orientation(of: jpeg(tiff)) == .upright)
    }
    for count in 0..<20 { #expect(PhotoHeader.orientation(of: jpeg(Array(quarter.prefix(count)))) == .upright) }
    var far = quarter
    far.replaceSubrange(4..<8, with: [0xFF, 0xFF, 0xFF, 0xFF])
    #expect(PhotoHeader.orientation(of: jpeg(far)) == .upright)
    #expect(PhotoHeader.orientation(of: []) == .upright)
    #expect(PhotoHeader.orientation(of: [0xFF, 0xD8, 0xFF]) == .upright)
    #expect(PhotoHeader.orientation(of: [0x89, 0x50]) == .upright)
  }
}

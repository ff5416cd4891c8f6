import Testing

@testable import Whiteboard

@Suite struct PhotoHeaderTests {
  private func png(width: UInt32, height: UInt32, depth: UInt8 = 8, color: UInt8 = 2) -> [UInt8] {
    var writer = ByteWriter()
    writer.raw([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
    writer.fixed32(13)
    writer.raw(Array("IHDR".utf8))
    writer.fixed32(width)
    writer.fixed32(height)
    writer.raw([depth, color, 0, 0, 0])
    writer.fixed32(0)
    return writer.bytes
  }

  private func jpeg(_ marker: UInt8 = 0xC0, metadata: Int = 20) -> [UInt8] {
    [0xFF, 0xD8, 0xFF, 0xE1, UInt8((metadata + 2) >> 8), UInt8((metadata + 2) & 255)]
      + [UInt8](repeating: 0xFF, count: metadata) + [
        0xFF, 0xFF, marker, 0, 17, 8, 0x02, 0x58, 0x03, 0x20, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1,
      ]
  }

  @Test("[BRD-17] the size of a PNG is read from its IHDR") func pngSize() throws {
    let header = try PhotoHeader(reading: png(width: 800, height: 600))
    #expect(header == (try PhotoHeader(format: .png, width: 800, height: 600)))
  }

  @Test("[BRD-17] the size of a JPEG is read from its frame header", arguments: [0xC0, 0xC2, 0xCF]) func jpegSize(
    marker: Int
  ) throws {
    let header = try PhotoHeader(reading: jpeg(UInt8(marker), metadata: 60_000))
    #expect(header == (try PhotoHeader(format: .jpeg, width: 800, height: 600)))
  }

  @Test("[BRD-17] 64 megapixels are accepted and one row more is not") func pixels() throws {
    _ = try PhotoHeader(reading: png(width: 8000, height: 8000))
    #expect(throws: PhotoError.tooManyPixels) { try PhotoHeader(reading: png(width: 8000, height: 8001)) }
    #expect(throws: PhotoError.tooManyPixels) { try PhotoHeader(reading: png(width: 0xFFFF_FFFF, height: 0xFFFF_FFFF)) }
    #expect(throws: PhotoError.tooManyPixels) { try PhotoHeader(reading: png(width: 0, height: 9)) }
  }

  @Test("[BRD-16] 32 MiB are accepted and one byte more is not") func bytes() throws {
    let header = try PhotoHeader(reading: jpeg())
    let id = RandomEditing.asset(1).id
    let most = try AssetReference(id: id, byteCount: BoardLimits.photoBytes, header: header)
    #expect(AssetReference(most.value) == most)
    #expect(throws: PhotoError.tooManyBytes) {
      try AssetReference(id: id, byteCount: BoardLimits.photoBytes + 1, header: header)
    }
  }

  @Test func `bytes that are not a photo are refused`() {
    #expect(throws: PhotoError.unknownFormat) { try PhotoHeader(reading: []) }
    #expect(throws: PhotoError.unknownFormat) { try PhotoHeader(reading: Array("GIF89a".utf8)) }
    #expect(throws: PhotoError.malformed) { try PhotoHeader(reading: png(width: 1, height: 1, depth: 3)) }
    #expect(throws: PhotoError.malformed) { try PhotoHeader(reading: jpeg(0xDA)) }
  }

  @Test("[BRD-17] a photo is complete up to its end marker, and not a byte earlier") func whole() throws {
    func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
      var writer = ByteWriter()
      writer.fixed32(UInt32(data.count))
      writer.raw(Array(name.utf8) + data)
      writer.fixed32(0)
      return writer.bytes
    }
    let header = png(width: 20, height: 30)
    let picture = chunk("IDAT", [1, 2, 3])
    let wholePNG = header + chunk("tEXt", []) + picture + chunk("IEND", [])
    // A scan with a stuffed byte, a restart and padding, another scan, and the end.
    let scan: [UInt8] = [0xFF, 0xDA, 0, 4, 1, 0, 9, 0xFF, 0, 7, 0xFF, 0xD0, 8, 0xFF, 0xFF]
    let wholeJPEG = jpeg() + scan + [0xC4, 0, 3, 0] + scan + [0xD9]
    for whole in [wholePNG, wholeJPEG] {
      #expect(try PhotoHeader(ofWhole: whole) == (try PhotoHeader(reading: whole)))
      // Bytes after the end are ignored.
      _ = try PhotoHeader(ofWhole: whole + [1, 2, 3])
      for length in 0..<whole.count {
        #expect(throws: PhotoError.self) { try PhotoHeader(ofWhole: Array(whole.prefix(length))) }
      }
      #expect(throws: PhotoError.truncated) { try PhotoHeader(ofWhole: whole.dropLast()) }
      for index in whole.indices {
        for bit in 0..<8 {
          var damaged = whole
          damaged[index] ^= UInt8(1 << bit)
          _ = try? PhotoHeader(ofWhole: damaged)
        }
      }
    }
    #expect(throws: PhotoError.truncated) { try PhotoHeader(ofWhole: header + chunk("IEND", [])) }
    #expect(throws: PhotoError.truncated) { try PhotoHeader(ofWhole: jpeg() + [0xFF, 0xD9]) }
  }

  @Test func `headers that are cut or have a flipped bit do not trap`() {
    for original in [png(width: 20, height: 30), jpeg()] {
      for length in 0..<(original.count - 13) {
        #expect(throws: PhotoError.self) { try PhotoHeader(reading: Array(original.prefix(length))) }
      }
      for index in original.indices {
        for bit in 0..<8 {
          var damaged = original
          damaged[index] ^= UInt8(1 << bit)
          _ = try? PhotoHeader(reading: damaged)
        }
      }
    }
  }
}

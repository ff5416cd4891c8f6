/// Checking whether a photo's file is complete, without decoding the image.
extension PhotoHeader {
  /// Reads the header of a photo, and checks that its file is complete.
  ///
  /// The data between the header and the end is not checked. Data after the end is ignored.
  ///
  /// - Throws: The same errors as `init(reading:)`, and `truncated` if the image has no end.
  /// - Complexity: O(*n*), where *n* is the number of chunks of a PNG or the number of bytes of a JPEG.
  public init(ofWhole bytes: [UInt8]) throws(PhotoError) {
    try self.init(reading: bytes)
    let isWhole =
      switch format {
      case .png: Self.hasPNGEnd(bytes)
      case .jpeg: Self.hasJPEGEnd(bytes)
      }
    guard isWhole else { throw .truncated }
  }

  /// Returns whether a PNG has an unbroken sequence of chunks with image data up to `IEND`.
  private static func hasPNGEnd(_ bytes: [UInt8]) -> Bool {
    var offset = 8
    var hasPicture = false
    // A chunk is a length, a name, that number of bytes, and a checksum. With 32 bits, a length can be negative.
    while bytes.count - offset >= 12 {
      let length = bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
      guard length >= 0, length <= bytes.count - offset - 12 else { return false }
      let name = bytes[(offset + 4)..<(offset + 8)]
      if name.elementsEqual("IEND".utf8) { return hasPicture && length == 0 }
      if name.elementsEqual("IDAT".utf8) { hasPicture = true }
      offset += 12 + length
    }
    return false
  }

  /// Returns whether a JPEG has an unbroken sequence of segments and scans up to the end-of-image marker.
  private static func hasJPEGEnd(_ bytes: [UInt8]) -> Bool {
    var offset = 2
    var hasScan = false
    while offset < bytes.count {
      guard bytes[offset] == 0xFF else {
        // Only scan data is outside of segments.
        guard hasScan else { return false }
        offset += 1
        continue
      }
      guard let code = bytes[offset...].firstIndex(where: { $0 != 0xFF }) else { return false }
      offset = code + 1
      switch bytes[code] {
      case 0xD9: return hasScan
      case 0x00, 0x01, 0xD0...0xD8: break
      default:
        guard bytes.count - offset >= 2 else { return false }
        let length = Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
        guard length >= 2 else { return false }
        if bytes[code] == 0xDA { hasScan = true }
        offset += length
      }
    }
    return false
  }
}

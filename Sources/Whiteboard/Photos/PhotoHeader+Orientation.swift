/// The orientation of a JPEG's pixels (Exif tag 0x0112).
///
/// A camera stores the orientation in the file if the camera was held sideways or upside down.
package enum PhotoOrientation: UInt8, Hashable, Sendable, CaseIterable {
  /// The pixels are in the right orientation.
  case upright = 1
  /// The pixels are mirrored left to right.
  case mirrored
  /// The pixels are rotated by half a turn.
  case halfTurn
  /// The pixels are mirrored top to bottom.
  case flipped
  /// The pixels are mirrored along the diagonal from the top left.
  case transposed
  /// The pixels must be rotated by a quarter turn clockwise.
  case quarterTurn
  /// The pixels are mirrored along the diagonal from the top right.
  case transversed
  /// The pixels must be rotated by a quarter turn counterclockwise.
  case quarterTurnBack

  /// Whether the photo is shown with its width and height exchanged.
  package var isSideways: Bool { rawValue >= 5 }
}

extension PhotoHeader {
  /// Returns the orientation that a photo's file states; `upright` if it states none, or an invalid one.
  ///
  /// Only the Exif segment of a JPEG is read.
  package static func orientation(of bytes: [UInt8]) -> PhotoOrientation {
    orientationPlace(in: bytes)?.orientation ?? .upright
  }

  /// Use the result for programs that may ignore the orientation in a file.
  package static func upright(_ bytes: [UInt8]) -> [UInt8] {
    guard let (_, place) = orientationPlace(in: bytes) else { return bytes }
    var bytes = bytes
    // The orientation is a number of two bytes in either byte order. The byte that is not zero holds it.
    for index in place where bytes[index] != 0 { bytes[index] = PhotoOrientation.upright.rawValue }
    return bytes
  }

  /// Returns the orientation that a file states, and the range of bytes that state it.
  private static func orientationPlace(in bytes: [UInt8]) -> (orientation: PhotoOrientation, place: Range<Int>)? {
    guard bytes.starts(with: [0xFF, 0xD8]) else { return nil }
    var offset = 2
    while bytes.count - offset >= 4, bytes[offset] == 0xFF {
      let marker = bytes[offset + 1]
      if marker == 0xFF {
        offset += 1
        continue
      }
      let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
      guard length >= 2, marker >= 0xC0, !(0xD0...0xDA).contains(marker) else { break }
      let end = min(offset + 2 + length, bytes.count)
      if marker == 0xE1, offset + 4 <= end, let found = orientation(exif: bytes[(offset + 4)..<end]) { return found }
      offset += 2 + length
    }
    return nil
  }

  /// Returns the orientation in the first directory of an Exif segment.
  private static func orientation(exif segment: ArraySlice<UInt8>) -> (
    orientation: PhotoOrientation, place: Range<Int>
  )? {
    guard segment.starts(with: [0x45, 0x78, 0x69, 0x66, 0, 0]) else { return nil }
    let tiff = Array(segment.dropFirst(6))
    guard tiff.count >= 8 else { return nil }
    let isLittle = tiff[0] == 0x49
    func number(_ at: Int, _ size: Int) -> Int? {
      guard at >= 0, at <= tiff.count - size else { return nil }
      let bytes = tiff[at..<at + size]
      return (isLittle ? Array(bytes.reversed()) : Array(bytes)).reduce(0) { $0 << 8 | Int($1) }
    }
    guard let directory = number(4, 4), let count = number(directory, 2) else { return nil }
    for index in 0..<count {
      let entry = directory + 2 + 12 * index
      guard let tag = number(entry, 2), let value = number(entry + 8, 2) else { return nil }
      guard tag == 0x0112 else { continue }
      let start = segment.startIndex + 6 + entry + 8
      return UInt8(exactly: value).flatMap(PhotoOrientation.init).map { ($0, start..<start + 2) }
    }
    return nil
  }
}

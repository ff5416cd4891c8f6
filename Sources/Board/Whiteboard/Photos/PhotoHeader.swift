/// The reason why a file is not an acceptable photo.
public enum PhotoError: Error, Hashable, Sendable {
  /// The file is neither JPEG nor PNG.
  case unknownFormat
  /// The header is incomplete or breaks the rules of its format.
  case malformed
  case truncated
  /// The width or height is 0, or the image has more pixels than `BoardLimits.photoPixels`.
  case tooManyPixels
  /// The file is empty, or larger than `BoardLimits.photoBytes`.
  case tooManyBytes

  /// The stable code of this error, such as `photo-format`.
  public var code: String {
    switch self {
    case .unknownFormat: "photo-format"
    case .malformed: "photo-malformed"
    case .truncated: "photo-truncated"
    case .tooManyPixels: "photo-pixels"
    case .tooManyBytes: "photo-bytes"
    }
  }
}

/// The format and the size of a photo, read from its header before the photo is decoded (BRD-17).
public struct PhotoHeader: Hashable, Sendable {
  /// The image format.
  public let format: PhotoFormat
  /// The width of the image in pixels.
  public let width: Int
  /// The height of the image in pixels.
  public let height: Int

  /// Creates a header from its fields.
  /// - Throws: `PhotoError.tooManyPixels` if the width or height is 0, or the image exceeds `BoardLimits.photoPixels`.
  public init(format: PhotoFormat, width: Int, height: Int) throws(PhotoError) {
    let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
    guard width >= 1, height >= 1, !overflow, pixels <= BoardLimits.photoPixels else { throw .tooManyPixels }
    self.format = format
    self.width = width
    self.height = height
  }

  /// Reads the header of a photo.
  ///
  /// For a PNG, pass at least the first 33 bytes. For a JPEG, pass the whole file, because hundreds of kilobytes of
  /// metadata may come before its frame header.
  /// - Complexity: O(1) for a PNG. For a JPEG, O(*n*), where *n* is the number of segments before the frame header.
  public init(reading bytes: [UInt8]) throws(PhotoError) {
    if bytes.starts(with: Self.pngBeginning) {
      try self.init(png: bytes)
    } else if bytes.starts(with: Self.jpegBeginning) {
      try self.init(jpeg: bytes)
    } else {
      throw .unknownFormat
    }
  }

  /// Returns whether a file begins like a JPEG or PNG.
  ///
  /// The rest of the file is not checked.
  public static func isPhoto(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: pngBeginning) || bytes.starts(with: jpegBeginning)
  }

  /// Returns whether a file begins like a WebP. Boards do not accept this format, but a WebP can be converted.
  package static func isWebP(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: "RIFF".utf8) && bytes.dropFirst(8).starts(with: "WEBP".utf8)
  }

  package static let pngBeginning: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
  private static let jpegBeginning: [UInt8] = [0xFF, 0xD8]

  private init(png bytes: [UInt8]) throws(PhotoError) {
    // The header: a length of 13, "IHDR", width, height, then depth, color, compression, filter and interlace.
    guard bytes.count >= 33, Array(bytes[8..<16]) == [0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52] else { throw .malformed }
    func number(_ at: Int) -> Int { bytes[at..<(at + 4)].reduce(0) { $0 << 8 | Int($1) } }
    let depths: [UInt8]
    switch bytes[25] {
    case 0: depths = [1, 2, 4, 8, 16]
    case 3: depths = [1, 2, 4, 8]
    case 2, 4, 6: depths = [8, 16]
    default: throw .malformed
    }
    guard depths.contains(bytes[24]), bytes[26] == 0, bytes[27] == 0, bytes[28] <= 1 else { throw .malformed }
    try self.init(format: .png, width: number(16), height: number(20))
  }

  private init(jpeg bytes: [UInt8]) throws(PhotoError) {
    var offset = 2
    while true {
      guard offset < bytes.count, bytes[offset] == 0xFF else { throw .malformed }
      while offset < bytes.count, bytes[offset] == 0xFF { offset += 1 }
      guard offset + 2 < bytes.count else { throw .malformed }
      let marker = bytes[offset]
      let length = Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2])
      guard length >= 2 else { throw .malformed }
      switch marker {
      case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
        guard length >= 8, offset + 8 <= bytes.count else { throw .malformed }
        try self.init(
          format: .jpeg,
          width: Int(bytes[offset + 6]) << 8 | Int(bytes[offset + 7]),
          height: Int(bytes[offset + 4]) << 8 | Int(bytes[offset + 5])
        )
        return
      case 0x00, 0x01, 0xD0...0xDA:
        // A scan, end, restart or padding marker is not allowed before the frame header.
        throw .malformed
      default: offset += 1 + length
      }
    }
  }
}

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
    var hasPicture = false
    for (name, data) in PNGChunks(bytes) {
      if name.elementsEqual("IEND".utf8) { return hasPicture && data.isEmpty }
      if name.elementsEqual("IDAT".utf8) { hasPicture = true }
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

/// The chunks of a PNG, up to the first incomplete chunk.
package struct PNGChunks: Sequence, IteratorProtocol {
  private let bytes: [UInt8]
  private var offset = 8

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Returns the name of the next chunk, and the indexes of its data. The length and the name are the 8 bytes before
  /// the data, and the checksum is the 4 bytes after the data.
  package mutating func next() -> (name: ArraySlice<UInt8>, data: Range<Int>)? {
    guard bytes.count - offset >= 12 else { return nil }
    let length = bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
    // On a platform with 32-bit integers, a length can be negative.
    guard length >= 0, length <= bytes.count - offset - 12 else { return nil }
    let start = offset + 8
    offset = start + length + 4
    return (bytes[(start - 4)..<start], start..<(start + length))
  }
}

/// The orientation of a photo's pixels (Exif tag 0x0112). A camera stores the orientation in the file if the camera was
/// held sideways or upside down.
package enum PhotoOrientation: UInt8, Hashable, Sendable, CaseIterable {
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
  /// Returns the orientation that a photo's file states; `upright` if the file states no valid orientation. Only the
  /// Exif data of a JPEG or PNG are read.
  package static func orientation(of bytes: [UInt8]) -> PhotoOrientation {
    orientationPlace(in: bytes)?.orientation ?? .upright
  }

  /// Returns the file without its orientation, for programs that may ignore the orientation in a file.
  package static func upright(_ bytes: [UInt8]) -> [UInt8] {
    guard let (_, place) = orientationPlace(in: bytes) else { return bytes }
    guard bytes.starts(with: jpegBeginning) else {
      // Leave out the whole chunk, because a changed chunk of a PNG needs a new checksum.
      var rest = pngBeginning
      for (name, data) in PNGChunks(bytes) where !name.elementsEqual(exifChunk) {
        rest += bytes[(data.lowerBound - 8)..<(data.upperBound + 4)]
      }
      return rest
    }
    var bytes = bytes
    // The orientation is a number of two bytes in either byte order. The byte that is not zero holds the orientation.
    for index in place where bytes[index] != 0 { bytes[index] = PhotoOrientation.upright.rawValue }
    return bytes
  }

  private static var exifChunk: String.UTF8View { "eXIf".utf8 }

  private static func orientationPlace(in bytes: [UInt8]) -> (orientation: PhotoOrientation, place: Range<Int>)? {
    if bytes.starts(with: pngBeginning) {
      for (name, data) in PNGChunks(bytes) where name.elementsEqual(exifChunk) { return orientation(tiff: bytes[data]) }
      return nil
    }
    guard bytes.starts(with: jpegBeginning) else { return nil }
    var offset = 2
    while bytes.count - offset >= 4, bytes[offset] == 0xFF {
      let marker = bytes[offset + 1]
      if marker == 0xFF {
        offset += 1
        continue
      }
      let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
      guard length >= 2, marker >= 0xC0, !(0xD0...0xDA).contains(marker) else { break }
      let segment = bytes[(offset + 4)..<max(offset + 4, min(offset + 2 + length, bytes.count))]
      if marker == 0xE1, segment.starts(with: [0x45, 0x78, 0x69, 0x66, 0, 0]),
        let found = orientation(tiff: segment.dropFirst(6))
      {
        return found
      }
      offset += 2 + length
    }
    return nil
  }

  package static func orientation(tiff data: ArraySlice<UInt8>) -> (orientation: PhotoOrientation, place: Range<Int>)? {
    let tiff = Array(data)
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
      let start = data.startIndex + entry + 8
      return UInt8(exactly: value).flatMap(PhotoOrientation.init).map { ($0, start..<start + 2) }
    }
    return nil
  }
}

import FoundationEssentials
import PeerCore
import Whiteboard
import WhiteboardRendering

/// A picture format that boards do not accept, but that libvips can convert.
enum OtherPicture: String {
  case gif, svg, tiff, bmp, heif
  /// A WebP file with several pictures. Boards accept WebP files with one picture, so those files are not converted.
  case webp

  static let formats = "JPEG, PNG, WebP, GIF, SVG, HEIC, AVIF, TIFF or BMP"
  static let byteLimit = ImportedBoard.byteLimit
  private static let program = ChildProgram(name: "vipsthumbnail", package: "libvips-tools")
  /// The number of pixels on the longer side of a converted SVG.
  private static let drawnSide = 2048
  /// The maximum number of pixels on a side; larger pictures are scaled down.
  private static let side = 8000
  private static let brands = ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1", "avif", "avis"]

  init?(of bytes: [UInt8]) {
    func begins(_ text: String, at offset: Int = 0) -> Bool { bytes.dropFirst(offset).starts(with: text.utf8) }
    if begins("GIF8") {
      self = .gif
    } else if begins("II*\0") || begins("MM\0*") {
      self = .tiff
    } else if begins("BM"), bytes.count > 26, bytes[6..<10].allSatisfy({ $0 == 0 }) {
      self = .bmp
    } else if PhotoHeader.isWebP(bytes), begins("VP8X", at: 12), bytes.count > 20, bytes[20] & 0x02 != 0 {
      self = .webp
    } else if begins("ftyp", at: 4), Self.brands.contains(where: { begins($0, at: 8) }) {
      self = .heif
    } else if bytes.first(where: { $0 > 0x20 && $0 < 0x80 }) == UInt8(ascii: "<"),
      String(decoding: bytes.prefix(4096), as: UTF8.self).contains("<svg")
    {
      self = .svg
    } else {
      return nil
    }
  }

  static func hasMorePictures(_ bytes: [UInt8]) -> Bool {
    switch OtherPicture(of: bytes) {
    case .gif: hasMoreGIFPictures(bytes)
    case .tiff: hasMoreTIFFPages(bytes)
    case .webp: true
    case nil: PNGChunks(bytes).contains { $0.name.elementsEqual("acTL".utf8) }
    default: false
    }
  }

  private static func hasMoreGIFPictures(_ bytes: [UInt8]) -> Bool {
    func byte(_ index: Int) -> Int { index < bytes.count ? Int(bytes[index]) : 0 }
    func tableSize(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << (flags & 7 + 1) }
    var (offset, count) = (13 + tableSize(byte(10)), 0)
    while count < 2, offset < bytes.count {
      switch bytes[offset] {
      case 0x21: offset += 2
      case 0x2C:
        count += 1
        offset += 11 + tableSize(byte(offset + 9))
      default: return false
      }
      // Each block of data begins with its length; the last block is empty.
      while byte(offset) > 0 { offset += byte(offset) + 1 }
      offset += 1
    }
    return count > 1
  }

  private static func hasMoreTIFFPages(_ bytes: [UInt8]) -> Bool {
    let isLittle = bytes.first == UInt8(ascii: "I")
    func number(_ offset: Int, _ length: Int) -> Int? {
      guard offset >= 0, offset <= bytes.count - length else { return nil }
      let part = bytes[offset..<(offset + length)]
      return (isLittle ? part.reversed() : Array(part)).reduce(0) { $0 << 8 | Int($1) }
    }
    // The offset of the next page follows the entries of the first page, which have 12 bytes each.
    guard let first = number(4, 4), let count = number(first, 2), let next = number(first + 2 + 12 * count, 4) else {
      return false
    }
    return next != 0
  }

  /// Returns an upright sRGB PNG of the first picture or page; blocks the thread during the conversion.
  func png(_ bytes: [UInt8]) throws(ConversionError) -> [UInt8] {
    try ChildProgram.withFolder { (folder) throws(ConversionError) in
      let (source, target) = ("\(folder)/picture.\(rawValue)", "\(folder)/converted.png")
      do { try Data(bytes).write(to: URL(fileURLWithPath: source)) } catch {
        throw ConversionError("there is no room for a temporary file")
      }
      let size = self == .svg ? "\(Self.drawnSide)x\(Self.drawnSide)" : "\(Self.side)x\(Self.side)>"
      var settings = ["VIPS_CONCURRENCY=1"]
      // Less well tested readers are used only for the formats that need them.
      if self != .svg, self != .bmp { settings.append("VIPS_BLOCK_UNTRUSTED=1") }
      // Pictures without a color profile have the colors of sRGB.
      try Self.program.run(
        ["\(source)[fail_on=error]", "-s", size, "-i", "srgb", "-e", "srgb", "-o", "\(target)[strip]"],
        in: folder,
        settings: settings
      )
      guard let png = try? FileReading.whole(target, limit: 256 << 20) else {
        throw ConversionError("it cannot be converted; it may be damaged")
      }
      return png
    }
  }
}

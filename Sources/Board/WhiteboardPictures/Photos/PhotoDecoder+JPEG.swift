import CTurboJPEG
import PeerCore
import Whiteboard
import WhiteboardRendering

extension PhotoDecoder {
  struct JPEGInfo {
    let width: Int
    let height: Int
    /// Whether the file has CMYK colors, which are for printing.
    let isCMYK: Bool
  }

  /// Decodes a JPEG to upright pixels that fit into `limit`. If data inside the picture is damaged, the damage is
  /// visible in the result, as in other programs. If the file is truncated, an error is thrown.
  static func jpeg(_ bytes: [UInt8], within limit: (width: Int, height: Int)) throws(PictureError) -> PhotoPixels {
    _ = try header(bytes)
    let orientation = PhotoHeader.orientation(of: bytes)
    let limit = orientation.isSideways ? (limit.height, limit.width) : limit
    guard let library = tjInitDecompress() else { throw .outOfMemory }
    defer { tjDestroy(library) }
    let info = try jpegInfo(bytes, library)
    let wanted = PhotoPixels.size(of: (info.width, info.height), within: limit)
    let size = scaled(info, toHold: wanted)
    let count = size.width * size.height
    var failed = false
    var pixels = [UInt32](unsafeUninitializedCapacity: count) { buffer, filled in
      // Parts of the picture that are missing because of damage become gray.
      buffer.initialize(repeating: 0x80_8080)
      filled = count
      failed =
        tjDecompress2(
          library,
          bytes,
          UInt(bytes.count),
          UnsafeMutableRawPointer(buffer.baseAddress)?.assumingMemoryBound(to: UInt8.self),
          Int32(size.width),
          0,
          Int32(size.height),
          Int32((info.isCMYK ? TJPF_CMYK : TJPF_BGRX).rawValue),
          flags
        ) != 0
    }
    if failed, tjGetErrorCode(library) != TJERR_WARNING.rawValue { throw problem(library) }
    if info.isCMYK { pixels = pixels.map(color) } else { pixels = pixels.map { $0 & 0xFF_FFFF } }
    return PhotoPixels(width: size.width, height: size.height, pixels: pixels).averaged(to: wanted.width, wanted.height)
      .upright(orientation)
  }

  static func isIntactJPEG(_ bytes: [UInt8]) -> Bool {
    guard (try? header(bytes))?.format == .jpeg, let library = tjInitDecompress() else { return false }
    defer { tjDestroy(library) }
    guard let info = try? jpegInfo(bytes, library) else { return false }
    // The decoder reads all data, even for a smaller picture.
    let size = scaled(info, toHold: (1, 1))
    var pixels = [UInt32](repeating: 0, count: size.width * size.height)
    return pixels.withUnsafeMutableBytes { buffer in
      tjDecompress2(
        library,
        bytes,
        UInt(bytes.count),
        buffer.baseAddress?.assumingMemoryBound(to: UInt8.self),
        Int32(size.width),
        0,
        Int32(size.height),
        Int32((info.isCMYK ? TJPF_CMYK : TJPF_BGRX).rawValue),
        flags | TJFLAG_STOPONWARNING
      ) == 0
    }
  }

  static func jpegInfo(_ bytes: [UInt8], _ library: tjhandle) throws(PictureError) -> JPEGInfo {
    var (width, height, sampling, space): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
    guard
      tjDecompressHeader3(library, bytes, UInt(bytes.count), &width, &height, &sampling, &space) == 0
        || tjGetErrorCode(library) == TJERR_WARNING.rawValue
    else { throw problem(library) }
    do { _ = try PhotoHeader(format: .jpeg, width: Int(width), height: Int(height)) } catch { throw .photo(error) }
    return JPEGInfo(
      width: Int(width),
      height: Int(height),
      isCMYK: [TJCS_CMYK, TJCS_YCCK].contains { Int32($0.rawValue) == space }
    )
  }

  /// The option that limits the number of scans: a small file with very many scans would take minutes.
  private static let flags = TJFLAG_LIMITSCANS

  /// Returns the smallest size, in eighths of the full size, that is at least `wanted`.
  private static func scaled(_ info: JPEGInfo, toHold wanted: (width: Int, height: Int)) -> (width: Int, height: Int) {
    for eighths in 1..<8 {
      let (width, height) = ((info.width * eighths + 7) / 8, (info.height * eighths + 7) / 8)
      if width >= wanted.width, height >= wanted.height { return (width, height) }
    }
    return (info.width, info.height)
  }

  /// In the file, the CMYK values of a pixel are inverted.
  private static func color(_ pixel: UInt32) -> UInt32 {
    let black = pixel >> 24
    func channel(_ shift: UInt32) -> UInt32 { (pixel >> shift & 0xFF) * black / 255 }
    return channel(0) << 16 | channel(8) << 8 | channel(16)
  }

  private static func problem(_ library: tjhandle) -> PictureError {
    .undecodable(tjGetErrorStr2(library).map { UntrustedText(String(cString: $0)).escaped() } ?? "")
  }
}

extension PhotoPixels {
  func upright(_ orientation: PhotoOrientation) -> PhotoPixels {
    guard orientation != .upright else { return self }
    let (across, down) = orientation.isSideways ? (height, width) : (width, height)
    var result: [UInt32] = []
    result.reserveCapacity(pixels.count)
    for y in 0..<down {
      for x in 0..<across {
        let (column, row) =
          switch orientation {
          case .upright: (x, y)
          case .mirrored: (width - 1 - x, y)
          case .halfTurn: (width - 1 - x, height - 1 - y)
          case .flipped: (x, height - 1 - y)
          case .transposed: (y, x)
          case .quarterTurn: (y, height - 1 - x)
          case .transversed: (width - 1 - y, height - 1 - x)
          case .quarterTurnBack: (width - 1 - y, x)
          }
        result.append(pixels[row * width + column])
      }
    }
    return PhotoPixels(width: across, height: down, pixels: result)
  }
}

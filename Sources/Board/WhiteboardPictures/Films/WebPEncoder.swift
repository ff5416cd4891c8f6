import CWebP

/// A writer of an animated WebP. Each frame is a picture of its own: lossless, or lossy if the frame has as many colors
/// as a photo. The encoder of libwebp keeps the whole file in memory, so the container is written here.
package struct WebPEncoder: FilmEncoder {
  private let write: ([UInt8]) throws -> Void
  private let replace: (_ bytes: [UInt8], _ offset: Int) throws -> Void
  /// The number of bytes after the first eight.
  private var size = 0
  /// The last encoded frame and its time in milliseconds; its duration is not known yet.
  private var pending: (frame: FilmFrame, time: Int64)?

  /// The longest duration of a frame, in milliseconds.
  private static let longest: Int64 = 0xFF_FFFF

  /// The number of colors, with five bits for each channel, from which a frame is encoded with loss.
  private static let photoColors = 2_048
  /// The quality of frames that are encoded with loss, from 0 to 100.
  private static let quality: Float = 85
  /// The effort for lossless frames, from 0 to 9.
  private static let level: Int32 = 3

  /// Writes the head of the file. `replace` changes bytes at an offset that were written before.
  package init(
    width: Int,
    height: Int,
    write: @escaping ([UInt8]) throws -> Void,
    replace: @escaping (_ bytes: [UInt8], _ offset: Int) throws -> Void
  ) throws {
    (self.write, self.replace) = (write, replace)
    try write(Array("RIFF".utf8) + Self.bytes(0, 4))
    // The flags state that the file is animated, and that frames have transparent pixels.
    let canvas = [0x02 | 0x10, 0, 0, 0] + Self.bytes(width - 1, 3) + Self.bytes(height - 1, 3)
    // A white background; the film repeats forever.
    try put(Array("WEBP".utf8) + Self.chunk("VP8X", canvas) + Self.chunk("ANIM", [0xFF, 0xFF, 0xFF, 0xFF, 0, 0]))
  }

  package mutating func add(_ frame: FilmFrame, at time: Int64) throws {
    try writePending(until: time)
    pending = (frame, time)
  }

  package mutating func finish(at time: Int64) throws {
    try writePending(until: time)
    pending = nil
    try replace(Self.bytes(size, 4), 4)
  }

  private mutating func put(_ bytes: [UInt8]) throws {
    size += bytes.count
    guard size < 1 << 32 - 16 else {
      throw FilmError("a .webp file can have at most 4 GB; choose a smaller --size, or write an .mp4 file")
    }
    try write(bytes)
  }

  private mutating func writePending(until end: Int64) throws {
    guard var (frame, time) = pending else { return }
    while end - time > Self.longest {
      try put(frame, for: Self.longest)
      (frame, time) = (.unchanged, time + Self.longest)
    }
    try put(frame, for: max(end - time, 1))
  }

  private mutating func put(_ frame: FilmFrame, for duration: Int64) throws {
    var content = Self.bytes(frame.x / 2, 3) + Self.bytes(frame.y / 2, 3)
    content += Self.bytes(frame.width - 1, 3) + Self.bytes(frame.height - 1, 3) + Self.bytes(Int(duration), 3)
    let isPhoto = Self.hasManyColors(frame)
    // Keep the frame when the next frame is drawn over it. A photo replaces the pixels below it; in other frames, the
    // pixels that did not change are transparent.
    content.append(isPhoto ? 0x02 : 0)
    try put(Self.chunk("ANMF", content + Self.picture(frame, isPhoto: isPhoto)))
  }

  /// Returns the frame as a chunk of WebP.
  private static func picture(_ frame: FilmFrame, isPhoto: Bool) throws -> [UInt8] {
    var (config, picture) = (WebPConfig(), WebPPicture())
    guard WebPConfigInit(&config) != 0, WebPPictureInit(&picture) != 0 else {
      throw FilmError("libwebp has another version than the program")
    }
    if isPhoto { config.quality = quality } else { WebPConfigLosslessPreset(&config, level) }
    (picture.width, picture.height) = (Int32(frame.width), Int32(frame.height))
    picture.use_argb = isPhoto ? 0 : 1
    defer { WebPPictureFree(&picture) }
    let pixels = frame.pixels.map { pixel in
      isPhoto || pixel & FilmFrame.changed != 0 ? pixel & 0xFF_FFFF | 0xFF00_0000 : 0
    }
    let isImported = pixels.withUnsafeBytes { bytes in
      let start = bytes.bindMemory(to: UInt8.self).baseAddress
      return isPhoto
        ? WebPPictureImportBGRX(&picture, start, Int32(frame.width * 4))
        : WebPPictureImportBGRA(&picture, start, Int32(frame.width * 4))
    }
    var writer = WebPMemoryWriter()
    WebPMemoryWriterInit(&writer)
    defer { WebPMemoryWriterClear(&writer) }
    let isEncoded = withUnsafeMutablePointer(to: &writer) { writer in
      picture.writer = { WebPMemoryWrite($0, $1, $2) }
      picture.custom_ptr = UnsafeMutableRawPointer(writer)
      return WebPEncode(&config, &picture)
    }
    guard isImported != 0, isEncoded != 0, let start = writer.mem else {
      throw FilmError("there is not enough memory for a frame of this size; choose a smaller --size")
    }
    // The chunk follows the head of a file with one picture, which has 12 bytes.
    return Array(UnsafeBufferPointer(start: start, count: writer.size).dropFirst(12))
  }

  private static func hasManyColors(_ frame: FilmFrame) -> Bool {
    var isKnown = [Bool](repeating: false, count: 1 << 15)
    var (count, last) = (0, UInt32.max)
    for pixel in frame.pixels where pixel != last && pixel & FilmFrame.changed != 0 {
      last = pixel
      let bin = Int(pixel >> 19 & 0x1F) << 10 | Int(pixel >> 11 & 0x1F) << 5 | Int(pixel >> 3 & 0x1F)
      guard !isKnown[bin] else { continue }
      isKnown[bin] = true
      count += 1
      if count > photoColors { return true }
    }
    return false
  }

  private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    Array(name.utf8) + bytes(content.count, 4) + content + (content.count % 2 == 0 ? [] : [0])
  }

  /// Returns the bytes of a number, least significant first.
  private static func bytes(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }
}

/// A source of pictures for a broadcast: a board, a screen or a camera.
///
/// The broadcast calls the functions of a source one after the other, except ``waitForChange()``, which runs
/// concurrently with the others.
public protocol FrameSource: Sendable {
  /// Whether the source can draw pictures now.
  ///
  /// A broadcast asks when it starts, and before each drawing. While the source is not available, nothing is drawn, and
  /// viewers see the last picture. When the source is available again, ``waitForChange()`` must return.
  var isAvailable: Bool { get async }

  /// Waits until the picture may have changed since the last call.
  ///
  /// The first call returns as soon as there is a first picture; nothing is drawn before it returns. Viewers wait 5 s for
  /// the first picture. If the calling task is canceled, the function must return soon.
  ///
  /// - Returns: False if the picture will not change again.
  func waitForChange() async -> Bool

  /// Draws the changes since the last call.
  ///
  /// The function is called only while there are viewers, and not more often than the rate of the broadcast.
  ///
  /// - Parameters:
  ///   - size: The size of the picture.
  ///   - isWhole: Whether to draw the whole picture, for example because it is the first one.
  /// - Returns: The changed parts. If ``FrameDrawing/region`` differs from the last call, the parts must cover the whole
  ///   picture.
  /// - Throws: An error whose description is shown to users and viewers. The broadcast continues with the next change.
  func draw(_ size: FrameSize, isWhole: Bool) async throws -> FrameDrawing
}

/// The changes of a picture.
public struct FrameDrawing: Hashable, Sendable {
  /// The changed parts; empty if nothing visible has changed.
  public var patches: [FramePatch]
  /// The part of a board that the picture shows, as in ``BroadcastFormat/region``.
  public var region: [Double]?

  /// Creates a description of changes.
  public init(patches: [FramePatch], region: [Double]? = nil) {
    self.patches = patches
    self.region = region
  }
}

/// An encoder of pictures. Encoders for JPEG and PNG require libraries that some programs do not contain.
public protocol FrameCoder: Sendable {
  /// The encodings of this encoder.
  var codecs: [FrameCodec] { get }

  /// Encodes pixels.
  ///
  /// - Parameters:
  ///   - pixels: The colors `0xRRGGBB`, in rows from the top.
  ///   - width: The number of pixels in a row, at least 1.
  ///   - height: The number of rows, at least 1.
  ///   - codec: One of ``codecs``.
  /// - Returns: The encoded pixels.
  /// - Throws: An error whose description is shown to users and viewers.
  func encode(_ pixels: [UInt32], width: Int, height: Int, as codec: FrameCodec) throws -> [UInt8]

  /// Decodes pixels that have the given size.
  ///
  /// - Parameters:
  ///   - bytes: The encoded pixels; they come from another peer.
  ///   - width: The number of pixels in a row.
  ///   - height: The number of rows.
  ///   - codec: One of ``codecs``.
  /// - Returns: The colors `0xRRGGBB`, in rows from the top.
  /// - Throws: An error if the bytes are damaged or the picture has another size.
  func decode(_ bytes: [UInt8], width: Int, height: Int, as codec: FrameCodec) throws -> [UInt32]
}

/// The encoder for ``FrameCodec/raw``, which requires no library.
public struct RawFrames: FrameCoder {
  /// Creates the encoder.
  public init() {}

  /// The encodings of this encoder.
  public var codecs: [FrameCodec] { [.raw] }

  /// Encodes pixels as three bytes each.
  public func encode(_ pixels: [UInt32], width: Int, height: Int, as codec: FrameCodec) throws -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: pixels.count * 3) { buffer, count in
      for (index, pixel) in pixels.enumerated() {
        buffer[3 * index] = UInt8(truncatingIfNeeded: pixel >> 16)
        buffer[3 * index + 1] = UInt8(truncatingIfNeeded: pixel >> 8)
        buffer[3 * index + 2] = UInt8(truncatingIfNeeded: pixel)
      }
      count = pixels.count * 3
    }
  }

  /// Decodes pixels of three bytes each; throws if there are more or fewer.
  public func decode(_ bytes: [UInt8], width: Int, height: Int, as codec: FrameCodec) throws -> [UInt32] {
    guard bytes.count == width * height * 3 else { throw BroadcastError.picture }
    return [UInt32](unsafeUninitializedCapacity: width * height) { buffer, count in
      for index in 0..<(width * height) {
        buffer[index] =
          UInt32(bytes[3 * index]) << 16 | UInt32(bytes[3 * index + 1]) << 8 | UInt32(bytes[3 * index + 2])
      }
      count = width * height
    }
  }
}

/// Several encoders. For each encoding, the first one that supports it is used.
struct FrameCoders: FrameCoder {
  let coders: [any FrameCoder]

  /// `raw` is always available.
  init(_ coder: (any FrameCoder)?) { coders = (coder.map { [$0] } ?? []) + [RawFrames()] }

  var codecs: [FrameCodec] { coders.flatMap(\.codecs) }

  private func coder(_ codec: FrameCodec) throws -> any FrameCoder {
    guard let coder = coders.first(where: { $0.codecs.contains(codec) }) else { throw BroadcastError.picture }
    return coder
  }

  func encode(_ pixels: [UInt32], width: Int, height: Int, as codec: FrameCodec) throws -> [UInt8] {
    try coder(codec).encode(pixels, width: width, height: height, as: codec)
  }

  func decode(_ bytes: [UInt8], width: Int, height: Int, as codec: FrameCodec) throws -> [UInt32] {
    try coder(codec).decode(bytes, width: width, height: height, as: codec)
  }
}

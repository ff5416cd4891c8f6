import NIOCore
import PeerWire

/// A frame of a bulk link, or the combined payload of several frames. The boundaries of CHUNK and STREAM-DATA frames
/// have no meaning. ``BulkFrameDecoder`` therefore passes on the bytes of one read as one value, without buffering or
/// copying them. All other frames are passed on complete, in one piece.
struct BulkFrame: Sendable, Equatable {
  var type: FrameType
  /// The pieces of the payload, in order. There is at least one piece, and a piece may be empty.
  private(set) var pieces: [ByteBuffer]
  private(set) var count: Int

  init(type: FrameType, payload: ByteBuffer) {
    self.type = type
    pieces = [payload]
    count = payload.readableBytes
  }

  var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { target, initialized in
      for piece in pieces {
        piece.withUnsafeReadableBytes { source in
          UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(target)[initialized...]).copyMemory(
            from: source
          )
          initialized += source.count
        }
      }
    }
  }

  func append(to bytes: inout [UInt8]) {
    for piece in pieces { piece.withUnsafeReadableBytes { bytes.append(contentsOf: $0) } }
  }

  fileprivate mutating func append(_ frame: BulkFrame) {
    pieces += frame.pieces
    count += frame.count
  }
}

extension FrameType {
  /// Whether the payload is part of a byte sequence whose frame boundaries have no meaning.
  var isByteSequence: Bool { self == .chunk || self == .streamData }
}

/// Decodes the bytes of a bulk link into frames. Confined to the event loop of the link. Frames of unknown optional
/// types are skipped (FRM-3). The first error fires a ``FrameError`` down the pipeline, and ends the decoding. At most
/// one control payload is in memory at a time.
final class BulkFrameDecoder: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = BulkFrame

  private enum State {
    case header
    case payload(FrameType, length: Int)
    case sequence(FrameType, remaining: Int)
    case skipped(remaining: Int)
    case failed
  }

  private var state = State.header
  private var pending: ByteBuffer?

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .failed = state { return }
    var bytes = unwrapInboundIn(data)
    if var held = pending {
      held.writeBuffer(&bytes)
      bytes = held
      pending = nil
    }
    var gathered: BulkFrame?
    do {
      while let frame = try nextFrame(&bytes) {
        if frame.type.isByteSequence, frame.count > 0, gathered?.type == frame.type {
          gathered?.append(frame)
          continue
        }
        if let gathered { context.fireChannelRead(wrapInboundOut(gathered)) }
        gathered = nil
        if frame.type.isByteSequence && frame.count > 0 {
          gathered = frame
        } else {
          context.fireChannelRead(wrapInboundOut(frame))
        }
      }
    } catch {
      if let gathered { context.fireChannelRead(wrapInboundOut(gathered)) }
      state = .failed
      context.fireErrorCaught(error)
      return
    }
    if let gathered { context.fireChannelRead(wrapInboundOut(gathered)) }
    // Copy the bytes, because a slice would retain the whole buffer that was read.
    if bytes.readableBytes > 0 { pending = ByteBuffer(bytes.readableBytesView) }
  }

  private func nextFrame(_ bytes: inout ByteBuffer) throws(FrameError) -> BulkFrame? {
    while true {
      switch state {
      case .header:
        guard let header = try readHeader(&bytes) else { return nil }
        if let type = header.type {
          state =
            type.isByteSequence && header.length > 0
            ? .sequence(type, remaining: header.length) : .payload(type, length: header.length)
        } else {
          state = .skipped(remaining: header.length)
        }
      case .payload(let type, let length):
        guard let payload = bytes.readSlice(length: length) else { return nil }
        state = .header
        return BulkFrame(type: type, payload: payload)
      case .sequence(let type, let remaining):
        let length = min(remaining, bytes.readableBytes)
        guard length > 0, let payload = bytes.readSlice(length: length) else { return nil }
        state = length == remaining ? .header : .sequence(type, remaining: remaining - length)
        return BulkFrame(type: type, payload: payload)
      case .skipped(let remaining):
        let length = min(remaining, bytes.readableBytes)
        bytes.moveReaderIndex(forwardBy: length)
        guard length == remaining else {
          state = .skipped(remaining: remaining - length)
          return nil
        }
        state = .header
      case .failed: return nil
      }
    }
  }

  private func readHeader(_ bytes: inout ByteBuffer) throws(FrameError) -> FrameHeader? {
    var offset = 0
    let header = try FrameHeader.read(from: bytes.readableBytesUInt8Span, at: &offset, limit: Limits.framePayload)
    if header != nil { bytes.moveReaderIndex(forwardBy: offset) }
    return header
  }
}

extension ByteBuffer {
  mutating func writeHeader(_ type: FrameType, length: Int) {
    writeInteger(type.rawValue)
    writeVarint(UInt64(length))
  }

  static func bulkFrame(_ type: FrameType, _ payload: [UInt8] = []) -> ByteBuffer {
    var buffer = ByteBuffer()
    buffer.reserveCapacity(payload.count + FrameHeader.maximumLength)
    buffer.writeFrame(type, payload)
    return buffer
  }
}

extension ControlPayload {
  func bulkFrame() -> ByteBuffer { .bulkFrame(Self.frameType, encoded()) }

  /// The caller must have checked the frame's type. If this method throws, the caller must close the link (FRM-4).
  static func decode(_ frame: BulkFrame) throws(LinkViolation) -> Self {
    do throws(ControlMessageError) { return try decode(frame.bytes) } catch {
      throw .protocolError(CloseMessage.invalid(frameType, error))
    }
  }
}

import NIOCore
import PeerWire

/// What one peer is owed: the messages sent to it and not acknowledged, in order.
///
/// A value without I/O; implements the sender's side of MSG-1 to MSG-4 and RSM-1 to RSM-4. Frames are encoded once, into chunks of about 64 KiB that are written to the
/// link as they are, kept until acknowledged, and written again after a resumption.
struct DeliverySender {
  /// Frames that were encoded together.
  private struct Chunk {
    var lastSequence: UInt64
    var bytes: ByteBuffer
  }

  /// Bytes in one chunk, roughly: one write to TLS (16 to 64 KiB is where TLS is fastest).
  private static let chunkSize = 49_152

  /// How many bytes may be owed before senders wait; one message of any size always fits.
  let capacity: Int
  /// Bytes owed, headers counted.
  private(set) var usedBytes = 0
  /// The highest number given out.
  private(set) var lastSequence: UInt64 = 0
  /// The highest number acknowledged.
  private(set) var acknowledged: UInt64 = 0

  /// The last part numbers of the application's unacknowledged messages.
  private var ends = CircularBuffer<UInt64>()
  private var chunks = CircularBuffer<Chunk>()
  private var sentChunks = 0
  private var open = ByteBuffer()
  private let allocator = ByteBufferAllocator()

  init(capacity: Int) {
    self.capacity = capacity
  }

  /// Whether nothing is owed.
  var isEmpty: Bool { usedBytes == 0 }

  /// Whether something waits to be written.
  var hasUnsent: Bool { sentChunks < chunks.count || open.readableBytes > 0 }

  /// How many numbered parts are owed.
  var unacknowledgedParts: UInt64 { lastSequence - acknowledged }

  /// The number of the application's unacknowledged messages.
  var unacknowledgedMessages: Int { ends.count }

  /// Whether a message of `count` bytes may be taken now.
  func hasRoom(for count: Int) -> Bool {
    usedBytes == 0 || usedBytes + count <= capacity
  }

  /// Takes one message, which may be one between a member and a relay (11.2).
  ///
  /// - Returns: The number of its last part: acknowledged means delivered.
  mutating func append(
    _ message: [UInt8],
    acknowledgeAtOnce: Bool,
    isRelays: Bool = false
  ) -> UInt64 {
    defer { if !isRelays { ends.append(lastSequence) } }
    let room = Limits.framePayload - 2 * Varint.maximumLength - 1
    let count = message.count
    if count <= room {
      lastSequence += 1
      appendPart(
        MessagePart(
          sequence: lastSequence,
          isFirst: true,
          isLast: true,
          wantsAcknowledgement: acknowledgeAtOnce,
          isRelays: isRelays
        ),
        message[...]
      )
      return lastSequence
    }
    var rest = message[...]
    var isFirst = true
    while !rest.isEmpty {
      let bytes = rest.prefix(room)
      rest = rest.dropFirst(room)
      lastSequence += 1
      appendPart(
        MessagePart(
          sequence: lastSequence,
          isFirst: isFirst,
          isLast: rest.isEmpty,
          wantsAcknowledgement: acknowledgeAtOnce && rest.isEmpty,
          isRelays: isRelays && isFirst,
          total: isFirst ? count : nil
        ),
        bytes
      )
      isFirst = false
    }
    return lastSequence
  }

  /// Writes a whole frame at once: piece by piece, a small message costs more than its bytes.
  private mutating func appendPart(_ part: MessagePart, _ bytes: ArraySlice<UInt8>) {
    var payload = Varint.length(of: part.sequence) + 1 + bytes.count
    if let total = part.total { payload += Varint.length(of: UInt64(total)) }
    if open.capacity == 0 { open = allocator.buffer(capacity: Self.chunkSize + 1_024) }
    usedBytes += open.writeWithUnsafeMutableBytes(
      minimumWritableBytes: FrameHeader.maximumLength + payload
    ) { target in
      var end = 0
      func write(_ byte: UInt8) {
        target[end] = byte
        end += 1
      }
      func writeVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
          write(UInt8(truncatingIfNeeded: rest) | 0x80)
          rest >>= 7
        }
        write(UInt8(truncatingIfNeeded: rest))
      }
      write(FrameType.message.rawValue)
      writeVarint(UInt64(payload))
      writeVarint(part.sequence)
      write(part.flags)
      if let total = part.total { writeVarint(UInt64(total)) }
      bytes.withUnsafeBytes { source in
        UnsafeMutableRawBufferPointer(rebasing: target[end...]).copyMemory(from: source)
        end += source.count
      }
      return end
    }
    if open.readableBytes >= Self.chunkSize { sealOpenChunk() }
  }

  private mutating func sealOpenChunk() {
    guard open.readableBytes > 0 else { return }
    chunks.append(Chunk(lastSequence: lastSequence, bytes: open))
    open = ByteBuffer()
  }

  /// Takes the next bytes to write, or `nil` when all was written.
  mutating func takeUnsent() -> ByteBuffer? {
    if sentChunks == chunks.count { sealOpenChunk() }
    guard sentChunks < chunks.count else { return nil }
    defer { sentChunks += 1 }
    return chunks[chunks.index(chunks.startIndex, offsetBy: sentChunks)].bytes
  }

  /// Notes that the peer holds everything up to `sequence`.
  ///
  /// - Returns: Whether room was made.
  /// - Throws: ``AcknowledgementError`` for what was never sent (MSG-4).
  mutating func acknowledge(_ sequence: UInt64) throws(AcknowledgementError) -> Bool {
    guard sequence <= lastSequence else { throw AcknowledgementError() }
    guard sequence > acknowledged else { return false }
    acknowledged = sequence
    while let end = ends.first, end <= sequence { ends.removeFirst() }
    var freed = false
    while let first = chunks.first, first.lastSequence <= sequence {
      usedBytes -= first.bytes.readableBytes
      chunks.removeFirst()
      if sentChunks > 0 { sentChunks -= 1 }
      freed = true
    }
    return freed
  }

  /// Makes everything that the peer has not received unsent again, for a new link.
  ///
  /// - Throws: ``AcknowledgementError`` when the peer claims what was never sent.
  mutating func resume(received: UInt64) throws(AcknowledgementError) {
    _ = try acknowledge(received)
    sentChunks = 0
  }
}

/// The peer acknowledged what was never sent.
struct AcknowledgementError: Error, Equatable {}

extension ByteBuffer {
  /// Writes a `vint` (FRM-2).
  @inline(__always)
  mutating func writeVarint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      writeInteger(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    writeInteger(UInt8(truncatingIfNeeded: rest))
  }
}

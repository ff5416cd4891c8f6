import NIOCore
import PeerCore
import PeerWire

/// The messages to one peer that are not acknowledged yet, in order. This type does no I/O, and implements the sender's
/// side of MSG-1 to MSG-4 and RSM-1 to RSM-4. Frames are encoded once, into chunks of about 64 KiB. A chunk is written
/// to the link unchanged and stays in memory until it is acknowledged. After a resumption, the chunk is written again.
struct DeliverySender {
  private struct Chunk {
    var lastSequence: UInt64
    var bytes: ByteBuffer
  }

  /// The approximate number of bytes in a chunk, which is one write to TLS; writes of 16 to 64 KiB are the fastest.
  private static let chunkSize = 49_152

  /// The number of unacknowledged bytes above which senders wait. If all earlier messages are acknowledged, a message
  /// of any size fits.
  let capacity: Int
  /// The number of unacknowledged bytes, including headers.
  private(set) var usedBytes = 0
  private(set) var lastSequence: UInt64 = 0
  private(set) var acknowledged: UInt64 = 0

  private var ends = CircularBuffer<UInt64>()
  private var chunks = CircularBuffer<Chunk>()
  private var sentChunks = 0
  private var open = ByteBuffer()
  private let allocator = ByteBufferAllocator()

  init(capacity: Int) { self.capacity = capacity }

  var isEmpty: Bool { usedBytes == 0 }

  var hasUnsent: Bool { sentChunks < chunks.count || open.readableBytes > 0 }

  var unacknowledgedParts: UInt64 { lastSequence - acknowledged }

  var unacknowledgedMessages: Int { ends.count }

  func hasRoom(for count: Int) -> Bool { usedBytes == 0 || usedBytes + count <= capacity }

  /// Appends a message. The peer has received it when the returned part is acknowledged. `isRelays` states whether the
  /// message is between a member and a relay (11.2).
  mutating func append(_ message: [UInt8], acknowledgeAtOnce: Bool, isRelays: Bool = false) -> UInt64 {
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

  /// Writes a whole frame in one operation, because separate writes would cost more than copying a small message.
  private mutating func appendPart(_ part: MessagePart, _ bytes: ArraySlice<UInt8>) {
    var payload = Varint.length(of: part.sequence) + 1 + bytes.count
    if let total = part.total { payload += Varint.length(of: UInt64(total)) }
    if open.capacity == 0 { open = allocator.buffer(capacity: Self.chunkSize + 1_024) }
    usedBytes += open.writeWithUnsafeMutableBytes(minimumWritableBytes: FrameHeader.maximumLength + payload) { target in
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

  mutating func dequeueUnsent() -> ByteBuffer? {
    if sentChunks == chunks.count { sealOpenChunk() }
    guard sentChunks < chunks.count else { return nil }
    defer { sentChunks += 1 }
    return chunks[chunks.index(chunks.startIndex, offsetBy: sentChunks)].bytes
  }

  /// Records that the peer has all parts up to `sequence`. Returns whether the acknowledgement freed room. Throws if
  /// the part was never sent (MSG-4).
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

  /// Marks the messages that the peer has not received as unsent; throws if the peer claims more than was sent.
  mutating func resume(received: UInt64) throws(AcknowledgementError) {
    _ = try acknowledge(received)
    sentChunks = 0
  }
}

struct AcknowledgementError: Error, Equatable {}

extension ByteBuffer {
  @inline(__always) mutating func writeVarint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      writeInteger(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    writeInteger(UInt8(truncatingIfNeeded: rest))
  }
}

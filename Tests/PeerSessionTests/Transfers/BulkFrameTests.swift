import NIOCore
import NIOEmbedded
import PeerWire
import Testing

@testable import PeerSession

@Suite("Bulk frames") struct BulkFrameTests {
  private static func decode(_ pieces: [[UInt8]]) throws -> [BulkFrame] {
    let channel = EmbeddedChannel(handler: BulkFrameDecoder())
    var frames: [BulkFrame] = []
    for piece in pieces {
      try channel.writeInbound(ByteBuffer(bytes: piece))
      while let frame = try channel.readInbound(as: BulkFrame.self) { frames.append(frame) }
    }
    return frames
  }

  private static func joined(_ frames: [BulkFrame]) -> [BulkFrame] {
    frames.reduce(into: []) { result, frame in
      if frame.type.isByteSequence, let last = result.last, last.type == frame.type {
        result[result.count - 1] = BulkFrame(type: last.type, payload: ByteBuffer(bytes: last.bytes + frame.bytes))
      } else {
        result.append(frame)
      }
    }
  }

  private static let sample: [UInt8] =
    [0x52, 0x00, 0x50, 0x03, 1, 2, 3, 0x90, 0x02, 9, 9, 0x51, 0x80, 0x01] + [UInt8](repeating: 7, count: 128) + [
      0x26, 0x02, 0x7B, 0x7D,
    ]

  @Test(
    "frames are decoded equally when they arrive whole, byte by byte and cut anywhere",
    arguments: [1, 2, 3, 5, 64, 1_000]
  ) func cut(length: Int) throws {
    let pieces = stride(from: 0, to: Self.sample.count, by: length).map {
      Array(Self.sample[$0..<min($0 + length, Self.sample.count)])
    }
    let frames = Self.joined(try Self.decode(pieces))
    #expect(frames.map(\.type) == [.streamFin, .chunk, .streamData, .resourceDone])
    #expect(frames[1].bytes == [1, 2, 3])
    #expect(frames[2].count == 128)
    #expect(frames[3].bytes == [0x7B, 0x7D])
  }

  @Test("[FRM-1] a length over 65,536 is rejected as soon as it is read") func tooLarge() throws {
    #expect(throws: FrameError.tooLarge(length: 65_537, limit: 65_536)) { try Self.decode([[0x50, 0x81, 0x80, 0x04]]) }
    #expect(try Self.decode([[0x50, 0x80, 0x80, 0x04]]).isEmpty)
  }

  @Test("[FRM-2] a length that is not in its shortest form is rejected") func notShortest() {
    #expect(throws: FrameError.malformedLength) { try Self.decode([[0x50, 0x80, 0x00]]) }
  }

  @Test("[FRM-3] an unknown type is skipped from 0x80 on and rejected below") func unknownType() throws {
    #expect(try Self.decode([[0xFF, 0x01, 0x00, 0x52, 0x00]]).map(\.type) == [.streamFin])
    #expect(throws: FrameError.unknownType(0x60)) { try Self.decode([[0x60, 0x00]]) }
  }

  @Test("nothing is decoded after the first error") func afterFault() throws {
    let channel = EmbeddedChannel(handler: BulkFrameDecoder())
    #expect(throws: FrameError.self) { try channel.writeInbound(ByteBuffer(bytes: [0x60, 0x00, 0x52, 0x00])) }
    try channel.writeInbound(ByteBuffer(bytes: [0x52, 0x00]))
    #expect(try channel.readInbound(as: BulkFrame.self) == nil)
  }

  @Test("an encoded frame decodes to the same frame", arguments: [0, 1, 127, 128, 16_384, 65_536]) func roundTrip(
    length: Int
  ) throws {
    let payload = seededBytes(length, seed: UInt64(length))
    let bytes = Array(ByteBuffer.bulkFrame(.resourceOffer, payload).readableBytesView)
    let frames = try Self.decode([bytes])
    #expect(frames == [BulkFrame(type: .resourceOffer, payload: ByteBuffer(bytes: payload))])
  }
}

import Crypto
import NIOCore
import Testing

@testable import PeerSession

@Suite("WriteBatches") struct WriteBatchesTests {
  @Test("batches follow each other without gaps, each with the hash of the bytes before it") func order() throws {
    let before = SHA256.hash(data: [1])
    var start = SHA256()
    start.update(data: [1])
    var batches = WriteBatches(at: 1, after: start)
    #expect(batches.emptyBatch.pieces.isEmpty)
    batches.append([ByteBuffer(bytes: [2, 3])], byteCount: 2)
    batches.append([ByteBuffer(bytes: [4])], byteCount: 1)
    #expect(!batches.isBatchFull)
    let next = batches.nextBatch()
    let first = try #require(next)
    #expect(first.pieces.map { Array($0.readableBytesView) } == [[2, 3], [4]])
    #expect(first.offset == 1)
    #expect(Array(first.hash.finalize()) == Array(before))
    #expect(batches.submittedBytes == 4)
    #expect(batches.emptyBatch.offset == 4)
    batches.append([ByteBuffer(repeating: 0, count: WriteBatches.batchSize)], byteCount: WriteBatches.batchSize)
    #expect(batches.isBatchFull)
    let second = batches.nextBatch()
    #expect(second?.offset == 4)
  }
}

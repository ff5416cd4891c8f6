import BoardWorlds
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

@Suite struct AuthorRecordTests {
  private let verifier = P256SignatureVerifier()
  private let record: AuthorRecord

  init() throws {
    let author = Author(board: World.board, key: RealKey(1), role: .relay)
    record = author.record(of: author.makeIncarnation())
  }

  private func refusal(_ bytes: [UInt8], board: BoardID = World.board) -> String? {
    do {
      try AuthorRecord(bytes).verify(board: board, with: verifier)
      return nil
    } catch let error as CodecError { return error.code } catch let error as ReplicaError { return error.code } catch {
      return "\(error)"
    }
  }

  @Test("[AUT-1] a record is decoded as it was encoded, with its author and role") func reading() throws {
    let read = try AuthorRecord(record.bytes)
    #expect(read == record)
    #expect(read.role == .relay && read.board == World.board && read.granter == nil)
    #expect(read.member == MemberID(publicKey: RealKey(1).publicKey))
    #expect(refusal(record.bytes) == nil)
    #expect(record.bytes.count == 164)
  }

  @Test("[AUT-1] a record that is truncated, too long, or has one wrong bit is rejected") func damaged() throws {
    for count in record.bytes.indices { #expect(refusal(Array(record.bytes.prefix(count))) == "truncated") }
    #expect(refusal(record.bytes + [0]) == "trailing")
    #expect(refusal(record.bytes + [UInt8](repeating: 0, count: 400)) == "limit")
    for index in record.bytes.indices {
      var bytes = record.bytes
      bytes[index] ^= 1
      #expect(refusal(bytes) != nil, "byte \(index)")
    }
  }

  @Test(
    "[AUT-1] each error in a record has its own code",
    arguments: [
      (0, UInt8(2), "reserved"), (1, 9, "wrong-board"), (33, 2, "key"), (60, 0, "key"), (98, 0, "reserved"),
      (98, 4, "reserved"), (98, 1, "signature"), (99, 2, "reserved"), (99, 1, "truncated"), (20, 77, "signature"),
      (120, 77, "signature"),
    ]
  ) func words(index: Int, value: UInt8, word: String) {
    var bytes = record.bytes
    bytes[index] = bytes[index] == value ? value ^ 0x80 : value
    #expect(refusal(bytes) == word)
  }

  @Test("[AUT-1] a record of another board is rejected on this one") func otherBoard() throws {
    let other = try #require(BoardID(bytes: 2...17))
    #expect(refusal(record.bytes, board: other) == "wrong-board")
  }

  @Test("[AUT-1] a grant is valid only with the granter's signature") func grant() throws {
    let (key, granter) = (RealKey(1), RealKey(2))
    let nonce = [UInt8](repeating: 7, count: 16)
    let body = World.board.bytes + nonce + key.publicKey + [1, 1] + granter.publicKey
    let signature = key.signature(of: Array("whiteboard-record-1\n".utf8) + [1] + body)
    let granted = Array("whiteboard-grant-1\n".utf8) + World.board.bytes + nonce + key.publicKey
    let valid = [1] + body + signature + granter.signature(of: granted + [1])
    #expect(refusal(valid) == nil)
    #expect(try AuthorRecord(valid).granter == granter.publicKey)
    #expect(refusal([1] + body + signature + granter.signature(of: granted + [3])) == "signature")
    #expect(refusal([1] + body + signature + key.signature(of: granted + [1])) == "signature")
  }

  @Test("[AUT-2] no other record can have the same incarnation") func incarnation() throws {
    for index in 1..<100 {
      var bytes = record.bytes
      bytes[index] ^= 0x40
      // If the bytes are still a record, it has another incarnation.
      #expect((try? AuthorRecord(bytes))?.incarnation != record.incarnation, "byte \(index)")
    }
    // The signature does not affect the incarnation.
    var bytes = record.bytes
    bytes[110] ^= 1
    #expect(try AuthorRecord(bytes).incarnation == record.incarnation)
  }
}

import BoardWorlds
import PeerCore
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// The rights on an owned board, as far as records contain them.
@Suite struct OwnedBoardTests {
  private let owner = BoardOwner(salt: [1, 2, 3, 4, 5, 6, 7, 8], key: RealKey(1).publicKey)
  private let verifier = P256SignatureVerifier()

  private func certificate(_ holder: UInt8, _ rights: Rights?, by issuer: UInt8 = 1, serial: UInt64 = 1_700_000_000_000)
    throws -> Certificate
  {
    var signer = Signer(RealKey(issuer))
    return Certificate.make(
      for: RealKey(holder).publicKey,
      try #require(rights),
      serial: serial,
      on: owner.board,
      &signer
    ).value
  }

  private func record(_ number: UInt8, _ role: Role, _ certificates: [Certificate] = []) throws -> AuthorRecord {
    try #require(
      AuthorRecord(
        board: owner.board,
        nonce: [UInt8](repeating: number, count: 16),
        role: role,
        grant: Grant(owner, certificates),
        key: RealKey(number)
      )
    )
  }

  private func refusal(_ bytes: [UInt8]) -> String? {
    do {
      try AuthorRecord(bytes).verify(board: owner.board, with: verifier)
      return nil
    } catch let error as CodecError { return error.code } catch let error as ReplicaError { return error.code } catch {
      return "\(error)"
    }
  }

  private func refusal(_ record: AuthorRecord) -> String? { refusal(record.bytes) }

  @Test("[AUT-9] the id of an owned board depends on its owner and eight bytes") func id() throws {
    #expect(owner.board.isOwned)
    let hash = Bytes32.sha256(Array("whiteboard-owner-1\n".utf8) + owner.salt + owner.key).bytes
    #expect(owner.board.bytes == [0x6F, 0x77] + hash.prefix(14))
    #expect(BoardOwner(salt: owner.salt, key: RealKey(2).publicKey).board != owner.board)
    #expect(BoardOwner(salt: [UInt8](repeating: 0, count: 8), key: owner.key).board != owner.board)
    #expect(!World.board.isOwned)
  }

  @Test("[AUT-12] the owner and members with a certificate can edit; others can only view") func good() throws {
    let relay = try certificate(2, Rights(.relay, mayGrant: true))
    let records = [
      try record(1, .editor), try record(1, .relay), try record(1, .viewer), try record(2, .relay, [relay]),
      try record(2, .editor, [relay]), try record(3, .editor, [certificate(3, Rights(.editor))]),
      try record(3, .editor, [relay, certificate(3, Rights(.editor), by: 2)]), try record(3, .viewer),
    ]
    for record in records {
      #expect(refusal(record) == nil)
      #expect(try AuthorRecord(record.bytes) == record)
      #expect(record.bytes.count <= AuthorRecord.byteLimit)
    }
    #expect(records.map(\.bytes.count) == [237, 237, 163, 310, 310, 310, 448, 163])
    #expect(Set(records.map(\.incarnation)).count == records.count)
  }

  @Test("[AUT-12] a role that was not granted is refused") func notGranted() throws {
    let editor = try certificate(3, Rights(.editor))
    // No grant; another member's certificate; a higher role than granted.
    #expect(try refusal(record(3, .editor)) == "role")
    #expect(try refusal(record(3, .relay, [editor])) == "role")
    let others = try certificate(4, Rights(.editor))
    // The last certificate of a record must be its author's.
    #expect(try refusal(record(3, .editor, [others])) == "signature")
  }

  @Test("[AUT-10] a certificate needs the signature of the owner, or of a member who may grant") func issuers() throws {
    #expect(try refusal(record(3, .editor, [certificate(3, Rights(.editor), by: 3)])) == "signature")
    let plain = try certificate(2, Rights(.relay))
    let granter = try certificate(2, Rights(.relay, mayGrant: true))
    let byTwo = try certificate(3, Rights(.editor), by: 2)
    #expect(try refusal(record(3, .editor, [plain, byTwo])) == "role")
    #expect(try refusal(record(3, .editor, [granter, byTwo])) == nil)
    #expect(try refusal(record(3, .editor, [byTwo])) == "signature")
    // A member that may grant can only make editors.
    for rights in [Rights(.relay), Rights(.editor, mayGrant: true)] {
      let more = try certificate(3, rights, by: 2)
      #expect(try refusal(record(3, .editor, [granter, more])) == "role")
    }
  }

  @Test("[AUT-12] owned boards accept no record of version 1, and other boards none of version 2") func versions()
    throws
  {
    var bytes = try record(1, .editor).bytes
    bytes[0] = 1
    #expect(refusal(bytes) == "reserved")
    let open = try #require(
      AuthorRecord(board: World.board, nonce: [UInt8](repeating: 0, count: 16), role: .editor, key: RealKey(1))
    )
    bytes = open.bytes
    bytes[0] = 2
    #expect(refusal(bytes) == "reserved")
  }

  @Test("[AUT-12] a record that is truncated, too long, or has one wrong bit is rejected") func damaged() throws {
    let granter = try certificate(2, Rights(.relay, mayGrant: true))
    let whole = try record(3, .editor, [granter, certificate(3, Rights(.editor), by: 2)]).bytes
    for count in whole.indices { #expect(refusal(Array(whole.prefix(count))) == "truncated") }
    #expect(refusal(whole + [0]) == "trailing")
    for index in whole.indices {
      var bytes = whole
      bytes[index] ^= 1
      #expect(refusal(bytes) != nil, "byte \(index)")
    }
  }

  @Test("[AUT-12] another key in place of the owner's does not change the owner") func otherOwner() throws {
    let other = BoardOwner(salt: owner.salt, key: RealKey(3).publicKey)
    var bytes = try record(3, .viewer).bytes
    bytes[98] = Role.editor.rawValue
    let body = Array(bytes[1..<99]) + other.salt + other.key + [0]
    let signature = RealKey(3).signature(of: Array("whiteboard-record-1\n".utf8) + [2] + body)
    #expect(refusal([2] + body + signature) == "owner")
  }

  @Test("[AUT-13] a revocation decodes as it was encoded, and one wrong bit is detected") func revocation() throws {
    let author = Author(board: owner.board, key: RealKey(1), grant: Grant(owner: owner))
    let member = MemberID(publicKey: RealKey(3).publicKey)
    let counted = [Incarnation(9): UInt64(7), Incarnation(5): 1]
    let revocation = try #require(author.makeRevocation(of: member, through: 5, counting: counted)?.complete)
    let read = try Revocation(revocation.bytes)
    #expect(read == revocation && read.counted == counted && read.member == member)
    try read.verify(board: owner.board, with: verifier)
    for index in revocation.bytes.indices {
      var bytes = revocation.bytes
      bytes[index] ^= 1
      #expect(throws: (any Error).self, "byte \(index)") {
        try Revocation(bytes).verify(board: owner.board, with: verifier)
      }
    }
  }

  @Test("[AUT-13] no member can revoke the owner's rights, and an editor can revoke nothing") func rightsToRevoke()
    throws
  {
    let author = Author(board: owner.board, key: RealKey(1), grant: Grant(owner: owner))
    let own = try #require(author.makeRevocation(of: author.member, through: 5, counting: [:])?.complete)
    #expect(throws: ReplicaError.notGranted) { try own.verify(board: owner.board, with: verifier) }
    let editor = Author(board: owner.board, key: RealKey(3), grant: Grant(owner, [try certificate(3, Rights(.editor))]))
    #expect(editor.makeRevocation(of: author.member, through: 5, counting: [:])?.complete == nil)
    var signer = Signer(RealKey(3))
    let forged = Revocation.make(
      of: MemberID(publicKey: RealKey(4).publicKey),
      through: 5,
      counting: [:],
      Grant(owner, [try certificate(3, Rights(.editor))]),
      &signer
    ).value
    #expect(throws: ReplicaError.notGranted) { try forged.verify(board: owner.board, with: verifier) }
  }

  @Test("[AUT-14] the earliest of several revocations counts, and none by a revoked issuer") func together() throws {
    let chain = [
      try certificate(2, Rights(.relay, mayGrant: true)), try certificate(3, Rights(.editor), by: 2, serial: 100),
    ]
    let record = try record(3, .editor, chain)
    let member = MemberID(publicKey: RealKey(3).publicKey)
    let granter = MemberID(publicKey: RealKey(2).publicKey)
    let first = Author(board: owner.board, key: RealKey(1), grant: Grant(owner: owner))
    let second = Author(board: owner.board, key: RealKey(2), role: .relay, grant: Grant(owner, [chain[0]]))
    let inc = record.incarnation
    let byOwner = try #require(first.makeRevocation(of: member, through: 100, counting: [inc: 9])?.complete)
    let byGranter = try #require(second.makeRevocation(of: member, through: 200, counting: [inc: 4])?.complete)
    let early = try #require(first.makeRevocation(of: member, through: 99, counting: [:])?.complete)
    let ofGranter = try #require(
      first.makeRevocation(of: granter, through: 1_700_000_000_000, counting: [inc: 20])?.complete
    )
    let ofOther = try #require(second.makeRevocation(of: granter, through: .max >> 1, counting: [:])?.complete)
    let all = [byOwner, byGranter, early, ofGranter, ofOther]
    func limit(_ some: [Revocation]) -> UInt64? {
      var revocations = Revocations()
      let isNew = (some + some).map { revocations.insert($0) }
      #expect(isNew == some.map { _ in true } + some.map { _ in false })
      return revocations.limit(of: record)
    }
    #expect(limit([]) == nil && limit([early]) == nil && limit([ofOther]) == nil)
    #expect(limit([byOwner]) == 9 && limit([byGranter]) == 4 && limit([ofGranter]) == 20)
    #expect(limit([byOwner, byGranter]) == 4 && limit([byGranter, byOwner]) == 4)
    #expect(limit([byGranter, ofGranter]) == 20 && limit([ofGranter, byGranter]) == 20)
    #expect(limit(all) == 9 && limit(all.reversed()) == 9)

    var few = Revocations(room: 4)
    let rooms = all.map { (few.hasRoom(forGuest: true), few.hasRoom(forGuest: false), few.insert($0)) }
    #expect(rooms.map(\.0) == [true, true, true, false, false])
    #expect(rooms.map(\.1) == [true, true, true, true, false])
    #expect(rooms.map(\.2) == [true, true, true, true, false])
  }
}

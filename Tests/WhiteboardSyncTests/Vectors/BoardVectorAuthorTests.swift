import BoardWorlds
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// Tests the vectors about authorship: records and chains without a replica, and links and answers with a replica.
@Suite struct BoardVectorAuthorTests {
  private static let vectors = BoardVectors.file
  private static let now = Moment(wall: 1_700_000_000_000, uptime: 1_000_000)
  private let verifier = P256SignatureVerifier()

  /// Returns a replica that knows only `member`, from which it received nothing yet.
  private func replica(on board: BoardID, joinedBy member: MemberID) -> Replica {
    let replica = Replica(author: Author(board: board, key: RealKey(9)), now: Self.now)
    _ = replica.peerJoined(member, now: Self.now)
    return replica
  }

  private func violations(_ actions: [ReplicaAction]) -> [String] {
    actions.compactMap { if case .protocolViolation(_, let error) = $0 { error.code } else { nil } }
  }

  private func word(of error: any Error) -> String? { (error as? CodecError)?.code ?? (error as? ReplicaError)?.code }

  @Test("[AUT-3] keys have the members of the vectors, and sign") func keys() throws {
    #expect(!Self.vectors.keys.isEmpty)
    for vector in Self.vectors.keys {
      let key = try VectorKey(vector)
      #expect(Hexadecimal.encode(key.publicKey) == vector.public)
      #expect(Hexadecimal.encode(MemberID(publicKey: key.publicKey).bytes) == vector.member)
      let signature = key.signature(of: [1, 2, 3])
      #expect(verifier.isValid(signature, of: [1, 2, 3], by: key.publicKey))
    }
  }

  @Test("[AUT-1] [AUT-2] a record decodes as in its vector", arguments: vectors.records.valid) func record(
    vector: BoardVectors.Record
  ) throws {
    let board = try BoardVectors.board(Self.vectors.records.board)
    let record = try AuthorRecord(BoardVectors.bytes(vector.hex))
    try record.verify(board: board, with: verifier)
    #expect(record.incarnation.description == vector.incarnation)
    #expect(Hexadecimal.encode(record.member.bytes) == vector.member)
    #expect(record.role.rawValue == vector.role)
    #expect(record.granter.map { Hexadecimal.encode($0) } == vector.granter)
    guard record.granter == nil else { return }
    // A local record has the same bytes except for the signature, which is always different.
    let key = try VectorKey(of: record.member)
    let nonce = Array(record.bytes[17..<33])
    let made = try #require(AuthorRecord(board: board, nonce: nonce, role: record.role, key: key))
    #expect(made.bytes.dropLast(64) == record.bytes.dropLast(64))
    #expect(made.incarnation == record.incarnation)
    try made.verify(board: board, with: verifier)
  }

  @Test("[AUT-1] an invalid record is rejected", arguments: vectors.records.invalid) func refusedRecord(
    vector: BoardVectors.Refused
  ) throws {
    let board = try BoardVectors.board(Self.vectors.records.board)
    let bytes = try BoardVectors.bytes(vector.hex)
    do {
      try AuthorRecord(bytes).verify(board: board, with: verifier)
      Issue.record("accepted, but expected the error \(vector.error)")
    } catch { #expect(word(of: error) == vector.error) }
  }

  @Test("[AUT-6] a chain has the hashes of the vectors") func chain() throws {
    let vectors = Self.vectors.chain
    var chain = BatchChain(try #require(Incarnation(vectors.incarnation)))
    #expect(chain.hash.hex == vectors.start)
    for step in vectors.steps {
      let named = try #require(Self.vectors.batches.valid.first { $0.name == step.batch })
      let encoded = try EncodedBatch(decoding: BoardVectors.bytes(named.hex))
      #expect(encoded.batch.sequences.lowerBound == chain.sequence + 1)
      chain.append(encoded.bytes, through: encoded.batch.sequences.upperBound)
      #expect(chain.hash.hex == step.hash, "\(step.batch)")
    }
  }

  @Test(
    "[AUT-5] [SYN-28] the messages of a link are decoded and encoded as in their vector",
    arguments: vectors.links.valid
  ) func link(vector: BoardVectors.Link) throws {
    let board = try BoardVectors.board(Self.vectors.links.board)
    let member = try BoardVectors.member(vector.member)
    let replica = replica(on: board, joinedBy: member)
    var writer = LinkBatchWriter()
    var chain: BatchChain?
    for message in vector.messages {
      let bytes = try BoardVectors.bytes(message.hex)
      let actions = replica.received(bytes, from: member, now: Self.now)
      #expect(violations(actions) == [])
      switch try SyncMessage.decode(bytes) {
      case .author(let content)?:
        writer.beginAuthor()
        #expect(SyncMessage.author(content).encode() == bytes)
        let incarnation = try AuthorRecord(content.record).incarnation
        #expect(incarnation.description == message.author)
        chain = BatchChain(incarnation, sequence: content.head.sequence, hash: content.head.hash)
      case .head(let head)?:
        #expect(SyncMessage.head(head).encode() == bytes)
        #expect(head.sequence == message.head)
        #expect(head.hash == chain?.hash && head.sequence == chain?.sequence)
      case .batch(let content)?:
        let full = try BoardVectors.bytes(message.full ?? "")
        let encoded = try EncodedBatch(decoding: full)
        #expect(actions.contains(.record(.batch(encoded))))
        #expect(writer.encode(encoded) == content)
        chain?.append(full, through: encoded.batch.sequences.upperBound)
        #expect(chain?.hash.hex == message.chain)
      case .record(let content)?:
        #expect(SyncMessage.record(content).encode() == bytes)
        let record = try AuthorRecord(content)
        #expect(record.incarnation.description == message.record)
      default: Issue.record("no message of a link")
      }
    }
  }

  @Test("[AUT-5] [SYN-28] messages that break the rules of a link are refused", arguments: vectors.links.invalid)
  func refusedLink(vector: BoardVectors.RefusedLink) throws {
    let board = try BoardVectors.board(Self.vectors.links.board)
    try refuse(vector.hex, as: vector.error, after: vector.before, on: board, of: BoardVectors.member(vector.member))
  }

  @Test("[AUT-7] a head of the last batch is accepted and stored", arguments: vectors.heads.valid) func head(
    vector: BoardVectors.Head
  ) throws {
    let vectors = Self.vectors.heads
    let member = try BoardVectors.member(vectors.member)
    let replica = replica(on: try BoardVectors.board(vectors.board), joinedBy: member)
    for hex in vectors.before { _ = replica.received(try BoardVectors.bytes(hex), from: member, now: Self.now) }
    let bytes = try BoardVectors.bytes(vector.hex)
    guard case .head(let head)? = try SyncMessage.decode(bytes) else {
      Issue.record("no head")
      return
    }
    #expect(head.sequence == vector.sequence)
    #expect(head.hash.hex == vector.hash)
    let actions = replica.received(bytes, from: member, now: Self.now)
    let kept = actions.compactMap { action -> [UInt8]? in
      if case .record(.head(let bytes, _, sequence: _)) = action { bytes } else { nil }
    }
    #expect(kept == [Array(bytes.dropFirst())])
  }

  @Test("[AUT-7] any other head is refused", arguments: vectors.heads.invalid) func refusedHead(
    vector: BoardVectors.Refused
  ) throws {
    let vectors = Self.vectors.heads
    try refuse(
      vector.hex,
      as: vector.error,
      after: vectors.before,
      on: BoardVectors.board(vectors.board),
      of: BoardVectors.member(vectors.member)
    )
  }

  /// Expects that a replica refuses one message of a link, and none before it.
  private func refuse(_ hex: String, as word: String, after before: [String], on board: BoardID, of member: MemberID)
    throws
  {
    let replica = replica(on: board, joinedBy: member)
    for message in before {
      let actions = replica.received(try BoardVectors.bytes(message), from: member, now: Self.now)
      #expect(violations(actions) == [])
    }
    let digest = replica.digest
    let actions = replica.received(try BoardVectors.bytes(hex), from: member, now: Self.now)
    #expect(violations(actions) == [word])
    #expect(replica.digest == digest)
  }

  /// Returns a replica that waits for an answer of a member and knows another incarnation of the same member.
  private func replica(askingOn board: BoardID, _ member: MemberID) throws -> Replica {
    let replica = replica(on: board, joinedBy: member)
    let author = Author(board: board, key: try VectorKey(of: member))
    let chain = BatchChain(author.makeIncarnation())
    let hello = SyncMessage.author(
      AuthorMessage(record: author.record(of: chain.incarnation).bytes, head: author.sign(chain))
    )
    let actions = replica.received(hello.encode(), from: member, now: Self.now)
    #expect(violations(actions) == [])
    return replica
  }

  @Test("[SYN-29] an answer is applied as in its vector", arguments: vectors.answers.valid) func answer(
    vector: BoardVectors.Answer
  ) throws {
    let board = try BoardVectors.board(Self.vectors.answers.board)
    let member = try BoardVectors.member(vector.member)
    let bytes = try BoardVectors.bytes(vector.hex)
    let answer = try Answer(bytes)
    #expect(answer.records.map(\.incarnation.description) == vector.records)
    #expect(answer.incarnation.description == vector.signer)
    #expect(Hexadecimal.encode(DifferenceCoding.encode(answer.difference)) == vector.difference)
    // A local answer has the same bytes except for the signature, which is always different.
    let made = Answer.encode(
      answer.records,
      answer.difference,
      by: Author(board: board, key: try VectorKey(of: member)),
      as: answer.incarnation
    )
    #expect(made.dropLast(64) == bytes.dropLast(64))
    for bytes in [bytes, made] {
      let replica = try replica(askingOn: board, member)
      let actions = replica.receivedAnswer(bytes, request: 1, from: member, now: Self.now)
      #expect(actions.contains(.caughtUp(member)))
      let held = replica.board.state.difference(since: Context())
      #expect(held.context == answer.difference.context)
      #expect(held.living == answer.difference.living || answer.difference.entries.isEmpty)
    }
  }

  @Test(
    "[BRD-37] an answer that names incarnations without a record is refused, and the link stays",
    arguments: vectors.answers.unrecorded
  ) func unrecordedAnswer(vector: BoardVectors.UnrecordedAnswer) throws {
    let board = try BoardVectors.board(Self.vectors.answers.board)
    let member = try BoardVectors.member(vector.member)
    let replica = try replica(askingOn: board, member)
    let bytes = try BoardVectors.bytes(vector.hex)
    let actions = replica.receivedAnswer(bytes, request: 1, from: member, now: Self.now)
    #expect(violations(actions) == [])
    #expect(actions.contains(.unrecorded(member)))
    #expect(replica.board.state.context.isEmpty)
  }

  @Test("[AUT-17] [BRD-37] an answer may name a retired incarnation without a record", arguments: [false, true])
  func unrecorded(isRetired: Bool) throws {
    let vector = Self.vectors.retirements.unrecorded
    let member = try BoardVectors.member(vector.member)
    let replica = try replica(askingOn: BoardVectors.board(Self.vectors.retirements.board), member)
    if isRetired {
      let message = [0x82] + (try BoardVectors.bytes(vector.retirement))
      #expect(violations(replica.received(message, from: member, now: Self.now)) == [])
    }
    let answer = try BoardVectors.bytes(vector.hex)
    let actions = replica.receivedAnswer(answer, request: 1, from: member, now: Self.now)
    #expect(violations(actions) == [])
    #expect(actions.contains(.unrecorded(member)) != isRetired)
    #expect(replica.board.state.context == (isRetired ? try BoardVectors.set(vector.context) : Context()))
  }

  @Test("[SYN-29] an invalid answer is refused", arguments: vectors.answers.invalid) func refusedAnswer(
    vector: BoardVectors.RefusedAnswer
  ) throws {
    let board = try BoardVectors.board(Self.vectors.answers.board)
    let member = try BoardVectors.member(vector.member)
    let replica = try replica(askingOn: board, member)
    let bytes = try BoardVectors.bytes(vector.hex)
    let actions = replica.receivedAnswer(bytes, request: 1, from: member, now: Self.now)
    #expect(violations(actions) == [vector.error])
    #expect(replica.board.state.context.isEmpty)
  }
}

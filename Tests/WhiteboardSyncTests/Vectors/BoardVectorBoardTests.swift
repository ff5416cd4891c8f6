import PeerCore
import PeerTestKit
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// The contents of a board after the batches of the vectors.
@Suite struct BoardVectorBoardTests {
  private static let vectors = BoardVectors.file

  private func batch(named name: String) throws -> Batch {
    try #require(Self.vectors.batches.valid.first { $0.name == name }).batch()
  }

  private func state(named names: [String]) throws -> BoardState { try state(names.map { try batch(named: $0) }) }

  private func state(_ batches: [Batch]) throws -> BoardState {
    var state = BoardState()
    var changes = ChangeLog()
    for batch in batches { try state.apply(batch, changes: &changes) }
    return state
  }

  private func whole() throws -> BoardState { try state(named: Self.vectors.digest.batches) }

  private func sums(_ state: BoardState) -> [String] { BucketSums.sums(of: state).map { "\($0)" } }

  private func decoded(_ batches: [String]) throws -> [Batch] {
    try batches.map { try BatchCoding.decode(BoardVectors.bytes($0)) }
  }

  /// Returns the batches in order, in reverse, and in some other orders.
  private func orders(of batches: [String]) throws -> [[Batch]] {
    let batches = try decoded(batches)
    var random = SeededGenerator(seed: UInt64(batches.count))
    return [batches, batches.reversed()] + (0..<6).map { _ in batches.shuffled(using: &random) }
  }

  @Test("[SYN-40] the digest is that of the vectors, step by step") func digest() throws {
    var state = BoardState()
    var changes = ChangeLog()
    let vectors = Self.vectors.digest
    #expect(BoardDigest.digest(of: state).hex == vectors.empty)
    for step in vectors.steps {
      try state.apply(try batch(named: step.apply), changes: &changes)
      #expect(BoardDigest.digest(of: state).hex == step.digest, "\(step.apply)")
      #expect(BoardVectors.hash(state.context) == step.contextHash, "\(step.apply)")
      #expect(sums(state) == step.sums, "\(step.apply)")
    }
    #expect(BoardDigest.digest(of: state).hex == vectors.digest)
    var input = Array("whiteboard-digest-1\n".utf8)
    for id in state.records.keys.sorted() {
      if let record = state.record(id), state.isVisible(id) { input += BoardDigest.encode(id, record) }
    }
    #expect(Hexadecimal.encode(input) == vectors.input)
    #expect(Bytes32.sha256(input).hex == vectors.digest)
    let texts = state.records.values.filter { $0.kind == .text }.map(\.text)
    #expect(texts == [vectors.text])
    let backwards = try self.state(named: vectors.batches.reversed())
    #expect(BoardDigest.digest(of: backwards).hex == vectors.digest)
  }

  @Test("[SYN-41] words are mixed, and cells hashed, as in the vectors") func buckets() throws {
    for vector in Self.vectors.buckets.mix {
      let word = try #require(UInt64(vector.in))
      #expect(BucketHash.mix(word) == UInt64(vector.out))
    }
    let state = try whole()
    let context = try BoardVectors.bytes(Self.vectors.buckets.context)
    #expect(ContextCoding.encode(state.context) == context)
    let start = BucketSums.start(of: state.context)
    #expect("\(start.value)" == Self.vectors.buckets.start)
    var sums = [UInt64](repeating: 0, count: BucketHash.buckets)
    for vector in Self.vectors.buckets.cells {
      let id = try #require(ObjectID(vector.object))
      let property = try BoardVectors.property(vector.property, index: vector.index, dot: vector.dot)
      let cell = try #require(state.record(id)?[property])
      let hash = BucketSums.hash(of: cell, at: property, of: id, from: start)
      #expect("\(hash)" == vector.hash, "\(vector.object) \(vector.property)")
      #expect(id.bucket == vector.bucket)
      sums[vector.bucket] &+= hash
    }
    #expect(sums == BucketSums.sums(of: state))
    for vector in Self.vectors.buckets.boards {
      let board = try self.state(named: vector.batches)
      #expect(self.sums(board) == vector.sums, "\(vector.name)")
    }
  }

  @Test("[BRD-5] of two values with one dot, the greater stays", arguments: vectors.ties) func ties(
    vector: BoardVectors.Tie
  ) throws {
    var changes = ChangeLog()
    let first = try decoded([vector.first])
    let states = try decoded(vector.batches).map { try state(first + [$0]) }
    #expect(states.count == 2)
    #expect(sums(states[0]) != sums(states[1]))
    for (mine, theirs) in [(0, 1), (1, 0)] {
      var state = states[mine]
      let context = state.context
      let answer = states[theirs].difference(since: context, buckets: 0xFFFF)
      let bytes = DifferenceCoding.encode(answer)
      try state.merge(DifferenceCoding.decode(bytes), comparingAll: true, changes: &changes)
      #expect(BoardDigest.digest(of: state).hex == vector.digest)
      // A second merge changes nothing.
      let again = try DifferenceCoding.decode(bytes)
      try state.merge(again, comparingAll: true, changes: &changes)
      #expect(BoardDigest.digest(of: state).hex == vector.digest)
    }
  }

  @Test("[SYN-5] [SYN-42] the answers of a board are those of the vectors", arguments: vectors.differences.valid)
  func difference(vector: BoardVectors.Difference) throws {
    let whole = try whole()
    let since = try ContextCoding.decode(BoardVectors.bytes(vector.since))
    let difference = whole.difference(since: since, buckets: vector.buckets)
    #expect(Hexadecimal.encode(DifferenceCoding.encode(difference)) == vector.hex)
    guard since.isEmpty else { return }
    var fresh = BoardState()
    var changes = ChangeLog()
    try fresh.merge(difference, changes: &changes)
    #expect(BoardDigest.digest(of: fresh) == BoardDigest.digest(of: whole))
    #expect(sums(fresh) == sums(whole))
    #expect(fresh.difference(since: Context()) == difference)
  }

  @Test("[SYN-4] orphans are in the answer and not in the digest") func orphans() throws {
    let vector = Self.vectors.differences.orphans
    let state = try state(named: [vector.batch])
    let difference = state.difference(since: Context())
    #expect(Hexadecimal.encode(DifferenceCoding.encode(difference)) == vector.hex)
    #expect(BoardDigest.digest(of: state).hex == vector.digest)
  }

  @Test("[BRD-26] an object is in the groups of its vector, in any order of batches", arguments: vectors.groups)
  func groups(vector: BoardVectors.Groups) throws {
    for batches in try orders(of: vector.batches) {
      let state = try state(batches)
      for (object, groups) in vector.groups {
        let found = state.groups(of: try #require(ObjectID(object)))
        #expect(found.map(\.description) == groups, "\(object)")
      }
    }
  }

  @Test("[BRD-28] the settings are those of the vector, in any order of batches", arguments: vectors.settings)
  func settings(vector: BoardVectors.Settings) throws {
    for batches in try orders(of: vector.batches) {
      let member = try #require(MemberID(bytes: [UInt8](repeating: 1, count: 32)))
      let board = Board(incarnation: Incarnation(1), member: member, wallClock: 0)
      for batch in batches { try board.receive(batch) }
      let settings = board.settings
      #expect(settings.title == vector.settings["title"])
      #expect(settings.background.map { "\($0)" } == vector.settings["background"])
      #expect(settings.grid.map { "\(UInt64($0 * 64))" } == vector.settings["grid"])
      #expect(settings.language == vector.settings["language"])
    }
  }

  @Test(
    "[BRD-21] [BRD-31] lines are in the order of the vector, and the next one follows them",
    arguments: vectors.chat
  ) func chat(vector: BoardVectors.Chat) throws {
    for batches in try orders(of: vector.batches) {
      let member = try #require(MemberID(bytes: [UInt8](repeating: 1, count: 32)))
      let wall = try #require(UInt64(vector.wall))
      let board = Board(incarnation: Incarnation(1), member: member, wallClock: wall)
      for batch in batches { try board.receive(batch) }
      #expect(board.chat.map(\.text) == vector.lines)
      let line = try board.say("next")
      let time = try #require(board.state.record(line)?[.kind]).time.rawValue
      #expect(time > vector.after.flatMap(UInt64.init) ?? 0)
      // The far-ahead time of a chat line does not move the times of other edits ahead.
      let text = try board.createText("text", at: Point(x: 0, y: 0))
      let next = try #require(board.state.record(text)?[.kind]).time.milliseconds
      #expect(next <= wall + BoardLimits.drift)
    }
  }

  private func board(of batches: [Batch]) throws -> Board {
    let member = try #require(MemberID(bytes: [UInt8](repeating: 1, count: 32)))
    let board = Board(incarnation: Incarnation(1), member: member, wallClock: 0)
    for batch in batches { try board.receive(batch) }
    return board
  }

  @Test("[BRD-56] each member has one vote for each reaction", arguments: vectors.votes.valid)
  func votes(vector: BoardVectors.Reactions.Case) throws {
    let object = try #require(ObjectID("1-cerdgrcvmz3yq"))
    for batches in try orders(of: vector.batches) {
      let board = try board(of: batches)
      for (incarnation, member) in Self.vectors.votes.members {
        let id = try #require(MemberID(bytes: try BoardVectors.bytes(member)))
        board.authors[try #require(Incarnation(incarnation))] = id
      }
      let votes = try #require(board.snapshot(object)).votes
      // Strings that look the same would be equal.
      #expect(votes.map { Array($0.reaction.utf8) } == vector.votes.map { Array($0.reaction.utf8) })
      #expect(votes.map { $0.members.map(\.description) } == vector.votes.map(\.members))
    }
  }

  @Test("[BRD-58] a chat line is about an object, and its question is open or settled", arguments: vectors.comments)
  func comments(vector: BoardVectors.Comment) throws {
    for batches in try orders(of: vector.batches) {
      let id = try #require(ObjectID(vector.line))
      let line = try #require(try board(of: batches).chatLine(id))
      #expect(line.about?.description == vector.about)
      #expect(line.isResolved == vector.isResolved)
    }
  }
}

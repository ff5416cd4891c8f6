import PeerCore
import PeerTestKit
import Whiteboard
import WhiteboardSync

/// Members that join for a moment and break the rules.
extension ReplicaWorld {
  /// Lets a malicious member join: the member lies, claims sequences of others, or writes two values under one dot.
  func beHostile() {
    let number = random.below(nodes.count)
    switch random.below(10) {
    case 0, 1: tellTwoStories()
    case 2: claim(from: number)
    default: lie(to: number)
    }
  }

  func newScriptedReplica(role: Role = .editor, board: BoardID? = nil) -> ScriptedReplica {
    let number = random.next() | 1 << 63
    let key = WorldKey(isReal ? 100 + number % 100 : number, isReal: isReal)
    return ScriptedReplica(
      Author(
        board: board ?? self.board,
        key: key,
        role: role,
        grant: grant(for: key),
        random: SeededGenerator(seed: random.next())
      )
    )
  }

  func join(_ scriptedReplica: ScriptedReplica, _ number: Int) {
    carryOut(nodes[number].replica.peerJoined(scriptedReplica.member, now: now(number)), number)
  }

  func leave(_ scriptedReplica: ScriptedReplica, _ number: Int) {
    carryOut(nodes[number].replica.peerLeft(scriptedReplica.member, now: now(number)), number)
  }

  func say(_ bytes: [UInt8]?, _ scriptedReplica: ScriptedReplica, _ number: Int) {
    guard let bytes else { return }
    let member = scriptedReplica.member
    carryOut(nodes[number].replica.received(bytes, from: member, now: now(number)), number)
    finishAllSignatures(number)
  }

  // MARK: - Lies

  private enum Lie: CaseIterable {
    case record, head, foreignRecord, noAuthor, wrongChain, headOfOthers, gap, otherBeginning
    case viewer, otherBoard, answer, answerOfOthers
  }

  /// Sends a forbidden message on one link, and checks that it is refused and has no effect.
  private func lie(to number: Int) {
    guard let lie = random.element(of: Lie.allCases) else { return }
    var scriptedReplica = newScriptedReplica(
      role: lie == .viewer ? .viewer : .editor,
      board: lie == .otherBoard ? Self.otherBoard : board
    )
    join(scriptedReplica, number)
    defer { leave(scriptedReplica, number) }
    let earlier = caught.count
    let last = tell(lie, &scriptedReplica, number)
    guard let last else { return }
    finishAllSignatures(number)
    let before = nodes[number].replica.board.state.context
    switch last {
    case .message(let bytes): say(bytes, scriptedReplica, number)
    case .answer(let bytes):
      let actions = nodes[number].replica.receivedAnswer(
        bytes,
        request: 1,
        from: scriptedReplica.member,
        now: now(number)
      )
      carryOut(actions, number)
      finishAllSignatures(number)
    }
    tally[.lies] += 1
    if caught.count == earlier { complaints.append("AUT: no node detected the lie \(lie)") }
    if nodes[number].replica.board.state.context != before { complaints.append("AUT: the lie \(lie) counts") }
  }

  private static let otherBoard: BoardID = {
    guard let board = BoardID(bytes: 2...17) else { preconditionFailure("16 bytes") }
    return board
  }()

  private enum Last {
    case message([UInt8])
    case answer([UInt8])
  }

  /// Sends the messages before the lie; returns the lie, or nil if it is not possible now.
  private func tell(_ lie: Lie, _ scriptedReplica: inout ScriptedReplica, _ number: Int) -> Last? {
    switch lie {
    case .record:
      var bytes = scriptedReplica.hello()
      // Change the last byte of the record's signature, which is before the head.
      bytes[2 + scriptedReplica.record.bytes.count] ^= 1
      return .message(bytes)
    case .head:
      var bytes = scriptedReplica.hello()
      bytes[bytes.count - 1] ^= 1
      return .message(bytes)
    case .foreignRecord:
      var other = newScriptedReplica()
      return .message(other.hello())
    case .noAuthor: return (try? scriptedReplica.sendText()).map { .message($0) }
    case .wrongChain:
      say(scriptedReplica.hello(), scriptedReplica, number)
      say(try? scriptedReplica.sendText(), scriptedReplica, number)
      // The head covers a batch that was never sent.
      _ = try? scriptedReplica.sendText()
      return .message(scriptedReplica.head())
    case .headOfOthers:
      say(scriptedReplica.hello(), scriptedReplica, number)
      say(try? scriptedReplica.sendText(), scriptedReplica, number)
      var bytes = scriptedReplica.head()
      bytes[bytes.count - 1] ^= 1
      return .message(bytes)
    case .gap:
      say(scriptedReplica.hello(), scriptedReplica, number)
      say(try? scriptedReplica.sendText(), scriptedReplica, number)
      // The new incarnation continues after a batch that was never sent to this node.
      let chain = scriptedReplica.chain
      say(scriptedReplica.beginIncarnation(), scriptedReplica, number)
      scriptedReplica.chain = chain
      _ = try? scriptedReplica.sendText()
      return .message(scriptedReplica.hello())
    case .otherBeginning:
      scriptedReplica.chain = BatchChain(scriptedReplica.incarnation, sequence: 0, hash: .sha256([1]))
      return .message(scriptedReplica.hello())
    case .viewer:
      say(scriptedReplica.hello(), scriptedReplica, number)
      return (try? scriptedReplica.sendText()).map { .message($0) }
    case .otherBoard: return .message(scriptedReplica.hello())
    case .answer, .answerOfOthers:
      say(scriptedReplica.hello(), scriptedReplica, number)
      let name = ResourceDTO(id: board.description, type: .whiteboard, request: 1, byteCount: 100)
      guard nodes[number].replica.expectsAnswer(name, from: scriptedReplica.member) else { return nil }
      let answer = answer(of: lie == .answer ? scriptedReplica : newScriptedReplica())
      return answer.map { .answer($0) }
    }
  }

  /// Returns an answer with a new object, and with one wrong bit in its signature.
  private func answer(of scriptedReplica: ScriptedReplica) -> [UInt8]? {
    let author = Incarnation.random(using: &random)
    let id = ObjectID(Dot(author, 1))
    guard
      let batch = try? Batch(
        author: author,
        firstSequence: 1,
        time: HybridTime(1 << 56),
        operations: [Operation(id, .kind, .unsigned(1)), Operation(id, .position, .pair(1, 1))]
      )
    else { return nil }
    var state = BoardState()
    var changes = ChangeLog()
    guard (try? state.apply(batch, changes: &changes)) != nil else { return nil }
    var bytes = scriptedReplica.answer(state.difference(since: Context()))
    bytes[bytes.count - 1] ^= 1
    return bytes
  }

  // MARK: - Equivocation

  /// Lets an author send two members different values under one dot, and leave (SYN-42).
  private func tellTwoStories() {
    guard nodes.count > 1 else { return }
    let one = random.below(nodes.count)
    let other = (one + 1 + random.below(nodes.count - 1)) % nodes.count
    isBetrayed = true
    var left = newScriptedReplica()
    join(left, one)
    join(left, other)
    say(left.hello(), left, one)
    say(left.hello(), left, other)
    guard let text = try? left.sendText() else { return }
    say(text, left, one)
    say(text, left, other)
    var right = left
    let ids = nodes[one].replica.board.state.storedIDs.sorted()
    let id = random.element(of: ids) ?? ObjectID(Dot(left.incarnation, 1))
    let time = 1_700_000_000_000 + uptime + random.next() % 4_000_000
    let next = ObjectID(Dot(left.incarnation, left.chain.sequence + 1))
    let isAboutBeing = random.chance(25)
    let stories = [
      Operation(id, .position, .pair(Int32(random.below(1000)), 5)),
      isAboutBeing
        ? Operation(next, .kind, .unsigned(1)) : Operation(id, .position, .pair(Int32(random.below(1000)), 6)),
    ]
    say(try? left.send([stories[0]], time: time), left, one)
    say(try? right.send([stories[1]], time: time), right, other)
    say(left.head(), left, one)
    say(right.head(), right, other)
    leave(left, one)
    leave(right, other)
    tally[.twoStories] += 1
  }

  /// Purges an object that a member is about to create, so that this member needs a new incarnation (BRD-25).
  private func claim(from number: Int) {
    var scriptedReplica = newScriptedReplica()
    join(scriptedReplica, number)
    defer { leave(scriptedReplica, number) }
    say(scriptedReplica.hello(), scriptedReplica, number)
    let victim = nodes[random.below(nodes.count)].replica.board
    let last = victim.state.context[victim.incarnation].ranges.last?.upperBound ?? 0
    let dot = Dot(victim.incarnation, last + 1 + random.next() % 4)
    // The dot's operation is lost if it has not arrived at this node yet.
    isBetrayed = true
    say(try? scriptedReplica.send([Operation(ObjectID(dot), .purge, .none)]), scriptedReplica, number)
    tally[.claims] += 1
  }
}

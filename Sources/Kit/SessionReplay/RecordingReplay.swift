import Crypto
import PeerCore
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// The data for replaying a recording with peers: its authors and their batches.
///
/// Implements REC-10. Each author becomes a peer that writes the author's batches unchanged, with the author records
/// from the recording. Any other step, such as the answer to a newcomer, ends a *part*. All peers begin the next part
/// with the recorded board at that position.
public struct RecordingReplay: Sendable {
  /// An author of the recording.
  public struct Person: Hashable, Sendable {
    /// The letter of the author on the command line: A, B and so on, in the order of the first batches.
    public let letter: String
    /// The id of the author.
    public let member: MemberID
    let key: [UInt8]
  }

  /// A batch that its author writes again in the replay.
  public struct Act: Hashable, Sendable {
    /// The time of the batch, in milliseconds from the beginning, with long pauses shortened.
    public let time: Int64
    /// The index of the author in ``people``.
    public let person: Int
    let batch: EncodedBatch
  }

  /// A sequence of batches between two positions at which all peers have the same board.
  public struct Part: Sendable {
    /// A keyframe of the board at the start of the part; empty if the board is empty.
    let base: [UInt8]

    package var beginning: [StoredChange] { base.isEmpty ? [] : [.keyframe(base)] }

    /// The batches of the part, in order.
    public let acts: [Act]
    /// The digest of the board after the part.
    public let digest: Bytes32

    /// The number of operations in the batches.
    public var operations: Int { acts.reduce(0) { $0 + $1.batch.batch.operations.count } }
  }

  /// The id of the board.
  public let board: BoardID
  /// The time of the beginning, in milliseconds since 1970.
  public let start: Int64
  /// The authors of the recording, in the order of their first batches.
  public let people: [Person]
  /// The parts of the recording.
  public let parts: [Part]
  /// The number of steps that are not replayed by a peer, but applied to all peers between two parts.
  public let given: Int
  let records: [Incarnation: AuthorRecord]

  /// The number of batches to replay.
  public var count: Int { parts.reduce(0) { $0 + $1.acts.count } }

  /// The maximum length of a pause in a replay, in milliseconds.
  ///
  /// Longer pauses are shortened.
  public static let longestPause: Int64 = 60_000

  /// Prepares the replay of a recording.
  ///
  /// - Complexity: O(n).
  public init(of recording: Recording) {
    var (time, recorded): (Int64, Int64) = (0, 0)
    board = recording.board
    // Limit the time, because a forged file can contain any number.
    start = min(max(0, recording.start ?? 0), 1 << 46)
    let found = Self.records(in: recording)
    var people: [Person] = []
    var numbers: [MemberID: Int] = [:]
    var parts: [Part] = []
    var acts: [Act] = []
    var base: [UInt8] = []
    var given = 0
    // The last sequence number of each incarnation in the current part.
    var ends: [Incarnation: UInt64] = [:]
    var playback = Playback(recording, spacing: .max)
    func endPart() {
      guard !acts.isEmpty else { return }
      parts.append(Part(base: base, acts: acts, digest: playback.board.digest))
      (acts, ends) = ([], [:])
    }
    for place in 0..<recording.count {
      let faults = playback.faults.count
      if case .batch(let encoded)? = try? recording.change(at: place), let record = found[encoded.batch.author] {
        let batch = encoded.batch
        if let end = ends[batch.author], end + 1 != batch.firstSequence {
          if batch.sequences.upperBound <= end {
            // Skip a batch that is recorded twice.
            playback.step()
            continue
          }
          endPart()
          base = playback.board.keyframe
        }
        playback.step()
        guard playback.faults.count == faults else { continue }
        let number = numbers[record.member] ?? people.count
        if number == people.count {
          numbers[record.member] = number
          people.append(Person(letter: Self.letter(number), member: record.member, key: record.key))
        }
        ends[batch.author] = batch.sequences.upperBound
        time += min(recording.times[place] - recorded, Self.longestPause)
        recorded = recording.times[place]
        acts.append(Act(time: time, person: number, batch: encoded))
      } else {
        endPart()
        playback.step()
        base = playback.board.keyframe
        given += 1
      }
    }
    endPart()
    self.people = people
    self.parts = parts
    self.given = given
    records = found
  }

  private init(_ whole: RecordingReplay, _ parts: [Part]) {
    (board, start, people, given) = (whole.board, whole.start, whole.people, whole.given)
    records = whole.records
    self.parts = parts
  }

  /// Returns a replay of some batches of a part, with the digest of the resulting board. An incarnation's batches must
  /// have no gaps, so all batches of the incarnation after a removed batch are removed too.
  func keeping(_ isKept: [Bool], ofPart index: Int) -> RecordingReplay {
    let part = parts[index]
    var board = RestoredBoard(board)
    for record in records.values { try? board.apply(.author(record.bytes, record.incarnation)) }
    if !part.base.isEmpty { try? board.apply(.keyframe(part.base)) }
    var isCut: Set<Incarnation> = []
    var acts: [Act] = []
    for (act, isKept) in zip(part.acts, isKept) {
      guard isKept, !isCut.contains(act.batch.batch.author) else {
        isCut.insert(act.batch.batch.author)
        continue
      }
      acts.append(act)
      try? board.apply(.batch(act.batch))
    }
    return RecordingReplay(self, [Part(base: part.base, acts: acts, digest: board.digest)])
  }

  /// Returns the batches as a recording.
  ///
  /// - Throws: `damaged` if the board id is invalid. This never happens, because a `BoardID` is always valid.
  public func recording(name: String) throws(DocumentError) -> Recording {
    var steps: [DocumentHistory.Step] = []
    for part in parts {
      let begin = start + (part.acts.first?.time ?? 0)
      if !part.base.isEmpty { steps.append(DocumentHistory.Step(.keyframe(part.base), time: begin, row: 0)) }
      steps += part.acts.map { act in DocumentHistory.Step(.batch(act.batch.bytes), time: start + act.time, row: 0) }
    }
    let used = Set(parts.flatMap(\.acts).map(\.batch.batch.author))
    return try Recording(
      DocumentHistory(
        board: board.bytes,
        name: name,
        steps: steps,
        authors: used.sorted().compactMap { records[$0] }.map { record in
          StoredAuthor(incarnation: record.incarnation.rawValue, record: record.bytes, sequence: 0, head: [])
        }
      )
    )
  }

  package static func letter(_ number: Int) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    let last = String(letters[number % letters.count])
    return number < letters.count ? last : letter(number / letters.count - 1) + last
  }

  private static func records(in recording: Recording) -> [Incarnation: AuthorRecord] {
    var board = RestoredBoard(recording.board)
    for change in recording.beginning { try? board.apply(change) }
    for (place, step) in recording.history.steps.enumerated() {
      if case .batch = step.content { continue }
      if let change = try? recording.change(at: place) { try? board.apply(change) }
    }
    return board.records
  }
}

extension RecordingReplay {
  package func key(of number: Int) -> any AuthorKey {
    number < people.count ? ReplayedKey(people[number].key) : ReplayedKey(onlooker: number)
  }

  package func replica(of number: Int, random: any RandomNumberGenerator, now: Moment) -> Replica {
    let key = key(of: number)
    return Replica(
      author: Author(board: board, key: key, grant: grant(of: key.publicKey), random: random),
      now: now,
      verifier: ReplayedVerifier(self)
    )
  }

  /// If the board has no room for the batch, throws and writes nothing.
  package func perform(_ act: Act, on replica: Replica, _ chains: inout [Incarnation: BatchChain], now: Moment)
    throws(BoardError) -> [ReplicaAction]
  {
    let batch = act.batch.batch
    guard let record = records[batch.author] else { return [] }
    let actions = try replica.reenact(batch, under: record, after: chains[batch.author], now: now)
    chains[batch.author] = replica.ownChain
    return actions
  }

  private func grant(of key: [UInt8]) -> Grant? {
    records.values.filter { $0.key == key && $0.grant != nil }.max { $0.incarnation < $1.incarnation }?.grant
  }
}

/// Signs for an author whose private key is not available. Anyone can create signatures with this key, so only peers in
/// a replay accept them.
struct ReplayedKey: AuthorKey {
  let publicKey: [UInt8]

  init(_ publicKey: [UInt8]) { self.publicKey = publicKey }

  init(onlooker number: Int) {
    let bytes = Array("onlooker \(number)".utf8)
    publicKey = [4] + Array(SHA256.hash(data: bytes)) + Array(SHA256.hash(data: bytes + [0]))
  }

  func signature(of bytes: [UInt8]) -> [UInt8] { Self.signature(of: bytes, by: publicKey) }

  static func signature(of bytes: [UInt8], by key: [UInt8]) -> [UInt8] {
    Array(SHA256.hash(data: key + bytes)) + Array(SHA256.hash(data: bytes + key))
  }
}

struct ReplayedVerifier: SignatureVerifier {
  private let real = P256SignatureVerifier()
  /// These signatures were checked when the session was recorded.
  private let recorded: Set<[UInt8]>

  init(_ replay: RecordingReplay) { recorded = Set(replay.records.values.map(\.signature)) }

  func isKey(_ bytes: [UInt8]) -> Bool { bytes.count == 65 && bytes.first == 4 }

  func isValid(_ signature: [UInt8], of bytes: [UInt8], by key: [UInt8]) -> Bool {
    signature == ReplayedKey.signature(of: bytes, by: key) || recorded.contains(signature)
      || real.isValid(signature, of: bytes, by: key)
  }
}

extension RecordingReplay {
  /// Searches for the smallest set of batches in a part with which a replay still fails.
  ///
  /// The search removes runs of batches by delta debugging (Zeller and Hildebrandt, 2002).
  ///
  /// - Parameters:
  ///   - index: The index of the part.
  ///   - limit: The maximum number of attempts.
  ///   - fails: A closure that returns whether a replay fails. The closure must always return the same result for the
  ///     same replay.
  /// - Returns: The smallest replay, with one part, and the number of attempts; `nil` if even a replay without batches
  ///   fails.
  public func shrunk(part index: Int, attempts limit: Int = 1000, _ fails: (RecordingReplay) throws -> Bool) rethrows
    -> (smallest: RecordingReplay, attempts: Int)?
  {
    let nothing = [Bool](repeating: false, count: parts[index].acts.count)
    guard try !fails(keeping(nothing, ofPart: index)) else { return nil }
    var kept = [Bool](repeating: true, count: parts[index].acts.count)
    var smallest = keeping(kept, ofPart: index)
    var attempts = 1
    var pieces = 2
    while attempts < limit {
      let left = kept.indices.filter { kept[$0] }
      guard left.count > 1 else { break }
      pieces = min(pieces, left.count)
      var hasShrunk = false
      for piece in 0..<pieces where attempts < limit {
        var fewer = kept
        for place in left[(left.count * piece / pieces)..<(left.count * (piece + 1) / pieces)] { fewer[place] = false }
        let candidate = keeping(fewer, ofPart: index)
        attempts += 1
        guard try fails(candidate) else { continue }
        (kept, smallest, hasShrunk) = (candidate.kept(of: fewer, part: parts[index]), candidate, true)
        break
      }
      if hasShrunk {
        pieces = max(2, pieces - 1)
      } else {
        guard pieces < left.count else { break }
        pieces *= 2
      }
    }
    return (smallest, attempts)
  }

  private func kept(of wanted: [Bool], part: Part) -> [Bool] {
    var left = Set(parts[0].acts)
    return zip(part.acts, wanted).map { act, isWanted in isWanted && left.remove(act) != nil }
  }
}

/// The result of replaying a part of a recording with simulated peers.
public struct ReplayOutcome: Sendable {
  /// The final digest of each peer's board, with the letter of the peer.
  public let digests: [(peer: String, digest: Bytes32)]
  /// The digest of the recorded board after the part.
  public let expected: Bytes32
  /// Whether all peers reported before the timeout that they have all changes.
  public let isSynced: Bool
  /// The protocol violations and the differences between boards that peers reported.
  public let complaints: [String]
  /// The number of messages, datagrams and answers that were sent.
  public let messages: Int
  /// The size of the sent messages, datagrams and answers in bytes.
  public let bytes: Int
  /// The number of network faults: lost packets, duplicated packets, and broken connections.
  public let disturbed: Int
  /// The duration in milliseconds, on the clock of the session.
  public let duration: Int64
  /// The SHA-256 of the trace; empty if there is no trace.
  ///
  /// The trace depends only on the seed.
  public let trace: [UInt8]

  /// Creates an outcome.
  public init(
    digests: [(peer: String, digest: Bytes32)],
    expected: Bytes32,
    isSynced: Bool,
    complaints: [String],
    messages: Int = 0,
    bytes: Int = 0,
    disturbed: Int = 0,
    duration: Int64,
    trace: [UInt8] = []
  ) {
    self.digests = digests
    self.expected = expected
    self.isSynced = isSynced
    self.complaints = complaints
    self.messages = messages
    self.bytes = bytes
    self.disturbed = disturbed
    self.duration = duration
    self.trace = trace
  }

  /// Whether all peers reached the recorded board without violations.
  public var isGood: Bool { isSynced && complaints.isEmpty && digests.allSatisfy { $0.digest == expected } }

  /// Descriptions of all problems; empty if the replay succeeded.
  public var faults: [String] {
    var faults = complaints
    if !isSynced { faults.append("some peers still lack changes, although the last change was long ago") }
    for (peer, digest) in digests where digest != expected {
      faults.append(
        "\(peer)'s board has the digest \(digest.hex.prefix(16)) at the end, not \(expected.hex.prefix(16))"
      )
    }
    return faults
  }
}

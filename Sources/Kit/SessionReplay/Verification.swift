import PeerCore
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// The result of verifying that a recording is intact, and that its changes produce the same board in any order.
///
/// Implements REC-7 and REC-8.
public struct Verification: Sendable {
  /// The order in which a replica applies the steps.
  public enum Order: String, CaseIterable, Sendable {
    /// All steps are shuffled, and one in ten is applied twice.
    case shuffled
    /// Each step is delayed by up to a hundred positions.
    case delayed
    /// All steps by half of the authors come first, then all steps by the other authors.
    case partitioned
    /// A random half of the batches comes first, then the whole state of another replica, as for a peer that catches
    /// up.
    case caughtUp = "caught-up"
  }

  /// A replica whose final board differs from the recorded board.
  public struct Divergence: Hashable, Sendable {
    /// The index of the replica, from 0.
    public let replica: Int
    /// The order in which the replica applied the steps.
    public let order: Order
    /// The final digest.
    public let digest: Bytes32
  }

  /// A position where the board differs from the recorded digest.
  public struct Mismatch: Hashable, Sendable {
    /// The number of steps before the position.
    public let place: Int
    /// The time of the digest, in milliseconds since 1970.
    public let time: Int64
    /// The expected digest.
    public let expected: [UInt8]
    /// The actual digest.
    public let found: Bytes32
  }

  /// The seed of the random orders.
  public let seed: UInt64
  /// The number of replicas that replayed the steps.
  public let replicas: Int
  /// The number of steps in the recording.
  public let steps: Int
  /// The number of operations in the recording.
  public let operations: Int
  /// The number of digests in the recording.
  public let checks: Int
  /// The digest of the final board.
  public let digest: Bytes32
  /// Descriptions of the damage in the file.
  public let damages: [String]
  /// The positions where the digest differs from the recorded digest.
  public let mismatches: [Mismatch]
  /// The steps that could not be applied.
  public let faults: [Playback.Fault]
  /// The replicas whose final boards differ from the recorded board.
  public let divergences: [Divergence]

  /// Whether no problem was found.
  public var isGood: Bool { damages.isEmpty && mismatches.isEmpty && faults.isEmpty && divergences.isEmpty }

  /// Plays a recording to its end, and applies its steps to new replicas in other orders.
  ///
  /// The replicas run in parallel on all processors.
  ///
  /// - Parameters:
  ///   - recording: The recording to verify.
  ///   - damages: Further damage that was found in the file.
  ///   - replicas: The number of replicas. The four orders are assigned to the replicas in turn.
  ///   - seed: The seed of the random orders.
  /// - Complexity: O(n) for each replica.
  public init(of recording: Recording, damages: [String] = [], replicas: Int = 8, seed: UInt64) async {
    self.seed = seed
    self.replicas = replicas
    steps = recording.count
    checks = recording.history.checks.count
    let told = recording.history.damages.map(\.words)
    self.damages = told + damages.filter { !told.contains($0) }
    // The positions are visited in order, so no states are cached.
    var playback = Playback(recording, spacing: .max)
    var mismatches: [Mismatch] = []
    for check in recording.history.checks {
      playback.seek(toPlace: check.place)
      let found = playback.board.digest
      if found.bytes != check.digest {
        mismatches.append(Mismatch(place: check.place, time: check.time, expected: check.digest, found: found))
      }
    }
    playback.seek(toPlace: recording.count)
    self.mismatches = mismatches
    operations = playback.operations
    faults = playback.faults
    digest = playback.board.digest
    let whole = playback.board
    let found = await withTaskGroup { group in
      for replica in 0..<replicas {
        group.addTask {
          let order = Order.allCases[replica % Order.allCases.count]
          var random = SplitMix64(seed: seed &+ UInt64(replica))
          let board = Self.board(recording, in: order, like: whole, &random)
          return Divergence(replica: replica, order: order, digest: board.digest)
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    let expected = digest
    divergences = found.filter { $0.digest != expected }.sorted { $0.replica < $1.replica }
  }

  private static func board(
    _ recording: Recording,
    in order: Order,
    like whole: RestoredBoard,
    _ random: inout SplitMix64
  ) -> RestoredBoard {
    var board = RestoredBoard(recording.board)
    // Steps that cannot be applied were reported already, and have no effect in any order.
    for change in recording.beginning { try? board.apply(change) }
    func apply(_ place: Int) { if let change = try? recording.change(at: place) { try? board.apply(change) } }
    var first = 0
    for place in 0..<recording.count where !recording.isIndifferentToOrder(at: place) {
      for other in arranged(first..<place, of: recording, order, &random) { apply(other) }
      // An answer omits the changes before it, so keep it at its position.
      if order != .caughtUp { apply(place) }
      first = place + 1
    }
    for place in arranged(first..<recording.count, of: recording, order, &random) { apply(place) }
    if order == .caughtUp { try? board.join(whole) }
    return board
  }

  private static func arranged(_ run: Range<Int>, of recording: Recording, _ order: Order, _ random: inout SplitMix64)
    -> [Int]
  {
    switch order {
    case .shuffled:
      var all = Array(run)
      for place in run where random.next() % 10 == 0 { all.append(place) }
      return random.shuffled(all)
    case .delayed:
      let late = run.map { (key: UInt64($0) + random.next() % 100, place: $0) }
      return late.sorted { ($0.key, $0.place) < ($1.key, $1.place) }.map(\.place)
    case .partitioned:
      let salt = random.next()
      let isLater = run.map { place in
        guard let author = recording.author(at: place) else { return false }
        var side = SplitMix64(seed: salt ^ author.rawValue)
        return side.next() & 1 == 1
      }
      return zip(run, isLater).filter { !$0.1 }.map(\.0) + zip(run, isLater).filter(\.1).map(\.0)
    case .caughtUp: return run.filter { _ in random.next() & 1 == 1 }
    }
  }
}

extension SplitMix64 {
  /// The same seed must produce the same order in every release.
  mutating func shuffled<Element>(_ elements: [Element]) -> [Element] {
    var elements = elements
    for last in stride(from: elements.count - 1, to: 0, by: -1) {
      elements.swapAt(last, Int(next() % UInt64(last + 1)))
    }
    return elements
  }
}

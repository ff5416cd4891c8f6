import Whiteboard
import WhiteboardSync

/// Whether a recording is whole, and whether the board comes out the same however it is played;
/// implements REC-7 and REC-8.
public struct Verification: Sendable {
  /// In which order a replica was given the steps.
  public enum Order: String, CaseIterable, Sendable {
    /// All shuffled, and one in ten given twice.
    case shuffled
    /// Each as late as a hundred others.
    case delayed
    /// All of half of the authors, then all of the others.
    case partitioned
    /// A half of the batches at random; then the state of another that has all, as who catches up.
    case caughtUp = "caught-up"
  }

  /// A replica that ended otherwise.
  public struct Divergence: Hashable, Sendable {
    /// Which replica, from 0.
    public let replica: Int
    /// In which order it was given the steps.
    public let order: Order
    /// What it ended with.
    public let digest: Bytes32
  }

  /// A place where the board is not what it was when it was recorded.
  public struct Mismatch: Hashable, Sendable {
    /// After how many steps.
    public let place: Int
    /// When, milliseconds since 1970.
    public let time: Int64
    /// What it must hash to.
    public let expected: [UInt8]
    /// What it hashes to.
    public let found: Bytes32
  }

  /// From which the orders were drawn.
  public let seed: UInt64
  /// How many replicas were given the steps.
  public let replicas: Int
  /// How many steps there are.
  public let steps: Int
  /// How many operations.
  public let operations: Int
  /// How many digests were met or not.
  public let checks: Int
  /// What the board is in the end.
  public let digest: Bytes32
  /// What was damaged.
  public let damages: [String]
  /// The digests that were not met.
  public let mismatches: [Mismatch]
  /// The steps that could not be applied.
  public let faults: [Playback.Fault]
  /// The replicas that ended otherwise.
  public let divergences: [Divergence]

  /// Whether nothing is wrong.
  public var isGood: Bool {
    damages.isEmpty && mismatches.isEmpty && faults.isEmpty && divergences.isEmpty
  }

  /// Plays a recording to its end, and has fresh replicas take it in in other orders.
  ///
  /// - Parameters:
  ///   - recording: What is verified.
  ///   - damages: What was found in the file besides.
  ///   - replicas: How many replicas; the four orders take turns.
  ///   - seed: From which the orders are drawn: the same seed, the same orders.
  /// - Complexity: O(n) for each replica.
  public init(
    of recording: Recording,
    damages: [String] = [],
    replicas: Int = 8,
    seed: UInt64
  ) {
    self.seed = seed
    self.replicas = replicas
    steps = recording.count
    checks = recording.history.checks.count
    self.damages = recording.history.damages.map(\.words) + damages
    // No state is kept on the way.
    var playback = Playback(recording, spacing: .max)
    var mismatches: [Mismatch] = []
    for check in recording.history.checks {
      playback.seek(toPlace: check.place)
      let found = playback.board.digest
      if found.bytes != check.digest {
        mismatches.append(
          Mismatch(place: check.place, time: check.time, expected: check.digest, found: found)
        )
      }
    }
    playback.seek(toPlace: recording.count)
    self.mismatches = mismatches
    operations = playback.operations
    faults = playback.faults
    digest = playback.board.digest
    var divergences: [Divergence] = []
    for replica in 0..<replicas {
      let order = Order.allCases[replica % Order.allCases.count]
      var random = SplitMix64(seed: seed &+ UInt64(replica))
      let board = Self.board(recording, in: order, like: playback.board, &random)
      if board.digest != digest {
        divergences.append(Divergence(replica: replica, order: order, digest: board.digest))
      }
    }
    self.divergences = divergences
  }

  /// What a fresh replica comes to.
  private static func board(
    _ recording: Recording,
    in order: Order,
    like whole: RestoredBoard,
    _ random: inout SplitMix64
  ) -> RestoredBoard {
    var board = RestoredBoard(recording.board)
    // What cannot be applied was told of already: it changes nothing in any order.
    for change in recording.beginning { try? board.apply(change) }
    var run: [(place: Int, change: StoredChange)] = []
    func take() {
      for change in arranged(run, order, &random) { try? board.apply(change) }
      run = []
    }
    for place in 0..<recording.count {
      guard let change = try? recording.change(at: place) else { continue }
      if change.isIndifferentToOrder {
        run.append((place, change))
      } else if order != .caughtUp {
        // It leaves out what came before it.
        take()
        try? board.apply(change)
      }
    }
    take()
    if order == .caughtUp { try? board.join(whole) }
    return board
  }

  private static func arranged(
    _ run: [(place: Int, change: StoredChange)],
    _ order: Order,
    _ random: inout SplitMix64
  ) -> [StoredChange] {
    switch order {
    case .shuffled:
      var all = run.map(\.change)
      for step in run where random.next() % 10 == 0 { all.append(step.change) }
      return random.shuffled(all)
    case .delayed:
      let late = run.enumerated().map { index, step in
        (key: UInt64(index) + random.next() % 100, index: index, change: step.change)
      }
      return late.sorted { ($0.key, $0.index) < ($1.key, $1.index) }.map(\.change)
    case .partitioned:
      let salt = random.next()
      let sides = run.map { step in
        guard case .batch(let encoded) = step.change else { return false }
        var side = SplitMix64(seed: salt ^ encoded.batch.author.rawValue)
        return side.next() & 1 == 1
      }
      return zip(run, sides).filter { !$0.1 }.map(\.0.change)
        + zip(run, sides).filter(\.1).map(\.0.change)
    case .caughtUp:
      return run.filter { _ in random.next() & 1 == 1 }.map(\.change)
    }
  }
}

extension SplitMix64 {
  /// The elements in another order: Fisher and Yates's, the same for the same seed in every release.
  mutating func shuffled<Element>(_ elements: [Element]) -> [Element] {
    var elements = elements
    for last in stride(from: elements.count - 1, to: 0, by: -1) {
      elements.swapAt(last, Int(next() % UInt64(last + 1)))
    }
    return elements
  }
}

extension BoardWorld {
  /// The number of events in worlds, so that a test can check that enough happened.
  public struct Tally: Sendable {
    /// A counted event.
    public enum Event: String, CaseIterable, Sendable {
      /// An operation was created.
      case operations
      /// A batch was created.
      case batches
      /// A batch arrived.
      case delivered
      /// A batch was lost.
      case lost
      /// A batch was sent twice.
      case doubled
      /// A ``Stranger`` sent a batch.
      case strange
      /// An answer was merged.
      case answers
      /// An answer was truncated.
      case torn
      /// Batches from a log brought a board up to date.
      case logs
      /// A board crashed and lost its latest changes.
      case crashes
      /// A board was restored from a backup.
      case backups
      /// An object was purged.
      case purges
      /// A board joined late.
      case newcomers
      /// A step was undone or redone.
      case undos
      /// A board refused an edit.
      case refusals
      /// A move of a game counted at the end of the world.
      case moves
      /// A new incarnation was needed because another peer claimed dots of the old incarnation.
      case claims
      /// A lie was sent and detected.
      case lies
      /// An author wrote two values under one dot.
      case twoStories
      /// A board was flooded to its limits.
      case floods
      /// A right was revoked.
      case revocations
      /// A wall clock was set.
      case clocks
      /// A replica reported a wrong clock.
      case clockReports
      /// A write got a time far ahead of the real time, because it follows a write with such a time.
      case farAhead
      /// A pair of chat lines was compared: the author of the later line had seen the earlier line.
      case linesInOrder
      /// A difference caused by one author was found and repaired.
      case repairs
      /// A signature took time to make or to verify.
      case signatures
    }

    private var counts: [Event: Int] = [:]

    /// Creates a tally without events.
    public init() {}

    /// The number of events of a kind.
    public subscript(event: Event) -> Int {
      get { counts[event] ?? 0 }
      set { counts[event] = newValue }
    }

    /// Adds the events of another tally.
    public mutating func add(_ other: Tally) {
      for (event, count) in other.counts { counts[event, default: 0] += count }
    }

    /// All counts in one line.
    public var description: String { Event.allCases.map { "\(self[$0]) \($0.rawValue)" }.joined(separator: ", ") }
  }
}

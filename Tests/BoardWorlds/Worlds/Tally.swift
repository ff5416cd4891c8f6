extension BoardWorld {
  /// How much happened; a run of worlds in which nothing did proves nothing.
  public struct Tally: Sendable {
    /// Things that happen.
    public enum Event: String, CaseIterable, Sendable {
      /// Operations made.
      case operations
      /// Batches made.
      case batches
      /// Batches that arrived.
      case delivered
      /// Batches that did not.
      case lost
      /// Batches that were sent twice.
      case doubled
      /// Batches from a later version, or from one who keeps no manners.
      case strange
      /// Answers merged.
      case answers
      /// Answers that broke off.
      case torn
      /// Times that batches brought a board up to date.
      case logs
      /// Boards that fell over with a lost tail.
      case crashes
      /// Boards that were set up from a backup.
      case backups
      /// Objects purged.
      case purges
      /// Boards that came late.
      case newcomers
      /// Steps undone or redone.
      case undos
      /// Edits that the board refused.
      case refusals
      /// Moves of games that counted, at the end.
      case moves
      /// Incarnations that were left because somebody claimed their dots.
      case claims
      /// Lies that were told, and found out.
      case lies
      /// Authors who told two stories.
      case twoStories
      /// Boards that were flooded to their limits.
      case floods
      /// Rights that were taken back.
      case revocations
      /// Wall clocks that were set.
      case clocks
      /// Findings about clocks.
      case clockReports
      /// Writes that were far ahead of the real time, since they follow one that was.
      case farAhead
      /// Chat lines, and each line that the author of a later one had seen.
      case linesInOrder
      /// Contradictions of one author that were found and repaired.
      case repairs
    }

    private var counts: [Event: Int] = [:]

    /// Nothing yet.
    public init() {}

    /// How often it happened.
    public subscript(event: Event) -> Int {
      get { counts[event] ?? 0 }
      set { counts[event] = newValue }
    }

    /// Adds what happened elsewhere.
    public mutating func add(_ other: Tally) { counts.merge(other.counts, uniquingKeysWith: +) }

    /// One line.
    public var description: String {
      Event.allCases.map { "\(self[$0]) \($0.rawValue)" }.joined(separator: ", ")
    }
  }
}

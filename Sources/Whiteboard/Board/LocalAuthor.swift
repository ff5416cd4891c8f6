/// The author of local edits, with the current incarnation and the dots of all local edits.
struct LocalAuthor {
  let member: MemberID
  private(set) var incarnation: Incarnation
  /// The dots of all local edits, for each incarnation that the author had.
  private(set) var written = DotSet()

  private var incarnations: Set<Incarnation>
  private let newIncarnation: () -> Incarnation

  /// Creates an author that has not made any edits.
  init(_ member: MemberID, incarnation: Incarnation, newIncarnation: @escaping () -> Incarnation) {
    self.member = member
    self.incarnation = incarnation
    self.newIncarnation = newIncarnation
    incarnations = [incarnation]
  }

  var nextSequence: UInt64 { (written[incarnation].ranges.last?.upperBound ?? 0) + 1 }

  func isOwn(_ incarnation: Incarnation) -> Bool { incarnations.contains(incarnation) }

  /// Returns whether the context contains dots of the current incarnation that this author never wrote (BRD-25).
  func isClaimed(in context: borrowing Context) -> Bool { context[incarnation] != written[incarnation] }

  /// Begins a new incarnation that has no dots in the context.
  mutating func beginIncarnation(outside context: borrowing Context) {
    repeat { incarnation = newIncarnation() } while context.contains(incarnation)
    incarnations.insert(incarnation)
  }

  mutating func record(_ batch: Batch) {
    incarnation = batch.author
    incarnations.insert(batch.author)
    written.insert(batch.sequences, of: batch.author)
  }
}

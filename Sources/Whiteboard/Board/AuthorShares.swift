/// A record of how much of a board's storage each author uses (BRD-38).
///
/// The usage of each author is limited, so that a single author cannot fill the board. It is computed only when the
/// board holds about as much as one author may use.
struct AuthorShares {
  /// The amount of storage that an author uses, or that an edit would add.
  struct Usage {
    /// The number of objects that the author created.
    var objects = 0
    /// The number of cells that the author was the last to write.
    var cells = 0
    /// The number of bytes in the values of the cells that the author was the last to write.
    var bytes = 0

    static func += (usage: inout Usage, more: Usage) {
      usage.objects += more.objects
      usage.cells += more.cells
      usage.bytes += more.bytes
    }
  }

  /// The usage of each author as of the last count, plus the operations that were admitted since.
  ///
  /// Nil before the first count.
  private var usage: [MemberID: Usage]?
  /// The number of refusals after which the usage is counted again.
  ///
  /// Counting is slow, so it is not repeated after each refusal.
  private var recountThreshold = 1
  private var refusals = 0

  /// Returns whether an author may write the given operations.
  ///
  /// If so, they are added to the author's usage.
  ///
  /// Call this method only if the board might hold as much as one author may use.
  /// - Complexity: O(1) for almost all calls. If the usage is counted again, O(*n*), where *n* is the number of cells
  ///   on the board.
  mutating func admit(
    _ operations: some Sequence<Operation>,
    of author: MemberID,
    to state: BoardState,
    _ authors: [Incarnation: MemberID]
  ) -> Bool {
    let more = Usage(operations)
    if more.isEmpty { return true }
    if usage == nil { usage = Self.count(in: state, authors) }
    if fits(more, of: author) { return true }
    // Count again, because cells may have been purged or overwritten since the last count.
    refusals += 1
    guard refusals >= recountThreshold else { return false }
    refusals = 0
    usage = Self.count(in: state, authors)
    let isAdmitted = fits(more, of: author)
    recountThreshold = isAdmitted ? 1 : min(2 * recountThreshold, 1024)
    return isAdmitted
  }

  private mutating func fits(_ more: Usage, of author: MemberID) -> Bool {
    var sum = usage?[author] ?? Usage()
    sum += more
    let isWithinShare =
      sum.objects <= BoardLimits.objectsPerAuthor && sum.cells <= BoardLimits.cellsPerAuthor
      && sum.bytes <= BoardLimits.bytesPerAuthor
    let isAlone = usage?.keys.allSatisfy { $0 == author } ?? true
    guard isWithinShare || isAlone else { return false }
    usage?[author] = sum
    return true
  }

  private static func count(
    in state: BoardState,
    _ authors: [Incarnation: MemberID]
  ) -> [MemberID: Usage] {
    var incarnations: [Incarnation: Usage] = [:]
    for (id, record) in state.records {
      incarnations[id.dot.incarnation, default: Usage()].objects += 1
      for entry in record.entries {
        let more = Usage(cells: 1, bytes: entry.cell.value.length)
        incarnations[entry.cell.dot.incarnation, default: Usage()] += more
      }
    }
    var usage: [MemberID: Usage] = [:]
    for (incarnation, more) in incarnations {
      guard let author = authors[incarnation] else { continue }
      usage[author, default: Usage()] += more
    }
    return usage
  }
}

extension BoardState {
  /// Whether the board holds so much that one more batch might exceed the limit of one author.
  var mayHoldWholeShare: Bool {
    let most = BoardLimits.operationsPerBatch
    return objectCount > BoardLimits.objectsPerAuthor - most
      || cellCount > BoardLimits.cellsPerAuthor - most
      || valueBytes > BoardLimits.bytesPerAuthor - BoardLimits.batchBytes
  }
}

extension AuthorShares.Usage {
  /// Creates an upper bound of the usage that operations add.
  ///
  /// Deletions and purges add nothing, because they free space.
  init(_ operations: some Sequence<Operation>) {
    self.init()
    for operation in operations where operation.property != .deleted && !operation.property.isPurge
    {
      if operation.property.isKind { objects += 1 }
      cells += 1
      bytes += operation.value.length
    }
  }

  /// Whether the usage includes no cells.
  var isEmpty: Bool { cells == 0 }
}

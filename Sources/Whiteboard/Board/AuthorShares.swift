/// How much of a board each author uses, so that one alone cannot fill it (BRD-38).
///
/// Worked out only where it matters: on a board that holds as much as one author may use.
struct AuthorShares {
  /// How much an author uses, or how much an edit would add to that.
  struct Usage {
    /// Objects that they created.
    var objects = 0
    /// Cells that they wrote last.
    var cells = 0
    /// Bytes of the values of these cells.
    var bytes = 0

    static func += (usage: inout Usage, more: Usage) {
      usage.objects += more.objects
      usage.cells += more.cells
      usage.bytes += more.bytes
    }
  }

  /// The usage of each author at the last look, and what was added since; nil before the first one.
  private var usage: [MemberID: Usage]?
  /// After how many refusals the next look is taken, since a look takes long.
  private var patience = 1
  private var refusals = 0

  /// Returns whether an author may write these operations, and counts them if so.
  /// - Complexity: O(1) for almost all calls, O(*n*) in the cells of the board for the others.
  mutating func admit(
    _ operations: some Sequence<Operation>,
    of author: MemberID,
    to state: BoardState,
    _ authors: [Incarnation: MemberID]
  ) -> Bool {
    guard state.mayHoldWholeShare else { return true }
    let more = Usage(operations)
    if more.isEmpty { return true }
    if usage == nil { usage = Self.look(at: state, authors) }
    if fits(more, of: author) { return true }
    // What was purged or overwritten since no longer counts.
    refusals += 1
    guard refusals >= patience else { return false }
    refusals = 0
    usage = Self.look(at: state, authors)
    let isAdmitted = fits(more, of: author)
    patience = isAdmitted ? 1 : min(2 * patience, 1024)
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

  private static func look(
    at state: BoardState,
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
  /// Whether the board holds so much that one more batch might exceed an author's share.
  var mayHoldWholeShare: Bool {
    let most = BoardLimits.operationsPerBatch
    return objectCount > BoardLimits.objectsPerAuthor - most
      || cellCount > BoardLimits.cellsPerAuthor - most
      || valueBytes > BoardLimits.bytesPerAuthor - BoardLimits.batchBytes
  }
}

extension AuthorShares.Usage {
  /// What operations add at most; deleting and purging add nothing, for they make room.
  init(_ operations: some Sequence<Operation>) {
    self.init()
    for operation in operations where operation.property != .deleted && !operation.property.isPurge
    {
      if operation.property.isKind { objects += 1 }
      cells += 1
      bytes += operation.value.length
    }
  }

  /// Whether it is nothing.
  var isEmpty: Bool { cells == 0 }
}

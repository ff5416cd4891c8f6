/// A record of how much of a board's storage each author uses (BRD-38). Each author may use only a part of the storage,
/// so that a single author cannot fill the board. The usage is counted only if the board holds about as much as one
/// author may use.
struct AuthorShares {
  struct Usage {
    static let share = Usage(
      objects: BoardLimits.objectsPerAuthor,
      cells: BoardLimits.cellsPerAuthor,
      bytes: BoardLimits.bytesPerAuthor
    )
    static let whole = Usage(
      objects: BoardLimits.objects,
      cells: BoardLimits.cellsPerLoneAuthor,
      bytes: BoardLimits.bytesPerLoneAuthor
    )

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

    /// Returns whether the usage, which already includes `more`, is within a limit. A number that `more` does not
    /// increase may exceed the limit, because a lone author has a higher limit.
    func isWithin(_ limit: Usage, after more: Usage) -> Bool {
      (more.objects == 0 || objects <= limit.objects) && (more.cells == 0 || cells <= limit.cells)
        && (more.bytes == 0 || bytes <= limit.bytes)
    }
  }

  /// The usage of each author as of the last count, plus the operations admitted since; nil before the first count.
  private var usage: [MemberID: Usage]?
  /// The usage is counted again only after this number of refusals, because counting is slow.
  private var recountThreshold = 1
  private var refusals = 0

  var isCounted: Bool { usage != nil }

  /// If an author may write the operations, adds them to the author's usage and returns true. Call this method only if
  /// the board might hold as much as one author may use.
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
    let isAlone = usage?.keys.allSatisfy { $0 == author } ?? true
    guard sum.isWithin(isAlone ? .whole : .share, after: more) else { return false }
    usage?[author] = sum
    return true
  }

  // MARK: - Answers

  /// Adds operations of an answer to the usage, as far as they are within the limit for a lone author. If later
  /// operations of an incarnation exceed the limit, the result contains the last accepted sequence number of the
  /// incarnation. The operations of each author are counted in ascending order of their dots, so replicas that receive
  /// the same answer accept the same operations. O(*n*) in the number of cells of the answer, and of the board if the
  /// usage is counted again.
  mutating func limits(
    of difference: Difference,
    on state: BoardState,
    comparesAll: Bool,
    _ authors: [Incarnation: MemberID]
  ) -> [Incarnation: UInt64] {
    var sums: [MemberID: Usage] = [:]
    let growth = Growth(difference: difference, state: state, comparesAll: comparesAll, authors: authors)
    growth.visit { sums[$0, default: Usage()] += $2 }
    let wasCounted = usage != nil
    if usage == nil { usage = Self.count(in: state, authors) }
    if wasCounted, sums.contains(where: { exceedsWhole($0.value, of: $0.key) }) {
      usage = Self.count(in: state, authors)
    }
    let exceeding = sums.filter { exceedsWhole($0.value, of: $0.key) }
    for (author, more) in sums where exceeding[author] == nil { usage?[author, default: Usage()] += more }
    guard !exceeding.isEmpty else { return [:] }
    var operations: [MemberID: [(dot: Dot, usage: Usage)]] = [:]
    growth.visit { author, dot, more in
      if exceeding[author] != nil { operations[author, default: []].append((dot, more)) }
    }
    var limits: [Incarnation: UInt64] = [:]
    for (author, list) in operations {
      var sum = usage?[author] ?? Usage()
      var isFull = false
      for (dot, more) in list.sorted(by: { $0.dot < $1.dot }) where limits[dot.incarnation] == nil {
        var next = sum
        next += more
        if isFull || !next.isWithin(.whole, after: more) {
          isFull = true
          limits[dot.incarnation] = dot.sequence - 1
        } else {
          sum = next
        }
      }
      usage?[author] = sum
    }
    return limits
  }

  private func exceedsWhole(_ more: Usage, of author: MemberID) -> Bool {
    var sum = usage?[author] ?? Usage()
    sum += more
    return !sum.isWithin(.whole, after: more)
  }

  private struct Growth {
    let difference: Difference
    let state: BoardState
    let comparesAll: Bool
    let authors: [Incarnation: MemberID]

    func visit(_ body: (MemberID, Dot, Usage) -> Void) {
      for entry in difference.entries {
        let record = state.record(entry.object)
        if record == nil {
          // The cells of a purged object are not stored.
          if state.context.contains(entry.object.dot) { continue }
          if let author = authors[entry.object.dot.incarnation] { body(author, entry.object.dot, Usage(objects: 1)) }
        }
        for new in entry.cells where new.property != .deleted {
          let cell = new.cell
          guard comparesAll || !state.context.contains(cell.dot), let author = authors[cell.dot.incarnation] else {
            continue
          }
          var more = Usage(cells: 1, bytes: cell.value.length)
          if let old = record?[new.property], authors[old.dot.incarnation] == author {
            more = Usage(bytes: max(0, more.bytes - old.value.length))
          }
          body(author, cell.dot, more)
        }
      }
    }
  }

  mutating func mayCreate(_ count: Int, by author: MemberID, on state: BoardState, _ authors: [Incarnation: MemberID])
    -> Bool
  {
    if usage == nil { usage = Self.count(in: state, authors) }
    let known = usage
    defer { usage = known }
    return fits(Usage(objects: count), of: author)
  }

  static func count(in state: BoardState, _ authors: [Incarnation: MemberID]) -> [MemberID: Usage] {
    var incarnations: [Incarnation: Usage] = [:]
    // Most neighbors have the same incarnation, so it is looked up only when it changes.
    var current: (incarnation: Incarnation, usage: Usage)?
    func add(_ more: Usage, by incarnation: Incarnation) {
      if current?.incarnation == incarnation {
        current?.usage += more
      } else {
        if let current { incarnations[current.incarnation, default: Usage()] += current.usage }
        current = (incarnation, more)
      }
    }
    let records = state.records
    for index in records.keys.indices {
      add(Usage(objects: 1), by: records.keys[index].dot.incarnation)
      for entry in records.values[index].entries {
        add(Usage(cells: 1, bytes: entry.cell.value.length), by: entry.cell.dot.incarnation)
      }
    }
    if let current { incarnations[current.incarnation, default: Usage()] += current.usage }
    var usage: [MemberID: Usage] = [:]
    for (incarnation, more) in incarnations {
      guard let author = authors[incarnation] else { continue }
      usage[author, default: Usage()] += more
    }
    return usage
  }
}

extension BoardState {
  /// Returns whether the board might exceed the limits of a lone author after `difference` is merged.
  func mayExceedWhole(with difference: Difference) -> Bool {
    var (cells, bytes) = (cellCount, valueBytes)
    for entry in difference.entries {
      cells += entry.cells.count
      for new in entry.cells { bytes += new.cell.value.length }
    }
    return objectCount + difference.entries.count > BoardLimits.objects || cells > BoardLimits.cellsPerLoneAuthor
      || bytes > BoardLimits.bytesPerLoneAuthor
  }

  /// Whether the content of the whole board and one more batch might exceed the limit of a single author.
  var mayHoldWholeShare: Bool {
    let most = BoardLimits.operationsPerBatch
    return objectCount > BoardLimits.objectsPerAuthor - most || cellCount > BoardLimits.cellsPerAuthor - most
      || valueBytes > BoardLimits.bytesPerAuthor - BoardLimits.batchBytes
  }
}

extension AuthorShares.Usage {
  /// Deletions and purges add nothing, because they free space.
  init(_ operations: some Sequence<Operation>) {
    self.init()
    for operation in operations where operation.property != .deleted && !operation.property.isPurge {
      if operation.property.isKind { objects += 1 }
      cells += 1
      bytes += operation.value.length
    }
  }

  var isEmpty: Bool { cells == 0 }

  /// Returns the greatest part of a number in `limit` that is used, from 0 to 1.
  func part(of limit: Self) -> Double {
    max(
      Double(objects) / Double(limit.objects),
      Double(cells) / Double(limit.cells),
      Double(bytes) / Double(limit.bytes)
    )
  }
}

extension BoardState {
  private var usage: AuthorShares.Usage { .init(objects: objectCount, cells: cellCount, bytes: valueBytes) }

  /// The used part of the storage of a replica, from 0 to 1.
  package var usedStorage: Double {
    usage.part(
      of: .init(objects: BoardLimits.storedObjects, cells: BoardLimits.storedCells, bytes: BoardLimits.storedBytes)
    )
  }

  /// The part of the storage limit of one author that all authors together use (BRD-38). No author uses more.
  package var usedShare: Double { usage.part(of: .share) }
}

extension BoardReplica {
  /// Returns the part of its storage limit that the local member uses, from 0 to 1 (BRD-38).
  /// - Complexity: O(*n*) in the number of cells of the board.
  package final func usedOwnShare() -> Double {
    let usage = AuthorShares.count(in: state, authors)
    let isAlone = usage.keys.allSatisfy { $0 == member }
    return usage[member]?.part(of: isAlone ? .whole : .share) ?? 0
  }
}

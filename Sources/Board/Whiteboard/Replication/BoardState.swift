/// The state of a board on one replica: its cells, and its context, which records all operations that the replica has
/// seen.
///
/// Batches can be applied and answers merged in any order and any number of times. States with equal contexts are equal
/// (SYN-1, SYN-2). No operation has to wait for another operation.
public struct BoardState: Sendable {
  /// The context: a record of all operations that this replica has seen.
  public private(set) var context = Context()
  /// Only a gesture in progress writes to the objects directly; its edits are not in the context yet.
  var objects = ObjectStore()
  /// A number that increases whenever a batch or an answer adds something.
  public private(set) var revision: UInt64 = 0

  /// For each incarnation whose rights were revoked, the last sequence number that remains valid (AUT-14).
  package private(set) var limits: [Incarnation: UInt64] = [:]

  /// The incarnations that the host retired. Their operations are ignored (AUT-17).
  private var retired: Set<Incarnation> = []

  /// Creates an empty board.
  public init() {}

  /// The number of stored objects, including deleted objects and orphans.
  public var objectCount: Int { objects.ids.count }
  /// The number of objects that are shown on the board.
  public var shownCount: Int { objects.shownCount }
  /// The number of cells on the board.
  public var cellCount: Int { objects.cellCount }
  /// The number of bytes in the values of all cells.
  public var valueBytes: Int { objects.valueBytes }

  /// All objects and their cells, in no particular order.
  package var records: ObjectRecords { ObjectRecords(keys: objects.ids, values: objects.records) }

  /// The objects that have cells, but whose create operation has not arrived yet.
  package var orphans: Set<ObjectID> { objects.orphans }

  package func record(_ id: ObjectID) -> ObjectRecord? { objects.record(id) }

  /// Returns whether users can see the object: it was created, is not deleted and, if it is a chat line, is complete.
  public func isVisible(_ id: ObjectID) -> Bool {
    guard let index = objects.index(of: id) else { return false }
    return objects.records[index].isVisible
  }

  func isReported(_ id: ObjectID) -> Bool {
    guard let index = objects.index(of: id) else { return false }
    return objects.records[index].isReported
  }

  /// `index` is where the object was last stored, and may be outdated.
  func isReported(_ id: ObjectID, near index: Int) -> Bool {
    index < objects.ids.count && objects.ids[index] == id ? objects.records[index].isReported : isReported(id)
  }

  /// Applies all operations of a batch, except operations that were seen before (SYN-3).
  ///
  /// `changes` records the objects that changed.
  ///
  /// - Throws: `BoardError.boardFull` if the board would exceed the storage limits. In that case, nothing is applied.
  public mutating func apply(_ batch: Batch, changes: inout ChangeLog) throws(BoardError) {
    try apply(batch, purgingWithin: [:], changes: &changes)
  }

  /// Applies a batch, but ignores the purges of some objects. A purge is ignored if the sequence number in the object's
  /// id exceeds the number in `last` for the incarnation in the id.
  package mutating func apply(_ batch: Batch, purgingWithin last: [Incarnation: UInt64], changes: inout ChangeLog)
    throws(BoardError)
  {
    guard let batch = counted(of: batch) else { return }
    guard hasRoom(for: batch) else { throw .boardFull }
    changes.reserve(batch.operations.count)
    let sequences = batch.sequences
    let mayBeSeen = context.overlaps(sequences, of: batch.author)
    // The ids that this batch purged. The ids are added to the context together at the end. If the ids were added one
    // by one in descending order, each insertion would move all later ranges.
    var purged = DotSet()
    for index in batch.operations.indices {
      let operation = batch.operations[index]
      let dot = batch.dot(at: index)
      if mayBeSeen, context.contains(dot) { continue }
      // A purged id may be the dot of a later operation of this batch. That operation must then be ignored.
      if !purged.isEmpty, purged.contains(dot) { continue }
      if operation.property.isPurge {
        // An id beyond the limit of its incarnation must not enter the context.
        guard counts(operation.object.dot), operation.object.dot.isWithin(last) else { continue }
        objects.remove(operation.object, changes: &changes)
        purged.insert(operation.object.dot)
      } else if purged.isEmpty || !purged.contains(operation.object.dot) {
        write(
          Cell(value: operation.value, time: HybridTime(batch.time.rawValue + UInt64(index)), dot: dot),
          at: operation.property,
          of: operation.object,
          changes: &changes
        )
      }
    }
    if !mayBeSeen || !context[batch.author].contains(sequences) {
      context.insert(sequences, of: batch.author)
      revision += 1
    }
    if !purged.isEmpty { context.formUnion(purged) }
    guard !objects.orphans.isEmpty else { return }
    // If an object's dot is in the context, but its create operation is not, the object will never be created. Every
    // replica then drops the cells of the object. Only the dots of this batch are new in the context.
    for index in batch.operations.indices {
      let id = ObjectID(batch.dot(at: index))
      if objects.orphans.contains(id) { objects.remove(id, changes: &changes) }
    }
  }

  /// Returns everything that a replica with the context `since` lacks.
  ///
  /// If `since` is empty, the result is the whole state. Objects in `buckets` (bit *i* for bucket *i*) are included
  /// with all their cells, even if the context contains them (SYN-42).
  /// - Complexity: O(*m* + *n* log *n*), where *m* is the number of cells and *n* is the number of objects.
  public func difference(since: Context, buckets: UInt16 = 0) -> Difference {
    var difference = Difference(context: context)
    let ids = objects.ids
    let order = ids.indices.sorted { ids[$0] < ids[$1] }
    difference.living = DotSet(
      ascending: order.lazy.map { ids[$0] }.filter { !objects.orphans.contains($0) }.map { $0.dot }
    )
    for index in order {
      let id = ids[index]
      let isWhole = buckets != 0 && buckets & (1 << id.bucket) != 0
      let entries = objects.records[index].entries
      let lacking = isWhole || since.isEmpty ? entries : entries.filter { !since.contains($0.cell.dot) }
      if !lacking.isEmpty { difference.entries.append(Difference.Entry(object: id, cells: lacking)) }
    }
    return difference
  }

  /// Merges an answer of another replica (SYN-5, SYN-6).
  ///
  /// - Parameters:
  ///   - difference: The answer.
  ///   - comparingAll: Whether to compare each cell with the stored cell, even if its dot is in the context. This
  ///     comparison repairs replicas that diverged (SYN-42).
  ///   - replacing: The buckets in which the cells that the sender has seen are removed before the merge. The answer
  ///     must contain all cells of these buckets.
  ///   - changes: Records the objects that changed.
  /// - Throws: `BoardError.boardFull` if the board would exceed the storage limits. In that case, nothing is merged.
  public mutating func merge(
    _ difference: Difference,
    comparingAll: Bool = false,
    replacing: UInt16 = 0,
    changes: inout ChangeLog
  ) throws(BoardError) {
    let difference = counted(of: difference)
    // If an id is in the sender's context, but not among its living objects, the object was purged. A purge is
    // permanent.
    let purged = objects.ids.filter { difference.context.contains($0.dot) && !difference.living.contains($0.dot) }
    guard hasRoom(for: difference, without: purged, comparingAll: comparingAll) else { throw .boardFull }
    for id in purged { objects.remove(id, changes: &changes) }
    let isReplaced =
      replacing != 0
      && objects.removeCells(changes: &changes) { id, entry in
        replacing & (1 << id.bucket) != 0 && difference.context.contains(entry.cell.dot)
      }
    if objectCount == 0 { objects.reserve(difference.entries.count) }
    var isNews = !context.isSuperset(of: difference.context)
    for entry in difference.entries {
      guard objects.index(of: entry.object) != nil else {
        let isReplacing = replacing & (1 << entry.object.bucket) != 0
        if add(entry, comparingAll: comparingAll, isReplacing: isReplacing, changes: &changes) { isNews = true }
        continue
      }
      for known in entry.cells where comparingAll || !context.contains(known.cell.dot) {
        if write(known.cell, at: known.property, of: entry.object, changes: &changes) { isNews = true }
      }
    }
    if isReplaced { objects.removeEmpty(changes: &changes) }
    if isNews || isReplaced || !purged.isEmpty {
      context.formUnion(difference.context)
      revision += 1
    }
    for id in objects.orphans where context.contains(id.dot) { objects.remove(id, changes: &changes) }
  }

  // MARK: - Revoked rights

  /// Ignores everything that each incarnation in `limits` wrote after the given sequence number (AUT-14). The limit
  /// applies to changes that have already arrived and to later changes.
  package mutating func limit(_ limits: [Incarnation: UInt64], changes: inout ChangeLog) {
    guard limits != self.limits else { return }
    self.limits = limits
    var isNews = false
    for (incarnation, last) in limits where context.removeAll(after: last, of: incarnation) { isNews = true }
    guard isNews else { return }
    let isAny = objects.removeCells(changes: &changes) { _, entry in !entry.cell.dot.isWithin(limits) }
    if isAny { objects.removeEmpty(changes: &changes) }
    revision += 1
  }

  // MARK: - Retired incarnations

  package func withoutRetired(_ difference: Difference) -> Difference {
    retired.isEmpty ? difference : difference.without(retired)
  }

  package func isRetired(_ incarnation: Incarnation) -> Bool { !retired.isEmpty && retired.contains(incarnation) }

  /// Ignores everything that these incarnations have written or will write, and removes the objects that they created.
  /// O(*n*) in the number of cells on the board.
  package mutating func retire(_ incarnations: [Incarnation], changes: inout ChangeLog) {
    let new = Set(incarnations).subtracting(retired)
    guard !new.isEmpty else { return }
    retired.formUnion(new)
    for id in objects.ids.filter({ new.contains($0.dot.incarnation) }) { objects.remove(id, changes: &changes) }
    let isAny = objects.removeCells(changes: &changes) { _, entry in new.contains(entry.cell.dot.incarnation) }
    if isAny { objects.removeEmpty(changes: &changes) }
    context.removeAll(of: new)
    revision += 1
  }

  /// Removes incarnations from the context if this board has neither an object nor a cell of them. Returns the number
  /// of removed incarnations, and the number of unknown incarnations that remain. O(*n*) in the number of cells if an
  /// incarnation is unknown; otherwise, in the number of incarnations.
  package mutating func forgetEmpty(unless isKnown: (Incarnation) -> Bool) -> (forgotten: Int, kept: Int) {
    let unknown = Set(context.incarnations.filter { !isKnown($0) })
    guard !unknown.isEmpty else { return (0, 0) }
    var empty = unknown
    for (id, record) in records {
      empty.remove(id.dot.incarnation)
      for entry in record.entries { empty.remove(entry.cell.dot.incarnation) }
    }
    if !empty.isEmpty {
      context.removeAll(of: empty)
      revision += 1
    }
    return (empty.count, unknown.count - empty.count)
  }

  private func counts(_ dot: Dot) -> Bool { (limits.isEmpty || dot.isWithin(limits)) && !isRetired(dot.incarnation) }

  private func counted(of batch: Batch) -> Batch? {
    if isRetired(batch.author) { return nil }
    guard !limits.isEmpty, let last = limits[batch.author], batch.sequences.upperBound > last else { return batch }
    guard batch.firstSequence <= last else { return nil }
    return Batch(
      validated: Array(batch.operations.prefix(Int(last - batch.firstSequence + 1))),
      author: batch.author,
      firstSequence: batch.firstSequence,
      time: batch.time
    )
  }

  /// Returns the part of an answer up to the limits of its incarnations, without the operations of retired
  /// incarnations.
  private func counted(of difference: Difference) -> Difference {
    withoutRetired(limits.isEmpty ? difference : difference.limited(to: limits))
  }

  /// Writes a cell that was not seen before; returns whether the board changed.
  @discardableResult private mutating func write(
    _ cell: Cell,
    at property: Property,
    of id: ObjectID,
    changes: inout ChangeLog
  ) -> Bool {
    let known = objects.index(of: id)
    // If the context contains the id of an unknown object, the object was purged. A purge beats every later write
    // (SYN-8).
    if known == nil, context.contains(id.dot) || isRetired(id.dot.incarnation) { return false }
    return objects.write(cell, at: property, of: id, at: known, changes: &changes)
  }

  /// Adds an unknown object with the cells that were not seen before; returns whether any cell was added.
  private mutating func add(_ entry: Difference.Entry, comparingAll: Bool, isReplacing: Bool, changes: inout ChangeLog)
    -> Bool
  {
    // If the context contains the id of an unknown object, the object was purged. A purge beats every later write
    // (SYN-8). In a replaced bucket, the sender decides which objects exist.
    guard isReplacing || !context.contains(entry.object.dot) else { return false }
    let seen = comparingAll ? Context() : context
    let unseen =
      entry.cells.contains { seen.contains($0.cell.dot) }
      ? entry.cells.filter { !seen.contains($0.cell.dot) } : entry.cells
    guard !unseen.isEmpty else { return false }
    objects.add(entry.object, unseen, changes: &changes)
    return true
  }
}

extension BoardState {
  package func isGroup(_ id: ObjectID) -> Bool { isVisible(id) && record(id)?.kind == .group }

  /// Returns the group that an object's `group` cell names, and the cell; nil if that group does not exist.
  package func groupCell(of id: ObjectID) -> (group: ObjectID, cell: Cell)? {
    guard let cell = record(id)?[.group], case .dot(let dot) = cell.value, isGroup(ObjectID(dot)) else { return nil }
    return (ObjectID(dot), cell)
  }

  /// Returns the groups that contain an object, innermost first, at most `BoardLimits.groupDepth`. If groups contain
  /// each other in a ring, the cell in the ring with the greatest stamp is ignored, so all replicas agree. A ring
  /// longer than `BoardLimits.groupDepth` is not detected.
  package func groups(of id: ObjectID) -> [ObjectID] {
    var path = [id]
    var cells: [Cell] = []
    while let (group, cell) = groupCell(of: path[cells.count]) {
      cells.append(cell)
      if let start = path.firstIndex(of: group) {
        let cut = (start..<cells.count).reduce(start) { cells[$1].beats(cells[$0]) ? $1 : $0 }
        return Array(path.dropFirst().prefix(cut))
      }
      guard cells.count <= BoardLimits.groupDepth else { break }
      path.append(group)
    }
    return Array(path.dropFirst())
  }

  /// Returns, for each of these groups, the shown objects and the groups inside it, in ascending order of id.
  /// - Complexity: O(*n* log *n*), where *n* is the number of objects inside the groups.
  package func contents(of groups: Set<ObjectID>) -> [ObjectID: [ObjectID]] {
    var contents: [ObjectID: [ObjectID]] = [:]
    // Determine the groups of each object. The point at which a ring of groups is cut can be found only by following
    // the groups outward from an object.
    for id in objects(below: groups.filter(isGroup)) where isShown(id) || isGroup(id) {
      for group in self.groups(of: id) where groups.contains(group) { contents[group, default: []].append(id) }
    }
    return contents
  }

  /// Returns the objects inside these groups, through at most `BoardLimits.groupDepth` levels, in ascending order of
  /// id.
  ///
  /// Rings of groups are not cut.
  /// - Complexity: O(*n* log *n*), where *n* is the number of returned objects.
  func objects(below groups: Set<ObjectID>) -> [ObjectID] {
    var found: Set<ObjectID> = []
    var expanded = groups
    var level = Array(groups)
    for _ in 0..<BoardLimits.groupDepth where !level.isEmpty {
      var next: [ObjectID] = []
      for group in level {
        for id in objects.groups.members(of: group) {
          found.insert(id)
          if isGroup(id), expanded.insert(id).inserted { next.append(id) }
        }
      }
      level = next
    }
    return found.sorted()
  }

  /// Returns the objects with these ids, without duplicates; throws if an id is neither an object nor a group. The id
  /// of a group stands for the objects in the group.
  func targets(_ ids: [ObjectID]) throws(BoardError) -> [ObjectID] {
    let contents = self.contents(of: Set(ids.filter(isGroup)))
    var seen: Set<ObjectID> = []
    var result: [ObjectID] = []
    for id in ids {
      if isGroup(id) {
        for member in contents[id] ?? [] where isShown(member) {
          if seen.insert(member).inserted { result.append(member) }
        }
      } else {
        guard isShown(id) else { throw .unknownObject(id) }
        if seen.insert(id).inserted { result.append(id) }
      }
    }
    return result
  }

  func groups(among ids: [ObjectID]) -> [ObjectID] {
    let groups = ids.filter(isGroup)
    let inside = contents(of: Set(groups)).values.joined().filter(isGroup)
    return Set(groups + inside).sorted()
  }

  /// Returns the groups that show at least two objects, and only objects in `objects`.
  func wholeGroups(of objects: Set<ObjectID>) -> Set<ObjectID> {
    let around = Set(objects.flatMap { self.groups(of: $0) })
    let whole = self.contents(of: around).filter { _, contents in
      let members = contents.filter(isShown)
      return members.count > 1 && objects.isSuperset(of: members)
    }
    return Set(whole.keys)
  }

  package var storedIDs: [ObjectID] { Array(records.keys) }
  /// The chat lines in ascending order of id, including incomplete and deleted lines.
  var chatIDs: [ObjectID] { objects.lists.members(of: ObjectStore.everyChatLine) }
  /// The photos in ascending order of id, including deleted photos.
  package var photoIDs: [ObjectID] { objects.lists.members(of: ObjectStore.everyPhoto) }
  /// The objects that any member, present or not, has selected, from back to front. Objects that are not shown are
  /// included.
  package var selectedIDs: [ObjectID] { stacked(objects.lists.members(of: ObjectStore.everySelection)) }
  /// The deleted objects in ascending order of id.
  var deletedIDs: [ObjectID] { objects.lists.members(of: ObjectStore.everyDeletion) }
}

/// A fast hash by which replicas with equal contexts detect that their cells differ (SYN-41). The hash detects faults,
/// not forgeries. If a peer forges cells with equal sums, the difference is detected when the context next changes.
/// Only the digest proves that cells are equal.
package struct BucketHash {
  package static let buckets = 16
  package private(set) var value: UInt64 = 0

  package init() {}

  package mutating func combine(_ word: UInt64) { value = Self.mix(value ^ word) }

  /// Returns `number` mixed by one step of SplitMix64: each bit of `number` changes about half of the result's bits.
  package static func mix(_ number: UInt64) -> UInt64 {
    var mixed = number &+ 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension ObjectID {
  package var bucket: Int {
    let mixed = BucketHash.mix(dot.incarnation.rawValue ^ BucketHash.mix(dot.sequence))
    return Int(mixed % UInt64(BucketHash.buckets))
  }
}

/// One replica of a board: the state that all replicas agree on, the gesture in progress, and the output that the
/// caller has not received yet.
///
/// `Board` adds the functions that edit the objects.
///
/// A replica is not `Sendable`: a replica and its `WhiteboardObject`s stay in one isolation domain. `ObjectSnapshot`s
/// can leave it. Local edits apply immediately; `takeBatches` returns them as batches to send.
public class BoardReplica {
  /// The cells of the board.
  ///
  /// Inside a gesture, the cells include the edits that the gesture has made. The context does not include these edits
  /// until the gesture ends.
  public final var state: BoardState {
    // Yield the state, because a getter would copy it at each access.
    _read {
      showStaged()
      yield cells
    }
  }
  /// The wall clock, in milliseconds since 1970.
  ///
  /// The caller keeps it up to date.
  public final var wallClock: UInt64
  /// A monotonic clock, in milliseconds, for the leases on selected objects.
  ///
  /// The caller keeps it up to date.
  public final var uptime: UInt64 = 0
  /// The other members that are online and have sent data recently.
  ///
  /// Only their selections hold objects.
  public final var presentMembers: Set<MemberID> = []
  /// The incarnations of the members that are online.
  ///
  /// These members may still finish a stroke.
  public final var presentIncarnations: Set<Incarnation> = []
  /// The member of each known incarnation: local incarnations, and incarnations with a known author record (AUT-3).
  public final var authors: [Incarnation: MemberID] = [:]
  /// Whether local edits are refused, because the local member is a viewer and no peer would accept them (AUT-4).
  public final var isReadOnly = false
  /// The assets whose bytes are stored locally.
  public final var assets: Set<AssetID> = []

  final var history = UndoHistory()
  final var leases = SelectionLeases()
  final private(set) var frontier = Frontier()

  /// The agreed state and, after `showStaged`, the edits of the current gesture.
  private final var cells = BoardState()
  private final var clock = HybridClock()
  private final var output = PendingOutput()
  private final var localAuthor: LocalAuthor
  private final var shares = AuthorShares()
  private final var staged: StagedOperations?
  private final var draft: GestureDraft?

  /// Creates an empty board.
  ///
  /// - Parameters:
  ///   - incarnation: The first author of local edits.
  ///   - member: The local member.
  ///   - wallClock: The wall clock, in milliseconds since 1970.
  ///   - newIncarnation: Creates another incarnation of the same member when one is needed (BRD-25). Other members must
  ///     not be able to predict the result.
  public init(
    incarnation: Incarnation,
    member: MemberID,
    wallClock: UInt64,
    newIncarnation: @escaping () -> Incarnation = {
      var generator = SystemRandomNumberGenerator()
      return .random(using: &generator)
    }
  ) {
    localAuthor = LocalAuthor(member, incarnation: incarnation, newIncarnation: newIncarnation)
    authors = [incarnation: member]
    self.wallClock = wallClock
  }

  // MARK: - Local author

  /// The author of local edits.
  ///
  /// If a peer claims a dot of this incarnation that the incarnation never wrote, a new incarnation begins with the
  /// next gesture (BRD-25).
  public final var incarnation: Incarnation { localAuthor.incarnation }
  /// The dots of all local edits, for each incarnation that this board had.
  package final var written: DotSet { localAuthor.written }
  /// The member that makes the local edits.
  public final var member: MemberID { localAuthor.member }

  package final func isOwn(_ incarnation: Incarnation) -> Bool { localAuthor.isOwn(incarnation) }

  package final func beginIncarnation() {
    localAuthor.beginIncarnation(outside: cells.context)
    authors[incarnation] = member
  }

  /// Begins a new incarnation if the context contains dots of the current incarnation that this replica never wrote
  /// (BRD-25). A peer can claim such a dot by purging an object that never existed, or in the context of an answer.
  /// Every replica accepts the claim, so peers would skip an edit that used the dot.
  final func leaveClaimedIncarnation() { if localAuthor.isClaimed(in: cells.context) { beginIncarnation() } }

  // MARK: - Receiving

  /// Applies a batch from a peer, even if it breaks the rules for local edits, so that all replicas agree (SYN-3).
  /// - Throws: `BoardError.boardFull`. If the method throws, nothing is applied.
  public final func receive(_ batch: Batch) throws(BoardError) { try receive(batch, purgingWithin: [:]) }

  /// Applies a batch, but ignores the purges of some objects. A purge is ignored if the sequence number in the object's
  /// id exceeds the number in `last` for the incarnation in the id.
  package final func receive(_ batch: Batch, purgingWithin last: [Incarnation: UInt64]) throws(BoardError) {
    hideStaged()
    try cells.apply(batch, purgingWithin: last, changes: &output.changes)
    frontier.record(batch)
    clock.observe(HybridTime(batch.time.rawValue + UInt64(batch.operations.count - 1)), wall: wallClock)
    noteSelections(in: batch)
  }

  /// Throws `shareUsed` if a batch would exceed the storage limit for its author (BRD-38).
  package final func requireShare(for batch: Batch, of author: MemberID) throws(BoardError) {
    guard admit(batch.operations, of: author) else { throw .shareUsed }
  }

  private final func admit(_ operations: some Sequence<Operation>, of author: MemberID) -> Bool {
    // Check this first, because calling `AuthorShares.admit` copies the state.
    guard cells.mayHoldWholeShare else { return true }
    return shares.admit(operations, of: author, to: cells, authors)
  }

  /// Returns the part of an answer that keeps each author within the storage limit for a lone author (BRD-38).
  package final func withinShares(_ difference: Difference, comparesAll: Bool, and more: [Incarnation: MemberID])
    -> Difference
  {
    hideStaged()
    guard shares.isCounted || cells.mayExceedWhole(with: difference) else { return difference }
    // Embedded Swift has no `merging`.
    var all = authors
    for (incarnation, author) in more where all[incarnation] == nil { all[incarnation] = author }
    let limits = shares.limits(of: difference, on: cells, comparesAll: comparesAll, all)
    return limits.isEmpty ? difference : difference.limited(to: limits)
  }

  /// Throws `shareUsed` if the local member may not create this many more objects (BRD-38).
  final func requireShare(forObjects count: Int) throws(BoardError) {
    guard state.objectCount + count > BoardLimits.objectsPerAuthor else { return }
    guard shares.mayCreate(count, by: member, on: cells, authors) else { throw .shareUsed }
  }

  /// Merges a peer's answer to a catch-up request.
  ///
  /// - Parameters:
  ///   - difference: The answer.
  ///   - comparesAll: Whether to merge every cell of the answer, even if its dot is in the context. Such a merge
  ///     repairs replicas that diverged (SYN-42).
  ///   - replacing: The buckets whose cells are removed if the sender no longer has them (AUT-15).
  /// - Throws: `BoardError.boardFull`. If the method throws, nothing is applied.
  public final func receive(_ difference: Difference, comparesAll: Bool = false, replacing: UInt16 = 0)
    throws(BoardError)
  {
    hideStaged()
    try cells.merge(difference, comparingAll: comparesAll, replacing: replacing, changes: &output.changes)
    for entry in difference.entries {
      for new in entry.cells {
        frontier.record(new.property, new.cell.value, at: new.cell.time)
        clock.observe(new.cell.time, wall: wallClock)
      }
    }
    noteSelections(in: difference)
  }

  /// Removes incarnations from the context if this board has neither an object nor a cell of them (BRD-37). Returns the
  /// number of removed incarnations, and the number of unknown incarnations that remain.
  package final func forgetEmptyIncarnations(unless isKnown: (Incarnation) -> Bool) -> (forgotten: Int, kept: Int) {
    hideStaged()
    return cells.forgetEmpty(unless: isKnown)
  }

  /// Ignores everything that each incarnation in `limits` wrote after the given sequence number (AUT-14).
  package final func limit(_ limits: [Incarnation: UInt64]) {
    hideStaged()
    cells.limit(limits, changes: &output.changes)
  }

  /// Ignores everything that these incarnations wrote (AUT-17); if the local incarnation is among them, a new
  /// incarnation begins.
  package final func retire(_ incarnations: [Incarnation]) {
    hideStaged()
    cells.retire(incarnations, changes: &output.changes)
    if cells.isRetired(incarnation) { beginIncarnation() }
  }

  /// Shows another state of the board, and makes the board read-only; the changes are not reported.
  package final func show(_ state: BoardState, authors: [Incarnation: MemberID]) {
    hideStaged()
    cells = state
    self.authors = authors
    isReadOnly = true
    output.changes = ChangeLog()
  }

  // MARK: - Output

  /// Returns the local batches made since the last call, in order.
  ///
  /// The caller must send each batch to every peer.
  public final func takeBatches() -> [Batch] { output.removeBatches() }

  /// Returns the changes of objects since the last call, both from local and from received edits.
  public final func takeChanges() -> [ObjectChange] {
    guard !output.changes.isEmpty else { return [] }
    // Hide the edits of the current gesture, which are not applied yet.
    hideStaged()
    return output.removeChanges(in: cells)
  }

  /// Returns whether the settings may have changed since the last call.
  ///
  /// A change is considered only after `takeChanges` has returned it.
  public final func takeSettingsChange() -> Bool { output.removeSettingsChange() }

  // MARK: - Gestures

  /// Runs `body` and makes its edits one batch, or several batches if the edits do not fit in one batch.
  ///
  /// If `body` throws, no edits are made.
  ///
  /// Inside `body`, the board can be read as if each edit were applied immediately. An inner gesture is part of the
  /// outer gesture. Batches and changes are produced when the outermost gesture ends. A gesture is one undo step. If
  /// `label` is nil, the label comes from the inner gesture that makes the first change. If that gesture has no label
  /// either, the label is a word for the change, such as `move`.
  public final func gesture<Result, Failure: Error>(_ label: String? = nil, _ body: () throws(Failure) -> Result)
    throws(Failure) -> Result
  {
    let outer = staged?.savepoint
    if staged == nil {
      leaveClaimedIncarnation()
      staged = StagedOperations(author: incarnation, firstSequence: localAuthor.nextSequence, label: label)
    } else {
      staged?.setLabel(label)
    }
    do {
      let result = try body()
      if outer == nil { commit() }
      return result
    } catch {
      hideStaged()
      if let outer { staged?.roll(backTo: outer) } else { staged = nil }
      throw error
    }
  }

  private final func showStaged() {
    guard let staged, (draft?.shownCount ?? 0) < staged.operations.count else { return }
    var next = draft ?? GestureDraft(clock, wall: wallClock, over: cells)
    // Clear the property first, so that the draft has only one reference and is not copied.
    draft = nil
    next.show(staged, in: &cells)
    draft = next
  }

  private final func hideStaged() {
    draft?.hide(from: &cells)
    draft = nil
  }

  private final func commit() {
    guard let staged else { return }
    hideStaged()
    self.staged = nil
    guard !staged.operations.isEmpty else { return }
    let batches = staged.batches(&clock, wall: wallClock)
    history.record(batches, over: cells, label: staged.label)
    for batch in batches {
      guard (try? cells.apply(batch, changes: &output.changes)) != nil else {
        preconditionFailure("operations were already checked when they were staged")
      }
      localAuthor.record(batch)
      frontier.record(batch)
      noteSelections(in: batch)
    }
    output.send(batches)
  }

  /// Replays a batch of a recording, as if its edits were made on this board now; throws `boardFull`. If the method
  /// throws, nothing is written. The edits keep the incarnation of the batch, and are not an undo step.
  package final func reenact(_ batch: Batch) throws(BoardError) {
    try receive(batch)
    localAuthor.record(batch)
    authors[batch.author] = member
    output.send(CollectionOfOne(batch))
  }

  // MARK: - Operations of the gesture in progress

  final var isInGesture: Bool { staged != nil }

  final func nextDot() -> Dot {
    guard let dot = staged?.nextDot else { preconditionFailure("operations can be staged only inside a gesture") }
    return dot
  }

  /// Adds an operation to the current gesture; its time must follow `earlier` and the time of the cell that it
  /// overwrites.
  final func stage(_ id: ObjectID, _ property: Property, _ value: Value, after earlier: HybridTime? = nil)
    throws(BoardError)
  {
    guard !isReadOnly else { throw .viewer }
    guard staged != nil else { preconditionFailure("operations can be staged only inside a gesture") }
    let operation = Operation(id, property, value)
    if let index = staged?.replace(with: operation) {
      if let shown = draft?.shownCount, index < shown { draft?.rewrite(operation, in: &cells) }
      return
    }
    guard admit(CollectionOfOne(operation), of: member) else { throw .shareUsed }
    try staged?.requireRoom()
    let growth = staged?.growth(with: operation, alreadyShown: draft?.growth ?? BoardGrowth())
    // A purge frees space, so it is allowed even on a full board.
    guard property.isPurge || cells.hasRoom(for: growth ?? BoardGrowth()) else { throw .boardFull }
    let agreed = draft?.original(of: id) ?? cells.record(id)
    let floor = [agreed?[property]?.time, earlier].compactMap { $0 }.max()
    if let floor, !floor.canBeFollowed { throw .clockExhausted }
    staged?.append(operation, after: floor)
  }

  final func write(_ id: ObjectID, _ property: Property, _ value: Value) throws(BoardError) {
    let record = state.record(id) ?? ObjectRecord()
    guard record[property]?.value ?? Self.initialValue(of: property, record) != value else { return }
    try stageAlone(id, property, value)
  }

  /// The value that an absent cell stands for; nil if no edit writes this value.
  private static func initialValue(of property: Property, _ record: ObjectRecord) -> Value? {
    switch property {
    case .position: try? FixedPoint.position(record.origin)
    case .scale: try? FixedPoint.scale(1)
    case .angle: .unsigned(0)
    default: nil
    }
  }

  final func stageAlone(_ id: ObjectID, _ property: Property, _ value: Value) throws(BoardError) {
    // An inner gesture is not needed: `stage` changes nothing if it throws.
    if isInGesture { return try stage(id, property, value) }
    try gesture { () throws(BoardError) in try stage(id, property, value) }
  }

  final func create(_ kind: ObjectKind, after earlier: HybridTime? = nil) throws(BoardError) -> ObjectID {
    let id = ObjectID(nextDot())
    try stage(id, .kind, .unsigned(kind.rawValue), after: earlier)
    return id
  }

  final func stageZIndex(_ id: ObjectID) throws(BoardError) {
    let jitter = UInt8(truncatingIfNeeded: incarnation.rawValue ^ id.dot.sequence)
    let zIndex = ZIndex.above(frontier.zIndex, jitter: jitter)
    try stage(id, .zIndex, .bytes(zIndex))
    // The next object that the current gesture creates goes in front of this object.
    frontier.record(zIndex: zIndex)
  }

  /// Throws an error if the current gesture already has a move of this game (GAM-11).
  final func requireNoMove(of id: ObjectID) throws(BoardError) {
    if staged?.hasMove(of: id) ?? false { throw .gameRefused(.moveInProgress) }
  }
}

struct PendingOutput {
  var changes = ChangeLog()
  private var batches: [Batch] = []
  private var haveSettingsChanged = false

  mutating func send(_ more: some Sequence<Batch>) { batches += more }

  mutating func removeBatches() -> [Batch] {
    defer { batches = [] }
    return batches
  }

  mutating func removeChanges(in state: borrowing BoardState) -> [ObjectChange] {
    defer { changes = ChangeLog() }
    if changes.touchesSettings(in: state) { haveSettingsChanged = true }
    return changes.changes(in: state)
  }

  /// Returns whether the settings may be affected by changes that were removed since the last call.
  mutating func removeSettingsChange() -> Bool {
    defer { haveSettingsChanged = false }
    return haveSettingsChanged
  }
}

struct LocalAuthor {
  let member: MemberID
  private(set) var incarnation: Incarnation
  private(set) var written = DotSet()
  private var incarnations: Set<Incarnation>
  private let newIncarnation: () -> Incarnation

  init(_ member: MemberID, incarnation: Incarnation, newIncarnation: @escaping () -> Incarnation) {
    self.member = member
    self.incarnation = incarnation
    self.newIncarnation = newIncarnation
    incarnations = [incarnation]
  }

  var nextSequence: UInt64 { (written[incarnation].ranges.last?.upperBound ?? 0) + 1 }

  func isOwn(_ incarnation: Incarnation) -> Bool { incarnations.contains(incarnation) }

  func isClaimed(in context: borrowing Context) -> Bool { context[incarnation] != written[incarnation] }

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

extension Array {
  /// Splits writes into runs that each fit in one batch; `length` is an upper bound of the bytes in a write's value.
  func batches(length: (Element) -> Int) -> [ArraySlice<Element>] {
    var runs: [ArraySlice<Element>] = []
    var first = startIndex
    var bytes = 0
    for index in indices {
      bytes += length(self[index])
      guard index > first, index - first == BoardLimits.operationsPerBatch || bytes > BoardLimits.batchBytes / 2 else {
        continue
      }
      runs.append(self[first..<index])
      first = index
      bytes = length(self[index])
    }
    if first < endIndex { runs.append(self[first...]) }
    return runs
  }
}

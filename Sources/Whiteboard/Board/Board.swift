/// One replica's board: the agreed cells, and the local edits that add to them.
///
/// Not `Sendable`: it lives in one isolation, as do the `WhiteboardObject`s that look at it;
/// `ObjectSnapshot`s leave it. Local edits apply at once and leave as batches (`takeBatches`).
public final class Board {
  /// The author of local edits: another from the next gesture on, where somebody claimed dots of
  /// this one that were never written (BRD-25).
  public private(set) var incarnation: Incarnation
  /// The dots of all local edits, under each incarnation that this board had.
  package private(set) var written = DotSet()
  /// Who makes them.
  public let member: MemberID
  /// The board's cells: the agreed ones, and inside a gesture the edits that it has made so far.
  ///
  /// The context knows nothing of those edits until the gesture ends.
  public var state: BoardState {
    // A getter would copy the state for each reading; this accessor lends it.
    _read {
      showStaged()
      yield cells
    }
  }
  /// The wall clock, in milliseconds since 1970; its owner moves it.
  public var wallClock: UInt64
  /// The other members who are present and were heard lately: whose selections hold.
  public var presentMembers: Set<MemberID> = []
  /// The incarnations of members who are present: who may yet finish a stroke.
  public var presentIncarnations: Set<Incarnation> = []
  /// Whose each incarnation is, ours and all that records told of (AUT-3).
  public var authors: [Incarnation: MemberID] = [:]
  /// How much of the board each author uses.
  private var shares = AuthorShares()
  /// Whether local edits are refused, since what is written here would count nowhere (AUT-4).
  public var isReadOnly = false
  /// The assets whose bytes are here.
  public var assets: Set<AssetID> = []

  /// The agreed state and, after `showStaged`, the edits of the gesture under way.
  private var cells = BoardState()
  private var clock = HybridClock()
  private var changes = ChangeLog()
  private var haveSettingsChanged = false
  private var outgoing: [Batch] = []
  private var staging: Staging?
  private var draft: GestureDraft?
  /// What of ours can be undone and redone.
  var history = UndoStack()
  /// The greatest place in the stack that was ever seen; new objects go above it.
  private var top: [UInt8]?
  /// The latest time of a chat line that was ever seen; new lines follow it (BRD-31).
  private(set) var latestLine: HybridTime?
  /// Every incarnation that this board had.
  private var incarnations: Set<Incarnation>
  private let newIncarnation: () -> Incarnation

  private struct Staging {
    struct Address: Hashable {
      let object: ObjectID
      let property: Property
    }

    let firstSequence: UInt64
    var label: String?
    var operations: [Operation] = []
    /// Where among the operations each cell is written.
    var indices: [Address: Int] = [:]
    /// The number of objects that it creates.
    var createdCount = 0
    /// For each operation the time that it must be later than.
    var floors: [HybridTime?] = []
    var valueBytes = 0
  }

  /// An empty board, to be filled by local edits and by what `receive` is given.
  ///
  /// `newIncarnation` makes another incarnation of the same member where one is needed (BRD-25); others
  /// must not be able to foretell it.
  public init(
    incarnation: Incarnation,
    member: MemberID,
    wallClock: UInt64,
    newIncarnation: @escaping () -> Incarnation = {
      var generator = SystemRandomNumberGenerator()
      return .random(using: &generator)
    }
  ) {
    self.newIncarnation = newIncarnation
    incarnations = [incarnation]
    authors = [incarnation: member]
    self.incarnation = incarnation
    self.member = member
    self.wallClock = wallClock
  }

  // MARK: - What comes in

  /// Applies a batch from elsewhere, whatever it says: agreement first (SYN-3).
  /// - Throws: `BoardError.boardFull`; nothing is applied.
  public func receive(_ batch: Batch) throws(BoardError) {
    try receive(batch, purgingWithin: [:])
  }

  /// Applies a batch without the purges of objects behind these sequences.
  package func receive(
    _ batch: Batch,
    purgingWithin last: [Incarnation: UInt64]
  ) throws(BoardError) {
    hideStaged()
    try cells.apply(batch, purgingWithin: last, changes: &changes)
    note(batch)
    clock.observe(
      HybridTime(batch.time.rawValue + UInt64(batch.operations.count - 1)),
      wall: wallClock
    )
  }

  /// Checks that the author of a batch does not use too much of the board (BRD-38).
  /// - Throws: `shareUsed`.
  package func requireShare(for batch: Batch, of author: MemberID) throws(BoardError) {
    guard shares.admit(batch.operations, of: author, to: cells, authors) else { throw .shareUsed }
  }

  /// Joins a catch-up answer.
  ///
  /// Where replicas diverged, `comparesAll` merges each of its cells, whatever was seen (SYN-42), and
  /// in the buckets `replacing` what its sender no longer has goes (AUT-15).
  ///
  /// - Throws: `BoardError.boardFull`; nothing is applied.
  public func receive(
    _ difference: Difference,
    comparesAll: Bool = false,
    replacing: UInt16 = 0
  ) throws(BoardError) {
    hideStaged()
    try cells.merge(
      difference,
      comparingAll: comparesAll,
      replacing: replacing,
      changes: &changes
    )
    for entry in difference.entries {
      for new in entry.cells {
        note(new.property, new.cell.value, new.cell.time)
        clock.observe(new.cell.time, wall: wallClock)
      }
    }
  }

  /// Removes incarnations from the context that have neither an object nor a cell here (BRD-37).
  /// - Parameter isKnown: Whether to keep an incarnation in any case.
  /// - Returns: The number of removed incarnations, and of unknown ones that stay.
  package func forgetEmptyIncarnations(
    unless isKnown: (Incarnation) -> Bool
  ) -> (forgotten: Int, kept: Int) {
    hideStaged()
    return cells.forgetEmpty(unless: isKnown)
  }

  /// Has what incarnations wrote count up to these sequences only (AUT-14).
  package func limit(_ limits: [Incarnation: UInt64]) {
    hideStaged()
    cells.limit(limits, changes: &changes)
  }

  /// Shows another state from a recording, for viewing only; the changes are not reported.
  package func show(_ state: BoardState, authors: [Incarnation: MemberID]) {
    hideStaged()
    cells = state
    self.authors = authors
    isReadOnly = true
    changes = ChangeLog()
  }

  /// The local batches made since the last call, in order; each goes to every peer.
  public func takeBatches() -> [Batch] {
    defer { outgoing = [] }
    return outgoing
  }

  /// What became of which object since the last call, local edits and received ones alike.
  public func takeChanges() -> [ObjectChange] {
    defer { changes = ChangeLog() }
    guard !changes.isEmpty else { return [] }
    // The edits of a gesture under way are not applied yet.
    hideStaged()
    if changes.touchesSettings(in: cells) {
      haveSettingsChanged = true
    }
    return changes.changes(in: cells)
  }

  /// Whether the settings may be others than at the last call, as far as `takeChanges` was called.
  public func takeSettingsChange() -> Bool {
    defer { haveSettingsChanged = false }
    return haveSettingsChanged
  }

  // MARK: - Gestures

  /// Makes the edits of `body` one batch: all of them, or none where it throws.
  ///
  /// Inside `body` the board reads as if each edit were applied at once. Batches and changes come out
  /// when the outermost gesture ends. A gesture inside a gesture is part of it. It is one step for
  /// `undo`; `label` says what it is, in a word, and without one its first change does, or the label
  /// of the gesture inside that makes it.
  public func gesture<Result, Failure: Error>(
    _ label: String? = nil,
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let outer = staging
    if staging == nil {
      leaveClaimedIncarnation()
      let last = written[incarnation].ranges.last?.upperBound ?? 0
      staging = Staging(firstSequence: last + 1, label: label)
    } else if staging?.label == nil, staging?.operations.isEmpty ?? false {
      staging?.label = label
    }
    do {
      let result = try body()
      if outer == nil { commit() }
      return result
    } catch {
      hideStaged()
      staging = outer
      throw error
    }
  }

  /// Shows the edits of the gesture under way in the board's cells.
  private func showStaged() {
    guard let staging, (draft?.shownCount ?? 0) < staging.operations.count else { return }
    var next = draft ?? GestureDraft(clock, wall: wallClock, over: cells)
    // Not kept in two places, so that nothing is copied.
    draft = nil
    for index in next.shownCount..<staging.operations.count {
      next.show(
        staging.operations[index],
        as: Dot(incarnation, staging.firstSequence + UInt64(index)),
        after: staging.floors[index],
        in: &cells
      )
    }
    draft = next
  }

  /// Makes the board's cells the agreed ones again.
  private func hideStaged() {
    draft?.hide(from: &cells)
    draft = nil
  }

  /// Whether local edits were made, or are made, under this incarnation.
  package func isOwn(_ incarnation: Incarnation) -> Bool {
    incarnations.contains(incarnation)
  }

  /// Takes a new incarnation where the context holds dots of ours that we never wrote (BRD-25).
  ///
  /// A purge of what never was, or an answer's context, can claim any of them. The claim counts, as
  /// everywhere, and others would skip what we wrote under such a dot. So we write elsewhere.
  func leaveClaimedIncarnation() {
    guard state.context[incarnation] != written[incarnation] else { return }
    beginIncarnation()
  }

  /// Has what is written from now on be of another incarnation of ours.
  package func beginIncarnation() {
    repeat {
      incarnation = newIncarnation()
    } while state.context.contains(incarnation)
    incarnations.insert(incarnation)
    authors[incarnation] = member
  }

  /// Applies what was staged: as one batch, or as several if it overwrites times that lie far ahead
  /// of the wall clock (BRD-32).
  private func commit() {
    guard let staged = staging else { return }
    hideStaged()
    staging = nil
    guard !staged.operations.isEmpty else { return }
    guard let runs = clock.next(wall: wallClock, after: staged.floors) else {
      preconditionFailure("operations are checked when they are staged")
    }
    var batches: [Batch] = []
    var rest = staged.operations[...]
    var sequence = staged.firstSequence
    for run in runs {
      guard
        let batch = try? Batch(
          author: incarnation,
          firstSequence: sequence,
          time: run.time,
          operations: Array(rest.prefix(run.count))
        )
      else { preconditionFailure("operations are checked when they are staged") }
      batches.append(batch)
      rest = rest.dropFirst(run.count)
      sequence += UInt64(run.count)
    }
    history.record(batches, over: cells, label: staged.label)
    for batch in batches {
      guard (try? cells.apply(batch, changes: &changes)) != nil else {
        preconditionFailure("operations are checked when they are staged")
      }
      written.insert(batch.sequences, of: incarnation)
      note(batch)
    }
    outgoing += batches
  }

  /// Writes a batch of a recording again, under its own incarnation, as if it were made here now.
  ///
  /// It is no step for `undo`.
  ///
  /// - Throws: `boardFull`; nothing is written.
  package func reenact(_ batch: Batch) throws(BoardError) {
    try receive(batch)
    incarnation = batch.author
    incarnations.insert(batch.author)
    authors[batch.author] = member
    written.insert(batch.sequences, of: batch.author)
    outgoing.append(batch)
  }

  /// Whether edits are part of a gesture that goes on.
  var isInGesture: Bool { staging != nil }

  /// The dot that the next staged operation will have.
  func nextDot() -> Dot {
    guard let staging else { preconditionFailure("operations are staged inside a gesture") }
    return Dot(incarnation, staging.firstSequence + UInt64(staging.operations.count))
  }

  /// Adds an operation to the gesture under way.
  /// - Parameters:
  ///   - id: the object.
  ///   - property: the property; an earlier operation of the gesture on it is replaced.
  ///   - value: the value.
  ///   - earlier: a time that this write must follow, in addition to that of the cell it
  ///     overwrites.
  /// - Throws: `tooManyOperations`, `boardFull`, `clockExhausted`.
  func stage(
    _ id: ObjectID,
    _ property: Property,
    _ value: Value,
    after earlier: HybridTime? = nil
  ) throws(BoardError) {
    guard !isReadOnly else { throw .viewer }
    guard var staged = staging else { preconditionFailure("operations are staged in a gesture") }
    staging = nil
    defer { staging = staged }
    let address = Staging.Address(object: id, property: property)
    if let index = staged.indices[address] {
      staged.operations[index] = Operation(id, property, value)
      if let shown = draft?.shownCount, index < shown {
        draft?.rewrite(staged.operations[index], in: &cells)
      }
      return
    }
    let operation = CollectionOfOne(Operation(id, property, value))
    guard shares.admit(operation, of: member, to: cells, authors) else { throw .shareUsed }
    guard staged.operations.count < BoardLimits.operationsPerBatch,
      staged.valueBytes + value.length <= BoardLimits.batchBytes * 3 / 4
    else { throw .tooManyOperations }
    let count = staged.operations.count + 1
    // What the cells show of the gesture already is counted once.
    let shown = draft?.growth ?? BoardGrowth()
    // A purge makes room, also on a board that is full.
    guard
      property.isPurge
        || cells.hasRoom(
          objects: count - shown.objects,
          cells: count - shown.cells,
          bytes: staged.valueBytes + value.length - shown.bytes,
          incarnations: count + 1,
          ranges: count + 1
        ),
      staged.firstSequence <= BoardLimits.sequence - UInt64(BoardLimits.operationsPerBatch)
    else { throw .boardFull }
    let agreed = draft?.original(of: id) ?? cells.record(id)
    let floor = [agreed?[property]?.time, earlier].compactMap(\.self).max()
    if let floor, !floor.canBeFollowed { throw .clockExhausted }
    staged.indices[address] = staged.operations.count
    staged.operations.append(Operation(id, property, value))
    staged.floors.append(floor)
    staged.valueBytes += value.length
  }

  /// Stages a move of a game whose time is later than `latest`: it follows what its author saw,
  /// also beside a clock that runs ahead (GAM-4).
  func stageMove(
    _ id: ObjectID,
    after latest: HybridTime?,
    _ bytes: (Dot) throws(BoardError) -> [UInt8]
  ) throws(BoardError) {
    if let latest, !latest.canBeFollowed { throw .clockExhausted }
    let dot = nextDot()
    try stage(id, .move(dot), .bytes(try bytes(dot)), after: latest)
  }

  // MARK: - What may be edited

  /// Who holds an object: the winner of its selection, where present (design: selection is a lease).
  public func holder(of id: ObjectID) -> MemberID? {
    guard let winner = selection(of: id),
      winner == member || presentMembers.contains(winner)
    else { return nil }
    return winner
  }

  /// Throws where a local edit of the object is refused.
  func requireWritable(_ id: ObjectID, asKind kind: ObjectKind? = nil) throws(BoardError) {
    try requireSelectable(id, asKind: kind)
    if let record = state.record(id), record.isLocked { throw .locked(id) }
  }

  /// Throws where a local change of the object's selection, or of its lock, is refused.
  func requireSelectable(_ id: ObjectID, asKind kind: ObjectKind? = nil) throws(BoardError) {
    guard state.isShown(id), let record = state.record(id) else { throw .unknownObject(id) }
    if let kind, record.kind != kind { throw .wrongKind(id) }
    try requireFree(id)
  }

  /// Throws where another member holds the object.
  func requireFree(_ id: ObjectID) throws(BoardError) {
    if let holder = holder(of: id), holder != member { throw .held(id, by: holder) }
  }

  /// Throws if the gesture under way has a move of this game already (GAM-11).
  func requireNoMove(of id: ObjectID) throws(BoardError) {
    let hasMove =
      staging?.operations.contains {
        $0.object == id && $0.property.number == Property.moveNumber
      } ?? false
    if hasMove { throw .gameRefused(.moveInProgress) }
  }

  /// Throws where a local move, scaling or rotation is refused.
  func requireTransformable(_ id: ObjectID) throws(BoardError) {
    try requireWritable(id)
    if let record = state.record(id), record.kind == .drawing, !record.isFinished,
      id.dot.incarnation != incarnation, presentIncarnations.contains(id.dot.incarnation)
    {
      throw .unfinished(id)
    }
  }

  /// Writes one cell; one that already holds the value is left as it is.
  func write(_ id: ObjectID, _ property: Property, _ value: Value) throws(BoardError) {
    guard state.record(id)?[property]?.value != value else { return }
    try gesture { () throws(BoardError) in try stage(id, property, value) }
  }

  // MARK: - Staging what is created

  /// Stages the create operation of an object, whose time is later than `earlier`.
  func create(
    _ kind: ObjectKind,
    after earlier: HybridTime? = nil
  ) throws(BoardError) -> ObjectID {
    let created = (staging?.createdCount ?? 0) - (draft?.growth.objects ?? 0)
    guard cells.objectCount + created < BoardLimits.objects else { throw .boardFull }
    let id = ObjectID(nextDot())
    try stage(id, .kind, .unsigned(kind.rawValue), after: earlier)
    staging?.createdCount += 1
    return id
  }

  /// Stages a place in front of everything.
  func stageZIndex(_ id: ObjectID) throws(BoardError) {
    let jitter = UInt8(truncatingIfNeeded: incarnation.rawValue ^ id.dot.sequence)
    let zIndex = ZIndex.above(top, jitter: jitter)
    try stage(id, .zIndex, .bytes(zIndex))
    // What the same gesture creates next goes above it.
    noteZIndex(.zIndex, .bytes(zIndex))
  }

  private func note(_ batch: Batch) {
    for (index, operation) in batch.operations.enumerated() {
      let time = HybridTime(batch.time.rawValue + UInt64(index))
      note(operation.property, operation.value, time)
    }
  }

  /// Records the z-index and the time of a chat line that later edits must follow.
  private func note(_ property: Property, _ value: Value, _ time: HybridTime) {
    noteZIndex(property, value)
    guard property.isKind, value == .unsigned(ObjectKind.chat.rawValue) else { return }
    latestLine = max(latestLine ?? time, time)
  }

  private func noteZIndex(_ property: Property, _ value: Value) {
    guard property == .zIndex, case .bytes(let bytes) = value,
      ZIndex.isFollowed(bytes)
    else { return }
    if top.map({ ZIndex.isBehind($0, bytes) }) ?? true { top = bytes }
  }
}

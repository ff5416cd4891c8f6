/// The board of one replica: the state that replicas agree on, and the methods to edit it.
///
/// A board is not `Sendable`: it and its `WhiteboardObject`s stay in one isolation.
/// `ObjectSnapshot`s can leave that isolation. Local edits apply immediately; `takeBatches` returns
/// them for sending.
public final class Board {
  /// The author of local edits.
  ///
  /// If a peer claims dots of this incarnation that were never written, a new incarnation begins
  /// with the next gesture (BRD-25).
  public private(set) var incarnation: Incarnation
  /// The dots of all local edits, by each incarnation that this board had.
  package private(set) var written = DotSet()
  /// The member that makes the local edits.
  public let member: MemberID
  /// The cells of the board.
  ///
  /// Inside a gesture, they include the edits that the gesture has made so far.
  ///
  /// The context does not include these edits until the gesture ends.
  public var state: BoardState {
    // A getter would copy the state for each access; this accessor yields it without a copy.
    _read {
      showStaged()
      yield cells
    }
  }
  /// The wall clock, in milliseconds since 1970.
  ///
  /// The owner of the board updates it.
  public var wallClock: UInt64
  /// The other members that are online and sent data recently.
  ///
  /// Only their selections hold objects.
  public var presentMembers: Set<MemberID> = []
  /// The incarnations of members that are online and may therefore still finish a stroke.
  public var presentIncarnations: Set<Incarnation> = []
  /// The member of each incarnation: the local incarnations, and those whose author records are
  /// known (AUT-3).
  public var authors: [Incarnation: MemberID] = [:]
  /// The share of the board that each author uses.
  private var shares = AuthorShares()
  /// Whether local edits are refused, because the local member is a viewer and no peer would accept
  /// them (AUT-4).
  public var isReadOnly = false
  /// The assets whose bytes are stored locally.
  public var assets: Set<AssetID> = []

  /// The agreed state and, after `showStaged`, the edits of the current gesture.
  private var cells = BoardState()
  private var clock = HybridClock()
  private var changes = ChangeLog()
  private var haveSettingsChanged = false
  private var outgoing: [Batch] = []
  private var staging: Staging?
  private var draft: GestureDraft?
  /// The local steps that can be undone and redone.
  var history = UndoStack()
  /// The greatest z index seen so far.
  ///
  /// New objects go in front of it.
  private var top: [UInt8]?
  /// The latest time of any chat line seen so far.
  ///
  /// New lines follow it (BRD-31).
  private(set) var latestLine: HybridTime?
  /// All incarnations that this board had.
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
    /// The index in `operations` of the write of each cell.
    var indices: [Address: Int] = [:]
    /// The number of objects that the gesture creates.
    var createdCount = 0
    /// For each operation, a time that the operation's own time must exceed.
    var floors: [HybridTime?] = []
    var valueBytes = 0
  }

  /// Creates an empty board.
  ///
  /// - Parameters:
  ///   - incarnation: The first author of local edits.
  ///   - member: The local member.
  ///   - wallClock: The wall clock, in milliseconds since 1970.
  ///   - newIncarnation: Creates another incarnation of the same member when one is needed
  ///     (BRD-25). Other members must not be able to predict the result.
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

  // MARK: - Receiving

  /// Applies a batch from a peer, even if it breaks the rules for local edits, so that all replicas
  /// agree (SYN-3).
  /// - Throws: `BoardError.boardFull`. If it throws, nothing is applied.
  public func receive(_ batch: Batch) throws(BoardError) {
    try receive(batch, purgingWithin: [:])
  }

  /// Applies a batch, but ignores purges of objects whose sequence number is greater than the one
  /// given for their incarnation.
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

  /// Throws an error if a batch would exceed its author's share of the board (BRD-38).
  /// - Throws: `shareUsed`.
  package func requireShare(for batch: Batch, of author: MemberID) throws(BoardError) {
    guard shares.admit(batch.operations, of: author, to: cells, authors) else { throw .shareUsed }
  }

  /// Merges a peer's answer to a catch-up request.
  ///
  /// - Parameters:
  ///   - difference: The answer.
  ///   - comparesAll: Whether to merge every cell of the answer, even if its dot is in the context.
  ///     This repairs replicas that diverged (SYN-42).
  ///   - replacing: The buckets in which cells are removed that the sender no longer has (AUT-15).
  /// - Throws: `BoardError.boardFull`. If it throws, nothing is applied.
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

  /// Removes incarnations that have neither an object nor a cell on this board from the context
  /// (BRD-37).
  /// - Parameter isKnown: Returns whether to keep an incarnation in any case.
  /// - Returns: The number of incarnations that were removed, and of unknown ones that stay.
  package func forgetEmptyIncarnations(
    unless isKnown: (Incarnation) -> Bool
  ) -> (forgotten: Int, kept: Int) {
    hideStaged()
    return cells.forgetEmpty(unless: isKnown)
  }

  /// Ignores everything that these incarnations wrote after the given sequence numbers (AUT-14).
  package func limit(_ limits: [Incarnation: UInt64]) {
    hideStaged()
    cells.limit(limits, changes: &changes)
  }

  /// Shows another state, from a recording.
  ///
  /// The board becomes read-only, and the changes are not reported.
  package func show(_ state: BoardState, authors: [Incarnation: MemberID]) {
    hideStaged()
    cells = state
    self.authors = authors
    isReadOnly = true
    changes = ChangeLog()
  }

  /// Returns the local batches made since the last call, in order.
  ///
  /// The caller sends each to every peer.
  public func takeBatches() -> [Batch] {
    defer { outgoing = [] }
    return outgoing
  }

  /// Returns the changes of objects since the last call, by local edits and by received ones.
  public func takeChanges() -> [ObjectChange] {
    defer { changes = ChangeLog() }
    guard !changes.isEmpty else { return [] }
    // Hide the edits of the current gesture, which are not applied yet.
    hideStaged()
    if changes.touchesSettings(in: cells) {
      haveSettingsChanged = true
    }
    return changes.changes(in: cells)
  }

  /// Returns whether the settings may have changed since the last call.
  ///
  /// Only changes that `takeChanges` has returned count.
  public func takeSettingsChange() -> Bool {
    defer { haveSettingsChanged = false }
    return haveSettingsChanged
  }

  // MARK: - Gestures

  /// Runs `body` and makes its edits one batch.
  ///
  /// If `body` throws, none of the edits is made.
  ///
  /// Inside `body` the board reads as if each edit were applied immediately. Batches and changes
  /// come out when the outermost gesture ends; an inner gesture is part of the outer one. A gesture
  /// is one undo step. Its label is `label`, or else the label of the inner gesture that makes the
  /// first change, or else a word for that change.
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

  /// Applies the edits of the current gesture to the board's cells.
  private func showStaged() {
    guard let staging, (draft?.shownCount ?? 0) < staging.operations.count else { return }
    var next = draft ?? GestureDraft(clock, wall: wallClock, over: cells)
    // Clear the property first, so that the draft has one reference and is not copied.
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

  /// Restores the agreed state in the board's cells.
  private func hideStaged() {
    draft?.hide(from: &cells)
    draft = nil
  }

  /// Returns whether this incarnation is, or was, the author of local edits.
  package func isOwn(_ incarnation: Incarnation) -> Bool {
    incarnations.contains(incarnation)
  }

  /// Begins a new incarnation if the context holds dots of the current one that this replica never
  /// wrote (BRD-25).
  ///
  /// A peer can claim such a dot by purging an object that never existed, or in the context of an
  /// answer. The claim counts on every replica: peers would skip an edit written under that dot.
  func leaveClaimedIncarnation() {
    guard state.context[incarnation] != written[incarnation] else { return }
    beginIncarnation()
  }

  /// Begins a new incarnation of the local member for all further edits.
  package func beginIncarnation() {
    repeat {
      incarnation = newIncarnation()
    } while state.context.contains(incarnation)
    incarnations.insert(incarnation)
    authors[incarnation] = member
  }

  /// Applies the staged operations as one batch, or as several if they overwrite times that are far
  /// ahead of the wall clock (BRD-32).
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

  /// Replays a batch of a recording under its own incarnation, as if it were made on this board
  /// now.
  ///
  /// The batch is not an undo step.
  ///
  /// - Throws: `boardFull`. If it throws, nothing is written.
  package func reenact(_ batch: Batch) throws(BoardError) {
    try receive(batch)
    incarnation = batch.author
    incarnations.insert(batch.author)
    authors[batch.author] = member
    written.insert(batch.sequences, of: batch.author)
    outgoing.append(batch)
  }

  /// Whether a gesture is in progress.
  var isInGesture: Bool { staging != nil }

  /// Returns the dot of the next operation that is staged.
  func nextDot() -> Dot {
    guard let staging else { preconditionFailure("operations are staged inside a gesture") }
    return Dot(incarnation, staging.firstSequence + UInt64(staging.operations.count))
  }

  /// Adds an operation to the current gesture.
  /// - Parameters:
  ///   - id: The object.
  ///   - property: The property. An earlier operation of the gesture on the same property is
  ///     replaced.
  ///   - value: The value.
  ///   - earlier: A time that this write must follow, in addition to that of the cell that it
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
    // The draft's edits are already in `cells`; do not count them twice.
    let shown = draft?.growth ?? BoardGrowth()
    // A purge frees space, so it is allowed on a full board too.
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

  /// Stages a move of a game whose time is later than `latest`.
  ///
  /// So the move follows every move that its author has seen, even if another clock runs ahead
  /// (GAM-4).
  func stageMove(
    _ id: ObjectID,
    after latest: HybridTime?,
    _ bytes: (Dot) throws(BoardError) -> [UInt8]
  ) throws(BoardError) {
    if let latest, !latest.canBeFollowed { throw .clockExhausted }
    let dot = nextDot()
    try stage(id, .move(dot), .bytes(try bytes(dot)), after: latest)
  }

  // MARK: - Checking edits

  /// Returns the member that holds an object: the one that has it selected, if that member is
  /// online.
  ///
  /// A selection is a lease, which ends when its member leaves.
  public func holder(of id: ObjectID) -> MemberID? {
    guard let winner = selection(of: id),
      winner == member || presentMembers.contains(winner)
    else { return nil }
    return winner
  }

  /// Throws an error if a local edit of the object is refused.
  func requireWritable(_ id: ObjectID, asKind kind: ObjectKind? = nil) throws(BoardError) {
    try requireSelectable(id, asKind: kind)
    if let record = state.record(id), record.isLocked { throw .locked(id) }
  }

  /// Throws an error if a local change of the object's selection or lock is refused.
  func requireSelectable(_ id: ObjectID, asKind kind: ObjectKind? = nil) throws(BoardError) {
    guard state.isShown(id), let record = state.record(id) else { throw .unknownObject(id) }
    if let kind, record.kind != kind { throw .wrongKind(id) }
    try requireFree(id)
  }

  /// Throws `held` if another member holds the object.
  func requireFree(_ id: ObjectID) throws(BoardError) {
    if let holder = holder(of: id), holder != member { throw .held(id, by: holder) }
  }

  /// Throws an error if the current gesture already has a move of this game (GAM-11).
  func requireNoMove(of id: ObjectID) throws(BoardError) {
    let hasMove =
      staging?.operations.contains {
        $0.object == id && $0.property.number == Property.moveNumber
      } ?? false
    if hasMove { throw .gameRefused(.moveInProgress) }
  }

  /// Throws an error if a local move, scaling or rotation of the object is refused.
  func requireTransformable(_ id: ObjectID) throws(BoardError) {
    try requireWritable(id)
    if let record = state.record(id), record.kind == .drawing, !record.isFinished,
      id.dot.incarnation != incarnation, presentIncarnations.contains(id.dot.incarnation)
    {
      throw .unfinished(id)
    }
  }

  /// Writes one cell, unless it already holds the value.
  func write(_ id: ObjectID, _ property: Property, _ value: Value) throws(BoardError) {
    guard state.record(id)?[property]?.value != value else { return }
    try gesture { () throws(BoardError) in try stage(id, property, value) }
  }

  // MARK: - Staging new objects

  /// Stages the create operation of an object, at a time later than `earlier`.
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

  /// Stages a z index that places the object in front of all objects.
  func stageZIndex(_ id: ObjectID) throws(BoardError) {
    let jitter = UInt8(truncatingIfNeeded: incarnation.rawValue ^ id.dot.sequence)
    let zIndex = ZIndex.above(top, jitter: jitter)
    try stage(id, .zIndex, .bytes(zIndex))
    // The next object that the same gesture creates goes in front of this one.
    noteZIndex(.zIndex, .bytes(zIndex))
  }

  private func note(_ batch: Batch) {
    for (index, operation) in batch.operations.enumerated() {
      let time = HybridTime(batch.time.rawValue + UInt64(index))
      note(operation.property, operation.value, time)
    }
  }

  /// Records the z index, or the time of a chat line, that later edits must follow.
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

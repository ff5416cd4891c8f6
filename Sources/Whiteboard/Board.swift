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
  /// The agreed state.
  public private(set) var state = BoardState()
  /// The wall clock, in milliseconds since 1970; its owner moves it.
  public var wallClock: UInt64
  /// The other members who are present and were heard lately: whose selections hold.
  public var presentMembers: Set<MemberID> = []
  /// The incarnations of members who are present: who may yet finish a stroke.
  public var presentIncarnations: Set<Incarnation> = []
  /// The assets whose bytes are here.
  public var assets: Set<AssetID> = []

  private var clock = HybridClock()
  private var changes = ChangeLog()
  private var outgoing: [Batch] = []
  private var staging: Staging?
  /// What of ours can be undone and redone.
  var history = UndoStack()
  /// The greatest place in the stack that was ever seen; new objects go above it.
  private var top: [UInt8]?
  /// Every incarnation that this board had.
  private var incarnations: Set<Incarnation>
  private var random: any RandomNumberGenerator

  private struct Staging {
    let firstSequence: UInt64
    let label: String?
    var operations: [Operation] = []
    var created: Set<ObjectID> = []
    var overwritten: HybridTime?
    var valueBytes = 0
  }

  /// An empty board, to be filled by local edits and by what `receive` is given.
  ///
  /// `random` draws a new incarnation where one is needed; others must not be able to foretell it.
  public init(
    incarnation: Incarnation,
    member: MemberID,
    wallClock: UInt64,
    random: any RandomNumberGenerator = SystemRandomNumberGenerator()
  ) {
    self.random = random
    incarnations = [incarnation]
    self.incarnation = incarnation
    self.member = member
    self.wallClock = wallClock
  }

  // MARK: - What comes in

  /// Applies a batch from elsewhere, whatever it says: agreement first (SYN-3).
  /// - Throws: `BoardError.boardFull`; nothing is applied.
  public func receive(_ batch: Batch) throws(BoardError) {
    try state.apply(batch, changes: &changes)
    for operation in batch.operations { noteZIndex(operation.property, operation.value) }
    clock.observe(
      HybridTime(batch.time.rawValue + UInt64(batch.operations.count - 1)),
      wall: wallClock
    )
  }

  /// Joins a catch-up answer.
  /// - Throws: `BoardError.boardFull`; nothing is applied.
  public func receive(_ difference: Difference) throws(BoardError) {
    try state.merge(difference, changes: &changes)
    for entry in difference.entries {
      for (property, cell) in zip(entry.properties, entry.cells) {
        noteZIndex(property, cell.value)
        clock.observe(cell.time, wall: wallClock)
      }
    }
  }

  /// The local batches made since the last call, in order; each goes to every peer.
  public func takeBatches() -> [Batch] {
    defer { outgoing = [] }
    return outgoing
  }

  /// What became of which object since the last call, local edits and received ones alike.
  public func takeChanges() -> [ObjectChange] {
    defer { changes = ChangeLog() }
    return changes.isEmpty ? [] : changes.changes(in: state)
  }

  // MARK: - Gestures

  /// Makes the edits of `body` one batch: all of them, or none where it throws.
  ///
  /// Edits show when the outermost gesture ends. A gesture inside a gesture is part of it. It is one
  /// step for `undo`; `label` says what it is, in a word, and without one its first change does.
  public func gesture<Result, Failure: Error>(
    _ label: String? = nil,
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let outer = staging
    if staging == nil {
      leaveClaimedIncarnation()
      let last = written[incarnation].ranges.last?.upperBound ?? 0
      staging = Staging(firstSequence: last + 1, label: label)
    }
    do {
      let result = try body()
      if outer == nil { commit() }
      return result
    } catch {
      staging = outer
      throw error
    }
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
    repeat {
      incarnation = .random(using: &random)
    } while state.context.entries[incarnation] != nil
    incarnations.insert(incarnation)
  }

  private func commit() {
    guard let staged = staging else { return }
    staging = nil
    guard !staged.operations.isEmpty else { return }
    guard
      let time = clock.next(
        wall: wallClock,
        after: staged.overwritten,
        count: staged.operations.count
      ),
      let batch = try? Batch(
        author: incarnation,
        firstSequence: staged.firstSequence,
        time: time,
        operations: staged.operations
      )
    else { preconditionFailure("what was staged was checked when it was staged") }
    history.record(batch, over: state, label: staged.label)
    guard (try? state.apply(batch, changes: &changes)) != nil else {
      preconditionFailure("what was staged was checked when it was staged")
    }
    written.insert(batch.sequences, of: incarnation)
    for operation in batch.operations { noteZIndex(operation.property, operation.value) }
    outgoing.append(batch)
  }

  /// Whether edits are part of a gesture that goes on.
  var isInGesture: Bool { staging != nil }

  /// The dot that the next staged operation will have.
  func nextDot() -> Dot {
    guard let staging else { preconditionFailure("operations are staged inside a gesture") }
    return Dot(incarnation, staging.firstSequence + UInt64(staging.operations.count))
  }

  func stage(_ id: ObjectID, _ property: Property, _ value: Value) throws(BoardError) {
    guard var staged = staging else { preconditionFailure("operations are staged in a gesture") }
    staging = nil
    defer { staging = staged }
    if let index = staged.operations.lastIndex(where: {
      $0.object == id && $0.property == property
    }) {
      staged.operations[index] = Operation(id, property, value)
      return
    }
    guard staged.operations.count < BoardLimits.operationsPerBatch,
      staged.valueBytes + value.length <= BoardLimits.batchBytes * 3 / 4
    else { throw .tooManyOperations }
    let count = staged.operations.count + 1
    guard
      state.hasRoom(
        objects: count,
        cells: count,
        bytes: staged.valueBytes + value.length,
        incarnations: count + 1,
        ranges: count + 1
      ),
      staged.firstSequence <= BoardLimits.sequence - UInt64(BoardLimits.operationsPerBatch)
    else { throw .boardFull }
    if let cell = state.record(id)?[property] {
      // A batch's times run on from the first: leave room for the longest.
      guard
        cell.time.rawValue < BoardLimits.time - UInt64(BoardLimits.operationsPerBatch)
      else { throw .clockExhausted }
      staged.overwritten = max(staged.overwritten ?? cell.time, cell.time)
    }
    staged.operations.append(Operation(id, property, value))
    staged.valueBytes += value.length
  }

  // MARK: - What may be edited

  /// Who holds an object: the winner of its selection, where present (design: selection is a lease).
  public func holder(of id: ObjectID) -> MemberID? {
    guard let winner = state.record(id)?.selection,
      winner == member || presentMembers.contains(winner)
    else { return nil }
    return winner
  }

  /// Throws where a local edit of the object is refused.
  func requireWritable(_ id: ObjectID, asKind kind: ObjectKind? = nil) throws(BoardError) {
    if staging?.created.contains(id) ?? false { return }
    guard state.isVisible(id), let record = state.record(id), record.kind != .chat else {
      throw .unknownObject(id)
    }
    if let kind, record.kind != kind { throw .wrongKind(id) }
    if let holder = holder(of: id), holder != member { throw .held(id, by: holder) }
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
    let isStaged =
      staging?.operations.contains { $0.object == id && $0.property == property } ?? false
    guard isStaged || state.record(id)?[property]?.value != value else { return }
    try gesture { () throws(BoardError) in try stage(id, property, value) }
  }

  // MARK: - Creating

  func create(_ kind: ObjectKind) throws(BoardError) -> ObjectID {
    guard state.objectCount < BoardLimits.objects else { throw .boardFull }
    let id = ObjectID(nextDot())
    try stage(id, .kind, .unsigned(kind.rawValue))
    staging?.created.insert(id)
    return id
  }

  private func stageZIndex(_ id: ObjectID) throws(BoardError) {
    let jitter = UInt8(truncatingIfNeeded: incarnation.rawValue ^ id.dot.sequence)
    let zIndex = ZIndex.above(top, jitter: jitter)
    try stage(id, .zIndex, .bytes(zIndex))
  }

  private func noteZIndex(_ property: Property, _ value: Value) {
    guard property == .zIndex, case .bytes(let bytes) = value,
      bytes.count <= BoardLimits.zIndexBytes
    else { return }
    if top.map({ ZIndex.isBehind($0, bytes) }) ?? true { top = bytes }
  }

  /// Creates a text in front of everything.
  /// - Throws: `outOfRange`, `tooLong`, `boardFull`.
  @discardableResult
  public func createText(
    _ text: String,
    at center: Point,
    color: UInt32? = nil
  ) throws(BoardError) -> ObjectID {
    try gesture { () throws(BoardError) in
      guard text.utf8.count <= BoardLimits.textBytes else { throw .tooLong("text") }
      let id = try create(.text)
      try stage(id, .position, try FixedPoint.position(center))
      try stageZIndex(id)
      if let color { try stage(id, .color, .unsigned(UInt64(color))) }
      if !text.isEmpty { try stageRun(text, at: .root, of: id) }
      return id
    }
  }

  /// Begins a stroke in front of everything; `appendInk` and `endDrawing` follow.
  /// - Throws: `outOfRange`, `boardFull`.
  public func beginDrawing(
    lineWidth: Double = 5,
    color: UInt32? = nil
  ) throws(BoardError) -> ObjectID {
    try gesture { () throws(BoardError) in
      let id = try create(.drawing)
      try stageZIndex(id)
      try stage(id, .lineWidth, try FixedPoint.lineWidth(lineWidth))
      if let color { try stage(id, .color, .unsigned(UInt64(color))) }
      return id
    }
  }

  /// Commits more points of a stroke of our own, in pieces of at most `BoardLimits.pointsPerChunk`.
  ///
  /// `first` is how many points were committed before.
  ///
  /// - Throws: `wrongKind`, `tooLong`, `unknownObject`, `boardFull`.
  public func appendInk(
    _ points: some RandomAccessCollection<InkPoint>,
    to id: ObjectID,
    first: Int
  ) throws(BoardError) {
    try gesture { () throws(BoardError) in
      try requireOwnStroke(id)
      guard first + points.count <= BoardLimits.pointsPerStroke else { throw .tooLong("stroke") }
      var first = first
      var rest = points[...]
      while !rest.isEmpty {
        let piece = rest.prefix(BoardLimits.pointsPerChunk)
        try stage(id, .ink(first: UInt64(first)), .bytes(InkCoding.encode(piece)))
        first += piece.count
        rest = rest.dropFirst(piece.count)
      }
    }
  }

  /// Finishes a stroke of our own that has `count` points.
  /// - Throws: `wrongKind`, `unknownObject`, `boardFull`.
  public func endDrawing(_ id: ObjectID, count: Int) throws(BoardError) {
    try gesture { () throws(BoardError) in
      try requireOwnStroke(id)
      try stage(id, .end, .unsigned(UInt64(count)))
    }
  }

  /// Creates a whole stroke at once.
  /// - Throws: `empty`, `outOfRange`, `tooLong`, `boardFull`.
  @discardableResult
  public func createDrawing(
    _ points: [InkPoint],
    lineWidth: Double = 5,
    color: UInt32? = nil
  ) throws(BoardError) -> ObjectID {
    try gesture { () throws(BoardError) in
      guard !points.isEmpty else { throw .empty }
      let id = try beginDrawing(lineWidth: lineWidth, color: color)
      try appendInk(points, to: id, first: 0)
      try endDrawing(id, count: points.count)
      return id
    }
  }

  private func requireOwnStroke(_ id: ObjectID) throws(BoardError) {
    if staging?.created.contains(id) ?? false { return }
    guard let record = state.record(id), record.kind == .drawing else { throw .unknownObject(id) }
    guard id.dot.incarnation == incarnation, !record.isFinished else { throw .wrongKind(id) }
  }

  /// Creates a photo in front of everything; its bytes travel apart.
  ///
  /// Without a `size` its longest side is 200 board units.
  ///
  /// - Throws: `outOfRange`, `boardFull`.
  @discardableResult
  public func createPhoto(
    _ asset: AssetReference,
    at center: Point,
    size: Size? = nil
  ) throws(BoardError) -> ObjectID {
    try gesture { () throws(BoardError) in
      let longest = Double(max(asset.width, asset.height))
      let shown =
        size
        ?? Size(
          width: Double(asset.width) / longest * ObjectDefaults.photoSide,
          height: Double(asset.height) / longest * ObjectDefaults.photoSide
        )
      let id = try create(.photo)
      try stage(id, .position, try FixedPoint.position(center))
      try stage(id, .size, try FixedPoint.size(shown))
      try stageZIndex(id)
      try stage(id, .asset, asset.value)
      return id
    }
  }

  /// Adds a line to the chat.
  /// - Throws: `empty`, `tooLong`, `boardFull`.
  @discardableResult
  public func say(_ text: String, as name: String? = nil) throws(BoardError) -> ObjectID {
    try gesture { () throws(BoardError) in
      guard !text.isEmpty else { throw .empty }
      guard text.utf8.count <= BoardLimits.chatBytes else { throw .tooLong("chat") }
      guard (name ?? "").utf8.count <= BoardLimits.nameBytes else { throw .tooLong("name") }
      let id = try create(.chat)
      try stage(id, .chatAuthor, .bytes(member.bytes))
      if let name { try stage(id, .chatName, .text(name)) }
      try stage(id, .chatText, .text(text))
      try stage(id, .chatTime, .unsigned(wallClock))
      return id
    }
  }

  // MARK: - Removing

  /// Deletes an object; edits to it that others make meanwhile are kept in it, unseen.
  /// - Throws: `unknownObject`, `held`.
  public func delete(_ id: ObjectID) throws(BoardError) {
    // The lock is asked before anything goes.
    try requireWritable(id)
    try write(id, .deleted, .unsigned(1))
  }

  /// Removes a deleted object for good, on every replica (SYN-8).
  /// - Throws: `unknownObject` where it is not here, or not deleted.
  public func purge(_ id: ObjectID) throws(BoardError) {
    guard let record = state.record(id), record.kind != nil, record.isDeleted else {
      throw .unknownObject(id)
    }
    try write(id, .purge, .none)
  }

  /// Ends every selection of ours.
  public func deselectAll() throws(BoardError) {
    try gesture { () throws(BoardError) in
      for id in state.records.keys.sorted() where state.record(id)?.selection == member {
        try stage(id, .selection, .none)
      }
    }
  }

  // MARK: - Text

  private func stageRun(
    _ text: String,
    at anchor: TextTree.Anchor,
    of id: ObjectID
  ) throws(BoardError) {
    try stage(id, .run(nextDot()), TextTree.encodeRun(text, at: anchor))
  }

  /// Replaces the visible characters (Unicode scalars) in `range` by `text`.
  /// - Throws: `unknownObject`, `wrongKind`, `held`, `outOfRange`, `tooLong`.
  public func editText(
    _ id: ObjectID,
    replacing range: Range<Int>,
    with text: String
  ) throws(BoardError) {
    try gesture { () throws(BoardError) in
      try requireWritable(id, asKind: .text)
      guard let record = state.record(id) else { throw .unknownObject(id) }
      let tree = TextTree(record)
      let scalars = tree.scalars
      guard range.lowerBound >= 0, range.upperBound <= scalars.count else {
        throw .outOfRange("range")
      }
      let kept = scalars.indices.lazy.filter { !range.contains($0) }
        .reduce(0) { $0 + UTF8.width(scalars[$1]) }
      guard kept + text.utf8.count <= BoardLimits.textBytes,
        tree.elementCount + text.unicodeScalars.count <= BoardLimits.textElements
      else { throw .tooLong("text") }
      for deletion in tree.deletions(of: range) {
        try stage(id, .deletion(nextDot()), TextTree.encodeDeletion(deletion))
      }
      if !text.isEmpty { try stageRun(text, at: tree.anchor(at: range.lowerBound), of: id) }
    }
  }

  /// Makes the text of an object `text` by the least edit in the middle, so that what others type at
  /// its ends stays.
  /// - Throws: as `editText(_:replacing:with:)`.
  public func replaceText(_ id: ObjectID, with text: String) throws(BoardError) {
    try requireWritable(id, asKind: .text)
    guard let record = state.record(id) else { throw .unknownObject(id) }
    let edit = TextTree(record).leastEdit(to: text)
    try editText(id, replacing: edit.range, with: edit.text)
  }

  // MARK: - Looking

  /// The object of this id as the class that fits it, or nil where users see none.
  public func object(_ id: ObjectID) -> WhiteboardObject? {
    guard state.isVisible(id), let kind = state.record(id)?.kind else { return nil }
    switch kind {
    case .text: return TextObject(id, on: self)
    case .drawing: return DrawingObject(id, on: self)
    case .photo: return PhotoObject(id, on: self)
    case .chat: return nil
    default: return WhiteboardObject(id, on: self)
    }
  }

  /// The ids of the objects that users see, from back to front; chat lines are not among them.
  /// - Complexity: O(*n* log *n*).
  public var objectIDs: [ObjectID] {
    state.records.filter { id, record in
      state.isVisible(id) && record.kind != .chat
    }
    .map { (id: $0.key, zIndex: $0.value.zIndex) }
    .sorted {
      $0.zIndex == $1.zIndex ? $0.id < $1.id : ZIndex.isBehind($0.zIndex, $1.zIndex)
    }
    .map(\.id)
  }

  /// The objects that users see, from back to front.
  public var objects: [WhiteboardObject] { objectIDs.compactMap { object($0) } }

  /// Snapshots of the objects that users see, from back to front.
  public var snapshots: [ObjectSnapshot] { objectIDs.compactMap { snapshot($0) } }

  /// The object as a value, or nil where users see none.
  public func snapshot(_ id: ObjectID) -> ObjectSnapshot? {
    guard state.isVisible(id), let record = state.record(id), let kind = record.kind,
      kind != .chat
    else { return nil }
    let ink = kind == .drawing ? record.points : nil
    let frame = record.frame(points: ink)
    let asset = kind == .photo ? record.asset : nil
    return ObjectSnapshot(
      id: id,
      kind: kind,
      centerPosition: frame.center,
      size: frame.size,
      scale: record.scale,
      angle: record.angle,
      selectedBy: holder(of: id),
      zIndex: record.zIndex,
      updatedAt: record.updatedAt,
      color: record.color,
      text: kind == .text ? record.text : nil,
      ink: ink,
      lineWidth: kind == .drawing ? record.lineWidth : nil,
      isFinished: kind == .drawing ? record.isFinished : nil,
      asset: asset,
      isAssetAvailable: asset.map { assets.contains($0.id) }
    )
  }

  /// The chat line of this id, or nil.
  public func chatLine(_ id: ObjectID) -> ChatLine? {
    guard state.isVisible(id), let record = state.record(id), record.kind == .chat,
      let line = record.chatLine, let time = record[.kind]?.time
    else { return nil }
    return ChatLine(
      id: id,
      author: line.author,
      name: line.name,
      text: line.text,
      sentAt: line.time,
      time: time
    )
  }

  /// The chat in its order, the same on every replica of equal context.
  public var chat: [ChatLine] {
    state.records.keys.compactMap { chatLine($0) }
      .sorted { $0.time == $1.time ? $0.id < $1.id : $0.time < $1.time }
  }
}

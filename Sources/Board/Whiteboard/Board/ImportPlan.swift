/// A plan of the writes that add the objects of a file to the board; all its values are valid.
struct ImportPlan {
  enum Change {
    case create(ObjectKind)
    case raise
    case write(Property, Value)
    case setUp([UInt8], of: String)
    case join(Int)
    case bind(LineSide, ObjectDraft.End)
    case enter(frame: Int)
    case lead(to: Int)
    case run(Value)
    case erasure(Value)

    /// An upper bound of the number of bytes that the change writes.
    var length: Int {
      switch self {
      case .create, .raise, .join, .bind, .enter, .lead: BoardLimits.zIndexBytes
      case .setUp(let setup, _): Value.bytes(setup).length
      case .write(_, let value), .run(let value), .erasure(let value): value.length
      }
    }
  }

  /// The changes in order, each with the index of its object; groups come before objects.
  private var content: [(index: Int, change: Change)] = []
  /// The references between objects. The references follow ``content``, because an object can refer to a later object.
  private var references: [(index: Int, change: Change)] = []
  private(set) var objectCount = 0

  var changes: [(index: Int, change: Change)] { content + references.filter { isValid($0.change) } }

  init(_ groups: [Int?]) {
    for parent in groups {
      content.append((objectCount, .create(.group)))
      if let parent, parent < objectCount { content.append((objectCount, .join(parent))) }
      objectCount += 1
    }
    groupCount = objectCount
  }

  private let groupCount: Int

  mutating func add(_ draft: ObjectDraft) throws(BoardError) {
    append(.create(draft.kind))
    append(.raise)
    if let place = try draft.place { write(.position, try FixedPoint.position(place)) }
    if draft.scale != 1 { write(.scale, try FixedPoint.scale(draft.scale)) }
    let steps = try FixedPoint.angleSteps(draft.angle)
    if steps != 0 { write(.angle, .unsigned(steps)) }
    if let color = draft.color { write(.color, .unsigned(UInt64(color))) }
    switch draft.content {
    case .text(let text, let size):
      if let size { write(.size, try FixedPoint.size(size)) }
      try add(text: text)
    case .drawing(let ink, let width, let erased): try add(ink, width, erased)
    case .form(let form, let size, let points, let label, let width):
      write(.form, .unsigned(form.rawValue))
      write(.lineWidth, try FixedPoint.lineWidth(width))
      if form.hasPoints {
        guard !points.isEmpty else { throw .empty }
        guard points.count <= BoardLimits.pointCells else { throw .tooLong("line") }
        for (index, point) in points.enumerated() {
          write(.point(key: PointKeys.first(index)), try FixedPoint.position(point))
        }
      } else {
        write(.size, try FixedPoint.size(size))
      }
      try add(text: label)
    case .photo(let asset, let size):
      if let crop = draft.crop { write(.crop, ObjectRecord.value(ofCrop: crop)) }
      let flips: UInt64 = (draft.isFlippedHorizontally ? 1 : 0) | (draft.isFlippedVertically ? 2 : 0)
      if flips != 0 { write(.flip, .unsigned(flips)) }
      write(.size, try FixedPoint.size(size))
      write(.asset, asset.value)
    case .game(let name, let setup, let size):
      guard name.utf8.count <= BoardLimits.gameNameBytes, setup.count <= BoardLimits.setupBytes else {
        throw .tooLong("game")
      }
      write(.size, try FixedPoint.size(size))
      write(.game, .text(name))
      append(.setUp(setup, of: name))
    }
    var form: DrawingForm?
    if case .form(let known, _, _, _, _) = draft.content { form = known }
    for cell in try draft.style?.cells(of: form) ?? [] { write(cell.property, cell.value) }
    if let group = draft.group, group < groupCount { append(.join(group)) }
    if draft.isLocked { write(.lock, .unsigned(1)) }
    if let link = draft.link, ObjectLink.isValid(link) { write(.link, .text(link)) }
    if let start = draft.start { references.append((objectCount, .bind(.start, start))) }
    if let end = draft.end { references.append((objectCount, .bind(.end, end))) }
    if let frame = draft.frameIndex { references.append((objectCount, .enter(frame: frame))) }
    if let object = draft.linkedObject { references.append((objectCount, .lead(to: object))) }
    objectCount += 1
  }

  private mutating func append(_ change: Change) { content.append((objectCount, change)) }

  private func isValid(_ reference: Change) -> Bool {
    switch reference {
    case .bind(_, let end): isObject(end.object)
    case .enter(let index), .lead(let index): isObject(index)
    default: false
    }
  }

  private func isObject(_ index: Int) -> Bool { index >= 0 && groupCount + index < objectCount }

  private mutating func write(_ property: Property, _ value: Value) { append(.write(property, value)) }

  private mutating func add(text: String) throws(BoardError) {
    let text = PlainText.lines(text)
    guard text.utf8.count <= BoardLimits.textBytes else { throw .tooLong("text") }
    if !text.isEmpty { append(.run(TextTree.encodeRun(text, at: .root))) }
  }

  private mutating func add(_ ink: [InkPoint], _ width: Double, _ erased: StrokeSpans) throws(BoardError) {
    guard !ink.isEmpty else { throw .empty }
    guard ink.count <= BoardLimits.pointsPerStroke else { throw .tooLong("stroke") }
    write(.lineWidth, try FixedPoint.lineWidth(width))
    for first in stride(from: 0, to: ink.count, by: BoardLimits.pointsPerChunk) {
      let piece = ink[first..<min(ink.count, first + BoardLimits.pointsPerChunk)]
      write(.ink(first: UInt64(first)), .bytes(InkCoding.encode(piece)))
    }
    write(.end, .unsigned(UInt64(ink.count)))
    let end = max(1, (ink.count - 1) * StrokeSpans.steps)
    guard erased.ranges.allSatisfy({ $0.lowerBound >= 0 && $0.upperBound <= end }) else { throw .outOfRange("erased") }
    for value in erased.values { append(.erasure(value)) }
  }
}

/// The addition of the objects of a file to the board, part by part. Other edits can come between the parts; these
/// edits are not part of the undo step of the import.
package struct BoardImport {
  /// Each part fits in one batch.
  private let parts: [ArraySlice<(index: Int, change: ImportPlan.Change)>]
  private let groupCount: Int
  private let settings: BoardSettings
  /// The new groups and objects, in their order.
  private var made: [ObjectID] = []
  /// The number of written parts. The settings are an additional part after all others.
  private var writtenCount = 0
  fileprivate var step = UndoHistory.SeparateStep(label: "import")

  fileprivate init(_ plan: ImportPlan, groupCount: Int, _ settings: BoardSettings) {
    parts = plan.changes.batches(length: { $0.change.length })
    self.groupCount = groupCount
    self.settings = settings
  }

  package var isComplete: Bool { writtenCount > parts.count }

  /// The objects that are on the board so far, without groups.
  package var objects: [ObjectID] { Array(made.dropFirst(groupCount)) }

  fileprivate mutating func writePart(on board: Board) throws(BoardError) {
    guard writtenCount < parts.count else {
      board.fill(settings)
      writtenCount = parts.count + 1
      return
    }
    var made = self.made
    self.made = []
    defer { self.made = made }
    let (part, count) = (parts[writtenCount], made.count)
    do throws(BoardError) {
      try board.gesture { () throws(BoardError) in
        for (index, change) in part { try stage(change, at: index, of: &made, on: board) }
      }
    } catch {
      made.removeSubrange(count...)
      throw error
    }
    writtenCount += 1
  }

  private func stage(
    _ change: ImportPlan.Change,
    at index: Int,
    of made: inout [ObjectID],
    on board: Board
  ) throws(BoardError) {
    switch change {
    case .create(let kind): made.append(try board.create(kind))
    case .raise: try board.stageZIndex(made[index])
    case .write(let property, let value): try board.stage(made[index], property, value)
    case .setUp(let setup, let name):
      let own = SupportedGame.setup(setup, of: name, ofCopy: made[index], by: board.member)
      try board.stage(made[index], .setup, .bytes(own))
    case .join(let group): try board.stage(made[index], .group, .dot(made[group].dot))
    case .bind(let side, let end):
      let binding = Binding(to: made[groupCount + end.object], at: end.anchor, isExact: end.isExact)
      try board.stage(made[index], side.property, binding.value)
    case .enter(let frame): try board.stage(made[index], .frame, .dot(made[groupCount + frame].dot))
    case .lead(let object): try board.stage(made[index], .link, .text("#\(made[groupCount + object])"))
    case .run(let value): try board.stage(made[index], .run(board.nextDot()), value)
    case .erasure(let value): try board.stage(made[index], .erasure(board.nextDot()), value)
    }
  }
}

extension Board {
  /// Begins to add objects in front of all other objects, in the given order, as one undo step; throws if the board
  /// cannot take all of them. The enclosing group of each new group has a smaller index.
  package func beginImport(_ drafts: [ObjectDraft], groups: [Int?] = [], settings: BoardSettings = BoardSettings())
    throws(BoardError) -> BoardImport
  {
    var plan = ImportPlan(groups)
    for draft in drafts { try plan.add(draft) }
    guard !isReadOnly else { throw .viewer }
    try requireShare(forObjects: plan.objectCount)
    try requireRoom(values: plan.changes.map { $0.change.length })
    return BoardImport(plan, groupCount: groups.count, settings)
  }

  /// Adds the objects of the next part, in one batch. Do not call this method inside a gesture.
  package func writePart(of addition: inout BoardImport) throws(BoardError) {
    precondition(!isInGesture, "objects must not be added inside a gesture")
    history.exchange(&addition.step)
    defer { history.exchange(&addition.step) }
    try addition.writePart(on: self)
  }

  /// Makes the written parts of an import the latest undo step; returns the new objects.
  @discardableResult package func endImport(_ addition: BoardImport) -> [ObjectID] {
    history.push(addition.step)
    return addition.objects
  }

  /// Deletes the objects of an import again, except objects that other members have changed.
  ///
  /// The import is then no undo step. If an object cannot be deleted now, for example because another member holds it,
  /// all objects stay, and the import becomes the latest undo step.
  ///
  /// - Returns: The number of objects and groups that are still on the board.
  package func cancelImport(_ addition: BoardImport) -> Int {
    guard let entry = addition.step.entry else { return 0 }
    do throws(BoardError) {
      let outcome = try revert(entry)
      return outcome.kept + outcome.played
    } catch {
      endImport(addition)
      return addition.objects.count
    }
  }

  fileprivate func fill(_ new: BoardSettings) {
    let old = settings
    if old.title == nil, let title = new.title { try? setTitle(title) }
    if old.background == nil, let background = new.background { try? setBackground(background) }
    if old.grid == nil, let grid = new.grid { try? setGrid(grid) }
    if old.language == nil, let language = new.language { try? setLanguage(language) }
  }
}

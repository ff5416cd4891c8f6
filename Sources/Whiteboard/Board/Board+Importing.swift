/// Objects that come from a file.
extension Board {
  /// Puts objects on the board, in front of everything and in their order, as one step of undo.
  ///
  /// What does not fit in one batch goes out as several. Not for use inside a gesture.
  ///
  /// - Parameters:
  ///   - drafts: the objects from back to front.
  ///   - groups: for each group the one around it, which stands before it in the list.
  ///   - settings: what the board has from now on where it had none of its own.
  /// - Returns: the objects that were made, in their order.
  /// - Throws: `outOfRange`, `tooLong`, `empty`, `viewer`, `boardFull`; nothing is made.
  @discardableResult
  package func add(
    _ drafts: [ObjectDraft],
    groups: [Int?] = [],
    settings: BoardSettings = BoardSettings()
  ) throws(BoardError) -> [ObjectID] {
    precondition(!isInGesture, "an import is gestures of its own")
    var plan = ImportPlan(groups)
    for draft in drafts { try plan.add(draft) }
    guard !isReadOnly else { throw .viewer }
    guard state.objectCount + plan.objectCount <= BoardLimits.objects else { throw .boardFull }
    let lengths = plan.changes.map(\.change.length)
    try requireRoom(values: lengths)
    return try step("import") { () throws(BoardError) in
      var made: [ObjectID] = []
      var rest = plan.changes[...]
      while !rest.isEmpty {
        let count = Self.prefix(of: Array(lengths.suffix(rest.count)))
        try gesture { () throws(BoardError) in
          for (place, change) in rest.prefix(count) { try stage(change, place, &made) }
        }
        rest = rest.dropFirst(count)
      }
      fill(settings)
      return Array(made.dropFirst(groups.count))
    }
  }

  /// Takes settings that nobody has set here; those that are none stay away.
  private func fill(_ new: BoardSettings) {
    let old = settings
    if old.title == nil, let title = new.title { try? setTitle(title) }
    if old.background == nil, let background = new.background { try? setBackground(background) }
    if old.grid == nil, let grid = new.grid { try? setGrid(grid) }
    if old.language == nil, let language = new.language { try? setLanguage(language) }
  }

  private func stage(
    _ change: ImportPlan.Change,
    _ place: Int,
    _ made: inout [ObjectID]
  ) throws(BoardError) {
    switch change {
    case .create(let kind): made.append(try create(kind))
    case .raise: try stageZIndex(made[place])
    case .write(let property, let value): try stage(made[place], property, value)
    case .join(let group): try stage(made[place], .group, .dot(made[group].dot))
    case .run(let value): try stage(made[place], .run(nextDot()), value)
    case .erasure(let value): try stage(made[place], .erasure(nextDot()), value)
    }
  }
}

/// Returns the writes that add the objects of a file to the board; every value is checked.
private struct ImportPlan {
  /// One operation.
  enum Change {
    case create(ObjectKind)
    case raise
    case write(Property, Value)
    case join(Int)
    case run(Value)
    case erasure(Value)

    /// How many bytes it writes, or a few more.
    var length: Int {
      switch self {
      case .create, .raise, .join: BoardLimits.zIndexBytes
      case .write(_, let value), .run(let value), .erasure(let value): value.length
      }
    }
  }

  /// The operations in order, each with the place of its object: first groups, then objects.
  private(set) var changes: [(place: Int, change: Change)] = []
  /// How many groups and objects there are.
  private(set) var objectCount = 0

  init(_ groups: [Int?]) {
    for parent in groups {
      changes.append((objectCount, .create(.group)))
      if let parent, parent < objectCount { changes.append((objectCount, .join(parent))) }
      objectCount += 1
    }
    groupCount = objectCount
  }

  private let groupCount: Int

  mutating func add(_ draft: ObjectDraft) throws(BoardError) {
    append(.create(draft.kind))
    append(.raise)
    if let center = draft.center { write(.position, try FixedPoint.position(center)) }
    if draft.scale != 1 { write(.scale, try FixedPoint.scale(draft.scale)) }
    let steps = try FixedPoint.angleSteps(draft.angle)
    if steps != 0 { write(.angle, .unsigned(steps)) }
    if let color = draft.color { write(.color, .unsigned(UInt64(color))) }
    switch draft.content {
    case .text(let text, let size):
      if let size { write(.size, try FixedPoint.size(size)) }
      try add(text: text)
    case .drawing(let ink, let width, let erased): try add(ink, width, erased)
    case .photo(let asset, let size):
      write(.size, try FixedPoint.size(size))
      write(.asset, asset.value)
    case .game(let name, let setup, let size):
      guard name.utf8.count <= BoardLimits.gameNameBytes, setup.count <= BoardLimits.setupBytes
      else { throw .tooLong("game") }
      write(.size, try FixedPoint.size(size))
      write(.game, .text(name))
      write(.setup, .bytes(setup))
    }
    if let group = draft.group, group < groupCount { append(.join(group)) }
    if draft.isLocked { write(.lock, .unsigned(1)) }
    objectCount += 1
  }

  private mutating func append(_ change: Change) { changes.append((objectCount, change)) }

  private mutating func write(_ property: Property, _ value: Value) {
    append(.write(property, value))
  }

  private mutating func add(text: String) throws(BoardError) {
    let text = PlainText.lines(text)
    guard text.utf8.count <= BoardLimits.textBytes else { throw .tooLong("text") }
    if !text.isEmpty { append(.run(TextTree.encodeRun(text, at: .root))) }
  }

  private mutating func add(
    _ ink: [InkPoint],
    _ width: Double,
    _ erased: StrokeSpans
  ) throws(BoardError) {
    guard !ink.isEmpty else { throw .empty }
    guard ink.count <= BoardLimits.pointsPerStroke else { throw .tooLong("stroke") }
    write(.lineWidth, try FixedPoint.lineWidth(width))
    for first in stride(from: 0, to: ink.count, by: BoardLimits.pointsPerChunk) {
      let piece = ink[first..<min(ink.count, first + BoardLimits.pointsPerChunk)]
      write(.ink(first: UInt64(first)), .bytes(InkCoding.encode(piece)))
    }
    write(.end, .unsigned(UInt64(ink.count)))
    let end = max(1, (ink.count - 1) * StrokeSpans.steps)
    guard erased.ranges.allSatisfy({ $0.lowerBound >= 0 && $0.upperBound <= end }) else {
      throw .outOfRange("erased")
    }
    for value in erased.values { append(.erasure(value)) }
  }
}

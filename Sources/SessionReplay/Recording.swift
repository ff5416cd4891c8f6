import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// A session as it was recorded: every change of a board in the order in which one peer applied it, with
/// the times; implements REC-1 to REC-6 of `Protocol/recording.md`.
public struct Recording: Sendable {
  /// Whose board.
  public let board: BoardID
  /// The contents of the document.
  public let history: DocumentHistory
  /// When each step was applied, in milliseconds from the beginning; never less than before.
  public let times: [Int64]
  /// The recorded pointers and unfinished strokes, if the recording has them.
  public let presence: RecordedPresence

  /// A recording of what a document holds.
  /// - Throws: `damaged` if the board's id is none.
  public init(_ history: DocumentHistory) throws(DocumentError) {
    guard let board = BoardID(history.board) else {
      throw DocumentError(.damaged, "a board's id has 16 bytes")
    }
    self.board = board
    self.history = history
    var latest: Int64?
    var times: [Int64] = []
    times.reserveCapacity(history.steps.count)
    let start = history.steps.first?.time ?? 0
    for step in history.steps {
      // Clocks are set; what happened did so in order all the same.
      let time = max(latest ?? .min, Self.elapsed(step.time, since: start))
      latest = time
      times.append(time)
    }
    self.times = times
    let begin = history.steps.first?.time ?? history.traffic.first?.time
    presence = RecordedPresence(history.traffic, since: begin)
    var names: [MemberID: String] = [:]
    for (person, name) in history.names {
      if let member = MemberID(person) { names[member] = name }
    }
    for entry in history.traffic where entry.kind == .began || entry.kind == .joined {
      guard let member = entry.peers.first.flatMap({ MemberID($0) }), !entry.text.isEmpty else {
        continue
      }
      // A name that somebody took up later is among the others.
      if names[member] == nil { names[member] = entry.text }
    }
    self.names = names
    let end = history.end.map { Self.elapsed($0, since: begin ?? $0) } ?? 0
    duration = max(times.last ?? 0, presence.end, end)
  }

  /// A recording of changes that a replica told to keep, each a tenth of a second after the one before.
  /// - Parameters:
  ///   - changes: The changes, in order.
  ///   - board: Whose.
  ///   - name: What the board is called.
  ///   - start: When the first was, milliseconds since 1970.
  /// - Throws: `damaged`, which cannot be.
  public init(
    of changes: [StoredChange],
    on board: BoardID,
    name: String,
    from start: Int64
  ) throws(DocumentError) {
    var (steps, authors): ([DocumentHistory.Step], [StoredAuthor]) = ([], [])
    for (number, change) in changes.enumerated() {
      let time = start + Int64(number) * 100
      switch change {
      case .author(let record, let incarnation):
        authors.append(
          StoredAuthor(incarnation: incarnation.rawValue, record: record, sequence: 0, head: [])
        )
      case .batch(let batch): steps.append(.init(.batch(batch.bytes), time: time, row: 0))
      case .answer(let bytes): steps.append(.init(.answer(bytes), time: time, row: 0))
      case .keyframe(let bytes): steps.append(.init(.keyframe(bytes), time: time, row: 0))
      case .head: break
      }
    }
    try self.init(
      DocumentHistory(board: board.bytes, name: name, steps: steps, authors: authors)
    )
  }

  /// Reads the recording in a file, which may be written meanwhile.
  /// - Throws: What `BoardDocument` throws; `damaged` if `recover` must first save what is good.
  public static func open(_ path: String) async throws(DocumentError) -> Recording {
    let document = try await BoardDocument.open(at: path, mode: .reading)
    return try Recording(try await document.history())
  }

  /// How many steps there are.
  public var count: Int { history.steps.count }

  /// When it begins, milliseconds since 1970; nil if nothing was recorded.
  public var start: Int64? { history.steps.first?.time ?? history.traffic.first?.time }

  /// How long it is, in milliseconds.
  public let duration: Int64

  /// Returns a member's display name if the recording has it; it may contain anything.
  public func name(of member: MemberID) -> String? { names[member] }

  private let names: [MemberID: String]

  /// How many steps are applied at a time, in milliseconds from the beginning: all up to it.
  public func place(at elapsed: Int64) -> Int {
    var (low, high) = (0, times.count)
    while low < high {
      let middle = (low + high) / 2
      if times[middle] <= elapsed { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The records of those who wrote, which come before all steps.
  public var beginning: [StoredChange] {
    history.authors.compactMap { author in
      guard !author.record.isEmpty, let incarnation = Incarnation(exactly: author.incarnation)
      else { return nil }
      return .author(author.record, incarnation)
    }
  }

  /// Whose each incarnation is, as far as records in the recording tell.
  /// - Complexity: O(n).
  public var members: [Incarnation: MemberID] {
    var board = RestoredBoard(board)
    for change in beginning { try? board.apply(change) }
    for (place, step) in history.steps.enumerated() {
      // Records come with answers and whole states too.
      if case .batch = step.content { continue }
      if let change = try? change(at: place) { try? board.apply(change) }
    }
    return board.members
  }

  /// What a step changes.
  /// - Throws: `CodecError` if a batch is not of its form.
  public func change(at place: Int) throws(CodecError) -> StoredChange {
    switch history.steps[place].content {
    case .batch(let bytes): .batch(try EncodedBatch(decoding: bytes))
    case .answer(let bytes): .answer(bytes)
    case .keyframe(let bytes): .keyframe(bytes)
    }
  }

  /// Whether a step counts the same whatever came before it and comes after: all do but answers, which leave
  /// out what their receiver had.
  public func isIndifferentToOrder(at place: Int) -> Bool {
    if case .answer(let bytes) = history.steps[place].content {
      StoredChange.answer(bytes).isIndifferentToOrder
    } else {
      true
    }
  }

  /// The incarnation that wrote a batch; nil of what is none.
  func author(at place: Int) -> Incarnation? {
    guard case .batch(let bytes) = history.steps[place].content else { return nil }
    return EncodedBatch.author(of: bytes)
  }

  /// By how much one time is later than another, as far as numbers go.
  static func difference(_ time: Int64, _ other: Int64) -> Int64 {
    let (difference, isOver) = time.subtractingReportingOverflow(other)
    return isOver ? (time > other ? .max : .min) : difference
  }

  /// A time of a clock as milliseconds from another.
  static func elapsed(_ time: Int64, since start: Int64) -> Int64 {
    let (difference, isOver) = time.subtractingReportingOverflow(start)
    // Longer than any session was, so that what is counted from it cannot overflow.
    return isOver ? 0 : min(max(0, difference), 1 << 46)
  }
}

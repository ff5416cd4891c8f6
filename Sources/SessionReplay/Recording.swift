import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// A recorded session: every change of a board, with its time, in the order in which one peer applied the changes.
///
/// Implements REC-1 to REC-6 of `Protocol/recording.md`.
public struct Recording: Sendable {
  /// The id of the board.
  public let board: BoardID
  /// The contents of the recording's document.
  public let history: DocumentHistory
  /// The time of each step, in milliseconds from the beginning; the times never decrease.
  public let times: [Int64]
  /// The recorded pointers and unfinished strokes, if the recording has them.
  public let presence: RecordedPresence

  /// Creates a recording from the contents of a document.
  ///
  /// - Throws: `damaged` if the id of the board is invalid.
  public init(_ history: DocumentHistory) throws(DocumentError) {
    guard let board = BoardID(bytes: history.board) else {
      throw DocumentError(.damaged, "a board id must have 16 bytes")
    }
    self.board = board
    self.history = history
    var latest: Int64?
    var times: [Int64] = []
    times.reserveCapacity(history.steps.count)
    let start = history.steps.first?.time ?? 0
    for step in history.steps {
      // A clock can be set back, but the steps happened in this order.
      let time = max(latest ?? .min, Self.elapsed(step.time, since: start))
      latest = time
      times.append(time)
    }
    self.times = times
    let begin = history.steps.first?.time ?? history.traffic.first?.time
    presence = RecordedPresence(history.traffic, since: begin)
    var names: [MemberID: String] = [:]
    for (person, name) in history.names { if let member = MemberID(text: person) { names[member] = name } }
    for entry in history.traffic where entry.kind == .began || entry.kind == .joined {
      guard let member = entry.peers.first.flatMap({ MemberID(bytes: $0) }), !entry.text.isEmpty else { continue }
      // Names in `history.names` are newer than names in the traffic, so they take precedence.
      if names[member] == nil { names[member] = entry.text }
    }
    self.names = names
    let end = history.end.map { Self.elapsed($0, since: begin ?? $0) } ?? 0
    duration = max(times.last ?? 0, presence.end, end)
  }

  /// Creates a recording from changes that a replica recorded.
  ///
  /// Each change takes place 0.1 s after the previous one.
  ///
  /// - Parameters:
  ///   - changes: The changes, in order.
  ///   - board: The id of the board.
  ///   - name: The name of the board.
  ///   - start: The time of the first change, in milliseconds since 1970.
  /// - Throws: `damaged` if the board id is invalid. This never happens, because a `BoardID` is always valid.
  public init(of changes: [StoredChange], on board: BoardID, name: String, from start: Int64) throws(DocumentError) {
    var (steps, authors): ([DocumentHistory.Step], [StoredAuthor]) = ([], [])
    for (number, change) in changes.enumerated() {
      let time = start + Int64(number) * 100
      switch change {
      case .author(let record, let incarnation):
        authors.append(StoredAuthor(incarnation: incarnation.rawValue, record: record, sequence: 0, head: []))
      case .batch(let batch): steps.append(.init(.batch(batch.bytes), time: time, row: 0))
      case .answer(let bytes): steps.append(.init(.answer(bytes), time: time, row: 0))
      case .keyframe(let bytes): steps.append(.init(.keyframe(bytes), time: time, row: 0))
      case .head: break
      }
    }
    try self.init(DocumentHistory(board: board.bytes, name: name, steps: steps, authors: authors))
  }

  /// Reads the recording in a file, even while another program writes it.
  ///
  /// - Throws: The errors of `BoardDocument`; `damaged` if the file must be recovered first.
  public static func open(_ path: String) async throws(DocumentError) -> Recording {
    let document = try await BoardDocument.open(at: path, mode: .reading)
    return try Recording(try await document.history())
  }

  /// The number of steps in the recording.
  public var count: Int { history.steps.count }

  /// The time of the beginning, in milliseconds since 1970; `nil` if nothing was recorded.
  public var start: Int64? { history.steps.first?.time ?? history.traffic.first?.time }

  /// The duration of the recording, in milliseconds.
  public let duration: Int64

  /// Returns a member's display name, if the recording has one.
  ///
  /// The name is untrusted text.
  public func name(of member: MemberID) -> String? { names[member] }

  private let names: [MemberID: String]

  /// Returns the number of steps up to a time in milliseconds from the beginning.
  public func place(at elapsed: Int64) -> Int {
    var (low, high) = (0, times.count)
    while low < high {
      let middle = (low + high) / 2
      if times[middle] <= elapsed { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The records of the authors, which apply before all steps.
  public var beginning: [StoredChange] {
    history.authors.compactMap { author in
      guard !author.record.isEmpty, let incarnation = Incarnation(exactly: author.incarnation) else { return nil }
      return .author(author.record, incarnation)
    }
  }

  /// The members, by incarnation, according to the author records in the recording.
  ///
  /// - Complexity: O(n).
  public var members: [Incarnation: MemberID] {
    var board = RestoredBoard(board)
    for change in beginning { try? board.apply(change) }
    for (place, step) in history.steps.enumerated() {
      // Answers and keyframes contain author records too.
      if case .batch = step.content { continue }
      if let change = try? change(at: place) { try? board.apply(change) }
    }
    return board.members
  }

  /// Returns the change that a step makes.
  ///
  /// - Throws: `CodecError` if a batch is malformed.
  public func change(at place: Int) throws(CodecError) -> StoredChange {
    switch history.steps[place].content {
    case .batch(let bytes): .batch(try EncodedBatch(decoding: bytes))
    case .answer(let bytes): .answer(bytes)
    case .keyframe(let bytes): .keyframe(bytes)
    }
  }

  /// Returns whether a step has the same effect at any position among the other steps.
  ///
  /// This is true for all steps except answers, because an answer omits changes that its receiver already had.
  public func isIndifferentToOrder(at place: Int) -> Bool {
    if case .answer(let bytes) = history.steps[place].content {
      StoredChange.answer(bytes).isIndifferentToOrder
    } else {
      true
    }
  }

  /// Returns the incarnation that wrote a batch, or `nil` if the step is not a batch.
  func author(at place: Int) -> Incarnation? {
    guard case .batch(let bytes) = history.steps[place].content else { return nil }
    return EncodedBatch.author(of: bytes)
  }

  /// Returns the difference between two times, clamped to the range of `Int64`.
  static func difference(_ time: Int64, _ other: Int64) -> Int64 {
    let (difference, isOver) = time.subtractingReportingOverflow(other)
    return isOver ? (time > other ? .max : .min) : difference
  }

  /// Returns the milliseconds between two wall-clock times, clamped to the range from 0 to 2^46.
  static func elapsed(_ time: Int64, since start: Int64) -> Int64 {
    let (difference, isOver) = time.subtractingReportingOverflow(start)
    // The limit is longer than any session. It prevents overflows in calculations with the result.
    return isOver ? 0 : min(max(0, difference), 1 << 46)
  }
}

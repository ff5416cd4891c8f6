import GRDB
import Whiteboard

/// The part of a board's history that its document has: the changes in order, and the digests
/// that the board must have after them.
public struct DocumentHistory: Sendable {
  /// A change of the board, at one position of the history.
  public struct Step: Hashable, Sendable {
    /// The content of a step; its bytes are those of a `DocumentEntry` or a ``Keyframe``.
    public enum Content: Hashable, Sendable {
      /// A batch of operations.
      case batch([UInt8])
      /// A catch-up answer.
      case answer([UInt8])
      /// The whole state, at the beginning of the log and after missing entries.
      case keyframe([UInt8])
    }

    /// The change that was applied.
    public let content: Content
    /// The time of the step, in milliseconds since 1970.
    ///
    /// It can be before the time of the previous step, since clocks are adjusted.
    public let time: Int64
    /// The number of the log row that contains the step; for a keyframe, of the last row before it.
    public let row: Int64

    /// Creates a step from its parts.
    public init(_ content: Content, time: Int64, row: Int64) {
      self.content = content
      self.time = time
      self.row = row
    }
  }

  /// A digest that the board must have at a position.
  public struct Check: Hashable, Sendable {
    /// The number of steps before the check.
    public let place: Int
    /// The time when the digest was stored, in milliseconds since 1970.
    public let time: Int64
    /// The name of the version with this digest; nil if it is not a version.
    public let name: String?
    /// The digest of the board at this position.
    public let digest: [UInt8]

    /// Creates a check from its parts.
    public init(place: Int, time: Int64, name: String? = nil, digest: [UInt8]) {
      self.place = place
      self.time = time
      self.name = name
      self.digest = digest
    }
  }

  /// A position that a user named, or a period that was not recorded.
  public struct Mark: Hashable, Sendable {
    /// The name of a marker; nil for a gap.
    public let name: String?
    /// The time of a marker, or the start of a gap, in milliseconds since 1970.
    public let time: Int64
    /// The end of a gap, in milliseconds since 1970; for a marker, equal to `time`.
    public let until: Int64
    /// The number of steps before the mark.
    public let place: Int

    /// Creates a mark from its parts.
    public init(name: String?, time: Int64, until: Int64, place: Int) {
      self.name = name
      self.time = time
      self.until = until
      self.place = place
    }
  }

  /// Stored data that is damaged or missing.
  public struct Damage: Hashable, Sendable {
    /// The number of steps in the history before the damage.
    public let place: Int
    /// A description of the damage, with its time if that is known.
    public let words: String

    /// Creates a description of damage at a position.
    public init(place: Int, words: String) {
      self.place = place
      self.words = words
    }
  }

  /// The board's id.
  public let board: [UInt8]
  /// The board's name.
  public let name: String
  /// The changes of the board, in the order in which they were applied.
  public fileprivate(set) var steps: [Step] = []
  /// The digests that the board must have, in order of their positions.
  public fileprivate(set) var checks: [Check] = []
  /// Markers and gaps, in order of their positions.
  public fileprivate(set) var marks: [Mark] = []
  /// The records and heads of all author incarnations.
  public fileprivate(set) var authors: [StoredAuthor] = []
  /// The damage, in order of position; the history contains only intact data.
  public fileprivate(set) var damages: [Damage] = []
  /// The display names of members, by member id as text; they are not verified.
  public fileprivate(set) var names: [String: String] = [:]
  /// The recorded events of the session, in order; empty if the session was not recorded.
  public fileprivate(set) var traffic: [TrafficEntry] = []
  /// The end of the recording, in milliseconds since 1970; nil if the recording was not ended.
  public fileprivate(set) var end: Int64?

  /// Creates a history from its parts, such as those from another file.
  public init(
    board: [UInt8],
    name: String,
    steps: [Step] = [],
    checks: [Check] = [],
    marks: [Mark] = [],
    authors: [StoredAuthor] = [],
    damages: [Damage] = [],
    names: [String: String] = [:],
    traffic: [TrafficEntry] = [],
    end: Int64? = nil
  ) {
    self.board = board
    self.name = name
    self.steps = steps
    self.checks = checks
    self.marks = marks
    self.authors = authors
    self.damages = damages
    self.names = names
    self.traffic = traffic
    self.end = end
  }
}

extension DocumentHistory {
  /// Reads the history from the log of a database.
  init(_ db: Database, at path: String, board: [UInt8], name: String) throws {
    var reader = HistoryReader(
      LogReader(db, path: path),
      DocumentHistory(board: board, name: name)
    )
    self = try reader.read()
  }
}

extension BoardDocument {
  /// Reads the whole history from the log, while the document can be written.
  ///
  /// Data that does not match its checksum is left out and reported. The other batches are still
  /// valid, since batches apply in any order. The next keyframe replaces the missing data.
  /// - Throws: `damaged` if damaged pages prevent reading the log to its end; then
  ///   ``recover(from:to:board:now:locking:playing:)`` saves the intact data. `closed`,
  ///   `inputOutput`.
  /// - Complexity: O(n) in the file without its assets.
  public func history() async throws(DocumentError) -> DocumentHistory {
    let name = try await name()
    let known = mode == .reading ? damages : []
    return try await read { [path, board] db in
      var history = try DocumentHistory(db, at: path, board: board, name: name)
      history.damages.insert(
        contentsOf: known.map { DocumentHistory.Damage(place: 0, words: $0) },
        at: 0
      )
      return history
    }
  }
}

/// Reads a log to its end, even if parts of it are missing.
private struct HistoryReader {
  /// A mark or a keyframe, whose position is between two rows of the log.
  private enum Beside {
    case mark(StoredMark)
    case keyframe(StoredKeyframe)

    /// The number of the last log row before the mark or keyframe.
    var log: Int64 {
      switch self {
      case .mark(let mark): mark.log
      case .keyframe(let keyframe): keyframe.log
      }
    }

    var isKeyframe: Bool {
      switch self {
      case .mark: false
      case .keyframe: true
      }
    }

    var order: (Int64, Int64) {
      switch self {
      case .mark(let mark): (mark.log, mark.until)
      case .keyframe(let keyframe): (keyframe.log, keyframe.time)
      }
    }
  }

  private let log: LogReader
  private var history: DocumentHistory
  private var besides: ArraySlice<Beside> = []
  /// The chain at the last row that was read; nil after missing or damaged rows.
  private var chain: UInt32? = 0
  private var next: Int64 = 1
  /// The number of the row before the first row in the log.
  private var beginning: Int64 = 0
  /// Whether entries are missing that the next keyframe contains.
  private var lacks = false
  private var lastTime: Int64?

  init(_ log: LogReader, _ history: DocumentHistory) {
    self.log = log
    self.history = history
  }

  mutating func read() throws -> DocumentHistory {
    let keyframes = try readKeyframes()
    // If a gap ends when a keyframe is written, that keyframe contains the changes of the gap.
    besides =
      (try readMarks().map(Beside.mark) + keyframes.map(Beside.keyframe)).enumerated()
      .sorted { (one, other) in
        let (a, b) = (one.element.order, other.element.order)
        return (a.0, a.1, one.offset) < (b.0, b.1, other.offset)
      }
      .map(\.element)[...]
    history.authors = try readAuthors()
    let first = try Int64.fetchOne(log.db, sql: "SELECT min(id) FROM log")
    next = max(1, first ?? (keyframes.first.map { $0.log + 1 } ?? 1))
    // The content with which a board was created is in a keyframe before all rows.
    if next == 1, keyframes.contains(where: { $0.log == 0 }) { lacks = true }
    if next > 1 {
      // Retention dropped the rows before the first one.
      lacks = true
      beginning = next - 1
      let base = keyframes.last { $0.log == beginning }
      chain = base.map { UInt32(truncatingIfNeeded: $0.chain) }
      if base == nil {
        damage("rows before row \(next) of the log are missing")
      } else {
        // Versions from before this point stay in the file, but the log does not begin from them.
        besides.removeAll { $0.isKeyframe && $0.log < beginning }
      }
    }
    passed(next - 1)
    var found: [(columns: [StoredValue], number: Int64)] = []
    try log.eachRow(after: next - 1) { columns, number in
      found.append((columns, number))
      return true
    }
    for row in found { take(row.columns, row.number) }
    if let last = keyframes.map(\.log).max(), last >= next {
      damage(
        "rows \(next) to \(last) of the log, \(Self.place(nil, after: lastTime)), are missing"
      )
      lose()
    }
    passed(.max)
    history.names = try StoredName.all(log.db)
    let (traffic, damages) = try StoredTraffic.read(log.db, log.path)
    history.traffic = traffic
    for words in damages { damage(words) }
    return history
  }

  private mutating func damage(_ words: String) {
    history.damages.append(DocumentHistory.Damage(place: history.steps.count, words: words))
  }

  private mutating func take(_ columns: [StoredValue], _ number: Int64) {
    defer { next = number &+ 1 }
    guard let stored = LogRow.checked(columns), let entries = try? stored.row.unpack() else {
      let time = columns.count > 1 ? columns[1].integer : nil
      damage("row \(number) of the log, \(Self.place(time, after: lastTime)), is damaged")
      lose()
      return
    }
    if number > next {
      damage(
        "rows \(next) to \(number - 1) of the log, \(Self.place(nil, after: lastTime)), are missing"
      )
      lose()
    } else if let chain, stored.sum != stored.row.sum(after: chain) {
      let time = LogReader.moment(stored.row.time)
      damage("row \(number) of the log, of \(time), does not follow the row before it")
      lose()
    }
    chain = UInt32(truncatingIfNeeded: stored.sum)
    for entry in entries {
      switch entry {
      case .batch(let bytes, let time):
        history.steps.append(DocumentHistory.Step(.batch(bytes), time: time, row: number))
      case .answer(let bytes, let time):
        history.steps.append(DocumentHistory.Step(.answer(bytes), time: time, row: number))
      case .author, .head, .marker, .gap, .end, .name, .traffic: break
      }
    }
    lastTime = entries.last?.time ?? lastTime
    passed(number)
  }

  private mutating func lose() {
    lacks = true
    chain = nil
  }

  /// Adds the marks and keyframes that follow the rows up to `row`.
  private mutating func passed(_ row: Int64) {
    while let next = besides.first, next.log <= row {
      besides.removeFirst()
      switch next {
      case .mark(let mark): take(mark)
      case .keyframe(let keyframe): take(keyframe)
      }
    }
  }

  private mutating func take(_ mark: StoredMark) {
    guard mark.kind < 2 else {
      // Skip unknown kinds of marks, which later releases can write.
      if mark.kind == 2 { history.end = mark.time }
      return
    }
    let isGap = mark.kind == 1
    history.marks.append(
      DocumentHistory.Mark(
        name: isGap ? nil : mark.name,
        time: mark.time,
        until: mark.until,
        place: history.steps.count
      )
    )
    if isGap { lacks = true }
  }

  private mutating func take(_ keyframe: StoredKeyframe) {
    if lacks {
      history.steps.append(
        DocumentHistory.Step(.keyframe(keyframe.body), time: keyframe.time, row: keyframe.log)
      )
      lacks = keyframe.log < beginning
    }
    history.checks.append(
      DocumentHistory.Check(
        place: history.steps.count,
        time: keyframe.time,
        name: keyframe.name,
        digest: keyframe.digest
      )
    )
  }

  private static func place(_ time: Int64?, after last: Int64?) -> String {
    if let time { return "of \(LogReader.moment(time))" }
    return last.map { "after \(LogReader.moment($0))" } ?? "at the beginning"
  }

  private mutating func readKeyframes() throws -> [StoredKeyframe] {
    let cursor = try Row.fetchCursor(
      log.db,
      sql: "SELECT \(StoredKeyframe.columns) FROM keyframe ORDER BY log, id"
    )
    var found: [StoredKeyframe] = []
    while let row = try cursor.next() {
      let columns = StoredValue.columns(row)
      if let keyframe = StoredKeyframe(columns) {
        found.append(keyframe)
      } else {
        damage("keyframe \(columns.first?.integer.map { "\($0)" } ?? "?") is damaged")
      }
    }
    return found
  }

  private mutating func readMarks() throws -> [StoredMark] {
    let rows = try Row.fetchAll(
      log.db,
      sql: "SELECT \(StoredMark.columns) FROM mark ORDER BY log, id"
    )
    return rows.compactMap { row in
      let mark = StoredMark(StoredValue.columns(row))
      if mark == nil { damage("a marker is damaged") }
      return mark
    }
  }

  private mutating func readAuthors() throws -> [StoredAuthor] {
    let sql = "SELECT incarnation, record, sequence, head, crc FROM author ORDER BY incarnation"
    return try Row.fetchAll(log.db, sql: sql).compactMap { row in
      let columns = StoredValue.columns(row)
      let author = StoredAuthor(columns)
      if author == nil {
        let name = columns[0].integer.map { "\(UInt64(bitPattern: $0))" } ?? "?"
        damage("the record of incarnation \(name) is damaged")
      }
      return author
    }
  }
}

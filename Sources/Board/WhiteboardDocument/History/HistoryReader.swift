import GRDB

/// A reader that reads a log to its end, even if parts of it are missing.
struct HistoryReader {
  /// A mark or a keyframe; its position is between two rows of the log.
  private enum Annotation {
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
  private var annotations: ArraySlice<Annotation> = []
  private var chain: UInt32? = 0
  private var next: Int64 = 1
  private var beginning: Int64 = 0
  /// Whether the next keyframe must be added to the history, because entries before it are missing.
  private var needsKeyframe = false
  private var lastTime: Int64?

  init(_ log: LogReader, _ history: DocumentHistory) {
    self.log = log
    self.history = history
  }

  mutating func read() throws -> DocumentHistory {
    let keyframes = try readKeyframes()
    // If a gap ends at the time of a keyframe, the gap comes first: the keyframe contains the changes of the gap.
    annotations =
      (try readMarks().map(Annotation.mark) + keyframes.map(Annotation.keyframe)).enumerated().sorted { (one, other) in
        let (a, b) = (one.element.order, other.element.order)
        return (a.0, a.1, one.offset) < (b.0, b.1, other.offset)
      }.map(\.element)[...]
    history.authors = try readAuthors()
    let first = try Int64.fetchOne(log.db, sql: "SELECT min(id) FROM log")
    next = max(1, first ?? (keyframes.first.map { $0.log + 1 } ?? 1))
    // The content with which a board was created is in a keyframe before all rows.
    if next == 1, keyframes.contains(where: { $0.log == 0 }) { needsKeyframe = true }
    if next > 1 {
      // Retention dropped the rows before the first stored row.
      needsKeyframe = true
      beginning = next - 1
      let base = keyframes.last { $0.log == beginning }
      chain = base.map { UInt32(truncatingIfNeeded: $0.chain) }
      if base == nil {
        damage("rows before row \(next) of the log are missing")
      } else {
        // The file still has keyframes of older versions. These keyframes are before the beginning of the history:
        // leave them out.
        annotations.removeAll { $0.isKeyframe && $0.log < beginning }
      }
    }
    addAnnotations(upTo: next - 1)
    var found: [(columns: [StoredValue], number: Int64)] = []
    try log.eachRow(after: next - 1) { columns, number in
      found.append((columns, number))
      return true
    }
    for row in found { add(row.columns, row.number) }
    if let last = keyframes.map(\.log).max(), last >= next {
      damage("rows \(next) to \(last) of the log, \(Self.place(nil, after: lastTime)), are missing")
      noteLoss()
    }
    addAnnotations(upTo: .max)
    history.names = try StoredName.all(log.db)
    let (traffic, damages) = try StoredTraffic.read(log.db, log.path)
    history.traffic = traffic
    for words in damages { damage(words) }
    return history
  }

  private mutating func damage(_ words: String) {
    history.damages.append(DocumentHistory.Damage(place: history.steps.count, words: words))
  }

  private mutating func add(_ columns: [StoredValue], _ number: Int64) {
    defer { next = number &+ 1 }
    guard let stored = LogRow.checked(columns), let entries = try? stored.row.unpack() else {
      let time = columns.count > 1 ? columns[1].integer : nil
      damage("row \(number) of the log, \(Self.place(time, after: lastTime)), is damaged")
      noteLoss()
      return
    }
    if number > next {
      damage("rows \(next) to \(number - 1) of the log, \(Self.place(nil, after: lastTime)), are missing")
      noteLoss()
    } else if let chain, stored.sum != stored.row.sum(after: chain) {
      let time = LogReader.moment(stored.row.time)
      damage("row \(number) of the log, written at \(time), does not follow the row before it")
      noteLoss()
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
    addAnnotations(upTo: number)
  }

  private mutating func noteLoss() {
    needsKeyframe = true
    chain = nil
  }

  private mutating func addAnnotations(upTo row: Int64) {
    while let next = annotations.first, next.log <= row {
      annotations.removeFirst()
      switch next {
      case .mark(let mark): add(mark)
      case .keyframe(let keyframe): add(keyframe)
      }
    }
  }

  private mutating func add(_ mark: StoredMark) {
    guard mark.kind < 2 else {
      // Skip unknown kinds of marks. Later releases can write them.
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
    if isGap { needsKeyframe = true }
  }

  private mutating func add(_ keyframe: StoredKeyframe) {
    if needsKeyframe {
      history.steps.append(DocumentHistory.Step(.keyframe(keyframe.body), time: keyframe.time, row: keyframe.log))
      needsKeyframe = keyframe.log < beginning
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
    if let time { return "written at \(LogReader.moment(time))" }
    return last.map { "after \(LogReader.moment($0))" } ?? "at the beginning"
  }

  private mutating func readKeyframes() throws -> [StoredKeyframe] {
    let cursor = try Row.fetchCursor(log.db, sql: "SELECT \(StoredKeyframe.columns) FROM keyframe ORDER BY log, id")
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
    let rows = try Row.fetchAll(log.db, sql: "SELECT \(StoredMark.columns) FROM mark ORDER BY log, id")
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

import Foundation
import GRDB

/// A reader that checks everything that it reads from the log and its related tables.
struct LogReader {
  let db: Database
  let path: String

  init(_ db: Database, path: String) {
    self.db = db
    self.path = path
  }

  /// Reads the newest intact keyframe and the entries after it, up to `time`. Throws `notFound` if the history of that
  /// time is no longer stored. Throws another error if data for this state is damaged.
  func content(upTo time: Int64?) throws -> DocumentContent {
    var notes: [String] = []
    let (base, passedOver) = try keyframe(upTo: time, &notes)
    if time != nil, base == nil, let first = try Int64.fetchOne(db, sql: "SELECT min(id) FROM log"), first > 1 {
      throw DocumentError(.notFound, "\(path): the history of that time is no longer stored")
    }
    var chain = UInt32(truncatingIfNeeded: base?.chain ?? 0)
    var next = (base?.log ?? 0) + 1
    var isAllRead = true
    var entries: [DocumentEntry] = []
    try eachRow(after: base?.log ?? 0) { columns, number in
      guard let found = LogRow.checked(columns), found.row.id == next, found.sum == found.row.sum(after: chain),
        let unpacked = try? found.row.unpack()
      else {
        let at = columns.dropFirst().first?.integer.map(Self.moment) ?? "an unknown time"
        throw DocumentError.damagedRow("row \(number) of the log, written at \(at),", at: path)
      }
      chain = UInt32(truncatingIfNeeded: found.sum)
      next += 1
      guard let time else {
        entries += unpacked
        return true
      }
      entries += unpacked.filter { $0.time <= time }
      isAllRead = found.row.time <= time
      return isAllRead
    }
    // An earlier keyframe can replace a damaged keyframe only if all rows between them still exist.
    let end = time == nil ? try LogTail(db, at: path).id : passedOver
    guard !isAllRead || next > end else {
      throw DocumentError.damagedRow("keyframe and log up to row \(end)", at: path)
    }
    notes += try gaps(after: base, upTo: time)
    return DocumentContent(keyframe: base?.state, entries: entries, authors: try authors(), notes: notes)
  }

  /// Returns descriptions of the gaps after `base`. A gap is a period whose changes were never stored in the log.
  private func gaps(after base: StoredKeyframe?, upTo time: Int64?) throws -> [String] {
    let rows = try Row.fetchAll(
      db,
      sql: "SELECT \(StoredMark.columns) FROM mark WHERE kind = 1 AND log >= ? ORDER BY id",
      arguments: [base?.log ?? 0]
    )
    return rows.compactMap { StoredMark(StoredValue.columns($0)) }.filter {
      $0.until > base?.time ?? .min && $0.time <= time ?? .max
    }.map { gap in "the changes from \(Self.moment(gap.time)) to \(Self.moment(gap.until)) are missing" }
  }

  /// Returns the newest intact keyframe up to `time`, and the last row that the skipped, damaged keyframes covered.
  private func keyframe(upTo time: Int64?, _ notes: inout [String]) throws -> (
    keyframe: StoredKeyframe?, passedOver: Int64
  ) {
    let rows = try Row.fetchAll(
      db,
      sql: "SELECT id, log FROM keyframe WHERE time <= ? ORDER BY log DESC, id DESC",
      arguments: [time ?? .max]
    )
    var passedOver: Int64 = 0
    for place in rows {
      let (id, log) = (Int64.fromDatabaseValue(place[0]), Int64.fromDatabaseValue(place[1]) ?? 0)
      do {
        if let row = try Row.fetchOne(
          db,
          sql: "SELECT \(StoredKeyframe.columns) FROM keyframe WHERE id = ?",
          arguments: [id]
        ), let keyframe = StoredKeyframe(StoredValue.columns(row)) {
          return (keyframe, passedOver)
        }
      } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
        // If the pages of a keyframe cannot be read, an earlier keyframe replaces it.
      }
      passedOver = max(passedOver, log)
      let name = id.map { "\($0)" } ?? "?"
      notes.append("keyframe \(name) is damaged; an earlier keyframe and the log are used instead")
    }
    guard !rows.isEmpty else { return (nil, 0) }
    if try Int64.fetchOne(db, sql: "SELECT min(id) FROM log") == 1 { return (nil, passedOver) }
    throw DocumentError.damagedRow("every keyframe", at: path)
  }

  func keyframe(after number: Int64) throws -> StoredKeyframe? {
    let rows = try Row.fetchCursor(
      db,
      sql: "SELECT \(StoredKeyframe.columns) FROM keyframe WHERE id > ? ORDER BY id",
      arguments: [number]
    )
    while let row = try rows.next() {
      // If pages are damaged, rows can be in any order. Skip numbers that do not increase, so that a loop over
      // keyframes ends.
      if let found = StoredKeyframe(StoredValue.columns(row)), found.id > number { return found }
    }
    return nil
  }

  func marks() throws -> [StoredMark] {
    try Row.fetchAll(db, sql: "SELECT \(StoredMark.columns) FROM mark ORDER BY id").map { row in
      guard let mark = StoredMark(StoredValue.columns(row)) else {
        throw DocumentError.damagedRow("a marker", at: path)
      }
      return mark
    }
  }

  private func authors() throws -> [StoredAuthor] {
    let sql = "SELECT incarnation, record, sequence, head, crc FROM author ORDER BY incarnation"
    return try Row.fetchAll(db, sql: sql).map { row in
      let columns = StoredValue.columns(row)
      guard let author = StoredAuthor(columns) else {
        let name = columns[0].integer.map { "\(UInt64(bitPattern: $0))" } ?? "?"
        throw DocumentError.damagedRow("the record of incarnation \(name)", at: path)
      }
      return author
    }
  }

  /// Reads the rows in order, and stops when `body` returns false.
  func eachRow(after id: Int64, _ body: ([StoredValue], Int64) throws -> Bool) throws {
    var last = id
    do {
      let cursor = try Row.fetchCursor(
        db,
        sql: "SELECT \(LogRow.columns) FROM log WHERE id > ? ORDER BY id",
        arguments: [id]
      )
      while let row = try cursor.next() {
        let columns = StoredValue.columns(row)
        let number = columns.first?.integer ?? last &+ 1
        guard try body(columns, number) else { return }
        last = number
      }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
      throw DocumentError.damagedRow("the log after row \(last)", at: path)
    }
  }

  static func moment(_ milliseconds: Int64) -> String {
    // Limit the year to four digits, since a damaged time can be any number.
    let seconds = min(max(0, milliseconds / 1000), 253_402_300_799)
    return Date(timeIntervalSince1970: Double(seconds)).ISO8601Format()
  }

  /// Checks pages, indexes, rows and photos. Returns one line for each problem. O(*n* log *n*), where *n* is the size
  /// of the file, since the order of its indexes is checked.
  func damages() -> [String] {
    let parts: [() throws -> [String]] = [
      { try String.fetchAll(db, sql: "PRAGMA integrity_check(20)").filter { $0 != "ok" }.map { "pages: \($0)" } },
      logDamages, trafficDamages, keyframeDamages, markDamages, assetDamages,
      {
        _ = try authors()
        for key in MetaKey.allCases { _ = try Meta.get(db, key, at: path) }
        return []
      },
    ]
    var found: [String] = []
    for part in parts { do { found += try part() } catch { found.append(DocumentError.from(error, at: path).message) } }
    return found
  }

  private func keyframeDamages() throws -> [String] {
    let cursor = try Row.fetchCursor(db, sql: "SELECT \(StoredKeyframe.columns) FROM keyframe")
    var found: [String] = []
    while let row = try cursor.next() {
      if StoredKeyframe(StoredValue.columns(row)) == nil { found.append("a keyframe does not match its checksum") }
    }
    return found
  }

  private func markDamages() throws -> [String] {
    try Row.fetchAll(db, sql: "SELECT \(StoredMark.columns) FROM mark").filter {
      StoredMark(StoredValue.columns($0)) == nil
    }.map { _ in "a marker does not match its checksum" }
  }

  private func assetDamages() throws -> [String] {
    let cursor = try Row.fetchCursor(db, sql: "SELECT sha256, body FROM asset")
    var found: [String] = []
    while let row = try cursor.next() {
      let columns = StoredValue.columns(row)
      if let hash = columns[0].blob, let body = columns[1].blob, AssetHash.of(body) == hash { continue }
      found.append("an asset does not match its hash")
    }
    return found
  }

  private func trafficDamages() throws -> [String] { try StoredTraffic.read(db, path).damages }

  private func logDamages() throws -> [String] {
    var found: [String] = []
    let first = max(1, try Int64.fetchOne(db, sql: "SELECT min(id) FROM log") ?? 1)
    // Retention may have dropped the rows before the first stored row. In that case, a keyframe contains the checksum
    // chain of these rows.
    var chain: UInt32? = 0
    if first != 1 {
      let sql = "SELECT chain FROM keyframe WHERE log = ?"
      chain = try Int64.fetchOne(db, sql: sql, arguments: [first &- 1]).map { UInt32(truncatingIfNeeded: $0) }
    }
    if chain == nil { found.append("rows before row \(first) of the log are missing") }
    var next = first
    try eachRow(after: first &- 1) { columns, number in
      defer { next = number &+ 1 }
      guard let stored = LogRow.checked(columns) else {
        found.append("row \(number) of the log does not match its checksum")
        chain = nil
        return true
      }
      let row = stored.row
      if row.id != next { found.append("rows \(next) to \(row.id &- 1) of the log are missing") }
      if let before = chain, row.id == next, stored.sum != row.sum(after: before) {
        found.append("row \(number) of the log does not follow the row before it")
      }
      chain = UInt32(truncatingIfNeeded: stored.sum)
      return true
    }
    let last = try Int64.fetchOne(db, sql: "SELECT max(log) FROM keyframe") ?? 0
    if last >= next, next > first { found.append("rows \(next) to \(last) of the log are missing") }
    return found
  }
}

private func <= (lhs: Int64?, rhs: Int64) -> Bool { lhs.map { $0 <= rhs } ?? false }

struct LogTail: Sendable {
  var id: Int64 = 0
  var chain: UInt32 = 0
  var entriesSince: Int64 = 0
  var entriesBefore: Int64 = 0
  var bytesSince: Int64 = 0
  var keyframeSize: Int64 = 0
  /// The time of the last keyframe; if there is none, the creation time of the document.
  var keyframeTime: Int64 = 0

  /// The value that is stored in `meta` under the key `closed` while the document is closed.
  var text: String { "\(id) \(chain)" }

  var entries: Int64 { entriesBefore + entriesSince }

  /// The time from which a keyframe is due: 30 seconds or 4,096 entries after the last keyframe. The time is nil if the
  /// rows since that keyframe have less than a quarter of its size. A keyframe contains the whole board. Without this
  /// limit, a few edits on a large board would write many megabytes.
  var keyframeDue: Int64? {
    guard entriesSince > 0, bytesSince >= keyframeSize / 4 else { return nil }
    return entriesSince >= 4096 ? .min : keyframeTime.addingReportingOverflow(30_000).partialValue
  }

  init() {}

  init(_ db: Database, at path: String) throws {
    keyframeTime = try Meta.get(db, .created, at: path).flatMap { Int64($0) } ?? 0
    var keyframeLog: Int64 = 0
    if let row = try Row.fetchOne(
      db,
      sql: "SELECT log, chain, entries, time, length(body) FROM keyframe ORDER BY log DESC, id DESC LIMIT 1"
    ) {
      keyframeLog = Int64.fromDatabaseValue(row[0]) ?? 0
      id = keyframeLog
      chain = UInt32(truncatingIfNeeded: Int64.fromDatabaseValue(row[1]) ?? 0)
      entriesBefore = Int64.fromDatabaseValue(row[2]) ?? 0
      keyframeTime = Int64.fromDatabaseValue(row[3]) ?? 0
      keyframeSize = Int64.fromDatabaseValue(row[4]) ?? 0
    }
    if let row = try Row.fetchOne(db, sql: "SELECT id, sum FROM log ORDER BY id DESC LIMIT 1"),
      let last = Int64.fromDatabaseValue(row[0]), last >= id
    {
      guard let sum = Int64.fromDatabaseValue(row[1]) else {
        throw DocumentError.damagedRow("row \(last) of the log", at: path)
      }
      id = last
      chain = UInt32(truncatingIfNeeded: sum)
    }
    let since = try Row.fetchOne(
      db,
      sql: "SELECT coalesce(sum(entries), 0), coalesce(sum(length(body)), 0) FROM log WHERE id > ?",
      arguments: [keyframeLog]
    )
    entriesSince = since.flatMap { Int64.fromDatabaseValue($0[0]) } ?? 0
    bytesSince = since.flatMap { Int64.fromDatabaseValue($0[1]) } ?? 0
    let numbers = [id, entriesBefore, entriesSince]
    guard numbers.allSatisfy({ (0...StoredNumber.limit).contains($0) }) else {
      throw DocumentError.damagedRow("the end of the log", at: path)
    }
  }
}

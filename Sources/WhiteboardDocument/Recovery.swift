import Foundation
import GRDB
import Whiteboard

/// What was saved of a damaged document, and what was not.
public struct RecoveryReport: Hashable, Sendable {
  /// The board's id.
  public let board: [UInt8]
  /// Its name.
  public let name: String
  /// Batches and answers that were saved.
  public let entries: Int
  /// Keyframes and versions that were saved.
  public let keyframes: Int
  /// Records of incarnations that were saved.
  public let authors: Int
  /// Assets that were saved.
  public let assets: Int
  /// Rows of the log that are lost.
  public let lostRows: [ClosedRange<Int64>]
  /// What is lost, in words, with times where they are known; empty where nothing is.
  public let losses: [String]
}

extension BoardDocument {
  /// Saves to a new document what a damaged one still holds; the damaged one is only read.
  ///
  /// Kept is every row whose own checksum holds. What was deleted not long ago may come back. A
  /// document that this process has open must be closed first.
  /// - Parameters:
  ///   - source: The damaged file; the `-wal` file beside it is read too.
  ///   - path: Where the new one goes.
  ///   - board: The board's id, needed only where the file does not hold it any more.
  ///   - now: Milliseconds since 1970.
  ///   - locking: Whether others are kept from writing the damaged one meanwhile, by a file beside it.
  /// - Returns: What was saved, and what was not.
  /// - Throws: `notFound`, `exists`, `inUse`, `full`, `damaged` where nothing can be saved.
  public static func recover(
    from source: String,
    to path: String,
    board: [UInt8]? = nil,
    now: Int64,
    locking: Bool = true
  ) async throws(DocumentError) -> RecoveryReport {
    let source = Opened.resolved(source)
    // Nobody writes the damaged file while it is read.
    let lock = try await Blocking.run(source) { () throws -> WriterLock? in
      // A directory that may not be written has no writer either.
      let directory = (source as NSString).deletingLastPathComponent
      let isLockable =
        locking && access(source, F_OK) == 0
        && access(directory.isEmpty ? "." : directory, W_OK) == 0
      return isLockable ? try WriterLock(source) : nil
    }
    defer { lock?.release() }
    let found = try await Blocking.run(source) { try Salvage(source) }
    guard let board = found.board ?? board else {
      throw DocumentError(
        .damaged,
        "\(source): the board's id is lost; give it, or its link, to save the rest"
      )
    }
    let name = found.name ?? "recovered"
    let counts = Counts()
    try await NewFile.make(at: path, board: board, name: name, now: found.created ?? now) { queue in
      try found.store(in: queue, counts)
    }
    return RecoveryReport(
      board: board,
      name: name,
      entries: found.entries,
      keyframes: found.keyframes.count,
      authors: found.authors.count,
      assets: counts.assets,
      lostRows: found.lostRows,
      losses: found.losses + counts.losses
    )
  }

  /// What storing found out; written on one queue, and read after it is done.
  fileprivate final class Counts: @unchecked Sendable {
    // Only the closure that fills the new file writes these, and it has returned before they are
    // read.
    var assets = 0
    var losses: [String] = []
  }
}

/// The rows of a damaged file that prove themselves.
private struct Salvage: Sendable {
  let source: String
  private(set) var meta: [String: String] = [:]
  private(set) var rows: [LogRow] = []
  private(set) var keyframes: [StoredKeyframe] = []
  private(set) var authors: [UInt64: StoredAuthor] = [:]
  private(set) var marks: [Int64: StoredMark] = [:]
  private(set) var assets: [PageScanner.Place] = []
  private(set) var traffic: [Int64: LogRow] = [:]
  private(set) var lostRows: [ClosedRange<Int64>] = []
  private(set) var losses: [String] = []
  private let inventory: Inventory

  var board: [UInt8]? {
    let bytes = meta[MetaKey.board.rawValue].flatMap { Hexadecimal.decode($0) }
    return bytes?.count == BoardDocument.boardIDLength ? bytes : nil
  }
  var name: String? { meta[MetaKey.name.rawValue] }
  var created: Int64? { meta[MetaKey.created.rawValue].flatMap { Int64($0) } }
  var entries: Int { rows.reduce(0) { $0 + Int($1.entries) } }

  init(_ source: String) throws(DocumentError) {
    self.source = source
    let scanner = try PageScanner(source)
    var found = Found()
    if !scanner.scan({ place, rowid, columns in found.take(place, rowid, columns) }) {
      losses.append("what lies behind more rows than the file can hold")
    }
    meta = found.meta
    authors = found.authors
    marks = found.marks
    assets = found.assets
    traffic = found.traffic.filter { (try? $0.value.unpackTraffic()) != nil }
    keyframes = found.keyframes.values.sorted { ($0.log, $0.id) < ($1.log, $1.id) }
    inventory = Inventory(source)
    order(found.rows)
    compareWithInventory()
    let isSomethingLeft =
      !rows.isEmpty || !keyframes.isEmpty || !assets.isEmpty || !traffic.isEmpty
      || (!meta.isEmpty && lostRows.isEmpty)
    guard isSomethingLeft else {
      throw DocumentError(.damaged, "\(source): nothing of a whiteboard is left in it")
    }
  }

  /// Puts the rows in order, and finds out which are missing.
  private mutating func order(_ candidates: [Int64: [StoredLogRow]]) {
    let stands = Set(keyframes.map(\.log))
    var chain: UInt32 = 0
    var last: Int64 = 0
    var lastTime: Int64?
    for id in candidates.keys.sorted() {
      let choices = candidates[id] ?? []
      let follows = id == last + 1
      let right = follows ? Self.following(chain, choices) : nil
      guard let chosen = right ?? choices.last, let unpacked = try? chosen.row.unpack() else {
        continue
      }
      // Where rows were dropped on purpose, a keyframe stands in their place.
      if !follows, last > 0 || !stands.contains(id - 1) {
        lose(last + 1...id - 1, lastTime, chosen.row.time)
      }
      rows.append(chosen.row)
      chain = UInt32(truncatingIfNeeded: chosen.sum)
      last = id
      lastTime = unpacked.last?.time ?? chosen.row.time
    }
    var end = max(keyframes.last?.log ?? 0, min(inventory.lastRow, StoredNumber.limit))
    if let closed = meta[MetaKey.closed.rawValue]?.split(separator: " ").first {
      end = max(end, Int64(closed) ?? 0)
    }
    if end > last, last > 0 || !stands.contains(end) { lose(last + 1...end, lastTime, nil) }
  }

  /// Finds out what was listed in the file, and was not found whole.
  private mutating func compareWithInventory() {
    losses += inventory.problems
    let saved = Set(keyframes.map(\.id))
    for lost in inventory.keyframes.sorted(by: { $0.id < $1.id }) where !saved.contains(lost.id) {
      losses.append(lost.name.map { "the version '\($0)'" } ?? "the whole board of one moment")
    }
    let missing = inventory.traffic.subtracting(traffic.keys)
    if !missing.isEmpty { losses.append("rows of the session's traffic: \(missing.count)") }
    let unsigned = inventory.authors.subtracting(authors.keys)
    losses += unsigned.sorted().map { "the record of incarnation \($0)" }
    losses += inventory.marks.subtracting(marks.keys).map { _ in "a marker" }
    losses += inventory.settings.subtracting(meta.keys).sorted().map { "the setting '\($0)'" }
  }

  private static func following(_ chain: UInt32, _ choices: [StoredLogRow]) -> StoredLogRow? {
    choices.last { $0.sum == $0.row.sum(after: chain) }
  }

  private mutating func lose(_ ids: ClosedRange<Int64>, _ from: Int64?, _ to: Int64?) {
    lostRows.append(ids)
    let since = from.map { "after \(LogReader.moment($0))" }
    let until = to.map { "before \(LogReader.moment($0))" }
    let when = [since, until].compactMap { $0 }.joined(separator: " and ")
    losses.append(
      "rows \(ids.lowerBound) to \(ids.upperBound) of the log\(when.isEmpty ? "" : ", ")\(when)"
    )
  }

  /// Writes everything to a new document, in one transaction.
  func store(in queue: DatabaseQueue, _ counts: BoardDocument.Counts) throws {
    let scanner = try PageScanner(source)
    try queue.write { db in
      try storeLog(db)
      for author in authors.values { try LogWriter.store(author, db) }
      for mark in marks.values.sorted(by: { $0.id < $1.id }) {
        let log = Int64(rows.count { $0.id <= mark.log })
        try LogWriter.mark(mark.kind, mark.time, mark.until, log, mark.name, db)
      }
      for lost in lostRows { try markLost(lost, db) }
      let kept = [
        MetaKey.hosted, .code, .membership, .retention, .objects, .people, .thumbnail, .changed,
      ]
      for key in kept {
        if let value = meta[key.rawValue] { try Meta.set(db, key, value) }
      }
      for (key, value) in meta {
        if let person = StoredName.person(key) { try StoredName.set(value, of: person, db) }
      }
      let saved = traffic.keys.sorted().compactMap { traffic[$0] }
      try StoredTraffic.append(saved.flatMap { try $0.unpackTraffic() }, cutAt: 1 << 18, db)
      try storeAssets(scanner, db, counts)
      try Meta.set(db, .closed, LogTail(db, at: source).text)
    }
  }

  /// Writes rows and keyframes in the order they had.
  private func storeLog(_ db: Database) throws {
    var tail = LogTail()
    var names: Set<String> = []
    // The newest of a name has it.
    var bearers: Set<Int64> = []
    for keyframe in keyframes.reversed() {
      if let name = keyframe.name, names.insert(name).inserted { bearers.insert(keyframe.id) }
    }
    var next = 0
    for keyframe in keyframes {
      while next < rows.count, rows[next].id <= keyframe.log {
        try LogWriter.append(rows[next].unpack(), db, &tail)
        next += 1
      }
      let moved = keyframe.moved(
        id: keyframe.id,
        log: tail.id,
        chain: Int64(tail.chain),
        entries: tail.entriesBefore + tail.entriesSince
      )
      try LogWriter.store(bearers.contains(keyframe.id) ? moved : moved.renamed(nil), db)
    }
    for row in rows[next...] { try LogWriter.append(row.unpack(), db, &tail) }
  }

  private func markLost(_ ids: ClosedRange<Int64>, _ db: Database) throws {
    let before = rows.last { $0.id < ids.lowerBound }?.time
    let after = rows.first { $0.id > ids.upperBound }?.time
    guard let from = before ?? after else { return }
    let log = Int64(rows.count { $0.id < ids.lowerBound })
    try LogWriter.mark(1, from, after ?? from, log, "", db)
  }

  private func storeAssets(
    _ scanner: PageScanner,
    _ db: Database,
    _ counts: BoardDocument.Counts
  ) throws {
    var good: Set<[UInt8]> = []
    var seen: Set<[UInt8]> = []
    for place in assets {
      guard let row = scanner.row(place), row.columns.count == 3, let hash = row.columns[1].blob,
        let body = row.columns[2].blob
      else { continue }
      seen.insert(hash)
      guard !good.contains(hash), AssetHash.of(body) == hash else { continue }
      good.insert(hash)
      try db.execute(
        sql: "INSERT INTO asset (sha256, body) VALUES (?, ?)",
        arguments: [Data(hash), Data(body)]
      )
    }
    counts.assets = good.count
    for hash in seen.union(inventory.assets).subtracting(good) {
      counts.losses.append("the asset \(Hexadecimal.encode(hash)); peers may have it")
    }
  }
}

/// The rows that prove themselves, as they are found: several of one number where pages were
/// freed and not yet used again.
private struct Found {
  var meta: [String: String] = [:]
  var rows: [Int64: [StoredLogRow]] = [:]
  var keyframes: [Int64: StoredKeyframe] = [:]
  var authors: [UInt64: StoredAuthor] = [:]
  var marks: [Int64: StoredMark] = [:]
  var assets: [PageScanner.Place] = []
  var traffic: [Int64: LogRow] = [:]

  mutating func take(_ place: PageScanner.Place, _ rowid: Int64, _ stored: [StoredValue]) {
    var columns = stored
    // A row's number is not stored among its columns; `meta` has none.
    if columns.first == .null { columns[0] = .integer(rowid) }
    switch columns.count {
    case 5:
      if let found = LogRow.checked(columns) {
        if rows[found.row.id]?.contains(where: { $0.sum == found.sum }) != true {
          rows[found.row.id, default: []].append(found)
        }
      } else if let found = LogRow.checked(columns, in: LogRow.traffic) {
        traffic[found.row.id] = found.row
      } else if let author = StoredAuthor(columns) {
        take(author)
      }
    case 9:
      if let keyframe = StoredKeyframe(columns) { keyframes[keyframe.id] = keyframe }
    case 7:
      if let mark = StoredMark(columns) { marks[mark.id] = mark }
    case 3:
      if let key = columns[0].text, let value = columns[1].text,
        columns[2].integer == Int64(Meta.checksum(key, value))
      {
        meta[key] = value
      } else if columns[1].blob?.count == AssetHash.length, columns[2].blob != nil {
        assets.append(place)
      }
    default: break
    }
  }

  private mutating func take(_ author: StoredAuthor) {
    if let known = authors[author.incarnation],
      known.sequence > author.sequence || known.record.count > author.record.count
    {
      return
    }
    authors[author.incarnation] = author
  }
}

import Foundation
import GRDB
import Whiteboard

/// A report of the data that was saved from a damaged document, and of the losses.
public struct RecoveryReport: Hashable, Sendable {
  /// The board's id.
  public let board: [UInt8]
  /// The board's name.
  public let name: String
  /// The number of batches and answers that were saved.
  public let entries: Int
  /// The number of keyframes and versions that were saved.
  public let keyframes: Int
  /// The number of author incarnations whose records or heads were saved.
  public let authors: Int
  /// The number of assets that were saved.
  public let assets: Int
  /// The numbers of the log rows that are lost.
  public let lostRows: [ClosedRange<Int64>]
  /// Descriptions of the losses, with times if they are known; empty if nothing is lost.
  public let losses: [String]
}

extension BoardDocument {
  /// Saves the intact data of a damaged document to a new document; the damaged one is only read.
  ///
  /// The new document has every row whose checksum matches, from the file, from the log beside it,
  /// and from the copies that were made of earlier damage (REC-17). Recently deleted data may
  /// reappear. If this process has the document open, close it first.
  ///
  /// If `played` is given, the new document is whole (REC-18): it omits states that do not match
  /// their digest or the board that the log produces, and changes that cannot be applied.
  /// - Parameters:
  ///   - source: The damaged file; the `-wal` file beside it is read too.
  ///   - path: The path of the new document.
  ///   - board: The board's id, which is needed only if the file no longer contains it.
  ///   - now: Milliseconds since 1970.
  ///   - locking: Whether a lock file prevents other programs from writing the damaged document
  ///     during the recovery.
  ///   - played: The type of board that verifies the new document; nil leaves digests unchecked.
  /// - Returns: A report of the saved data and the losses.
  /// - Throws: `notFound`, `exists`, `inUse`, `full`; `damaged` if nothing can be saved.
  public static func recover(
    from source: String,
    to path: String,
    board: [UInt8]? = nil,
    now: Int64,
    locking: Bool = true,
    playing played: (any PlayedBoard.Type)? = nil
  ) async throws(DocumentError) -> RecoveryReport {
    let source = DocumentFile.resolved(source)
    // Prevent other programs from writing the damaged file while it is read.
    let lock = try await Blocking.run(source) { () throws -> WriterLock? in
      // If the directory is not writable, no program can write the file, so it needs no lock.
      let directory = (source as NSString).deletingLastPathComponent
      let isLockable =
        locking && access(source, F_OK) == 0
        && access(directory.isEmpty ? "." : directory, W_OK) == 0
      return isLockable ? try WriterLock(source) : nil
    }
    defer { lock?.release() }
    let found = try await Blocking.run(source) { try Salvage.merging(source) }
    guard let board = found.board ?? board else {
      throw DocumentError(
        .damaged,
        "\(source): the board's id is lost; the rest can be saved only with the id"
      )
    }
    let name = found.name ?? "recovered"
    let counts = Counts()
    try await NewFile.make(at: path, board: board, name: name, now: found.created ?? now) { queue in
      try found.store(in: queue, counts)
      guard let played else { return }
      try queue.write { db in
        counts.losses += try Settling(db, at: source, board: board, played).settle()
        counts.keyframes = try Int.fetchOne(db, sql: "SELECT count(*) FROM keyframe") ?? 0
      }
    }
    return RecoveryReport(
      board: board,
      name: name,
      entries: found.entries,
      keyframes: counts.keyframes ?? found.keyframes.count,
      authors: found.authors.count,
      assets: counts.assets,
      lostRows: found.lostRows,
      losses: found.losses + counts.losses
    )
  }

  /// The counts and losses that are determined while the new document is filled.
  fileprivate final class Counts: @unchecked Sendable {
    // Safe: only the closure that fills the new file writes these properties, and it returns before
    // they are read.
    var assets = 0
    var keyframes: Int?
    var losses: [String] = []
  }
}

/// The intact data of a damaged file: the rows whose checksums match.
private struct Salvage: Sendable {
  /// A photo, and the file that contains it.
  private struct Asset: Sendable {
    let source: String
    let place: PageScanner.Place
  }

  let source: String
  private(set) var meta: [String: String] = [:]
  private(set) var rows: [LogRow] = []
  private(set) var keyframes: [StoredKeyframe] = []
  private(set) var authors: [UInt64: StoredAuthor] = [:]
  private(set) var marks: [StoredMark] = []
  private var assets: [Asset] = []
  private(set) var traffic: [LogRow] = []
  private(set) var lostRows: [ClosedRange<Int64>] = []
  /// Descriptions of losses other than rows of the log.
  private var otherLosses: [String] = []
  private var rowLosses: [String] = []
  private var listedAssets: Set<[UInt8]> = []
  /// The number of the log's last row, according to the file.
  private var end: Int64 = 0

  var losses: [String] { rowLosses + otherLosses }

  var board: [UInt8]? {
    let bytes = meta[MetaKey.board.rawValue].flatMap { Hexadecimal.decode($0) }
    return bytes?.count == BoardDocument.boardIDLength ? bytes : nil
  }
  var name: String? { meta[MetaKey.name.rawValue] }
  var created: Int64? { meta[MetaKey.created.rawValue].flatMap { Int64($0) } }
  var entries: Int { rows.reduce(0) { $0 + Int($1.entries) } }

  /// Returns the intact data of a file and of the copies that were made of it.
  static func merging(_ source: String) throws(DocumentError) -> Salvage {
    let own: Result<Salvage, DocumentError>
    do throws(DocumentError) { own = .success(try Salvage(source)) } catch { own = .failure(error) }
    let kept = DamagedCopies.all(of: source).compactMap { try? Salvage($0) }
    guard var all = (try? own.get()) ?? kept.first else { return try own.get() }
    for copy in kept where copy.board == nil || all.board == nil || copy.board == all.board {
      all.merge(copy)
    }
    return all
  }

  init(_ source: String) throws(DocumentError) {
    self.source = source
    let scanner = try PageScanner(source)
    var found = Found()
    if !scanner.scan({ place, rowid, columns in found.take(place, rowid, columns) }) {
      otherLosses.append("data after an implausible number of rows")
    }
    if let damage = scanner.logDamage { otherLosses.append(damage) }
    meta = found.meta
    authors = found.authors
    marks = found.marks.values.sorted { $0.id < $1.id }
    assets = found.assets.map { Asset(source: source, place: $0) }
    traffic = found.traffic.keys.sorted().compactMap { found.traffic[$0] }
      .filter { (try? $0.unpackTraffic()) != nil }
    keyframes = found.keyframes.values.sorted { ($0.log, $0.id) < ($1.log, $1.id) }
    let inventory = Inventory(source)
    choose(found.rows)
    end = min(inventory.lastRow, StoredNumber.limit)
    if let closed = meta[MetaKey.closed.rawValue]?.split(separator: " ").first {
      end = max(end, Int64(closed) ?? 0)
    }
    findLostRows()
    compare(with: inventory)
    let isSomethingLeft =
      !rows.isEmpty || !keyframes.isEmpty || !assets.isEmpty || !traffic.isEmpty
      || (!meta.isEmpty && lostRows.isEmpty)
    guard isSomethingLeft else {
      throw DocumentError(
        .damaged,
        "\(source): nothing of a whiteboard can be read from it; move it away, then restore it from a "
          + "backup, or join the board again through another member"
      )
    }
  }

  /// Adds the data of a copy of the same board.
  ///
  /// The file and the copy have the same rows up to the point where the copy was made. In the
  /// result, the file's later rows come after the copy's last row. This is correct because batches
  /// apply in any order, and answers omit only entries before them in the file.
  private mutating func merge(_ copy: Salvage) {
    let fork = Self.fork(rows, copy.rows)
    let shift = fork.map { ($0, by: (copy.rows.last?.id ?? 0) - $0 + 1) }
    func moved(_ log: Int64) -> Int64 {
      guard let shift, log >= shift.0 else { return log }
      return log + shift.by
    }
    rows = Self.merged(rows, copy.rows, fork)
    let trafficFork = Self.fork(traffic, copy.traffic)
    traffic = Self.merged(traffic, copy.traffic, trafficFork)
    end = max(moved(end), copy.end)
    let own = keyframes.map {
      $0.moved(id: $0.id, log: moved($0.log), chain: $0.chain, entries: $0.entries)
    }
    let states = copy.keyframes + own.filter { !copy.keyframes.contains($0) }
    let ordered = states.sorted { ($0.log, $0.time, $0.id) < ($1.log, $1.time, $1.id) }
    // A keyframe of the file and one of the copy can have the same number.
    keyframes = ordered.enumerated().map { number, keyframe in
      keyframe.moved(
        id: Int64(number + 1),
        log: keyframe.log,
        chain: keyframe.chain,
        entries: keyframe.entries
      )
    }
    let ownMarks = marks.map { $0.moved(log: moved($0.log)) }
    marks = (copy.marks + ownMarks.filter { !copy.marks.contains($0) })
      .sorted { ($0.log, $0.until, $0.id) < ($1.log, $1.until, $1.id) }
    for (incarnation, author) in copy.authors {
      guard let known = authors[incarnation] else {
        authors[incarnation] = author
        continue
      }
      authors[incarnation] = author.isNewer(than: known) ? author : known
    }
    meta.merge(copy.meta) { own, _ in own }
    assets += copy.assets
    listedAssets.formUnion(copy.listedAssets)
    otherLosses += copy.otherLosses.filter { !otherLosses.contains($0) }
    findLostRows()
  }

  /// Returns the first row number at which two logs have different rows; nil if there is none.
  private static func fork(_ own: [LogRow], _ other: [LogRow]) -> Int64? {
    let known = Dictionary(other.map { ($0.id, $0) }) { first, _ in first }
    return own.first { row in known[row.id].map { $0 != row } ?? false }?.id
  }

  /// Returns the rows of both logs in order.
  ///
  /// From the fork on, the rows of `other` come first.
  private static func merged(_ own: [LogRow], _ other: [LogRow], _ fork: Int64?) -> [LogRow] {
    let fork = fork ?? .max
    let known = Set(other.map(\.id))
    let before = (other + own.filter { $0.id < fork && !known.contains($0.id) })
      .sorted { $0.id < $1.id }
    let last = before.last?.id ?? 0
    let behind = own.filter { $0.id >= fork }.map { row in
      LogRow(
        id: row.id - fork + last + 1,
        time: row.time,
        entries: row.entries,
        body: row.body,
        table: row.table
      )
    }
    return before + behind
  }

  /// Chooses one of the rows that were found with the same number.
  private mutating func choose(_ candidates: [Int64: [StoredLogRow]]) {
    var chain: UInt32 = 0
    var last: Int64 = 0
    for id in candidates.keys.sorted() {
      let choices = candidates[id] ?? []
      let right = id == last + 1 ? Self.following(chain, choices) : nil
      guard let chosen = right ?? choices.last, (try? chosen.row.unpack()) != nil else { continue }
      rows.append(chosen.row)
      chain = UInt32(truncatingIfNeeded: chosen.sum)
      last = id
    }
  }

  /// Determines which rows of the log are missing.
  private mutating func findLostRows() {
    (lostRows, rowLosses) = ([], [])
    let stands = Set(keyframes.map(\.log))
    var last: Int64 = 0
    var lastTime: Int64?
    for row in rows {
      // If retention dropped rows, a keyframe covers them.
      if row.id > last + 1, last > 0 || !stands.contains(row.id - 1) {
        lose(last + 1...row.id - 1, lastTime, row.time)
      }
      last = row.id
      lastTime = (try? row.unpack().last?.time) ?? row.time
    }
    let end = max(keyframes.last?.log ?? 0, end)
    if end > last, last > 0 || !stands.contains(end) { lose(last + 1...end, lastTime, nil) }
  }

  /// Adds to the losses the data that the file lists but that was not found intact.
  private mutating func compare(with inventory: Inventory) {
    otherLosses += inventory.problems
    let saved = Set(keyframes.map(\.id))
    for lost in inventory.keyframes.sorted(by: { $0.id < $1.id }) where !saved.contains(lost.id) {
      otherLosses.append(lost.name.map { "the version '\($0)'" } ?? "a stored state of the board")
    }
    let missing = inventory.traffic.subtracting(traffic.map(\.id))
    if !missing.isEmpty { otherLosses.append("rows of the session's traffic: \(missing.count)") }
    let unsigned = inventory.authors.subtracting(authors.keys)
    otherLosses += unsigned.sorted().map { "the record of incarnation \($0)" }
    otherLosses += inventory.marks.subtracting(marks.map(\.id)).map { _ in "a marker" }
    let settings = inventory.settings.subtracting(meta.keys)
    otherLosses += settings.sorted().map { "the setting '\($0)'" }
    listedAssets = inventory.assets
  }

  private static func following(_ chain: UInt32, _ choices: [StoredLogRow]) -> StoredLogRow? {
    choices.last { $0.sum == $0.row.sum(after: chain) }
  }

  private mutating func lose(_ ids: ClosedRange<Int64>, _ from: Int64?, _ to: Int64?) {
    lostRows.append(ids)
    let since = from.map { "after \(LogReader.moment($0))" }
    let until = to.map { "before \(LogReader.moment($0))" }
    let when = [since, until].compactMap { $0 }.joined(separator: " and ")
    rowLosses.append(
      "rows \(ids.lowerBound) to \(ids.upperBound) of the log\(when.isEmpty ? "" : ", ")\(when)"
    )
  }

  /// Writes all recovered data to a new document, in one transaction.
  func store(in queue: DatabaseQueue, _ counts: BoardDocument.Counts) throws {
    try queue.write { db in
      try storeLog(db)
      for author in authors.values { try LogWriter.store(author, db) }
      for mark in marks {
        let log = Int64(rows.count { $0.id <= mark.log })
        try LogWriter.mark(mark.kind, mark.time, mark.until, log, mark.name, db)
      }
      for lost in lostRows { try markLost(lost, db) }
      // If data is lost, the stored object count and thumbnail describe more than the file
      // contains.
      let isSame = losses.isEmpty && !(rows.isEmpty && keyframes.isEmpty)
      let kept =
        [MetaKey.hosted, .code, .membership, .title, .removal, .retention, .people, .changed]
        + (isSame ? [.objects, .thumbnail] : [])
      for key in kept {
        if let value = meta[key.rawValue] { try Meta.set(db, key, value) }
      }
      for (key, value) in meta {
        if let person = StoredName.person(key) { try StoredName.set(value, of: person, db) }
      }
      let saved = try traffic.flatMap { try $0.unpackTraffic() }
      try StoredTraffic.append(saved, cutAt: 1 << 18, db)
      try storeAssets(db, counts)
      try Meta.set(db, .closed, LogTail(db, at: source).text)
    }
  }

  /// Writes rows and keyframes in their original order.
  private func storeLog(_ db: Database) throws {
    var tail = LogTail()
    var names: Set<String> = []
    // If several keyframes have the same name, only the newest keeps it.
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

  private func storeAssets(_ db: Database, _ counts: BoardDocument.Counts) throws {
    var good: Set<[UInt8]> = []
    var seen: Set<[UInt8]> = []
    var scanners: [String: PageScanner] = [:]
    for asset in assets {
      let scanner = try scanners[asset.source] ?? PageScanner(asset.source)
      scanners[asset.source] = scanner
      guard let row = scanner.row(asset.place), row.columns.count == 3,
        let hash = row.columns[1].blob, let body = row.columns[2].blob
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
    for hash in seen.union(listedAssets).subtracting(good) {
      counts.losses.append("the asset \(Hexadecimal.encode(hash)); peers may have it")
    }
  }
}

/// The rows of a file whose checksums match.
///
/// Several rows can have the same number, since freed pages keep their old rows until they are used
/// again.
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
    if let known = authors[author.incarnation], !author.isNewer(than: known) { return }
    authors[author.incarnation] = author
  }
}

extension StoredAuthor {
  /// Whether the row has at least the data of another row of the same incarnation.
  fileprivate func isNewer(than other: StoredAuthor) -> Bool {
    sequence >= other.sequence && record.count >= other.record.count
  }
}

import GRDB
import Whiteboard

/// The intact data of a damaged file: the rows whose checksums match.
struct Salvage: Sendable {
  struct Asset: Sendable {
    let source: String
    let place: PageScanner.Place
  }

  let source: String
  var meta: [String: String] = [:]
  /// The copy of the board's id and the creation time; nil if the copy is lost or the file never had a copy.
  var identity: StoredIdentity?
  var rows: [LogRow] = []
  var keyframes: [StoredKeyframe] = []
  var authors: [UInt64: StoredAuthor] = [:]
  var marks: [StoredMark] = []
  var assets: [Asset] = []
  var traffic: [LogRow] = []
  var lostRows: [ClosedRange<Int64>] = []
  var otherLosses: [String] = []
  var rowLosses: [String] = []
  /// The hashes of the assets that the file lists, intact or not.
  var listedAssets: Set<[UInt8]> = []
  var end: Int64 = 0

  var losses: [String] { rowLosses + otherLosses }

  var board: [UInt8]? {
    let bytes = meta[MetaKey.board.rawValue].flatMap { Hexadecimal.decode($0) }
    return bytes?.count == BoardDocument.boardIDLength ? bytes : identity?.board
  }
  var name: String? { meta[MetaKey.name.rawValue] }
  /// The creation time in milliseconds since 1970; nil if it is lost.
  var created: Int64? { meta[MetaKey.created.rawValue].flatMap { Int64($0) } ?? identity?.created }
  var entries: Int { rows.reduce(0) { $0 + Int($1.entries) } }

  /// Reads the intact data of the file at the path `source`, and of its WAL file. Throws `notFound`, `wrongKind`,
  /// `inputOutput`, or `damaged` if there is no intact data.
  init(_ source: String) throws(DocumentError) {
    self.source = source
    let scanner = try PageScanner(source)
    var found = FoundRows()
    if !scanner.scan({ place, rowid, columns in found.add(place, rowid, columns) }) {
      otherLosses.append("the data of rows that exceed the size limit")
    }
    if let damage = scanner.logDamage { otherLosses.append(damage) }
    meta = found.meta
    identity = found.identity
    authors = found.authors
    marks = found.marks.values.sorted { $0.id < $1.id }
    assets = found.assets.map { Asset(source: source, place: $0) }
    traffic = found.traffic.keys.sorted().compactMap { found.traffic[$0] }.filter { (try? $0.unpackTraffic()) != nil }
    keyframes = found.keyframes.values.sorted { ($0.log, $0.id) < ($1.log, $1.id) }
    let inventory = Inventory(source)
    choose(found.rows)
    end = min(inventory.lastRow, StoredNumber.limit)
    if let closed = meta[MetaKey.closed.rawValue]?.split(separator: " ").first { end = max(end, Int64(closed) ?? 0) }
    findLostRows()
    compare(with: inventory)
    let hasContent =
      !rows.isEmpty || !keyframes.isEmpty || !assets.isEmpty || !traffic.isEmpty || (!meta.isEmpty && lostRows.isEmpty)
    guard hasContent else {
      throw DocumentError(
        .damaged,
        "\(source): no board data can be read from it; move it somewhere else, then restore it from a "
          + "backup, or join the board again through another member"
      )
    }
  }

  func board(byRecords kind: any PlayedBoard.Type) -> [UInt8]? {
    let boards = Set(authors.values.compactMap { kind.board(of: $0) })
    return boards.count == 1 ? boards.first : nil
  }

  /// Chooses one row for each row number, because several rows can have the same number.
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

  mutating func findLostRows() {
    (lostRows, rowLosses) = ([], [])
    let keyframeRows = Set(keyframes.map(\.log))
    var last: Int64 = 0
    var lastTime: Int64?
    for row in rows {
      // If retention removed rows, a keyframe contains the changes of these rows.
      if row.id > last + 1, last > 0 || !keyframeRows.contains(row.id - 1) {
        addLostRows(last + 1...row.id - 1, lastTime, row.time)
      }
      last = row.id
      lastTime = (try? row.unpack().last?.time) ?? row.time
    }
    let end = max(keyframes.last?.log ?? 0, end)
    if end > last, last > 0 || !keyframeRows.contains(end) { addLostRows(last + 1...end, lastTime, nil) }
  }

  private mutating func compare(with inventory: Inventory) {
    otherLosses += inventory.problems
    let saved = Set(keyframes.map(\.id))
    for lost in inventory.keyframes.sorted(by: { $0.id < $1.id }) where !saved.contains(lost.id) {
      otherLosses.append(lost.name.map { "the version '\($0)'" } ?? "a stored state of the board")
    }
    let missing = inventory.traffic.subtracting(traffic.map(\.id))
    if !missing.isEmpty { otherLosses.append("rows of the session's traffic: \(missing.count)") }
    let lostAuthors = inventory.authors.subtracting(authors.keys)
    otherLosses += lostAuthors.sorted().map { "the record of incarnation \($0)" }
    otherLosses += inventory.marks.subtracting(marks.map(\.id)).map { _ in "a marker" }
    let settings = inventory.settings.subtracting(meta.keys)
    otherLosses += settings.sorted().map { "the setting '\($0)'" }
    listedAssets = inventory.assets
  }

  private static func following(_ chain: UInt32, _ choices: [StoredLogRow]) -> StoredLogRow? {
    choices.last { $0.sum == $0.row.sum(after: chain) }
  }

  private mutating func addLostRows(_ ids: ClosedRange<Int64>, _ from: Int64?, _ to: Int64?) {
    lostRows.append(ids)
    let since = from.map { "after \(LogReader.moment($0))" }
    let until = to.map { "before \(LogReader.moment($0))" }
    let when = [since, until].compactMap { $0 }.joined(separator: " and ")
    rowLosses.append("rows \(ids.lowerBound) to \(ids.upperBound) of the log\(when.isEmpty ? "" : ", ")\(when)")
  }
}

/// The rows of a file whose checksums match. Several rows can have the same number, since freed pages retain their old
/// rows until SQLite uses the pages again.
struct FoundRows {
  var meta: [String: String] = [:]
  var identity: StoredIdentity?
  var rows: [Int64: [StoredLogRow]] = [:]
  var keyframes: [Int64: StoredKeyframe] = [:]
  var authors: [UInt64: StoredAuthor] = [:]
  var marks: [Int64: StoredMark] = [:]
  var assets: [PageScanner.Place] = []
  var traffic: [Int64: LogRow] = [:]

  mutating func add(_ place: PageScanner.Place, _ rowid: Int64, _ stored: [StoredValue]) {
    var columns = stored
    // A row's number is not stored among its columns. Rows of `meta` have no number.
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
        add(author)
      }
    case 9: if let keyframe = StoredKeyframe(columns) { keyframes[keyframe.id] = keyframe }
    case 7: if let mark = StoredMark(columns) { marks[mark.id] = mark }
    case 4: identity = identity ?? StoredIdentity(columns)
    case 3:
      if let key = columns[0].text, let value = columns[1].text, columns[2].integer == Int64(Meta.checksum(key, value))
      {
        meta[key] = value
      } else if columns[1].blob?.count == AssetHash.length, columns[2].blob != nil {
        assets.append(place)
      }
    default: break
    }
  }

  private mutating func add(_ author: StoredAuthor) {
    if let known = authors[author.incarnation], !author.isNewer(than: known) { return }
    authors[author.incarnation] = author
  }
}

extension StoredAuthor {
  func isNewer(than other: StoredAuthor) -> Bool { sequence >= other.sequence && record.count >= other.record.count }
}

extension Salvage {
  static func withCopies(of source: String) throws(DocumentError) -> Salvage {
    let own: Result<Salvage, DocumentError>
    do throws(DocumentError) { own = .success(try Salvage(source)) } catch { own = .failure(error) }
    let copies = DamagedCopies.all(of: source).compactMap { try? Salvage($0) }
    guard var all = (try? own.get()) ?? copies.first else { return try own.get() }
    for copy in copies where copy.board == nil || all.board == nil || copy.board == all.board { all.merge(copy) }
    return all
  }

  /// The file and the copy have the same rows up to the point where the copy was made. In the result, the file's later
  /// rows come after the copy's last row. This order is correct because batches apply in any order, and an answer omits
  /// only entries that are before it in the file.
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
    let own = keyframes.map { $0.moved(id: $0.id, log: moved($0.log), chain: $0.chain, entries: $0.entries) }
    let states = copy.keyframes + own.filter { !copy.keyframes.contains($0) }
    let ordered = states.sorted { ($0.log, $0.time, $0.id) < ($1.log, $1.time, $1.id) }
    // A keyframe of the file and a keyframe of the copy can have the same number.
    keyframes = ordered.enumerated().map { number, keyframe in
      keyframe.moved(id: Int64(number + 1), log: keyframe.log, chain: keyframe.chain, entries: keyframe.entries)
    }
    let ownMarks = marks.map { $0.moved(log: moved($0.log)) }
    marks = (copy.marks + ownMarks.filter { !copy.marks.contains($0) }).sorted {
      ($0.log, $0.until, $0.id) < ($1.log, $1.until, $1.id)
    }
    for (incarnation, author) in copy.authors {
      guard let known = authors[incarnation] else {
        authors[incarnation] = author
        continue
      }
      authors[incarnation] = author.isNewer(than: known) ? author : known
    }
    meta.merge(copy.meta) { own, _ in own }
    identity = identity ?? copy.identity
    assets += copy.assets
    listedAssets.formUnion(copy.listedAssets)
    otherLosses += copy.otherLosses.filter { !otherLosses.contains($0) }
    findLostRows()
  }

  private static func fork(_ own: [LogRow], _ other: [LogRow]) -> Int64? {
    let known = Dictionary(other.map { ($0.id, $0) }) { first, _ in first }
    return own.first { row in known[row.id].map { $0 != row } ?? false }?.id
  }

  /// Returns the rows of both logs in order. The rows of `own` from `fork` on come after all other rows, with new ids.
  private static func merged(_ own: [LogRow], _ other: [LogRow], _ fork: Int64?) -> [LogRow] {
    let fork = fork ?? .max
    let known = Set(other.map(\.id))
    let before = (other + own.filter { $0.id < fork && !known.contains($0.id) }).sorted { $0.id < $1.id }
    let last = before.last?.id ?? 0
    let behind = own.filter { $0.id >= fork }.map { row in
      LogRow(id: row.id - fork + last + 1, time: row.time, entries: row.entries, body: row.body, table: row.table)
    }
    return before + behind
  }
}

/// A list of the data that a damaged file should contain, as far as its tables can be read. Data is lost if it is
/// listed, but no row with a matching checksum is found.
struct Inventory: Sendable {
  struct Keyframe: Hashable, Sendable {
    let id: Int64
    let name: String?
  }

  private(set) var keyframes: Set<Keyframe> = []
  private(set) var lastRow: Int64 = 0
  private(set) var authors: Set<UInt64> = []
  private(set) var marks: Set<Int64> = []
  private(set) var assets: Set<[UInt8]> = []
  private(set) var traffic: Set<Int64> = []
  private(set) var settings: Set<String> = []
  /// The reasons why these lists may be incomplete.
  private(set) var problems: [String] = []

  /// Blocks the thread.
  init(_ path: String) {
    do {
      let database = try Connector.connect(path, .reading)
      defer { try? OpenFiles.close(database) }
      try database.read { db in read(db, path) }
    } catch { add(error, path) }
  }

  private mutating func read(_ db: Database, _ path: String) {
    list("PRAGMA quick_check(1)", db, path) { found, columns in
      guard let text = columns.first?.text, text != "ok" else { return }
      found.problems.append("the data on damaged pages (\(text))")
    }
    list("SELECT id, name FROM keyframe", db, path) { found, columns in
      guard let id = columns[0].integer else { return }
      found.keyframes.insert(Keyframe(id: id, name: columns[1].text))
    }
    list("SELECT max(id) FROM log", db, path) { found, columns in found.lastRow = columns[0].integer ?? 0 }
    list("SELECT incarnation FROM author", db, path) { found, columns in
      if let number = columns[0].integer { found.authors.insert(UInt64(bitPattern: number)) }
    }
    list("SELECT id FROM mark", db, path) { found, columns in if let id = columns[0].integer { found.marks.insert(id) }
    }
    list("SELECT sha256 FROM asset", db, path) { found, columns in
      if let hash = columns[0].blob { found.assets.insert(hash) }
    }
    if (try? db.tableExists(StoredTraffic.table)) == true {
      list("SELECT id FROM traffic", db, path) { found, columns in
        if let id = columns[0].integer { found.traffic.insert(id) }
      }
    }
    list("SELECT key FROM meta", db, path) { found, columns in
      if let key = columns[0].text { found.settings.insert(key) }
    }
  }

  /// Damage to one list does not affect the other lists.
  private mutating func list(
    _ sql: String,
    _ db: Database,
    _ path: String,
    _ insert: (inout Inventory, [StoredValue]) -> Void
  ) {
    do { for row in try Row.fetchAll(db, sql: sql) { insert(&self, StoredValue.columns(row)) } } catch {
      add(error, path)
    }
  }

  private mutating func add(_ error: any Error, _ path: String) {
    let loss = "unknown data, because a list in the file cannot be read: "
    let problem = loss + DocumentError.from(error, at: path).messageOfRecovery
    if !problems.contains(problem) { problems.append(problem) }
  }
}

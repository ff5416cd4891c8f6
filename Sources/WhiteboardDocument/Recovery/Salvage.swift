import GRDB
import Whiteboard

/// The intact data of a damaged file: the rows whose checksums match.
struct Salvage: Sendable {
  /// A photo, and the file that contains it.
  struct Asset: Sendable {
    /// The path of the file.
    let source: String
    let place: PageScanner.Place
  }

  /// The path of the file.
  let source: String
  /// The values of the table `meta` by key.
  var meta: [String: String] = [:]
  /// The copy of the board's id and the creation time; nil if it is lost or the file never had one.
  var identity: StoredIdentity?
  var rows: [LogRow] = []
  var keyframes: [StoredKeyframe] = []
  var authors: [UInt64: StoredAuthor] = [:]
  var marks: [StoredMark] = []
  var assets: [Asset] = []
  var traffic: [LogRow] = []
  /// The numbers of the missing rows of the log.
  var lostRows: [ClosedRange<Int64>] = []
  /// Descriptions of losses other than rows of the log.
  var otherLosses: [String] = []
  /// Descriptions of ``lostRows``.
  var rowLosses: [String] = []
  /// The hashes of the assets that the file lists, intact or not.
  var listedAssets: Set<[UInt8]> = []
  /// The number of the log's last row, according to the file.
  var end: Int64 = 0

  /// Descriptions of all losses.
  var losses: [String] { rowLosses + otherLosses }

  /// The board's id; nil if it is lost.
  var board: [UInt8]? {
    let bytes = meta[MetaKey.board.rawValue].flatMap { Hexadecimal.decode($0) }
    return bytes?.count == BoardDocument.boardIDLength ? bytes : identity?.board
  }
  /// The board's name; nil if it is lost.
  var name: String? { meta[MetaKey.name.rawValue] }
  /// The creation time of the document, in milliseconds since 1970; nil if it is lost.
  var created: Int64? { meta[MetaKey.created.rawValue].flatMap { Int64($0) } ?? identity?.created }
  /// The number of batches and answers.
  var entries: Int { rows.reduce(0) { $0 + Int($1.entries) } }

  /// Reads the intact data of the file at the path `source`, and of its WAL file.
  /// - Throws: `notFound`, `wrongKind`, `inputOutput`; `damaged` if there is no intact data.
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

  /// Returns the board's id according to the signed records of the authors; nil if they do not agree on one.
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

  /// Determines which rows of the log are missing.
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

  /// Adds to the losses all data that the file lists, but that was not found intact.
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

  /// Returns the candidate whose checksum continues the chain; nil if no candidate does.
  ///
  /// All candidates have the same row number. `chain` is the checksum of the row before them.
  private static func following(_ chain: UInt32, _ choices: [StoredLogRow]) -> StoredLogRow? {
    choices.last { $0.sum == $0.row.sum(after: chain) }
  }

  /// Adds missing rows to the losses, with the times of the rows before and after them.
  private mutating func addLostRows(_ ids: ClosedRange<Int64>, _ from: Int64?, _ to: Int64?) {
    lostRows.append(ids)
    let since = from.map { "after \(LogReader.moment($0))" }
    let until = to.map { "before \(LogReader.moment($0))" }
    let when = [since, until].compactMap { $0 }.joined(separator: " and ")
    rowLosses.append("rows \(ids.lowerBound) to \(ids.upperBound) of the log\(when.isEmpty ? "" : ", ")\(when)")
  }
}

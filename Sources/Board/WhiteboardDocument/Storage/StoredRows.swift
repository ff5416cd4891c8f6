import Crypto
import Foundation
import GRDB
import Whiteboard

/// A row of `author`: the record of an incarnation and the newest signed head of its chain.
public struct StoredAuthor: Hashable, Sendable {
  /// The number of the incarnation.
  public let incarnation: UInt64
  /// The signed record; empty if only a head is known.
  public let record: [UInt8]
  /// The sequence number of the head; 0 if there is no head.
  public let sequence: UInt64
  /// The signed head; empty if there is none.
  public let head: [UInt8]

  var checksum: UInt32 {
    Checksum.row(UInt8(ascii: "a"), [Int64(bitPattern: incarnation), Int64(bitPattern: sequence)], [record, head])
  }

  /// Creates a row of `author` from a record and a head.
  public init(incarnation: UInt64, record: [UInt8], sequence: UInt64, head: [UInt8]) {
    self.incarnation = incarnation
    self.record = record
    self.sequence = sequence
    self.head = head
  }

  init?(_ columns: [StoredValue]) {
    guard columns.count == 5, let incarnation = columns[0].integer, let record = columns[1].blob,
      let sequence = columns[2].integer, let head = columns[3].blob, let crc = columns[4].integer
    else { return nil }
    self.init(
      incarnation: UInt64(bitPattern: incarnation),
      record: record,
      sequence: UInt64(bitPattern: sequence),
      head: head
    )
    guard crc == Int64(checksum) else { return nil }
  }

  static func find(_ incarnation: UInt64, _ db: Database) throws -> StoredAuthor? {
    let statement = try db.cachedStatement(
      sql: "SELECT incarnation, record, sequence, head, crc FROM author WHERE incarnation = ?"
    )
    let row = try Row.fetchOne(statement, arguments: [Int64(bitPattern: incarnation)])
    return row.flatMap { StoredAuthor(StoredValue.columns($0)) }
  }
}

enum StoredNumber {
  /// The maximum row number or count. No document reaches this number, and incrementing it cannot overflow.
  static let limit: Int64 = 1 << 53

  static func next(in table: String, _ db: Database) throws -> Int64 {
    let last = try Int64.fetchOne(db, sql: "SELECT max(id) FROM \(table)") ?? 0
    guard (0..<limit).contains(last) else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
    return last + 1
  }
}

/// The state in a keyframe, which can have many megabytes, and its checksum. Preparing them before the transaction makes
/// the transaction short.
struct KeyframeBody: Sendable {
  let data: Data
  let part: Checksum.Part

  init(_ bytes: [UInt8]) {
    data = Data(bytes)
    part = Checksum.Part(bytes)
  }
}

/// A row of `keyframe`: the whole state at one position of the log.
struct StoredKeyframe: Hashable, Sendable {
  var id: Int64
  var log: Int64
  var chain: Int64
  var entries: Int64
  let time: Int64
  var name: String?
  var digest: [UInt8]
  var body: [UInt8]

  /// The columns of the table `keyframe`, in the order that ``init(_:)`` expects.
  static let columns = "id, log, chain, entries, time, name, digest, body, crc"

  var checksum: UInt32 { checksum(with: Checksum.Part(body)) }

  /// The checksum of the row with another body.
  func checksum(with body: Checksum.Part) -> UInt32 {
    Checksum.row(
      UInt8(ascii: "k"),
      [id, log, chain, entries, time, name == nil ? 0 : 1],
      [Array((name ?? "").utf8), digest],
      body
    )
  }

  init(id: Int64, log: Int64, chain: Int64, entries: Int64, time: Int64, name: String?, digest: [UInt8], body: [UInt8])
  {
    self.id = id
    self.log = log
    self.chain = chain
    self.entries = entries
    self.time = time
    self.name = name
    self.digest = digest
    self.body = body
  }

  init?(_ columns: [StoredValue]) {
    guard columns.count == 9, let id = columns[0].integer, let log = columns[1].integer, let chain = columns[2].integer,
      let entries = columns[3].integer, let time = columns[4].integer, columns[5] == .null || columns[5].text != nil,
      let digest = columns[6].blob, let body = columns[7].blob, let crc = columns[8].integer
    else { return nil }
    self.init(
      id: id,
      log: log,
      chain: chain,
      entries: entries,
      time: time,
      name: columns[5].text,
      digest: digest,
      body: body
    )
    guard crc == Int64(checksum), id >= 1, log >= 0, entries >= 0, max(id, log, entries) <= StoredNumber.limit else {
      return nil
    }
  }

  func moved(id: Int64, log: Int64, chain: Int64, entries: Int64) -> StoredKeyframe {
    var copy = self
    copy.id = id
    copy.log = log
    copy.chain = chain
    copy.entries = entries
    return copy
  }
}

extension StoredKeyframe {
  var state: Keyframe { Keyframe(bytes: body, digest: digest, time: time) }

  var unnamed: StoredKeyframe {
    var copy = self
    copy.name = nil
    return copy
  }

  func replaced(digest: [UInt8], body: [UInt8]) -> StoredKeyframe {
    var copy = self
    copy.digest = digest
    copy.body = body
    return copy
  }
}

/// A row of `mark`: a marker, a gap in the recording, or the end of the recording.
struct StoredMark: Hashable, Sendable {
  let id: Int64
  let kind: Int64
  let time: Int64
  let until: Int64
  let log: Int64
  let name: String

  static let columns = "id, kind, time, until, log, name, crc"

  static func checksum(_ id: Int64, _ kind: Int64, _ time: Int64, _ until: Int64, _ log: Int64, _ name: String)
    -> UInt32
  { Checksum.row(UInt8(ascii: "t"), [id, kind, time, until, log], [Array(name.utf8)]) }

  init?(_ columns: [StoredValue]) {
    guard columns.count == 7, let id = columns[0].integer, let kind = columns[1].integer, let time = columns[2].integer,
      let until = columns[3].integer, let log = columns[4].integer, let name = columns[5].text,
      let crc = columns[6].integer, crc == Int64(Self.checksum(id, kind, time, until, log, name))
    else { return nil }
    self.id = id
    self.kind = kind
    self.time = time
    self.until = until
    self.log = log
    self.name = name
  }

  private init(id: Int64, kind: Int64, time: Int64, until: Int64, log: Int64, name: String) {
    self.id = id
    self.kind = kind
    self.time = time
    self.until = until
    self.log = log
    self.name = name
  }

  func moved(log: Int64) -> StoredMark {
    StoredMark(id: id, kind: kind, time: time, until: until, log: log, name: name)
  }

  var entry: DocumentEntry? {
    switch kind {
    case 0: .marker(name: name, time: time)
    case 1: .gap(from: time, to: until)
    case 2: .end(time: time)
    default: nil
    }
  }
}

struct StoredLogRow: Hashable, Sendable {
  let row: LogRow
  let sum: Int64
}

extension LogRow {
  /// Returns the row of the log with these columns; nil if they do not match the row's own checksum. The method does
  /// not check the chain, so it does not detect a missing or different row before this row.
  static func checked(_ columns: [StoredValue], in table: UInt8 = log) -> StoredLogRow? {
    guard columns.count == 5, let id = columns[0].integer, let time = columns[1].integer,
      let entries = columns[2].integer, let body = columns[3].blob, let sum = columns[4].integer
    else { return nil }
    let row = LogRow(id: id, time: time, entries: entries, body: body, table: table)
    guard row.ownChecksum == UInt32(UInt64(bitPattern: sum) >> 32), id >= 1, entries >= 0,
      max(id, entries) <= StoredNumber.limit
    else { return nil }
    return StoredLogRow(row: row, sum: sum)
  }

  static let columns = "id, time, entries, body, sum"
}

/// A value in a column, from SQLite or from the recovery of a damaged file.
enum StoredValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real
  case text(String)
  case blob([UInt8])

  var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
  var text: String? { if case .text(let text) = self { text } else { nil } }
  var blob: [UInt8]? { if case .blob(let bytes) = self { bytes } else { nil } }

  static func columns(_ row: Row) -> [StoredValue] {
    (0..<row.count).map { index in
      let value: DatabaseValue = row[index]
      return switch value.storage {
      case .null: .null
      case .int64(let number): .integer(number)
      case .double: .real
      case .string(let text): .text(text)
      case .blob(let data): .blob(Array(data))
      }
    }
  }
}

extension Database {
  /// Runs one statement whose arguments can be large. Unlike `execute(sql:arguments:)`, this method lets SQLite read the
  /// arguments in place. A copy of many megabytes would take longer than storing them.
  func executeOnce(sql: String, arguments: StatementArguments) throws {
    try makeStatement(sql: sql).execute(arguments: arguments)
  }
}

enum AssetHash {
  static let length = 32

  static func of(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }
}

enum StoredAssets {
  /// Blocks the thread. Throws `notFound`, `tooLarge` or `inputOutput`.
  static func read(_ file: String) throws -> [UInt8] {
    var status = stat()
    guard stat(file, &status) == 0 else { throw DocumentError(.notFound, "\(file): \(systemMessage())") }
    guard status.st_size <= BoardDocument.maximumAssetSize else {
      throw DocumentError(.tooLarge, "\(file): an asset may have at most 32 MiB")
    }
    return Array(try Data(contentsOf: URL(fileURLWithPath: file)))
  }

  static func checked(_ bytes: [UInt8], sha256: [UInt8], at path: String) throws -> Data {
    guard AssetHash.of(bytes) == sha256 else {
      throw DocumentError(.damaged, "\(path): the asset does not match its hash; get it again")
    }
    return Data(bytes)
  }

  static func store(_ body: Data, sha256: [UInt8], _ db: Database) throws {
    try db.executeOnce(
      sql: """
        INSERT INTO asset (sha256, body) VALUES (?, ?)
        ON CONFLICT (sha256) DO UPDATE SET body = excluded.body WHERE body IS NOT excluded.body
        """,
      arguments: [Data(sha256), body]
    )
  }

  /// The caller has checked the asset, which must not be stored yet.
  static func add(_ body: Data, sha256: [UInt8], _ db: Database) throws {
    try db.executeOnce(sql: "INSERT INTO asset (sha256, body) VALUES (?, ?)", arguments: [Data(sha256), body])
  }

  /// Throws `notFound`, or `damaged` if the asset no longer matches its hash.
  static func find(_ sha256: [UInt8], _ db: Database, at path: String) throws -> [UInt8] {
    guard let data = try Data.fetchOne(db, sql: "SELECT body FROM asset WHERE sha256 = ?", arguments: [Data(sha256)])
    else { throw DocumentError(.notFound, "\(path): the document does not have this asset") }
    let bytes = Array(data)
    guard AssetHash.of(bytes) == sha256 else { throw DocumentError.damagedRow("an asset", at: path) }
    return bytes
  }

  static func hashes(_ db: Database) throws -> Set<[UInt8]> {
    Set(try Data.fetchAll(db, sql: "SELECT sha256 FROM asset").map { Array($0) })
  }

  static func remove(_ sha256: [UInt8], _ db: Database) throws {
    try db.execute(sql: "DELETE FROM asset WHERE sha256 = ?", arguments: [Data(sha256)])
  }
}

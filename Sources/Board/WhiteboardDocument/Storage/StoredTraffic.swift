import Foundation
import GRDB

/// Functions that read and write rows of the table `traffic` (REC-13); the first write creates the table.
enum StoredTraffic {
  static let table = "traffic"

  /// A new row begins when a row reaches `rowSize` bytes.
  static func append(_ entries: [TrafficEntry], cutAt rowSize: Int, _ db: Database) throws {
    guard !entries.isEmpty else { return }
    try db.execute(
      sql: """
        CREATE TABLE IF NOT EXISTS traffic (id INTEGER PRIMARY KEY, time INTEGER NOT NULL,
          entries INTEGER NOT NULL, body BLOB NOT NULL, sum INTEGER NOT NULL) STRICT
        """
    )
    let last = try Row.fetchOne(db, sql: "SELECT sum FROM traffic ORDER BY id DESC LIMIT 1")
    var chain = UInt32(truncatingIfNeeded: last.flatMap { Int64.fromDatabaseValue($0[0]) } ?? 0)
    var id = try StoredNumber.next(in: table, db)
    func store(_ part: ArraySlice<TrafficEntry>) throws {
      let row = TrafficCoding.row(id, Array(part))
      let sum = row.sum(after: chain)
      let statement = try db.cachedStatement(
        sql: "INSERT INTO traffic (id, time, entries, body, sum) VALUES (?, ?, ?, ?, ?)"
      )
      try statement.execute(arguments: [row.id, row.time, row.entries, Data(row.body), sum])
      chain = UInt32(truncatingIfNeeded: sum)
      id += 1
    }
    var (first, size) = (0, 0)
    for (index, entry) in entries.enumerated() {
      size += entry.bytes.count + entry.text.utf8.count
      guard size >= rowSize else { continue }
      try store(entries[first...index])
      (first, size) = (index + 1, 0)
    }
    if first < entries.count { try store(entries[first...]) }
  }

  static func read(_ db: Database, _ path: String) throws -> (entries: [TrafficEntry], damages: [String]) {
    guard try db.tableExists(table) else { return ([], []) }
    var entries: [TrafficEntry] = []
    var damages: [String] = []
    // Retention may have dropped the rows before the first stored row.
    var chain: UInt32?
    var last: Int64?
    do {
      let cursor = try Row.fetchCursor(db, sql: "SELECT \(LogRow.columns) FROM traffic ORDER BY id")
      while let row = try cursor.next() {
        let columns = StoredValue.columns(row)
        let number = columns.first?.integer ?? 0
        guard let stored = LogRow.checked(columns, in: LogRow.traffic), let found = try? stored.row.unpackTraffic()
        else {
          damages.append("row \(number) of the session's traffic is damaged")
          (chain, last) = (nil, number)
          continue
        }
        if let last, last < number - 1 {
          damages.append("rows \(last + 1) to \(number - 1) of the session's traffic are missing")
        } else if number == 1 || chain != nil, stored.sum != stored.row.sum(after: chain ?? 0) {
          damages.append("row \(number) of the session's traffic does not follow the row before it")
        }
        (chain, last) = (UInt32(truncatingIfNeeded: stored.sum), number)
        entries += found
      }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
      throw DocumentError.damagedRow("the session's traffic after row \(last ?? 0)", at: path)
    }
    return (entries, damages)
  }

  /// Never removes the last row.
  static func drop(before time: Int64, _ db: Database) throws {
    guard try db.tableExists(table) else { return }
    try db.execute(
      sql: """
        DELETE FROM traffic WHERE id < coalesce(
          (SELECT min(id) FROM traffic WHERE time >= ?), (SELECT max(id) FROM traffic))
        """,
      arguments: [time]
    )
  }
}

extension LogRow {
  func unpackTraffic() throws -> [TrafficEntry] { try TrafficCoding.unpack(self) }
}

/// Functions that read and write display names, each in a row of `meta` (REC-12).
enum StoredName {
  private static let prefix = "peer "
  /// The maximum length of a display name, in bytes.
  private static let limit = 1024

  /// Returns the member whose display name a key of `meta` contains; nil for other keys.
  static func person(_ key: String) -> String? { key.hasPrefix(prefix) ? String(key.dropFirst(prefix.count)) : nil }

  /// A name that is too long or contains a zero byte is ignored.
  static func set(_ name: String, of person: String, _ db: Database) throws {
    guard name.utf8.count <= limit, !name.utf8.contains(0) else { return }
    try Meta.set(db, key: prefix + person, name)
  }

  static func all(_ db: Database) throws -> [String: String] {
    let rows = try Row.fetchAll(db, sql: "SELECT key, value, crc FROM meta WHERE key LIKE 'peer %'")
    var names: [String: String] = [:]
    for row in rows {
      guard let key = String.fromDatabaseValue(row[0]), let person = person(key),
        let value = String.fromDatabaseValue(row[1]),
        Int64.fromDatabaseValue(row[2]) == Int64(Meta.checksum(key, value))
      else { continue }
      names[person] = value
    }
    return names
  }

  static func forgetAll(_ db: Database) throws { try db.execute(sql: "DELETE FROM meta WHERE key LIKE 'peer %'") }
}

/// A named state of the board.
public struct DocumentVersion: Hashable, Sendable {
  /// The version's name, which is unique in its document.
  public let name: String
  /// The time of the version, in milliseconds since 1970.
  public let time: Int64
  /// The size of the state, in bytes.
  public let size: Int
}

enum StoredVersions {
  static func all(_ db: Database) throws -> [DocumentVersion] {
    let sql = "SELECT name, time, length(body) FROM keyframe WHERE name IS NOT NULL ORDER BY id"
    return try Row.fetchAll(db, sql: sql).compactMap { row in
      let columns = StoredValue.columns(row)
      guard let name = columns[0].text, let time = columns[1].integer, let size = columns[2].integer else { return nil }
      return DocumentVersion(name: name, time: time, size: Int(size))
    }
  }

  static func contains(_ name: String, _ db: Database) throws -> Bool { try id(name, db) != nil }

  /// Throws `notFound`, or `damaged` if the version is lost.
  static func state(_ name: String, _ db: Database, at path: String) throws -> Keyframe {
    let sql = "SELECT \(StoredKeyframe.columns) FROM keyframe WHERE name = ?"
    guard let row = try Row.fetchOne(db, sql: sql, arguments: [name]) else { throw notFound(name, path) }
    guard let keyframe = StoredKeyframe(StoredValue.columns(row)) else {
      throw DocumentError.damagedRow("the version '\(name)'", at: path)
    }
    return keyframe.state
  }

  static func exists(_ name: String, _ path: String) -> DocumentError {
    DocumentError(.exists, "\(path): there is already a checkpoint '\(name)'; choose another name")
  }

  private static func id(_ name: String, _ db: Database) throws -> Int64? {
    try Int64.fetchOne(db, sql: "SELECT id FROM keyframe WHERE name = ?", arguments: [name])
  }

  private static func notFound(_ name: String, _ path: String) -> DocumentError {
    DocumentError(.notFound, "\(path): there is no checkpoint '\(name)'")
  }
}

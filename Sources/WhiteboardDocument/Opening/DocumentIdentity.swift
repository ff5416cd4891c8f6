import GRDB

/// The values in a document that never change: the board's id and the creation time.
struct DocumentIdentity: Sendable {
  private var values: [String: Set<String>] = [:]

  /// Adds the value in a row of `meta`, if the row has the board's id or the creation time.
  mutating func add(_ columns: [StoredValue]) {
    guard columns.count == 3, let key = columns[0].text, let value = columns[1].text,
      [MetaKey.board.rawValue, MetaKey.created.rawValue].contains(key),
      columns[2].integer == Int64(Meta.checksum(key, value))
    else { return }
    values[key, default: []].insert(value)
  }

  /// Adds the board's id and the creation time that a database contains.
  mutating func add(_ db: Database, at path: String) throws {
    for key in [MetaKey.board, .created] {
      if let value = try Meta.get(db, key, at: path) { values[key.rawValue] = [value] }
    }
  }

  /// Returns whether each value equals the corresponding value in `other`, if `other` has one.
  func isPart(of other: DocumentIdentity) -> Bool {
    values.allSatisfy { key, found in other.values[key]?.isSuperset(of: found) ?? true }
  }

  /// Whether the identity contains no value.
  var isEmpty: Bool { values.isEmpty }

  /// Reads the identity of a file without its WAL file.
  ///
  /// If the file and its WAL file together have a different identity, the WAL file belongs to another file.
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - log: The WAL file; nil if there is none.
  /// - Returns: The identity; nil if SQLite does not use the WAL file, or if the identity is unknown.
  /// - Throws: `notFound`, `wrongKind`, `inputOutput`.
  static func withoutLog(_ path: String, log: WriteAheadLog?) throws -> DocumentIdentity? {
    guard let log, log.usable > 0, log.damage == nil else { return nil }
    return try withoutLog(path)
  }

  /// Reads the identity of a file without its WAL file; nil if it is unknown.
  static func withoutLog(_ path: String) throws -> DocumentIdentity? {
    try OpenFiles.holding(path) { use in use == .none ? try PageScanner(path, readsLog: false).firstIdentity : nil }
  }

  /// Checks that a database is the document with this identity.
  ///
  /// - Throws: `damaged` if the identity differs, because the WAL file belongs to another file.
  func check(_ db: Database, at path: String) throws {
    var found = Self()
    try found.add(db, at: path)
    guard found.isPart(of: self) else { throw WriteAheadLog.foreignError(path) }
  }
}

import GRDB

/// Functions that read and write the facts in `meta` that make a program act (REC-20).
///
/// Each fact has a row of its own, and a second row with its seal.
enum SealedFacts {
  static let keys: [MetaKey] = [.code, .admission, .membership, .removal, .browserLinks]

  static func sealKey(_ key: MetaKey) -> String { "seal \(key.rawValue)" }

  /// Returns a fact; nil if it is missing, or if it is foreign.
  static func get(_ db: Database, _ key: MetaKey, _ seal: DocumentSeal?, at path: String) throws -> String? {
    guard let seal, let value = try Meta.get(db, key, at: path),
      try seal.acceptsAll || isSealed(db, key, value, seal, at: path)
    else { return nil }
    return value
  }

  /// Stores a fact with its seal, or removes it if `value` is nil.
  static func set(_ db: Database, _ key: MetaKey, _ value: String?, _ seal: DocumentSeal?, at path: String) throws {
    try Meta.set(db, key, value)
    guard let value, let seal, let board = try Meta.get(db, .board, at: path) else {
      try db.execute(sql: "DELETE FROM meta WHERE key = ?", arguments: [sealKey(key)])
      return
    }
    try Meta.set(db, key: sealKey(key), seal.mark(key, value, board: board))
  }

  /// Returns whether the file has facts that this program did not write.
  static func areForeign(_ db: Database, _ seal: DocumentSeal, at path: String) throws -> Bool {
    guard !seal.acceptsAll else { return false }
    return try !foreign(db, seal, at: path).isEmpty
  }

  /// Removes the facts that this program did not write, or seals them if the user trusts the file; returns whether
  /// facts were removed.
  static func settle(_ db: Database, _ seal: DocumentSeal, at path: String) throws -> Bool {
    let found = try foreign(db, seal, at: path)
    for key in found {
      let value = try seal.acceptsAll ? Meta.get(db, key, at: path) : nil
      try set(db, key, value, seal, at: path)
    }
    return !found.isEmpty && !seal.acceptsAll
  }

  /// Removes all facts, because users share copies with others.
  static func removeAll(_ db: Database) throws { for key in keys { try set(db, key, nil, nil, at: "") } }

  private static func foreign(_ db: Database, _ seal: DocumentSeal, at path: String) throws -> [MetaKey] {
    try keys.filter { key in
      // A damaged fact is reported when it is read.
      guard let value = try? Meta.get(db, key, at: path) else { return false }
      return try !isSealed(db, key, value, seal, at: path)
    }
  }

  private static func isSealed(_ db: Database, _ key: MetaKey, _ value: String, _ seal: DocumentSeal, at path: String)
    throws -> Bool
  {
    guard let board = try Meta.get(db, .board, at: path) else { return false }
    let mark = try String.fetchOne(db, sql: "SELECT value FROM meta WHERE key = ?", arguments: [sealKey(key)])
    return mark == seal.mark(key, value, board: board)
  }
}

import Foundation
import GRDB

/// Functions that read and write the summary of a board for lists of boards, in rows of `meta`.
enum StoredSummary {
  /// Stores the number of objects, the names of the users who drew, and the time of the last change.
  static func set(objects: Int, people: [String], changed: Int64, _ db: Database) throws {
    let names = try JSONEncoder().encode(people)
    try Meta.set(db, .objects, String(objects))
    try Meta.set(db, .people, String(decoding: names, as: UTF8.self))
    try Meta.set(db, .changed, String(changed))
  }

  /// Returns the names of the users who drew on the board; empty if they are not stored.
  static func people(_ db: Database, at path: String) throws -> [String] {
    let text = try Meta.get(db, .people, at: path) ?? "[]"
    return (try? JSONDecoder().decode([String].self, from: Data(text.utf8))) ?? []
  }
}

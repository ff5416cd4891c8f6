import Foundation
import GRDB

extension BoardDocument {
  /// Returns the board's name.
  /// - Throws: `damaged`, `closed`.
  public func name() async throws(DocumentError) -> String {
    try await read { [path] db in try Meta.get(db, .name, at: path) ?? "" }
  }

  /// Returns the last known display names of the board's members, by member id as text.
  /// - Throws: `damaged`, `closed`.
  public func memberNames() async throws(DocumentError) -> [String: String] {
    try await read { db in try StoredName.all(db) }
  }

  /// Renames the board.
  ///
  /// The file keeps its file name.
  /// - Throws: `badName`, `readOnly`, `full`, `closed`.
  public func rename(to name: String) async throws(DocumentError) {
    try DocumentName.check(name)
    try await write { db in try Meta.set(db, .name, name) }
  }

  /// Returns a fact; nil if the file does not have the fact, or this program did not store the fact (REC-20).
  /// - Throws: `damaged`, `closed`.
  public func fact(_ fact: BoardFact) async throws(DocumentError) -> String? {
    try await read { [seal, path] db in try SealedFacts.get(db, fact.key, seal, at: path) }
  }

  /// Stores a fact, or removes it if `text` is nil.
  /// - Throws: `readOnly`, `full`, `closed`.
  public func setFact(_ fact: BoardFact, _ text: String?) async throws(DocumentError) {
    try await write { [seal, path] db in try SealedFacts.set(db, fact.key, text, seal, at: path) }
  }

  /// Stores that this computer hosts the board, and stores the board's join code.
  ///
  /// - Parameter code: The join code; nil leaves the stored code unchanged.
  /// - Throws: `readOnly`, `full`, `closed`.
  public func setHosted(code: String?) async throws(DocumentError) {
    try await write { [seal, path] db in
      try Meta.set(db, .hosted, "1")
      if let code { try SealedFacts.set(db, .code, code, seal, at: path) }
    }
  }

  /// Stores the membership record of the board's session.
  ///
  /// - Parameters:
  ///   - text: The membership record, which is opaque to the document.
  ///   - code: The join code that this peer joined with; nil leaves the stored code unchanged.
  /// - Throws: `readOnly`, `full`, `closed`.
  public func setMembership(_ text: String, code: String?) async throws(DocumentError) {
    try await write { [seal, path] db in
      try SealedFacts.set(db, .membership, text, seal, at: path)
      if let code { try SealedFacts.set(db, .code, code, seal, at: path) }
    }
  }

  /// Returns the title that members gave the board; nil if the board has no title.
  /// - Throws: `damaged`, `closed`.
  public func title() async throws(DocumentError) -> String? {
    try await read { [path] db in try Meta.get(db, .title, at: path) }
  }

  /// Stores the title that members gave the board.
  ///
  /// The library also finds the board by its title.
  ///
  /// - Parameter title: The title; nil or empty removes the title.
  /// - Throws: `readOnly`, `full`, `closed`.
  public func setTitle(_ title: String?) async throws(DocumentError) {
    let title = title.flatMap { $0.isEmpty ? nil : $0 }
    try await write { db in try Meta.set(db, .title, title) }
  }

  /// Marks the file as a file with retirements, so that earlier releases refuse it (REC-1).
  ///
  /// Appending a retirement also marks the file. This method is for keyframes with retirements that were never
  /// appended.
  /// - Throws: `readOnly`, `full`, `closed`.
  public func markRetirements() async throws(DocumentError) {
    try await write { db in try Schema.raise(db, to: Schema.formatWithRetirements) }
  }

  /// Stores the library's summary of this board, without a thumbnail.
  ///
  /// - Throws: `readOnly`, `full`, `closed`.
  public func setCounts(objects: Int, people: [String], changed: Int64) async throws(DocumentError) {
    try await write { db in try StoredSummary.set(objects: objects, people: people, changed: changed, db) }
  }

  /// Returns the names of the users who drew on the board, for lists of boards.
  ///
  /// - Throws: `damaged`, `closed`.
  public func people() async throws(DocumentError) -> [String] {
    try await read { [path] db in try StoredSummary.people(db, at: path) }
  }

  /// Stores the library's summary of this board.
  ///
  /// The owner calls this method with each keyframe.
  /// - Throws: `tooLarge` if the thumbnail has more than 256 KiB; `readOnly`, `full`, `closed`.
  public func setSummary(objects: Int, people: [String], thumbnail: String?, changed: Int64) async throws(DocumentError)
  {
    guard (thumbnail?.utf8.count ?? 0) <= 1 << 18 else {
      throw DocumentError(.tooLarge, "\(path): a thumbnail may have at most 256 KiB")
    }
    try await write { db in
      try StoredSummary.set(objects: objects, people: people, changed: changed, db)
      try StoredThumbnail.set(thumbnail, db)
    }
  }
}

/// A fact on which a program acts. Copies of the document contain no such facts (REC-20).
///
/// All facts except the join code are opaque to the document.
public enum BoardFact: Sendable, CaseIterable {
  /// The join code of the board, which is a secret.
  case code
  /// How the user chose to admit peers to the board.
  case admission
  /// The membership record of the board's session; ``BoardDocument/setMembership(_:code:)`` stores it.
  case membership
  /// The record of the host's decision to remove this peer from the board.
  case removal
  case browserLinks

  var key: MetaKey {
    switch self {
    case .code: .code
    case .admission: .admission
    case .membership: .membership
    case .removal: .removal
    case .browserLinks: .browserLinks
    }
  }
}

enum StoredSummary {
  static func set(objects: Int, people: [String], changed: Int64, _ db: Database) throws {
    let names = try JSONEncoder().encode(people)
    try Meta.set(db, .objects, String(objects))
    try Meta.set(db, .people, String(decoding: names, as: UTF8.self))
    try Meta.set(db, .changed, String(changed))
  }

  static func people(_ db: Database, at path: String) throws -> [String] {
    let text = try Meta.get(db, .people, at: path) ?? "[]"
    return (try? JSONDecoder().decode([String].self, from: Data(text.utf8))) ?? []
  }
}

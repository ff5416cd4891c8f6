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

  /// Returns the join code of the board; nil if the board was hosted without a code, or this program did not store it
  /// (REC-20).
  ///
  /// The code is a secret. Copies of the document do not contain it.
  /// - Throws: `damaged`, `closed`.
  public func code() async throws(DocumentError) -> String? { try await fact(.code) }

  /// Stores that the board is hosted on this computer, and its join code.
  ///
  /// - Parameter code: The join code; nil leaves the stored one unchanged.
  /// - Throws: `readOnly`, `full`, `closed`.
  public func setHosted(code: String?) async throws(DocumentError) {
    try await write { [seal, path] db in
      try Meta.set(db, .hosted, "1")
      if let code { try SealedFacts.set(db, .code, code, seal, at: path) }
    }
  }

  /// Returns how the user chose to admit peers to the board; nil if the user made no choice.
  ///
  /// ``setAdmission(_:)`` stores it (REC-20). Copies of the document do not contain it.
  /// - Throws: `damaged`, `closed`.
  public func admission() async throws(DocumentError) -> String? { try await fact(.admission) }

  /// Stores how the user chose to admit peers to the board.
  ///
  /// - Parameter text: The choice, which is opaque to the document; nil if there is none.
  /// - Throws: `readOnly`, `full`, `closed`.
  public func setAdmission(_ text: String?) async throws(DocumentError) { try await setFact(.admission, text) }

  /// Returns the membership record that this program stored (REC-20); copies of the document do not contain it.
  /// - Throws: `damaged`, `closed`.
  public func membership() async throws(DocumentError) -> String? { try await fact(.membership) }

  /// Stores the membership record of the board's session.
  ///
  /// - Parameters:
  ///   - text: The membership record, which is opaque to the document.
  ///   - code: The join code that this peer joined with; nil leaves the stored one unchanged.
  /// - Throws: `readOnly`, `full`, `closed`.
  public func setMembership(_ text: String, code: String?) async throws(DocumentError) {
    try await write { [seal, path] db in
      try SealedFacts.set(db, .membership, text, seal, at: path)
      if let code { try SealedFacts.set(db, .code, code, seal, at: path) }
    }
  }

  /// Removes the stored join code, because the host now uses another code.
  /// - Throws: `readOnly`, `full`, `closed`.
  public func forgetCode() async throws(DocumentError) { try await setFact(.code, nil) }

  /// Returns the title that members gave the board; nil if it has none.
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

  /// Returns the record of the host's decision to remove this peer from the board; nil if the peer is a member.
  ///
  /// ``setRemoval(_:)`` stores it (REC-20). Copies of the document do not contain it.
  /// - Throws: `damaged`, `closed`.
  public func removal() async throws(DocumentError) -> String? { try await fact(.removal) }

  /// Stores the record of the host's decision to remove this peer from the board.
  ///
  /// - Parameter text: The record of the decision, which is opaque to the document; nil if the peer is a member again.
  /// - Throws: `readOnly`, `full`, `closed`.
  public func setRemoval(_ text: String?) async throws(DocumentError) { try await setFact(.removal, text) }

  /// Returns the browser links of the board; nil if there are none.
  ///
  /// ``setBrowserLinks(_:)`` stores them (REC-20). Copies of the document do not contain them.
  /// - Throws: `damaged`, `closed`.
  public func browserLinks() async throws(DocumentError) -> String? { try await fact(.browserLinks) }

  /// Stores the browser links of the board.
  ///
  /// - Parameter text: The browser links, which are opaque to the document; nil if there are none.
  /// - Throws: `readOnly`, `full`, `closed`.
  public func setBrowserLinks(_ text: String?) async throws(DocumentError) { try await setFact(.browserLinks, text) }

  private func fact(_ key: MetaKey) async throws(DocumentError) -> String? {
    try await read { [seal, path] db in try SealedFacts.get(db, key, seal, at: path) }
  }

  private func setFact(_ key: MetaKey, _ value: String?) async throws(DocumentError) {
    try await write { [seal, path] db in try SealedFacts.set(db, key, value, seal, at: path) }
  }

  /// Marks the file as one with retirements, which earlier releases refuse (REC-1).
  ///
  /// An appended retirement marks it too. A keyframe may contain retirements that were never appended.
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

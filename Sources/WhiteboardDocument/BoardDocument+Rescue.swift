import Foundation
import GRDB

/// The complete state of a board in memory, to be saved when its file lacks the last changes.
public struct BoardRescue: Sendable {
  /// The state of the board, encoded as a keyframe.
  public let bytes: [UInt8]
  /// The digest of a board in this state.
  public let digest: [UInt8]
  /// The time of the state, in milliseconds since 1970.
  public let time: Int64
  /// The time from which changes are missing in the log; nil if none are missing.
  public let lostSince: Int64?
  /// The paths of the files of the board's photos, by SHA-256.
  public let photos: [[UInt8]: String]

  /// Creates the state of a board to be saved.
  ///
  /// - Parameters:
  ///   - bytes: The state, encoded as a keyframe.
  ///   - digest: The digest of a board in this state.
  ///   - time: The time of the state, milliseconds since 1970.
  ///   - lostSince: The time from which changes are missing in the log; nil if none are missing.
  ///   - photos: The paths of the files of the board's photos, by SHA-256.
  public init(
    bytes: [UInt8],
    digest: [UInt8],
    time: Int64,
    lostSince: Int64?,
    photos: [[UInt8]: String]
  ) {
    self.bytes = bytes
    self.digest = digest
    self.time = time
    self.lostSince = lostSince
    self.photos = photos
  }
}

/// Saving a document whose file cannot be written or was removed.
extension BoardDocument {
  /// Writes a complete copy to another path while this document cannot be written.
  ///
  /// The copy has all stored entries and the state in memory. If this document cannot be read
  /// either, the copy has only the state in memory.
  /// - Parameters:
  ///   - path: The path of the new file; its directory must exist.
  ///   - rescue: The state in memory.
  /// - Returns: Whether the copy has the history, and the number of photos that it lacks, both
  ///   determined by opening the copy.
  /// - Throws: `exists`, `full`, `readOnly`, `inputOutput`, `closed`; then no file is created.
  public func rescue(
    to path: String,
    _ rescue: BoardRescue
  ) async throws(DocumentError) -> (hasHistory: Bool, missingPhotos: Int) {
    guard !isClosed else { throw Self.closed(self.path) }
    let hasHistory = try await writeCopy(to: path, rescue)
    let copy = try await Self.open(at: path, mode: .reading, expecting: board)
    let stored = try await copy.assetIDs()
    try await copy.close()
    return (hasHistory, rescue.photos.keys.count { !stored.contains($0) })
  }

  /// Writes the copy of ``rescue(to:_:)``, and returns whether it has the history.
  private func writeCopy(
    to path: String,
    _ rescue: BoardRescue
  ) async throws(DocumentError) -> Bool {
    do throws(DocumentError) {
      try await publish(at: path) { (queue, source) in
        try queue.write { db in
          var tail = try LogTail(db, at: source)
          try rescue.write(db, &tail)
          try Meta.removeMembership(db)
          try Meta.set(db, .closed, tail.text)
        }
      }
      return true
    } catch {
      if error.code == .exists { throw error }
    }
    let name = (try? await name()) ?? "board"
    try await NewFile.make(at: path, board: board, name: name, now: rescue.time) { queue in
      try queue.write { db in
        var tail = LogTail()
        try rescue.write(db, &tail)
        try Meta.set(db, .closed, tail.text)
      }
    }
    return false
  }

  /// Restores a removed file at its path, if its directory still exists.
  ///
  /// - Returns: The document that is now open at the path. It is this one if its file reappeared;
  ///   otherwise it is a new one with all stored entries, and this one is closed.
  /// - Throws: `removed` if the directory is missing, is on another disk, or has another file of
  ///   that name; `full`, `readOnly`, `inputOutput`. Then this document is unchanged.
  public func reinstate() async throws(DocumentError) -> BoardDocument {
    try checkWritable()
    guard let files, !files.areThere else { return self }
    guard files.canBeMade else { throw .removed(path) }
    try await publish(at: path) { (queue, source) in
      try queue.write { db in
        try Meta.set(db, .closed, try LogTail(db, at: source).text)
      }
    }
    let document = try await Self.open(
      at: path,
      mode: .writing,
      expecting: board,
      groupInterval: groupInterval,
      clock: clock
    )
    // Closing detects that the files were removed, and does not touch those of the new document.
    try? await close()
    return document
  }

  /// Checks that the file is still at its path.
  ///
  /// - Throws: `removed` if it is not.
  public func checkPresence() async throws(DocumentError) {
    guard let files else { return }
    try await Blocking.run(path) { try files.check() }
  }

  /// Copies the document, completes the copy with `edit`, and publishes it at `path` when it is on
  /// the disk.
  ///
  /// The copy is made through the open connection, so this also works if the file was removed.
  private func publish(
    at path: String,
    _ edit: @escaping @Sendable (DatabaseQueue, _ source: String) throws -> Void
  ) async throws(DocumentError) {
    let source = self.path
    let database = database
    try await NewFile.publish(at: path) { temporary in
      try database.writeWithoutTransaction { db in
        try db.execute(sql: "VACUUM INTO ?", arguments: [temporary])
      }
      let queue = try DatabaseQueue(path: temporary)
      defer { try? queue.close() }
      try edit(queue, source)
    }
  }
}

extension BoardRescue {
  /// Adds the missing photos and the state to a copy of the document.
  fileprivate func write(_ db: Database, _ tail: inout LogTail) throws {
    let stored = Set(try Data.fetchAll(db, sql: "SELECT sha256 FROM asset").map { Array($0) })
    for (sha256, file) in photos where !stored.contains(sha256) {
      // Skip unreadable photos. A peer that opens the copy requests them from the other members.
      guard let bytes = try? Data(contentsOf: URL(fileURLWithPath: file)),
        AssetHash.of(Array(bytes)) == sha256
      else { continue }
      try db.execute(
        sql: "INSERT INTO asset (sha256, body) VALUES (?, ?)",
        arguments: [Data(sha256), bytes]
      )
    }
    if let lostSince {
      try LogWriter.append([.gap(from: min(lostSince, time), to: time)], db, &tail)
    }
    try LogWriter.keyframe(bytes, digest, nil, time, db, &tail)
  }
}

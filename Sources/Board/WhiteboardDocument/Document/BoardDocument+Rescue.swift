import Foundation
import GRDB

extension BoardDocument {
  /// Writes a complete copy to another path while this document cannot be written.
  ///
  /// The copy has all stored entries and the state in memory. If this document cannot be read either, the copy has only
  /// the state in memory.
  /// - Parameters:
  ///   - path: The path of the new file; its directory must exist.
  ///   - rescue: The state in memory.
  /// - Returns: Whether the copy has the history, and the number of photos that it lacks, both determined by opening
  ///   the copy.
  /// - Throws: `exists`, `full`, `readOnly`, `inputOutput`, `closed`. If the method throws, no file is created.
  public func rescue(to path: String, _ rescue: BoardRescue) async throws(DocumentError) -> (
    hasHistory: Bool, missingPhotos: Int
  ) {
    try checkOpen()
    let hasHistory = try await DocumentCopier(connection).rescue(to: path, board: board, rescue)
    let copy = try await Self.open(at: path, mode: .reading, expecting: board)
    let stored = try await copy.assetIDs()
    try await copy.close()
    return (hasHistory, rescue.photos.keys.count { !stored.contains($0) })
  }

  /// Restores a removed file at its path, if its directory still exists.
  ///
  /// - Returns: This document if its file reappeared. Otherwise, a new document with all stored entries, and this
  ///   document is closed.
  /// - Throws: `removed` if the directory is missing, is on another disk, or has another file of that name; `full`,
  ///   `readOnly`, `inputOutput`. If the method throws, this document is unchanged.
  public func reinstate() async throws(DocumentError) -> BoardDocument {
    try checkWritable()
    guard let files = connection.files, !files.areThere else { return self }
    guard files.canBeMade else { throw .removed(path) }
    try await DocumentCopier(connection).copyOpenFile(to: path)
    let document = try await openAgain()
    // `close` detects that the files were removed, and does not touch the files of the new document.
    try? await close()
    return document
  }

  func openAgain() async throws(DocumentError) -> BoardDocument {
    try await Self.open(at: path, mode: .writing, expecting: board, seal: seal, groupInterval: groupInterval)
  }

  /// Checks that the file is still at its path.
  ///
  /// - Throws: `removed` if the file is not there.
  public func checkPresence() async throws(DocumentError) {
    guard let files = connection.files else { return }
    try await Blocking.run(path) { try files.check() }
  }
}

extension BoardDocument {
  /// Opens a document for writing, or for reading if its disk accepts no data at present.
  ///
  /// If the document is opened for reading, ``obstacle`` is the reason, and all writes fail with that error.
  /// ``reopen()`` opens the document for writing once the disk accepts data again.
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - seal: The seal of the facts that the program uses and writes; nil if the program uses no facts.
  ///   - reservation: The file's reservation, if the caller has one; see ``BoardLibrary/reserve(board:)``.
  /// - Returns: The open document.
  /// - Throws: The error from opening the document for writing. If the disk accepts no data, this error is thrown only
  ///   if the document cannot be opened for reading either.
  public static func openForWritingOrReading(
    at path: String,
    seal: DocumentSeal? = nil,
    holding reservation: BoardReservation? = nil
  ) async throws(DocumentError) -> BoardDocument {
    do throws(DocumentError) { return try await open(at: path, mode: .writing, seal: seal, holding: reservation) } catch
    {
      guard [.full, .quota, .readOnly, .inputOutput].contains(error.code),
        let opened = try? await Blocking.run(path, { try OpenedDocument(path, .reading, expecting: nil, seal: seal) })
      else { throw error }
      return BoardDocument(opened, obstacle: error)
    }
  }

  /// Opens this document for writing if it is open only for reading.
  ///
  /// - Returns: This document if it is already open for writing. Otherwise, a new document that is open for writing,
  ///   and this document is closed.
  /// - Throws: The error from opening the document for writing; `inUse` if another program changed the file since this
  ///   document was opened. If the method throws, this document is unchanged.
  public func reopen() async throws(DocumentError) -> BoardDocument {
    try checkOpen()
    guard mode == .reading else { return self }
    let document = try await openAgain()
    // The board in memory does not have the other program's changes, so saving that board would hide these changes.
    guard await document.tail.text == tail.text else {
      try? await document.close()
      throw DocumentError(
        .inUse,
        "\(path): another program changed the file; save a copy elsewhere, and open the board again"
      )
    }
    try? await close()
    return document
  }
}

/// The complete state of a board in memory, for saving the board if its file does not have the last changes.
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
  public init(bytes: [UInt8], digest: [UInt8], time: Int64, lostSince: Int64?, photos: [[UInt8]: String]) {
    self.bytes = bytes
    self.digest = digest
    self.time = time
    self.lostSince = lostSince
    self.photos = photos
  }
}

extension BoardRescue {
  /// Adds the missing photos and the state to a copy of the document, after its last row.
  func write(_ db: Database, _ tail: inout LogTail) throws {
    let stored = try StoredAssets.hashes(db)
    for (sha256, file) in photos where !stored.contains(sha256) {
      // Skip unreadable photos. A peer that opens the copy requests them from the other members.
      guard let bytes = try? Data(contentsOf: URL(fileURLWithPath: file)), AssetHash.of(Array(bytes)) == sha256 else {
        continue
      }
      try StoredAssets.add(bytes, sha256: sha256, db)
    }
    if let lostSince { try LogWriter.append([.gap(from: min(lostSince, time), to: time)], db, &tail) }
    try LogWriter.keyframe(KeyframeBody(bytes), digest, nil, time, db, &tail)
  }
}

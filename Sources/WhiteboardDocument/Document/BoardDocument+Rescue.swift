/// Saving a document whose file cannot be written or was removed.
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
  /// - Throws: `exists`, `full`, `readOnly`, `inputOutput`, `closed`. If it throws, no file is created.
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
  /// - Returns: The document that is now open at the path: this document if its file reappeared; otherwise a new
  ///   document with all stored entries, and this document is closed.
  /// - Throws: `removed` if the directory is missing, is on another disk, or has another file of that name; `full`,
  ///   `readOnly`, `inputOutput`. If it throws, this document is unchanged.
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

  /// Opens the file at this document's path for writing.
  func openAgain() async throws(DocumentError) -> BoardDocument {
    try await Self.open(
      at: path,
      mode: .writing,
      expecting: board,
      seal: seal,
      groupInterval: groupInterval,
      clock: clock
    )
  }

  /// Checks that the file is still at its path.
  ///
  /// - Throws: `removed` if the file is not there.
  public func checkPresence() async throws(DocumentError) {
    guard let files = connection.files else { return }
    try await Blocking.run(path) { try files.check() }
  }
}

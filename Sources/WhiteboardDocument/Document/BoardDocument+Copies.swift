extension BoardDocument {
  /// Writes the whole document with its history to a new file.
  ///
  /// The document can be used while the copy is made. The copy has all entries that were appended before the call. It
  /// does not have the join code, the membership record or the removal record, because users share copies with others.
  /// - Throws: `exists`, `full`, `readOnly`, `damaged`, `closed`. If it throws, there is no new file.
  public func save(as path: String) async throws(DocumentError) {
    try await prepareCopy()
    try await DocumentCopier(connection).copy(to: path)
  }

  /// Creates a document for a new board that begins with a state of this board.
  ///
  /// Records, batches and heads are signed for one board, so the new document does not have them. It has only the given
  /// state, and those of the given assets that this document has. It does not contain permanently deleted data.
  /// - Throws: The errors of ``save(as:)``; `badName`, `wrongBoard`.
  public func duplicate(
    to path: String,
    board: [UInt8],
    name: String,
    keyframe bytes: [UInt8],
    digest: [UInt8],
    assets: Set<[UInt8]>,
    now: Int64
  ) async throws(DocumentError) {
    try DocumentName.check(name)
    try NewFile.check(board)
    try await prepareCopy()
    try await DocumentCopier(connection).copy(to: path) { db, tail in
      try DocumentCopier.beginBoard(board, name: name, keeping: assets, now: now, db)
      tail = LogTail()
      try LogWriter.keyframe(bytes, digest, nil, now, db, &tail)
    }
  }

  /// Waits until all earlier appends are in the file, so that a copy of the file includes them.
  ///
  /// - Throws: `closed`; `removed` if the file is no longer at its path.
  private func prepareCopy() async throws(DocumentError) {
    try checkOpen()
    // An empty group is a barrier: when it returns, all earlier appends are in the file.
    if mode == .writing { _ = await enqueue([]) }
    try connection.files?.check()
  }
}

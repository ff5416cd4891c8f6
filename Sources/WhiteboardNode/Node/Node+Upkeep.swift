import WhiteboardDocument

/// What whoever runs a node has done to the file of its board.
extension Node {
  /// Drops history that need not be kept and gives its room back to the disk; the board goes on meanwhile.
  ///
  /// - Parameter days: How many days of history stay; nil is what the document itself says.
  /// - Throws: ``NodeError`` where there is no room for that; then nothing is lost.
  package func compactDocument(keeping days: Int? = nil) async throws(NodeError) {
    guard let document else { throw NodeError(.timedOut, "the board is not open") }
    do throws(DocumentError) {
      try await document.compact(now: BoardFile.now, keeping: days)
    } catch {
      throw NodeError(error)
    }
  }

  /// Whether the work on the board is on disk.
  package var saveState: SaveState { keeper.state }

  /// Bytes of the document on the disk, nil where there is none.
  package var documentSize: Int? {
    guard let path = document?.path else { return nil }
    return (FileReading.size(path) ?? 0) + (FileReading.size(path + "-wal") ?? 0)
  }
}

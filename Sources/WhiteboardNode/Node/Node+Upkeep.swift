import WhiteboardDocument

/// Maintenance of the board's file, on request of the program.
extension Node {
  /// Deletes old history and returns its space to the disk; the board stays usable meanwhile.
  ///
  /// - Parameter days: How many days of history to keep; nil uses the document's setting.
  /// - Throws: ``NodeError`` if there is not enough space for this; then nothing is lost.
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

  /// Bytes of the document on the disk, nil if there is none.
  package var documentSize: Int? {
    guard let path = document?.path else { return nil }
    return (FileReading.size(path) ?? 0) + (FileReading.size(path + "-wal") ?? 0)
  }
}

import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// The commands `save` and `save-as`.
extension Persistence {
  /// The document of the board.
  ///
  /// - Throws: ``CommandError`` with the code `refused` if the board is not stored.
  var openDocument: BoardDocument {
    get throws(CommandError) {
      guard let document else { throw CommandError(.refused, "this board is not stored on disk") }
      return document
    }
  }

  /// Saves unsaved work immediately, and reports the save state.
  ///
  /// - Throws: ``CommandError`` with the code `notSaved` if some work is still not saved on disk.
  nonisolated(nonsending) func save(request: RequestMark?) async throws(CommandError) {
    await saveNow()
    runtime.emit(.saveState(.init(state, request: request)))
    if let problem = state.problem { throw CommandError(.notSaved, problem.sentence) }
  }

  /// Writes the whole board to another file, even if the board's own file cannot be written.
  ///
  /// - Parameters:
  ///   - path: The path of the new file.
  ///   - photos: The files of the board's photos.
  /// - Throws: ``CommandError`` if the copy could not be written.
  nonisolated(nonsending) func saveCopy(to path: String, photos: PhotoFiles) async throws(CommandError) {
    let document = try openDocument
    do throws(DocumentError) { try await saveCopy(to: path, of: document, photos) } catch { throw CommandError(error) }
  }

  private nonisolated(nonsending) func saveCopy(to path: String, of document: BoardDocument, _ photos: PhotoFiles)
    async throws(DocumentError)
  {
    defer { checkIsolation(#isolation) }
    let isWhole = (try? await storeAll()) != nil && queue.loss == nil
    if isWhole { return try await document.save(as: path) }
    guard let replica else { throw DocumentError(.closed, "the board is closed") }
    var files: [[UInt8]: String] = [:]
    let assets = Set(replica.board.state.records.compactMap { $0.value.asset }).filter {
      replica.board.assets.contains($0.id)
    }
    defer { for asset in assets { photos.close(asset.id) } }
    for asset in assets {
      // A photo that cannot be read is treated as missing in the copy.
      files[asset.id.bytes] = await photos.open(asset.id) ?? photos.path(asset.id, asset.format)
    }
    // The state is collected now, before the board changes.
    let mark = queue.recorded
    let rescue = BoardRescue(
      bytes: replica.snapshotForKeeping(),
      digest: replica.digest.bytes,
      time: BoardFile.now,
      lostSince: queue.behindSince,
      photos: files
    )
    let (hasHistory, missing) = try await document.rescue(to: path, rescue)
    if !hasHistory { warnOfIncompleteCopy("The copy has no history: the file of the board cannot be read.") }
    if missing > 0 {
      warnOfIncompleteCopy("The copy lacks \(EventText.count(missing, "photo")): the files cannot be read.")
    } else {
      queue.didCopy(upTo: mark, to: path)
      reportState()
    }
  }

  private func warnOfIncompleteCopy(_ message: String) {
    runtime.emit(.warning(.init(code: "copy-incomplete", message: message)))
  }
}

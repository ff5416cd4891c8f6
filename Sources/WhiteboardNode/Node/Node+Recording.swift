import WhiteboardDocument
import WhiteboardSync

/// What who records a board does with the recording while it is made.
extension Node {
  /// Whether nothing is recorded for now.
  package var isRecordingPaused: Bool { keeper.isPaused }

  /// Records nothing from now on, until ``resumeRecording()``; what happens meanwhile is not in the recording,
  /// only what the board is after it.
  ///
  /// - Throws: Why what came before could not be written; then it goes on.
  package func pauseRecording() async throws(DocumentError) {
    guard !keeper.isPaused else { return }
    try await keepAll()
    keeper.pause(now: BoardFile.now)
  }

  /// Records again, after the whole board as it is by now.
  ///
  /// - Throws: Why that could not be written; it is tried again by itself.
  package func resumeRecording() async throws(DocumentError) {
    guard keeper.isPaused else { return }
    keeper.resume()
    await keepKeyframe()
    if let failure = keeper.failure { throw failure }
  }

  /// Names this place of the recording.
  ///
  /// - Parameter name: 1 to 128 bytes.
  /// - Throws: `badName`; why it could not be written.
  package func markRecording(_ name: String) async throws(DocumentError) {
    guard let document else { throw DocumentError(.closed, "nothing is recorded yet, or any more") }
    if !keeper.isPaused { try await keepAll() }
    try await document.append([.marker(name: name, time: BoardFile.now)])
  }

  /// How much was recorded, in changes of the board.
  package var recordedChanges: Int { keeper.recorded }
}

import Whiteboard
import WhiteboardDocument

/// The save state, and recordings that a user can pause.
extension Persistence {
  /// The save state: whether the work on the board is on disk.
  var state: SaveState { queue.state }

  /// Reports the save state if it changed.
  ///
  /// Every change is reported. Events report only the start, the changes and the end of a problem.
  func reportState() {
    let state = queue.state
    guard state != reportedState else { return }
    reportedState = state
    runtime.report(.saving(state))
    switch state {
    case .notSaved(let problem):
      guard problem.sentence != reportedProblem?.sentence else { return }
      let isNew = problem.cause != reportedProblem?.cause
      reportedProblem = problem
      runtime.emit(.saveState(.init(state)))
      if isNew { runtime.emit(.warning(.init(code: BoardEvent.Remark.notSaved, message: problem.message))) }
    case .saved:
      wasAskedBeforeEnding = false
      guard reportedProblem != nil else { return }
      reportedProblem = nil
      runtime.emit(.saveState(.init(state)))
      runtime.emit(.note(.init(code: BoardEvent.Remark.savedAgain, message: "Everything is on disk again.")))
    case .saving, .off: break
    }
  }

  /// Tries to save everything once.
  nonisolated(nonsending) func saveNow() async {
    defer { checkIsolation(#isolation) }
    _ = await runtime.wait { !self.queue.isWriting }
    if queue.loss != nil { await checkKeyframe() }
    write()
    _ = await runtime.wait {
      !self.queue.isWriting && (self.queue.isBehind || self.queue.isClosed || self.queue.state != .saving)
    }
  }

  /// Saves all unsaved work; returns whether exiting the program now would still lose work.
  nonisolated(nonsending) func wouldLoseWork() async -> Bool {
    if state == .saving || state.wouldLoseWork { await saveNow() }
    return state.wouldLoseWork
  }

  /// The warning that quitting now would lose work.
  var unsavedAdvice: String {
    "\(state.words): quitting now loses the last changes. `save` tries again, "
      + "`save-as FILE` saves a copy elsewhere, `quit anyway` or Ctrl+C again quits."
  }

  // MARK: - Recordings

  /// Pauses recording until ``resumeRecording()``; the keyframe after the pause contains the changes made in between;
  /// if earlier changes cannot be written, throws, and recording continues.
  nonisolated(nonsending) func pauseRecording() async throws(DocumentError) {
    guard !queue.isPaused else { return }
    try await storeAll()
    queue.pause(now: BoardFile.now)
  }

  /// Resumes recording with a keyframe of the current board; if the keyframe cannot be written, throws, and writing it
  /// is retried later.
  nonisolated(nonsending) func resumeRecording() async throws(DocumentError) {
    guard queue.isPaused else { return }
    queue.resume()
    await checkKeyframe()
    if let failure = queue.failure { throw failure }
  }

  /// Adds a named marker at the current position of the recording; throws if the name is too long or already in use, or
  /// another error if the marker cannot be written.
  nonisolated(nonsending) func addMarker(_ name: String) async throws(DocumentError) {
    defer { checkIsolation(#isolation) }
    guard let document else { throw DocumentError(.closed, "nothing is being recorded") }
    let name = PlainText.line(name)
    for case .marker(name, _) in try await document.marks() {
      throw DocumentError(.badName, "a marker with that name already exists; choose another name")
    }
    if !queue.isPaused { try await storeAll() }
    try await document.append([.marker(name: name, time: BoardFile.now)])
  }
}

import PeerCore
import Whiteboard
import WhiteboardDocument

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// The save state: whether the work on a board is on disk.
public enum SaveState: Hashable, Sendable {
  /// Saving is off at the user's request: the board is ephemeral, or its recording is paused.
  case off
  /// All work is on disk.
  case saved
  /// Some changes are not on disk yet.
  case saving
  /// Some work is not on disk. The program keeps trying to save it.
  case notSaved(SaveProblem)

  /// The problem; nil unless some work is not on disk.
  public var problem: SaveProblem? { if case .notSaved(let problem) = self { problem } else { nil } }

  /// Whether exiting the program now would lose work that is in no file.
  public var wouldLoseWork: Bool { problem.map { $0.hasUnsavedWork && $0.copy == nil } ?? false }

  package var word: String {
    switch self {
    case .off: "off"
    case .saved: "saved"
    case .saving: "saving"
    case .notSaved: "not-saved"
    }
  }

  package var words: String {
    switch self {
    case .off: "not stored"
    case .saved: "saved"
    case .saving: "saving"
    case .notSaved(let problem): problem.headline
    }
  }
}

/// The reason why some work on a board is not on disk.
public struct SaveProblem: Hashable, Sendable {
  /// The kind of problem; the raw values are codes for programs and never change.
  public enum Cause: String, Hashable, Sendable {
    /// The disk is full.
    case diskFull = "disk-full"
    /// The user's disk quota is used up.
    case quota
    /// The file or its file system is not writable.
    case readOnly = "read-only"
    /// The file or its directory was removed, or its disk was unmounted.
    case removed
    /// The file is damaged.
    case damaged
    /// Another program has locked the file.
    case inUse = "in-use"
    /// Reading or writing failed for another reason.
    case inputOutput = "io-error"

    package var words: String {
      switch self {
      case .diskFull: "disk full"
      case .quota: "disk quota used up"
      case .readOnly: "disk is read-only"
      case .removed: "file or disk removed"
      case .damaged: "file damaged"
      case .inUse: "file in use"
      case .inputOutput: "disk error"
      }
    }
  }

  /// The kind of problem.
  public let cause: Cause
  /// The file and the reason, in one sentence.
  public let message: String
  /// Another file that contains all of the work; nil if there is none.
  public let copy: String?
  /// Whether the board was changed since it was last saved, or since it was opened.
  ///
  /// If the disk accepts no data, but the board was not changed, the value is false.
  public let hasUnsavedWork: Bool

  package init(_ error: DocumentError, copy: String? = nil, hasUnsavedWork: Bool = true) {
    cause =
      switch error.code {
      case .full: .diskFull
      case .quota: .quota
      case .readOnly: .readOnly
      case .removed, .notFound: .removed
      case .damaged, .wrongKind, .wrongBoard: .damaged
      case .inUse: .inUse
      default: .inputOutput
      }
    message = error.message
    self.copy = copy
    self.hasUnsavedWork = hasUnsavedWork
  }

  /// The problem with its cause, for a status line.
  package var headline: String { "NOT SAVED: \(cause.words)" }

  package var sentence: String {
    let rescued = copy.map { " All work is saved in \(UntrustedText($0).quoted(limit: 256))." } ?? ""
    return "\(headline). \(UntrustedText(message).escaped()).\(rescued)"
  }
}

extension Persistence {
  var state: SaveState { queue.state }

  /// Reports every change of the state. Lines report only the start, the changes and the end of a problem.
  func reportState() {
    let state = queue.state
    guard state != reportedState else { return }
    reportedState = state
    switch state {
    case .notSaved(let problem) where problem.sentence != reportedProblem?.sentence:
      let isNew = problem.cause != reportedProblem?.cause
      reportedProblem = problem
      runtime.report(.saving(state), .init())
      if isNew { runtime.emit(.warning(.init(code: SharedBoard.News.Remark.notSaved, message: problem.message))) }
    case .saved where reportedProblem != nil:
      reportedProblem = nil
      runtime.report(.saving(state), .init())
      runtime.emit(.note(.init(code: SharedBoard.News.Remark.savedAgain, message: "Everything is on disk again.")))
    case .notSaved, .saved, .saving, .off: runtime.report(.saving(state))
    }
    if state == .saved { wasAskedBeforeEnding = false }
  }

  nonisolated(nonsending) func saveNow() async {
    defer { checkIsolation(#isolation) }
    _ = await runtime.wait { !self.queue.isWriting }
    if queue.loss != nil {
      _ = await runtime.wait { !self.queue.isBusy }
      await checkKeyframe()
    }
    write()
    _ = await runtime.wait {
      !self.queue.isWriting && (self.queue.isBehind || self.queue.isClosed || self.queue.state != .saving)
    }
  }

  nonisolated(nonsending) func wouldLoseWork() async -> Bool {
    if state == .saving || state.wouldLoseWork { await saveNow() }
    return state.wouldLoseWork
  }

  var unsavedAdvice: String {
    "\(state.words): quitting now loses the last changes. `save` tries again, "
      + "`save-as FILE` saves a copy elsewhere, `quit anyway` or Ctrl+C again quits."
  }

  // MARK: - Recordings

  /// Pauses recording until ``resumeRecording()``. The next keyframe contains the changes made in between. If earlier
  /// changes cannot be written, throws, and recording continues.
  nonisolated(nonsending) func pauseRecording() async throws(DocumentError) {
    guard !queue.isPaused else { return }
    try await storeAll()
    queue.pause(now: BoardFile.now)
  }

  /// Writes a keyframe of the current board. If the keyframe cannot be written, throws, and the keyframe is written
  /// later.
  nonisolated(nonsending) func resumeRecording() async throws(DocumentError) {
    guard queue.isPaused else { return }
    queue.resume()
    _ = await runtime.wait { !self.queue.isBusy }
    await checkKeyframe()
    if let failure = queue.failure { throw failure }
  }

  /// Throws if the name is too long or already in use, or the marker cannot be written.
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

package enum DiskSurvey {
  static func creationFailure(of directory: String) -> String {
    guard mkdir(directory, 0o700) != 0 else { return "it did not exist" }
    return words(for: errno)
  }

  package static func words(for number: Int32) -> String {
    switch number {
    case ENOSPC: "the disk is full"
    case EDQUOT: "the disk quota is used up"
    case EROFS: "the disk is read-only"
    default: SystemError.words(for: number)
    }
  }
}

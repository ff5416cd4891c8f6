import PeerCore
import WhiteboardDocument

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
  /// Whether the board was changed since it was last saved.
  ///
  /// If the disk accepts no data, but the board was not changed since it was opened, the value is false.
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

  /// The problem in one sentence: the cause, then the file, then the copy if there is one.
  package var sentence: String {
    let rescued = copy.map { " All work is saved in \(UntrustedText($0).quoted(limit: 256))." } ?? ""
    return "\(headline). \(UntrustedText(message).escaped()).\(rescued)"
  }
}

/// Why a verb was not carried out, in words a person can act on.
package struct CommandError: Error, Equatable, Sendable {
  /// The kind of failure, for programs.
  package let code: Code
  /// What went wrong and what to do, for people; one line.
  package let message: String
  /// The verb as it was spelt, as far as it was understood.
  package let verb: String?
  /// The mark of the line that failed.
  package let request: RequestMark?
  /// Which line of a script failed, from 1; nil outside of scripts.
  package let line: Int?
  /// The delivery report, if the error is about a message.
  package let delivery: DeliveryReport?

  /// Makes an error.
  package init(
    _ code: Code,
    _ message: String,
    verb: String? = nil,
    request: RequestMark? = nil,
    line: Int? = nil,
    delivery: DeliveryReport? = nil
  ) {
    self.code = code
    self.message = message
    self.verb = verb
    self.request = request
    self.line = line
    self.delivery = delivery
  }

  /// The same error as the answer to a given line.
  package func answering(
    verb: String?,
    request: RequestMark?,
    line: Int? = nil
  ) -> CommandError {
    CommandError(
      code,
      message,
      verb: self.verb ?? verb,
      request: self.request ?? request,
      line: self.line ?? line,
      delivery: delivery
    )
  }

  /// The kinds of failure; the raw values are the `code` of an `error` line and never change.
  package enum Code: String, CaseIterable, Sendable {
    /// The line is not of the grammar: quoting, JSON, or not UTF-8.
    case syntax
    /// The line is longer than any verb can need.
    case lineTooLong = "line-too-long"
    /// There is no such verb.
    case unknownCommand = "unknown-verb"
    /// Something the verb needs is not there.
    case missingArgument = "missing-argument"
    /// Something is there that cannot be read as what it has to be.
    case badArgument = "bad-argument"
    /// Something is there that the verb does not take.
    case unknownArgument = "unknown-argument"
    /// The name given with `as=` belongs to another object already.
    case aliasTaken = "alias-taken"
    /// No object is called that.
    case noSuchObject = "no-such-object"
    /// More than one object, peer or invitation is called that.
    case ambiguous
    /// The object is of another kind than the verb is for.
    case wrongKind = "wrong-kind"
    /// Somebody present has the object in hand.
    case held
    /// The object is locked.
    case locked
    /// We may look at the board and not change it.
    case viewer
    /// The host removed us from the board, and our copy is read-only until `continue`.
    case removed
    /// There is no step of ours to take back.
    case nothingToUndo = "nothing-to-undo"
    /// There is no step that was taken back last.
    case nothingToRedo = "nothing-to-redo"
    /// The game refused the move.
    case gameRefused = "game-refused"
    /// There is no checkpoint with this name.
    case noSuchCheckpoint = "no-such-checkpoint"
    /// The board refuses the change.
    case refused
    /// No peer is called that.
    case noSuchPeer = "no-such-peer"
    /// There is no such invitation, or it has ended.
    case noSuchInvitation = "no-such-invitation"
    /// No transfer is called that, or it is over.
    case noSuchTransfer = "no-such-transfer"
    /// Nobody is connected, and the verb needs somebody.
    case notConnected = "not-connected"
    /// The board of the others has not arrived.
    case notSynced = "not-synced"
    /// The peer said no.
    case declined
    /// The file is not there or cannot be read.
    case fileUnreadable = "file-unreadable"
    /// The file is there already, or cannot be written.
    case fileUnwritable = "file-unwritable"
    /// The file is not a photo we can carry.
    case notAPhoto = "not-a-photo"
    /// The input exceeds the size limit.
    case tooBig = "too-big"
    /// It did not happen in time.
    case timedOut = "timed-out"
    /// It was stopped, here or there.
    case cancelled
    /// The other peer left for good.
    case peerGone = "peer-gone"
    /// The other side could not take it.
    case transferFailed = "transfer-failed"
    /// A recipient of a message did not confirm it.
    case undelivered
    /// The command was executed, but its changes could not be saved.
    case notSaved = "not-saved"
    /// The program is ending.
    case ending
    /// A fault of ours.
    case `internal`
  }
}

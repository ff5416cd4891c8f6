import PeerCore
import Whiteboard

/// The reason why a command failed, with a message for the user.
public struct CommandError: Error, Equatable, Sendable {
  /// The kind of failure, for programs.
  public let code: Code
  /// The problem and what to do about it, in one line.
  public let message: String
  /// The name of the command, as written in the line; nil if the line contains no name.
  public let verb: String?
  /// The request id of the failed command.
  public let request: RequestMark?
  /// The number of the line in a script, from 1; nil outside of scripts.
  public let line: Int?
  /// The delivery report, if the error is about a message.
  public let delivery: DeliveryReport?

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

  /// Returns the error with these details; details that are already set do not change.
  package func answering(verb: String?, request: RequestMark?, line: Int? = nil) -> CommandError {
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
  public enum Code: String, CaseIterable, Sendable {
    /// The line has malformed quotes, JSON or UTF-8.
    case syntax
    /// The line is longer than the limit.
    case lineTooLong = "line-too-long"
    /// There is no such command.
    case unknownCommand = "unknown-verb"
    /// A required argument is missing.
    case missingArgument = "missing-argument"
    /// An argument is malformed or has an invalid value.
    case badArgument = "bad-argument"
    /// The command has no such argument.
    case unknownArgument = "unknown-argument"
    /// The alias in `as=` already names another object.
    case aliasTaken = "alias-taken"
    /// No object has this id or alias.
    case noSuchObject = "no-such-object"
    /// More than one object, peer or invitation matches.
    case ambiguous
    /// The command does not apply to objects of this type.
    case wrongKind = "wrong-kind"
    /// Another member has selected the object.
    case held
    /// The object is locked.
    case locked
    /// The local peer is a viewer and cannot change the board.
    case viewer
    /// The host removed the local peer from the board, and the local copy is read-only until `continue`.
    case removed
    /// There is no step to undo.
    case nothingToUndo = "nothing-to-undo"
    /// There is no step to redo.
    case nothingToRedo = "nothing-to-redo"
    /// The game refused the move.
    case gameRefused = "game-refused"
    /// There is no checkpoint with this name.
    case noSuchCheckpoint = "no-such-checkpoint"
    /// The board refuses the change.
    case refused
    /// No peer has this id or name.
    case noSuchPeer = "no-such-peer"
    /// There is no such invitation, or it is no longer pending.
    case noSuchInvitation = "no-such-invitation"
    /// There is no such transfer, or it has ended.
    case noSuchTransfer = "no-such-transfer"
    /// No peer is connected, but the command needs a connected peer.
    case notConnected = "not-connected"
    /// The contents of the board have not arrived from another member, or there is no other member to compare with.
    case notSynced = "not-synced"
    /// The peer declined.
    case declined
    /// The file does not exist or cannot be read.
    case fileUnreadable = "file-unreadable"
    /// The file exists already, or cannot be written.
    case fileUnwritable = "file-unwritable"
    /// The file is not a photo in a supported format.
    case notAPhoto = "not-a-photo"
    /// An input exceeds its size limit.
    case tooBig = "too-big"
    /// The timeout passed.
    case timedOut = "timed-out"
    /// One of the two sides canceled the transfer.
    case cancelled
    /// The other peer left the session.
    case peerGone = "peer-gone"
    /// The other peer was unable to receive the transfer.
    case transferFailed = "transfer-failed"
    /// A recipient of a message did not confirm it.
    case undelivered
    /// The command ran, but its changes could not be saved.
    case notSaved = "not-saved"
    /// The board is closed or is being closed.
    case ending
    /// An error in this program.
    case `internal`
  }
}

extension CommandError {
  init(_ error: BoardError, name: (MemberID) -> String) {
    switch error {
    case .unknownObject(let id): self.init(.noSuchObject, "there is no object \(id)")
    case .notDeleted(let id): self.init(.refused, "\(id) is not deleted")
    case .nextToItself(let id): self.init(.badArgument, "\(id) cannot be in front of or behind itself")
    case .held(let id, let member):
      self.init(.held, "\(name(member)) has selected \(id); wait until it is free, or `take` it")
    case .locked(let id): self.init(.locked, "\(id) is locked; `unlock` it first")
    case .unfinished(let id): self.init(.held, "\(id) is still being drawn; wait until it is finished")
    case .wrongKind(let id): self.init(.wrongKind, "the command does not apply to this kind of object: \(id)")
    case .outOfRange(let what): self.init(.badArgument, "\(what) is out of range")
    case .tooLong(let what): self.init(.tooBig, "\(what) is longer than its limit")
    case .empty: self.init(.badArgument, "it is empty")
    case .tooFew(let least):
      self.init(.badArgument, "give or select at least \(least) objects; a connected line follows its objects")
    case .stackFull: self.init(.refused, "no object fits between these two objects in the stacking order")
    case .tooManyOperations: self.init(.tooBig, "the change is larger than a single step can be")
    case .nothingToUndo(let skipped): self.init(.nothingToUndo, "Nothing to undo." + EventText.skipped(skipped))
    case .nothingToRedo(let skipped): self.init(.nothingToRedo, "Nothing to redo." + EventText.skipped(skipped))
    case .gameRefused(let reason): self.init(.gameRefused, CommandError.words(reason))
    case .viewer: self.init(.viewer, "you can only view this board")
    case .boardFull: self.init(.refused, "the board is full; delete objects that are no longer needed and `purge` them")
    case .shareUsed:
      self.init(
        .refused,
        "you have reached the limit for one author on this board; delete some of your objects and `purge` them"
      )
    case .photosUsed:
      self.init(
        .refused,
        "your photos on this board would exceed \(BoardLimits.photoBytesPerAuthor >> 20) MiB, the most that "
          + "one author may have; delete some of them and `purge` them"
      )
    case .clockExhausted:
      self.init(
        .refused,
        "a property has the latest possible timestamp, so it cannot be changed; `unlock` or `take` replaces the "
          + "object with a copy that can be changed"
      )
    }
  }

  private static func words(_ reason: GameError) -> String {
    switch reason {
    case .unknownGame: "this version of the program does not know the game"
    case .malformedSetup: "the setup of this game is invalid, so it cannot be played"
    case .foreignList: "this game was started with a different word list, so it cannot be played here"
    case .unknownLanguage(let tag):
      "there is no word list for the language \(UntrustedText(tag).quoted()); use `set language en`"
    case .malformedMove: "this game does not have that move"
    case .unknownWord(let word): "\(UntrustedText(word).quoted()) is not in the word list"
    case .repeatedWord(let word): "you have guessed \(UntrustedText(word).quoted()) before; try another word"
    case .columnFull: "that column is full"
    case .notYourTurn: "it is the other player's turn"
    case .notAPlayer: "two other members play this game"
    case .gameOver: "the game is over for you"
    case .tooManyMoves: "you have no moves left in this game"
    case .moveInProgress: "one step can contain only one move of a game"
    }
  }
}

import Whiteboard

extension BoardEvent {
  /// The digest of the board.
  package struct Digest: Encodable, Sendable {
    /// The digest, in lowercase hexadecimal.
    package var digest: String
    /// The number of objects on the board.
    package var objects: Int
    /// The request id of the command.
    package var request: RequestMark?
  }

  /// The objects on the board.
  package struct Objects: Encodable, Sendable {
    /// The number of objects.
    package var count: Int
    /// The objects, from back to front.
    package var objects: [ObjectDescription]
    /// The request id of the command.
    package var request: RequestMark?
  }

  /// The description of one object.
  package struct Shown: Encodable, Sendable {
    /// The id of the object.
    package var id: String
    /// The whole object.
    package var object: ObjectDescription
    /// The request id of the command.
    package var request: RequestMark?
  }

  /// The objects at a point of the board.
  package struct Found: Encodable, Sendable {
    /// The number of objects.
    package var count: Int
    /// The objects, from front to back.
    package var objects: [ObjectDescription]
    /// The request id of the command.
    package var request: RequestMark?
  }

  /// The history of the chat.
  package struct ChatHistory: Encodable, Sendable {
    /// The number of chat lines.
    package var count: Int
    /// The chat lines, in order.
    package var lines: [Chat]
    /// The request id of the command.
    package var request: RequestMark?
  }

  /// The settings of the board.
  package struct Settings: Encodable, Sendable {
    /// The settings.
    package var settings: SettingsDescription
    /// The request id of the command.
    package var request: RequestMark?
  }

  /// The checkpoints of the board, oldest first.
  package struct Checkpoints: Encodable, Sendable {
    /// The number of checkpoints.
    package var count: Int
    /// The checkpoints.
    package var checkpoints: [CheckpointDescription]
    /// The request id of the command.
    package var request: RequestMark?
  }

  /// One checkpoint.
  package struct CheckpointDescription: Encodable, Sendable, Equatable {
    /// The name of the checkpoint.
    package var name: String
    /// The time at which the checkpoint was made, in RFC 3339 format.
    package var at: String
  }

  /// The differences between two versions of the board.
  package struct Diff: Encodable, Sendable {
    /// The earlier version.
    package var from: String
    /// The later version; nil for the current board.
    package var to: String?
    /// The number of objects that differ.
    package var count: Int
    /// The difference of each object, with the keys `change`, `id`, `type`, `before` and `after`.
    package var changes: [JSONValue]
    /// The request id of the command.
    package var request: RequestMark?
  }

  /// The answer to a command that succeeded.
  package struct Done: Encodable, Sendable {
    /// The name of the command.
    package var verb: CommandName
    /// The request id of the command.
    package var request: RequestMark?
    /// The object that the command created or changed, if the command is for one object.
    package var id: ObjectID?
    /// The objects that the command created or changed, if the command accepts several objects.
    package var ids: [ObjectID]?
    /// The ids of the transfers or streams that the command created.
    package var transfers: [String]?
    /// Whether the command changed the board; nil for commands that never do.
    package var changed: Bool?
    /// The file that `export` wrote or `import` read.
    package var file: String?
    /// The number of objects that were exported or imported.
    package var objects: Int?
    /// The label of the step that was undone or redone.
    package var step: String?
    /// The number of changes that `undo` and `redo` did not revert.
    package var skipped: Int?
    /// The number of changes that were not reverted, by reason.
    package var left: [String: Int]?
    /// The steps that `undo` and `redo` skipped, because none of their changes could be reverted.
    package var skippedSteps: [PassedStep]?
    /// The members whose boards equal the local one; only in the answer to `wait synced`.
    package var synced: [SyncedMember]?
    /// The known members that are not synced; only in the answer to `wait synced`.
    package var notSynced: [SyncedMember]?
  }

  /// A step that `undo` or `redo` skipped.
  package struct PassedStep: Encodable, Hashable, Sendable {
    /// The label of the step.
    package var step: String
    /// The reason why no change could be reverted: a key of ``Done/left``, or `unchanged`.
    package var reason: String
  }

  /// The answer to a command that failed, or to a malformed line.
  package struct Failure: Encodable, Sendable {
    /// The error code.
    package var code: String
    /// What went wrong, and what to do.
    package var message: String
    /// The name of the command.
    package var verb: String?
    /// The request id of the command.
    package var request: RequestMark?
    /// The number of the line in a script.
    package var line: Int?
    /// The recipients that confirmed a message; nil if the error is not about a message.
    package var delivered: [String]?
    /// The recipients that did not confirm the message.
    package var undelivered: [DeliveryReport.Undelivered]?
  }

  /// A note or a warning for the user.
  package struct Remark: Encodable, Sendable {
    /// The code of the note, for programs.
    package var code: String
    /// The text of the note.
    package var message: String
    /// The peer that the note or warning is about, if any.
    package var peer: String?
    /// The number of seconds by which the peer's clock is ahead; negative if it is behind.
    package var difference: Double?
    /// The id of the invitation, in a note with the code `invitation-ended` or `comparing`.
    package var invitation: String?
    /// The time at which the invitation expires, in RFC 3339 format.
    package var deadline: String?

    /// The code of the note that a request to join is no longer pending.
    package static let invitationEnded = "invitation-ended"
    /// The code of the note that an accepted peer joins when its user has confirmed the words.
    package static let comparing = "comparing"
    /// The code of the note that a file offer was declined, as configured.
    package static let fileRefused = "file-refused"
    /// The code of the warning that a received file could not be saved in the chosen folder.
    package static let fileNotSaved = "file-not-saved"
    /// The code of the warning that some of the work is not on disk.
    package static let notSaved = "not-saved"
    /// The code of the note that all work is saved on disk again.
    package static let savedAgain = "saved-again"
    /// The code of the note that all browser links were revoked.
    package static let webRevoked = "web-revoked"
    /// The code of the warning that discovery does not work on this computer.
    package static let discoveryUnavailable = "discovery-unavailable"
    /// The code of the note that the board is announced on the network.
    package static let announced = "announced"
    /// The code of the note that discovery works again.
    package static let discoveryAvailable = "discovery-available"
  }
}

extension ObjectID: Encodable {
  /// Encodes the id as its text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension RequestMark: Encodable {
  /// Encodes the request id as a string or a number, as it was received.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .word(let word): try container.encode(word)
    case .number(let number): try container.encode(number)
    }
  }
}

extension BoardEvent {
  /// Creates the answer to a failed command.
  package static func error(_ error: CommandError) -> BoardEvent {
    .error(
      Failure(
        code: error.code.rawValue,
        message: error.message,
        verb: error.verb,
        request: error.request,
        line: error.line,
        delivered: error.delivery?.delivered,
        undelivered: error.delivery?.undelivered
      )
    )
  }
}

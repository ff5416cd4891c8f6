extension BoardEvent {
  /// The digest of the board.
  package struct Digest: Encodable, Sendable {
    /// In lower-case hexadecimal.
    package var digest: String
    /// How many objects are on the board.
    package var objects: Int
    /// The mark of the verb that asked.
    package var request: RequestMark?
  }

  /// The objects on the board.
  package struct Objects: Encodable, Sendable {
    /// How many.
    package var count: Int
    /// Each of them, from back to front.
    package var objects: [ObjectDescription]
    /// The mark of the verb that asked.
    package var request: RequestMark?
  }

  /// One object whole.
  package struct Shown: Encodable, Sendable {
    /// Which.
    package var id: String
    /// The whole object.
    package var object: ObjectDescription
    /// The mark of the verb that asked.
    package var request: RequestMark?
  }

  /// The objects at a place.
  package struct Found: Encodable, Sendable {
    /// How many.
    package var count: Int
    /// Each of them, from front to back.
    package var objects: [ObjectDescription]
    /// The mark of the verb that asked.
    package var request: RequestMark?
  }

  /// What was said in the chat.
  package struct ChatHistory: Encodable, Sendable {
    /// How many lines there are.
    package var count: Int
    /// Each of them, in their order.
    package var lines: [Chat]
    /// The mark of the verb that asked.
    package var request: RequestMark?
  }

  /// The settings of the board.
  package struct Settings: Encodable, Sendable {
    /// All of them.
    package var settings: SettingsDescription
    /// The mark of the verb that asked.
    package var request: RequestMark?
  }

  /// The checkpoints of the board, oldest first.
  package struct Checkpoints: Encodable, Sendable {
    /// How many.
    package var count: Int
    /// Each of them.
    package var checkpoints: [CheckpointDescription]
    /// The mark of the verb that asked.
    package var request: RequestMark?
  }

  /// One checkpoint.
  package struct CheckpointDescription: Encodable, Sendable, Equatable {
    /// Its name.
    package var name: String
    /// When it was made, RFC 3339.
    package var at: String
  }

  /// What differs between two versions of the board.
  package struct Diff: Encodable, Sendable {
    /// The earlier one.
    package var from: String
    /// The later one; the board as it is now when absent.
    package var to: String?
    /// How many objects differ.
    package var count: Int
    /// What became of each of them: `change`, `id`, `type`, `before`, `after`.
    package var changes: [JSONValue]
    /// The mark of the verb that asked.
    package var request: RequestMark?
  }

  /// A verb has been carried out.
  package struct Done: Encodable, Sendable {
    /// Which verb.
    package var verb: String
    /// The mark of the line.
    package var request: RequestMark?
    /// The object that is new or was meant, where it is one.
    package var id: String?
    /// The objects that are new or were meant, where there may be several.
    package var ids: [String]?
    /// The transfers or streams it made.
    package var transfers: [String]?
    /// Whether it changed the board, where that is what it is for.
    package var changed: Bool?
    /// The file that was written or read, by `export` and `import`.
    package var file: String?
    /// How many objects went there or came from there.
    package var objects: Int?
    /// What was undone or made again, in a word.
    package var step: String?
    /// How many changes `undo` and `redo` left as they are.
    package var skipped: Int?
    /// Why they were left, and how many of them for each reason.
    package var left: [String: Int]?
    /// The steps that `undo` and `redo` passed over, since nothing of them could be put back.
    package var skippedSteps: [PassedStep]?
    /// The members whose boards equal the local one, for `wait synced`.
    package var synced: [SyncedMember]?
    /// The other known members, for `wait synced`.
    package var notSynced: [SyncedMember]?
  }

  /// A step that `undo` or `redo` passed over.
  package struct PassedStep: Encodable, Hashable, Sendable {
    /// What the step was, in a word.
    package var step: String
    /// Why nothing of it could be put back: a key of ``Done/left``, or `unchanged`.
    package var reason: String
  }

  /// A verb has not been carried out, or a line could not be read.
  package struct Failure: Encodable, Sendable {
    /// The kind of failure.
    package var code: String
    /// What went wrong and what to do.
    package var message: String
    /// Which verb.
    package var verb: String?
    /// The mark of the line.
    package var request: RequestMark?
    /// Which line of a script.
    package var line: Int?
    /// The recipients that confirmed a message, if others did not.
    package var delivered: [String]?
    /// The recipients that did not confirm it.
    package var undelivered: [DeliveryReport.Undelivered]?
  }

  /// Something worth knowing.
  package struct Remark: Encodable, Sendable {
    /// The kind, for programs.
    package var code: String
    /// In words.
    package var message: String
    /// The peer that the remark is about, if any.
    package var peer: String?
    /// The number of seconds by which a clock is ahead; negative if it is behind.
    package var difference: Double?
    /// The invitation that is over, of `invitation-ended`.
    package var invitation: String?

    /// The code of the note that a request to join is over.
    package static let invitationEnded = "invitation-ended"
    /// A member offered a file, and the settings refuse files.
    package static let fileRefused = "file-refused"
    /// The code of the warning that some of the work is not on disk.
    package static let notSaved = "not-saved"
    /// The code of the note that everything is on disk again.
    package static let savedAgain = "saved-again"
    /// The code of the warning that discovery does not work on this computer.
    package static let discoveryUnavailable = "discovery-unavailable"
    /// The code of the note that discovery works again.
    package static let discoveryAvailable = "discovery-available"
  }
}

extension RequestMark: Encodable {
  /// Encodes the mark as the word or number it came as.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .word(let word): try container.encode(word)
    case .number(let number): try container.encode(number)
    }
  }
}

extension BoardEvent {
  /// The answer to a verb that failed.
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

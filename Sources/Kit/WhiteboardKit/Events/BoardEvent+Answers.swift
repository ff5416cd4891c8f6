import PeerCore
import Whiteboard

extension BoardEvent {
  package struct Digest: Encodable, Sendable {
    package var digest: String
    package var objects: Int
    package var request: RequestMark?
  }

  package struct ObjectList: Encodable, Sendable {
    package var count: Int
    package var objects: [ObjectDescription]
    package var request: RequestMark?
  }

  package struct Found: Encodable, Sendable {
    package var count: Int
    package var objects: [ObjectDescription]
    /// The lines of the chat and the members that a search for words found; nil for other searches.
    package var chat: [Chat]?
    package var members: [SyncedMember]?
    package var request: RequestMark?
  }

  package struct Shown: Encodable, Sendable {
    package var id: String
    package var object: ObjectDescription
    package var request: RequestMark?
  }

  package struct ChatHistory: Encodable, Sendable {
    package var count: Int
    package var lines: [Chat]
    package var request: RequestMark?
  }

  package struct Settings: Encodable, Sendable {
    package var settings: SettingsDescription
    package var request: RequestMark?
  }

  /// The checkpoints of the board, oldest first.
  package struct Checkpoints: Encodable, Sendable {
    package var count: Int
    package var checkpoints: [CheckpointDescription]
    package var request: RequestMark?
  }

  package struct CheckpointDescription: Encodable, Sendable, Equatable {
    package var name: String
    /// The time at which the checkpoint was made, in RFC 3339 format.
    package var at: String
  }

  package struct Diff: Encodable, Sendable {
    package var from: String
    /// The later version; nil for the current board.
    package var to: String?
    package var count: Int
    /// The difference of each object, with the keys `change`, `id`, `type`, `before` and `after`.
    package var changes: [JSONTree]
    package var request: RequestMark?
  }

  package struct Done: Encodable, Sendable {
    package var verb: CommandName
    package var request: RequestMark?
    /// The object that the command created or changed, if the command is for one object.
    package var id: ObjectID?
    /// The objects that the command created or changed, if the command accepts several objects.
    package var ids: [ObjectID]?
    /// The objects that were replaced with copies; `id` and `ids` contain the copies.
    package var replaced: [CommandOutcome.ReplacedObject]?
    /// The ids of the transfers or streams that the command created.
    package var transfers: [String]?
    /// Whether the command changed the board; nil for commands that never do.
    package var changed: Bool?
    package var file: String?
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

  package struct PassedStep: Encodable, Hashable, Sendable {
    package var step: String
    /// The reason why no change could be reverted: a key of ``Done/left``, or `unchanged`.
    package var reason: String
  }

  package struct Remark: Encodable, Sendable {
    package var code: String
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
    package static let fileRefused = "file-refused"
    package static let fileNotSaved = "file-not-saved"
    package static let notSaved = "not-saved"
    package static let savedAgain = "saved-again"
    package static let webRevoked = "web-revoked"
    package static let discoveryUnavailable = "discovery-unavailable"
    package static let announced = "announced"
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

extension CommandError: Encodable {
  private enum CodingKeys: String, CodingKey { case code, message, verb, request, line, delivered, undelivered }

  /// Encodes the error with the keys of an `error` line.
  public func encode(to encoder: any Encoder) throws {
    var keys = encoder.container(keyedBy: CodingKeys.self)
    try keys.encode(code.rawValue, forKey: .code)
    try keys.encode(message, forKey: .message)
    try keys.encodeIfPresent(verb, forKey: .verb)
    try keys.encodeIfPresent(request, forKey: .request)
    try keys.encodeIfPresent(line, forKey: .line)
    try keys.encodeIfPresent(delivery?.delivered, forKey: .delivered)
    try keys.encodeIfPresent(delivery?.undelivered, forKey: .undelivered)
  }
}

import PeerCore
import Whiteboard

extension BoardEvent {
  package struct Digest: Sendable {
    package var digest: String
    package var objects: Int
    package var request: RequestMark?
  }

  package struct ObjectList: Sendable {
    package var count: Int
    package var objects: [ReportedObject]
    package var request: RequestMark?
  }

  package struct Found: Sendable {
    package var count: Int
    package var objects: [ReportedObject]
    /// The lines of the chat and the members that a search for words found; nil for other searches.
    package var chat: [Chat]?
    package var members: [SyncedMember]?
    package var request: RequestMark?
  }

  package struct Shown: Sendable {
    package var object: ReportedObject
    package var request: RequestMark?
  }

  package struct ChatHistory: Sendable {
    package var count: Int
    package var lines: [Chat]
    package var request: RequestMark?
  }

  package struct Settings: Sendable {
    package var settings: SettingsDescription
    package var request: RequestMark?
  }

  /// The checkpoints of the board, oldest first.
  package struct Checkpoints: Sendable {
    package var count: Int
    package var checkpoints: [CheckpointDescription]
    package var request: RequestMark?
  }

  package struct CheckpointDescription: Sendable, Equatable {
    package var name: String
    /// The time at which the checkpoint was made, in RFC 3339 format.
    package var at: String
  }

  package struct Diff: Sendable {
    package var from: String
    /// The later version; nil for the current board.
    package var to: String?
    package var count: Int
    /// The difference of each object, with the keys `change`, `id`, `type`, `before` and `after`.
    package var changes: [JSONTree]
    package var request: RequestMark?
  }

  package struct Done: Sendable {
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

  package struct PassedStep: Hashable, Sendable {
    package var step: String
    /// The reason why no change could be reverted: a key of ``Done/left``, or `unchanged`.
    package var reason: String
  }

  package struct Remark: Sendable {
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

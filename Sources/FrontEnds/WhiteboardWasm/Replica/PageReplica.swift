import PeerCore
import Whiteboard
import WhiteboardSync

/// The replica of a page, with the requests that the page has not answered.
final class PageReplica {
  let replica: Replica
  let signing = RequestTable<SigningID>()
  let checking = RequestTable<VerificationID>()
  /// The unfinished strokes; each is one undo step.
  var strokes: Set<ObjectID> = []
  /// The number of undo steps that the page has begun and not ended.
  var openSteps = 0
  /// For each deleted object, the time at which the deletion was first seen.
  var deletionAges = DeletionAges()

  init(_ replica: Replica) { self.replica = replica }

  /// Writes the actions of `body` to the output of the call.
  func output(_ body: (inout ActionWriter) -> Void) {
    var writer = ActionWriter(replica.board, signing, checking)
    body(&writer)
    if replica.board.takeSettingsChange() { writer.writeSettings() }
    Buffers.output = writer.bytes
  }

  func output(_ actions: [ReplicaAction]) { output { writer in for action in actions { writer.write(action) } } }

  var lastSequence: UInt64 { replica.board.state.context.last(of: replica.board.incarnation) ?? 0 }

  /// The objects that an edit concerned, and the steps that an undo or redo skipped.
  typealias EditResult = (ids: [ObjectID], skipped: [SkippedStep])

  func output(_ result: Result<EditResult, BoardError>, _ actions: [ReplicaAction], since before: UInt64) {
    output { writer in
      switch result {
      case .success(let (ids, skipped)):
        writer.write(result: ids, isChanged: lastSequence != before, skipped: skipped)
      case .failure(let error): writer.write(error)
      }
      for action in actions { writer.write(action) }
    }
  }
}

nonisolated(unsafe) var page: PageReplica?

/// The replica that ``start`` created.
var current: PageReplica {
  guard let page else { preconditionFailure("start must be called first") }
  return page
}

/// Creates a moment from the clocks of the page, in milliseconds.
func moment(_ wall: Double, _ uptime: Double) -> Moment {
  func milliseconds(_ clock: Double) -> UInt64 { UInt64(exactly: clock.rounded(.down)) ?? 0 }
  return Moment(wall: milliseconds(wall), uptime: milliseconds(uptime))
}

/// Creates the id of a member from its bytes. Returns nil unless there are exactly 32 bytes.
func member(_ bytes: some Collection<UInt8>) -> MemberID? { Bytes32(bytes).map { MemberID($0) } }

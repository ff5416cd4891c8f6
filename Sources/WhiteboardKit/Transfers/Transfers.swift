import PeerCore
import PeerSession
import Whiteboard
import WhiteboardSync

/// The resources and streams of the session: catch-up answers, photos, and the files of users.
///
/// Confined to the actor of its board.
final class Transfers {
  /// A transfer that is not finished.
  struct PendingTransfer {
    enum Kind {
      case resource(TransferID, ResourceContent)
      case stream(PeerStream)
    }

    let kind: Kind
    let name: UntrustedText
    let direction: Direction
    let peer: PeerID

    /// The contents of a resource; nil for a stream.
    var content: ResourceContent? { if case .resource(_, let content) = kind { content } else { nil } }

    /// Whether the transfer is a catch-up answer, which is not reported to the user.
    var isAnswer: Bool { content?.isAnswer ?? false }
  }

  /// An unanswered file offer of a member.
  struct FileOffer {
    let info: ResourceInfo
    /// A number that distinguishes this offer from a later offer of the same transfer.
    let number: Int
    let offeredAt: ContinuousClock.Instant
    let decision: CheckedContinuation<Bool, Never>
  }

  let runtime: BoardRuntime
  let configuration: BoardConfiguration
  let members: Members
  let persistence: Persistence
  let photos: PhotoFiles
  let publisher: ChangePublisher
  /// The open board; nil before it is open.
  private(set) weak var active: ActiveBoard?

  var session: Session? { active?.session }

  /// The transfers that are not finished.
  var pending: [TransferID: PendingTransfer] = [:]
  /// The files that outgoing transfers read.
  var sentPaths: [TransferID: String] = [:]
  /// The files that members offer and that are not answered yet.
  var offers: [TransferID: FileOffer] = [:]
  var lastOffer = 0
  /// The senders of files that the user accepted and that have not arrived.
  var acceptedFiles: [TransferID: PeerID] = [:]

  init(
    _ runtime: BoardRuntime,
    _ configuration: BoardConfiguration,
    members: Members,
    persistence: Persistence,
    photos: PhotoFiles,
    publisher: ChangePublisher
  ) {
    self.runtime = runtime
    self.configuration = configuration
    self.members = members
    self.persistence = persistence
    self.photos = photos
    self.publisher = publisher
  }

  /// Begins to transfer the resources and streams of the open board.
  func begin(on active: ActiveBoard) { self.active = active }

  /// Returns the unfinished transfer that an argument of `cancel` names; never a catch-up answer.
  ///
  /// - Throws: ``CommandError`` if no transfer or more than one matches.
  func transfer(_ word: String) throws(CommandError) -> PendingTransfer {
    var resolver = ReferenceResolver<PendingTransfer>()
    for (id, transfer) in pending where !transfer.isAnswer {
      resolver.add(id: id.text, names: [transfer.name], value: transfer)
    }
    return try resolver.find(word, what: "transfer", missing: .noSuchTransfer)
  }

  /// Cancels the transfer that an argument names, incoming or outgoing.
  ///
  /// - Throws: ``CommandError`` if no transfer or more than one matches, or the transfer has ended.
  func cancel(_ word: String, reason: String) throws(CommandError) {
    switch try transfer(word).kind {
    case .resource(let id, _):
      do throws(SessionError) { try session?.cancelResource(id, reason: reason) } catch {
        throw CommandError(.noSuchTransfer, "the transfer has already ended")
      }
    case .stream(let stream): stream.reset(code: 0)
    }
  }
}

import PeerCore
import Whiteboard

/// Answers the requests of members for changes that they lack (SYN-12, SYN-29).
final class AnswerSender {
  private let board: Board
  private let author: Author
  private let peers: MemberLinks
  private let registry: AuthorRegistry
  private let publisher: BatchPublisher
  private let actions: ActionQueue

  init(
    _ board: Board,
    _ author: Author,
    _ peers: MemberLinks,
    _ registry: AuthorRegistry,
    _ publisher: BatchPublisher,
    _ actions: ActionQueue
  ) {
    self.board = board
    self.author = author
    self.peers = peers
    self.registry = registry
    self.publisher = publisher
    self.actions = actions
  }

  /// The request replaces the member's earlier request.
  ///
  /// A viewer does not answer.
  func receive(_ request: CatchUpRequest, from member: MemberID, _ now: Moment) {
    guard author.role.mayWrite else { return }
    peers[member]?.pendingRequest = request
    answerIfDue(member, now)
  }

  func answerIfDue(_ member: MemberID, _ now: Moment) {
    guard mayAnswer, let request = peers[member]?.removeDueRequest(now.uptime) else { return }
    if request.buckets == 0, request.context.isSuperset(of: board.state.context),
      !containsRevokedChanges(request.context)
    {
      actions.queue(.nothingLacking(request.number), to: member)
      return
    }
    let answer = Answer.make(
      registry.records(lackingIn: request.context, isRepair: request.buckets != 0),
      board.state.difference(since: request.context, buckets: request.buckets),
      by: author,
      as: publisher.chain.incarnation
    )
    // Even a board within its limits can be too large for one answer. Its batches still reach the member.
    guard answer.value.count <= Answer.byteLimit else { return }
    peers[member]?.answerInFlight = request.number
    let name = ResourceDTO(
      id: author.board.description,
      type: .whiteboard,
      request: request.number,
      byteCount: answer.value.count
    )
    actions.append(.sendAnswer(answer.value, name, to: member), lacking: answer.gaps)
  }

  /// Records that the sending of an answer has ended, whether it succeeded or failed.
  func ended(_ request: UInt64, to member: MemberID) {
    guard peers[member]?.answerInFlight == request else { return }
    peers[member]?.answerInFlight = nil
  }

  /// Answers pause while too many bytes are queued for the member.
  func setBacklogged(_ member: MemberID, _ isBacklogged: Bool) { peers[member]?.isBacklogged = isBacklogged }

  /// An answer contains the records of the local incarnations, so they must be signed first.
  var mayAnswer: Bool { !author.hasUnsignedRecord }

  private func containsRevokedChanges(_ context: Context) -> Bool {
    board.state.limits.contains { context.last(of: $0.key) ?? 0 > $0.value }
  }
}

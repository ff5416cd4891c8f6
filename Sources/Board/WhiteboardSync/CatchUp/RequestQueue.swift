import PeerCore
import Whiteboard

/// A queue of the members that the replica will ask for missing changes (SYN-11). The replica asks one member at a
/// time, so that members do not all send the same answer. If an answer takes too long, the next member is asked too.
final class RequestQueue {
  private let board: Board
  private let peers: MemberLinks
  private let actions: ActionQueue
  private var waiting: [MemberID] = []

  init(_ board: Board, _ peers: MemberLinks, _ actions: ActionQueue) {
    self.board = board
    self.peers = peers
    self.actions = actions
  }

  func contains(_ member: MemberID) -> Bool { waiting.contains(member) }

  func append(_ members: some Sequence<MemberID>) { waiting += members }

  func insert(_ member: MemberID) { if !waiting.contains(member) { waiting.append(member) } }

  func remove(_ member: MemberID) { waiting.removeAll { $0 == member } }

  /// Asks the next member, unless an answer from another member is expected soon. Silent members are asked last,
  /// because their links have probably broken.
  func sendNext(_ now: Moment) {
    guard !waiting.isEmpty, peers.states.allSatisfy({ $0.requestInFlight == nil || $0.isSlow(now.uptime) }),
      let next = firstWaiting(where: { now.uptime < $0.silenceDeadline }) ?? firstWaiting(where: { _ in true })
    else { return }
    let member = waiting.remove(at: next)
    guard let request = peers[member]?.beginRequest(now.uptime) else { return }
    actions.queue(
      .request(CatchUpRequest(number: request.number, buckets: request.buckets, context: board.state.context)),
      to: member
    )
  }

  private func firstWaiting(where holds: (MemberLink) -> Bool) -> Int? {
    waiting.firstIndex { member in
      guard let peer = peers[member] else { return false }
      return peer.requestInFlight == nil && holds(peer)
    }
  }

  func giveUpRequest(to member: MemberID, _ now: Moment) {
    guard let due = peers[member]?.giveUpDeadline, now.uptime >= due else { return }
    retry(member)
  }

  func retry(_ member: MemberID) {
    peers[member]?.endRequest()
    waiting.append(member)
  }

  var nextDeadline: UInt64? {
    guard waiting.contains(where: { peers[$0]?.requestInFlight == nil }) else { return nil }
    return peers.states.compactMap { $0.slowDeadline }.max() ?? 0
  }
}

struct Turn {
  private var last: MemberID

  init(after member: MemberID) { last = member }

  /// `members` must be in ascending order.
  mutating func next(_ count: Int, of members: [MemberID]) -> [MemberID] {
    let start = members.firstIndex { $0 > last } ?? 0
    let chosen = Array((members[start...] + members[..<start]).prefix(count))
    last = chosen.last ?? last
    return chosen
  }
}

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

  /// Replaces the member's earlier request; a viewer does not answer.
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
    let records = registry.records(lackingIn: request.context, isRepair: request.buckets != 0)
    let incarnation = publisher.chain.incarnation
    if let sign = author.signature {
      peers[member]?.answerInFlight = request.number
      let copy = AnswerCopy(
        of: board.state,
        Array(records),
        for: request,
        as: incarnation,
        on: author.board,
        signedBy: sign
      )
      return actions.append(.sendAnswer(OutgoingAnswer(request.number, copy), to: member))
    }
    let difference = board.state.difference(since: request.context, buckets: request.buckets)
    let answer = Answer.make(records, difference, by: author, as: incarnation)
    // Even a board within its limits can be too large for one answer. The batches of the board still reach the member.
    guard answer.value.count <= Answer.byteLimit else { return }
    peers[member]?.answerInFlight = request.number
    let outgoing = OutgoingAnswer(request.number, encoded: answer.value, on: author.board)
    actions.append(.sendAnswer(outgoing, to: member), lacking: answer.gaps)
  }

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

import Whiteboard

/// The members that the replica will ask for changes that it lacks, in order (SYN-11).
///
/// It asks one member at a time, so that not every member sends the same answer. Only a slow answer
/// does not keep it from asking the next member.
final class RequestQueue {
  private let board: Board
  private let peers: PeerTable
  private let outbox: Outbox
  private var waiting: [MemberID] = []

  init(_ board: Board, _ peers: PeerTable, _ outbox: Outbox) {
    self.board = board
    self.peers = peers
    self.outbox = outbox
  }

  /// Whether a member waits to be asked.
  func contains(_ member: MemberID) -> Bool { waiting.contains(member) }

  /// Adds members at the end.
  func append(_ members: some Sequence<MemberID>) { waiting += members }

  /// Adds a member at the end, unless it waits already.
  func insert(_ member: MemberID) {
    if !waiting.contains(member) { waiting.append(member) }
  }

  /// Removes a member that can no longer be asked.
  func remove(_ member: MemberID) { waiting.removeAll { $0 == member } }

  /// Asks the next member, if no other answer is expected soon.
  func sendNext(_ now: Moment) {
    guard !waiting.isEmpty,
      peers.states.allSatisfy({ $0.requestInFlight == nil || $0.isSlow(now.uptime) }),
      let next = waiting.firstIndex(where: { peers[$0]?.requestInFlight == nil })
    else { return }
    let member = waiting.remove(at: next)
    guard let request = peers[member]?.beginRequest(now.uptime) else { return }
    outbox.send(
      .request(
        CatchUpRequest(
          number: request.number,
          buckets: request.buckets,
          context: board.state.context
        )
      ),
      to: member
    )
  }

  /// Gives up the request to a member if its answer makes no progress, and lets the member wait again.
  func giveUpRequest(to member: MemberID, _ now: Moment) {
    guard let due = peers[member]?.giveUpDeadline, now.uptime >= due else { return }
    retry(member)
  }

  /// Ends the request to a member, which will be asked again after the others.
  func retry(_ member: MemberID) {
    peers[member]?.endRequest()
    waiting.append(member)
  }

  /// When the next member is asked; nil if none waits.
  var nextDeadline: UInt64? {
    guard waiting.contains(where: { peers[$0]?.requestInFlight == nil }) else { return nil }
    return peers.states.compactMap(\.slowDeadline).max() ?? 0
  }
}

import Whiteboard

/// A queue of the members that the replica will ask for missing changes (SYN-11).
///
/// The replica asks one member at a time, so that members do not all send the same answer. If an answer takes too long,
/// the replica asks the next member without waiting for it.
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

  /// Adds a member at the end of the queue, unless it is already in the queue.
  func insert(_ member: MemberID) { if !waiting.contains(member) { waiting.append(member) } }

  /// Removes a member that can no longer be asked.
  func remove(_ member: MemberID) { waiting.removeAll { $0 == member } }

  /// Asks the next member, unless an answer from another member is expected soon.
  ///
  /// Members that are silent are asked last: their links have probably broken.
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

  /// Gives up the request to a member if its answer makes no progress, and adds the member to the queue again.
  func giveUpRequest(to member: MemberID, _ now: Moment) {
    guard let due = peers[member]?.giveUpDeadline, now.uptime >= due else { return }
    retry(member)
  }

  func retry(_ member: MemberID) {
    peers[member]?.endRequest()
    waiting.append(member)
  }

  /// The time when the next member is asked; nil if no member can be asked.
  var nextDeadline: UInt64? {
    guard waiting.contains(where: { peers[$0]?.requestInFlight == nil }) else { return nil }
    return peers.states.compactMap { $0.slowDeadline }.max() ?? 0
  }
}

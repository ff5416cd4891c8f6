import Whiteboard

/// Detects changes that an answer or a batch refers to, but that their connected author has not sent yet (BRD-39).
///
/// While the author of an incarnation is connected, all its changes arrive in order on the link to the author. A claim
/// about a later change is therefore either early or false.
final class ClaimCheck {
  /// The minimum time between two new incarnations that begin because of false claims, in milliseconds.
  static let renewalInterval: UInt64 = 30_000
  /// The time for which a connected author can contradict a claim, in milliseconds.
  static let doubtTimeout: UInt64 = 30_000

  /// A claim about changes that have not arrived on the author's own link.
  private struct Doubt {
    /// The time when the claim first arrived.
    let since: UInt64
    let sequence: UInt64
  }

  private let board: Board
  private let peers: MemberLinks
  private let publisher: BatchPublisher
  /// The earliest time when this replica may begin another incarnation because of false claims.
  private var nextRenewal: UInt64 = 0
  /// The claims about connected authors that are ignored for now.
  private var doubts: [Incarnation: Doubt] = [:]

  init(_ board: Board, _ peers: MemberLinks, _ publisher: BatchPublisher) {
    self.board = board
    self.peers = peers
    self.publisher = publisher
  }

  /// Returns the last sequence number of each current incarnation: the local one, and those of the connected members.
  func lastWritten(_ now: Moment) -> [Incarnation: UInt64] {
    var last = [publisher.chain.incarnation: publisher.chain.sequence]
    for peer in peers.states where !peer.isClosed && now.uptime < peer.silenceDeadline {
      guard let head = peer.link.head else { continue }
      // A waiting batch has not been applied.
      last[head.incarnation] = peer.inbox.earlyBatch.map { $0.batch.firstSequence - 1 } ?? head.sequence
    }
    return last
  }

  /// Returns the part of an answer's difference that the connected authors do not contradict.
  ///
  /// If a claim was only early, the change arrives on the author's own link. A member's claims about itself are
  /// accepted, because the member signed the answer.
  func removingContradictedClaims(from difference: Difference, by member: MemberID, _ now: Moment) -> Difference {
    let (own, local) = (peers[member]?.link.head?.incarnation, publisher.chain.incarnation)
    let written = lastWritten(now)
    doubts = doubts.filter { incarnation, doubt in written[incarnation].map { $0 < doubt.sequence } ?? false }
    let contradicted = written.filter { incarnation, last in
      guard incarnation != own, let claimed = difference.context.last(of: incarnation), claimed > last else {
        return false
      }
      if incarnation == local { return true }
      // The claim may be true, because an author can send changes to other members and not to this replica. So the
      // claim is ignored only for a limited time.
      let doubt = doubts[incarnation] ?? Doubt(since: now.uptime, sequence: claimed)
      doubts[incarnation] = doubt
      return now.uptime < doubt.since + Self.doubtTimeout
    }
    guard !contradicted.isEmpty else { return difference }
    if contradicted.keys.contains(local), now.uptime >= nextRenewal {
      // Other members may have accepted the claim while this replica was not connected to them. With a new incarnation,
      // accepting the claim does no harm.
      nextRenewal = now.uptime + Self.renewalInterval
      board.beginIncarnation()
    }
    return difference.limited(to: contradicted)
  }

  /// Returns whether a batch purges objects that their connected authors have not created yet.
  func isEarly(_ batch: Batch, _ now: Moment) -> Bool {
    guard batch.operations.contains(where: { $0.property.isPurge }) else { return false }
    let last = lastWritten(now)
    return batch.operations.contains { operation in
      let dot = operation.object.dot
      guard operation.property.isPurge, dot.incarnation != batch.author, let last = last[dot.incarnation] else {
        return false
      }
      return dot.sequence > last
    }
  }
}

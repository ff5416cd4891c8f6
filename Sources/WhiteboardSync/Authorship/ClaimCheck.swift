import Whiteboard

/// Finds claims about changes that their author has not made yet, as far as its own channel shows (BRD-39).
///
/// The author of an incarnation is the authority on it while it is connected: all that it wrote arrives on
/// its channel, in order. A claim beyond that is either early or false.
final class ClaimCheck {
  /// Milliseconds between two incarnations that are begun because of false claims.
  static let renewalInterval: UInt64 = 30_000
  /// Milliseconds for which a connected author can contradict the same claim.
  static let doubtTimeout: UInt64 = 30_000

  /// A claim that the author's own channel does not confirm.
  private struct Doubt {
    /// When the first such claim arrived.
    let since: UInt64
    /// The last sequence that was claimed then.
    let sequence: UInt64
  }

  private let board: Board
  private let peers: PeerTable
  private let publisher: BatchPublisher
  /// When this replica may next begin an incarnation because of false claims.
  private var nextRenewal: UInt64 = 0
  /// The claims about connected authors that are being left out.
  private var doubts: [Incarnation: Doubt] = [:]

  init(_ board: Board, _ peers: PeerTable, _ publisher: BatchPublisher) {
    self.board = board
    self.peers = peers
    self.publisher = publisher
  }

  /// Returns the last operation of each incarnation that is being written: the local one, and those of the
  /// connected members.
  func lastWritten(_ now: Moment) -> [Incarnation: UInt64] {
    var last = [publisher.chain.incarnation: publisher.chain.sequence]
    for peer in peers.states where !peer.isClosed && now.uptime < peer.silenceDeadline {
      guard let head = peer.link.head else { continue }
      // A batch that waits has not been applied.
      last[head.incarnation] =
        peer.inbox.earlyBatch.map { $0.batch.firstSequence - 1 } ?? head.sequence
    }
    return last
  }

  /// Returns the part of an answer's difference that its authors do not contradict.
  ///
  /// If a claim was only early, the author's own channel delivers the change. A member's claims about itself
  /// count, because it signed the answer.
  func removingContradictedClaims(
    from difference: Difference,
    by member: MemberID,
    _ now: Moment
  ) -> Difference {
    let (own, local) = (peers[member]?.link.head?.incarnation, publisher.chain.incarnation)
    let written = lastWritten(now)
    doubts = doubts.filter { incarnation, doubt in
      written[incarnation].map { $0 < doubt.sequence } ?? false
    }
    let contradicted = written.filter { incarnation, last in
      guard incarnation != own, let claimed = difference.context.last(of: incarnation),
        claimed > last
      else { return false }
      if incarnation == local { return true }
      // The claim may be true: an author can send changes to others and not to this replica. So the
      // doubt ends after a while.
      let doubt = doubts[incarnation] ?? Doubt(since: now.uptime, sequence: claimed)
      doubts[incarnation] = doubt
      return now.uptime < doubt.since + Self.doubtTimeout
    }
    guard !contradicted.isEmpty else { return difference }
    if contradicted.keys.contains(local), now.uptime >= nextRenewal {
      // Others may have accepted the claim while this replica was not connected to them. From now on
      // it does no harm to accept it.
      nextRenewal = now.uptime + Self.renewalInterval
      board.beginIncarnation()
    }
    return difference.limited(to: contradicted)
  }

  /// Whether a batch purges objects that their connected authors have not created yet.
  func isEarly(_ batch: Batch, _ now: Moment) -> Bool {
    guard batch.operations.contains(where: \.property.isPurge) else { return false }
    let last = lastWritten(now)
    return batch.operations.contains { operation in
      let dot = operation.object.dot
      guard operation.property.isPurge, dot.incarnation != batch.author,
        let last = last[dot.incarnation]
      else { return false }
      return dot.sequence > last
    }
  }
}

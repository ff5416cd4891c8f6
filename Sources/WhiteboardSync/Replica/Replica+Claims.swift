import Whiteboard

/// Claims about changes that their author has not made yet, as far as its own channel shows (BRD-39).
///
/// The author of an incarnation is the authority on it while it is connected: all that it wrote comes on
/// its channel, in order. A claim beyond that is either early or false.
extension Replica {
  /// The last operation of each incarnation that is being written: the own one, and those of the members that
  /// are connected.
  private func lastWritten(_ now: Moment) -> [Incarnation: UInt64] {
    var last = [chain.incarnation: chain.sequence]
    for peer in peers.values where !peer.isClosed && now.uptime < peer.silenceDeadline {
      guard let head = peer.link.head else { continue }
      // A batch that waits has not been applied.
      last[head.incarnation] = peer.held.map { $0.batch.batch.firstSequence - 1 } ?? head.sequence
    }
    return last
  }

  // MARK: - Answers

  /// Returns the part of an answer's difference that its authors do not contradict.
  ///
  /// If a claim was only early, the author's own channel delivers the change. A member's claims about itself
  /// count, because it signed the answer.
  func withoutClaims(
    _ difference: Difference,
    by member: MemberID,
    _ now: Moment
  ) -> Difference {
    let own = peers[member]?.link.head?.incarnation
    let written = lastWritten(now)
    doubts = doubts.filter { incarnation, doubt in
      written[incarnation].map { $0 < doubt.sequence } ?? false
    }
    let contradicted = written.filter { incarnation, last in
      guard incarnation != own, let claimed = difference.context.last(of: incarnation),
        claimed > last
      else { return false }
      if incarnation == chain.incarnation { return true }
      // An author may keep from this replica what it sends to others, so the doubt ends.
      let doubt = doubts[incarnation] ?? Doubt(since: now.uptime, sequence: claimed)
      doubts[incarnation] = doubt
      return now.uptime < doubt.since + Self.doubtPatience
    }
    guard !contradicted.isEmpty else { return difference }
    if contradicted.keys.contains(chain.incarnation), now.uptime >= nextRenewal {
      // Others may have accepted the claim while this replica was not connected to them. From now on
      // it does no harm to accept it.
      nextRenewal = now.uptime + Self.renewalInterval
      board.beginIncarnation()
    }
    return difference.limited(to: contradicted)
  }

  // MARK: - Purges

  /// Whether a batch purges objects that their connected authors have not created yet.
  private func isEarly(_ batch: Batch, _ now: Moment) -> Bool {
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

  /// Lets a batch wait, and what its member sends after it, if it is early.
  /// - Returns: Whether it waits.
  func holdIfEarly(_ encoded: EncodedBatch, of peer: PeerState, _ now: Moment) -> Bool {
    guard isEarly(encoded.batch, now) else { return false }
    peer.held = HeldMessages(batch: encoded, since: now.uptime)
    return true
  }

  /// Handles what waited and is no longer early, or waited for too long.
  ///
  /// In the latter case the early purges are left out. If the objects are created after all, the boards
  /// differ, and the repair (SYN-42) removes them.
  func releaseHeld(_ now: Moment) {
    var isProgress = peers.values.contains { $0.held != nil }
    while isProgress {
      isProgress = false
      for member in members {
        guard let peer = peers[member], let held = peer.held else { continue }
        let isOverdue = held.isFull || now.uptime >= held.deadline
        guard isOverdue || !isEarly(held.batch.batch, now) else { continue }
        isProgress = true
        let last = isOverdue ? lastWritten(now) : [:]
        peer.held = nil
        begin(now)
        handling(of: member, now) {
          try apply(held.batch, purgingWithin: last, from: member, now)
        }
        finish(from: member, now)
        for message in held.messages { received(message, from: member, now: now) }
      }
    }
  }
}

/// A batch that waits for the author of an object that it purges, and what its member sent after it.
struct HeldMessages {
  /// Milliseconds that a batch may wait.
  static let patience: UInt64 = 5000
  /// The bytes behind a batch at which it waits no longer.
  static let byteLimit = 4 << 20

  let batch: EncodedBatch
  let since: UInt64
  private(set) var messages: [[UInt8]] = []
  private var byteCount = 0

  init(batch: EncodedBatch, since: UInt64) {
    self.batch = batch
    self.since = since
  }

  /// When the batch has waited for too long.
  var deadline: UInt64 { since + Self.patience }

  /// Whether so much waits behind the batch that it waits no longer.
  var isFull: Bool { byteCount >= Self.byteLimit }

  mutating func append(_ message: [UInt8]) {
    byteCount += message.count + 64
    messages.append(message)
  }
}

/// A claim that the author's own channel does not confirm.
struct Doubt {
  /// When the first such claim came.
  let since: UInt64
  /// The last sequence that was claimed then.
  let sequence: UInt64
}

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
      last[head.incarnation] = head.sequence
    }
    return last
  }

  // MARK: - Answers

  /// Returns the part of an answer's difference that its authors do not contradict.
  ///
  /// What is left out for being early comes on the channel of its author. What a member claims of itself
  /// counts: it signed the answer.
  func withoutClaims(
    _ difference: Difference,
    by member: MemberID,
    _ now: Moment
  ) -> Difference {
    let own = peers[member]?.link.head?.incarnation
    let contradicted = lastWritten(now).filter { incarnation, last in
      incarnation != own && (difference.context.last(of: incarnation) ?? 0) > last
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

  /// Keeps a message of a member whose batch waits.
  /// - Throws: `malformed(overLimit)` if there are too many of them.
  func hold(_ bytes: [UInt8], of peer: PeerState) throws(ReplicaError) {
    guard peer.held?.append(bytes) ?? true else { throw .malformed(.overLimit("held")) }
  }

  /// Handles what waited and is no longer early, and closes the links of members whose batches waited for
  /// too long.
  func releaseHeld(_ now: Moment) {
    var isProgress = peers.values.contains { $0.held != nil }
    while isProgress {
      isProgress = false
      for member in members {
        guard let peer = peers[member], let held = peer.held else { continue }
        if isEarly(held.batch.batch, now) {
          guard now.uptime >= held.deadline else { continue }
          violated(member, .unwritten)
        } else {
          isProgress = true
          peer.held = nil
          begin(now)
          handling(of: member, now) { try apply(held.batch, from: member, now) }
          finish(from: member, now)
          for message in held.messages { received(message, from: member, now: now) }
        }
      }
    }
  }
}

/// A batch that waits for the author of an object that it purges, and what its member sent after it.
struct HeldMessages {
  /// Milliseconds that a batch may wait.
  static let patience: UInt64 = 5000
  /// The most bytes that may wait behind a batch.
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

  /// Adds a message.
  /// - Returns: Whether there was room for it.
  mutating func append(_ message: [UInt8]) -> Bool {
    byteCount += message.count + 64
    guard byteCount <= Self.byteLimit else { return false }
    messages.append(message)
    return true
  }
}

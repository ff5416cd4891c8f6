import PeerCore

/// Limits how fast a member sends to its relay, so that it never exceeds the relay's rate (RLY-14).
///
/// A lock protects a ``RateLimiter`` whose rate is a tenth lower than the relay's.
final class RelayPace: Sendable {
  private let gate: Locked<RateLimiter>

  init(_ rate: RelayRate, now: Duration) {
    gate = Locked(RateLimiter(RelayRate(copies: rate.copies / 10 * 9, bytes: rate.bytes / 10 * 9), now: now))
  }

  func charge(_ count: Int, copies: Int, now: Duration) -> Duration {
    gate.withLock { gate in
      _ = gate.charge(count, copies: copies, now: now)
      return gate.debt
    }
  }
}

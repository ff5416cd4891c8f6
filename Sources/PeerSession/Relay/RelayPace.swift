import NIOConcurrencyHelpers

/// Limits how fast a member sends to its relay, so that it never exceeds the relay's rate (RLY-14).
///
/// A lock protects a ``RateLimiter`` whose rate is a tenth lower than the relay's.
final class RelayPace: Sendable {
  private let gate: NIOLockedValueBox<RateLimiter>

  init(_ rate: RelayRate, now: Duration) {
    gate = NIOLockedValueBox(RateLimiter(RelayRate(copies: rate.copies / 10 * 9, bytes: rate.bytes / 10 * 9), now: now))
  }

  func charge(_ count: Int, copies: Int, now: Duration) -> Duration {
    gate.withLockedValue { gate in
      _ = gate.charge(count, copies: copies, now: now)
      return gate.debt
    }
  }
}

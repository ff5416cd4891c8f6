import NIOConcurrencyHelpers

/// Holds a member to what its relay passes on, so that it is never one who floods (RLY-14).
///
/// A lock around a ``RateLimiter`` that is a tenth narrower than the relay's.
final class RelayPace: Sendable {
  private let gate: NIOLockedValueBox<RateLimiter>

  init(_ rate: RelayRate, now: Duration) {
    gate = NIOLockedValueBox(
      RateLimiter(RelayRate(copies: rate.copies / 10 * 9, bytes: rate.bytes / 10 * 9), now: now)
    )
  }

  /// Counts a message of `count` bytes to so many members.
  ///
  /// - Returns: How long the sender is to wait before its next one.
  func take(_ count: Int, copies: Int, now: Duration) -> Duration {
    gate.withLockedValue { gate in
      _ = gate.take(count, copies: copies, now: now)
      return gate.debt
    }
  }
}

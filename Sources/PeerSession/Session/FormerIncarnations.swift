import NIOCore

/// The processes of one peer that another process with the same key replaced (DUP-6).
///
/// A process that restarted has ended, so it never returns. If a replaced process returns, two processes use the key at
/// the same time.
struct FormerIncarnations: Sendable, Equatable {
  /// How long a replaced process must wait before it may replace the other one.
  static let pause = TimeAmount.seconds(4)
  /// The maximum number of stored incarnations.
  private static let maximum = 16

  private var replaced: [SessionIncarnation] = []
  private var replacedAt: NIODeadline?

  /// Returns whether another process replaced this one.
  func contains(_ incarnation: SessionIncarnation) -> Bool { replaced.contains(incarnation) }

  /// Returns whether a replaced process may replace the present one now.
  func mayReturn(now: NIODeadline) -> Bool { replacedAt.map { now - $0 >= Self.pause } ?? true }

  /// Records that a process replaced another one.
  mutating func replace(_ old: SessionIncarnation, with new: SessionIncarnation, now: NIODeadline) {
    replaced.removeAll { $0 == new || $0 == old }
    replaced.append(old)
    if replaced.count > Self.maximum { replaced.removeFirst() }
    replacedAt = now
  }
}

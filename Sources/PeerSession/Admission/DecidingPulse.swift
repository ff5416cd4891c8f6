/// Decides when to send DECIDING while users decide, and when the other side has been silent for too long (ADM-15).
///
/// It does no I/O and has no clock. ``DiallerAdmission`` and ``ListenerAdmission`` each use one.
struct DecidingPulse: Sendable {
  /// The time between two DECIDING frames.
  static let interval = Duration.seconds(1)
  /// The time of silence after which the link is broken.
  ///
  /// It is longer than for an open link (LIV-2), because a broken link discards the words that users have begun to
  /// compare.
  static let silenceLimit = Duration.seconds(30)

  /// The time to call ``timePassed(now:)``.
  private(set) var due: Duration
  /// When the last frame arrived; `nil` until the other side has shown that it sends frames during this time.
  private var heardAt: Duration?

  /// Starts at `now`; `isExpected` states whether the other side has already sent DECIDING.
  init(now: Duration, isExpected: Bool = false) {
    due = now + Self.interval
    heardAt = isExpected ? now : nil
  }

  /// Records that a frame arrived.
  mutating func frameReceived(now: Duration) { heardAt = now }

  /// Returns whether the link is still alive; if so, the caller sends DECIDING.
  mutating func timePassed(now: Duration) -> Bool {
    // A stopped process cannot receive frames (LIV-2).
    if now - due >= .milliseconds(500), heardAt != nil { heardAt = now }
    due = now + Self.interval
    guard let heardAt else { return true }
    return now - heardAt < Self.silenceLimit
  }
}

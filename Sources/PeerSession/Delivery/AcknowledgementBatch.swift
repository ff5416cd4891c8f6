/// Counts the received parts that are not acknowledged yet, so that one ACK covers many (MSG-4).
struct AcknowledgementBatch: Equatable, Sendable {
  /// The decision on when to send ACK.
  enum Decision: Equatable {
    /// Do nothing: no part waits for ACK, or a timer is already running.
    case nothing
    /// Send ACK now.
    case send
    /// Start the timer of 20 ms, and then call ``timerFired()``.
    case startTimer
  }

  /// The number of parts after which ACK is sent at once.
  static let maximumParts = 256
  /// The number of bytes after which ACK is sent at once.
  static let maximumBytes = 262_144

  private var parts = 0
  private var bytes = 0
  private var isScheduled = false

  /// Whether received parts wait for ACK.
  var isOwed: Bool { parts > 0 }

  /// Handles a received part.
  ///
  /// - Parameters:
  ///   - byteCount: The number of bytes in the part.
  ///   - atOnce: Whether the sender wants an acknowledgement at once.
  mutating func received(_ byteCount: Int, atOnce: Bool) {
    parts += atOnce ? 1 + Self.maximumParts : 1
    bytes += byteCount
  }

  /// Records that all bytes available on the link were read.
  mutating func readCompleted() -> Decision {
    if parts >= Self.maximumParts || bytes >= Self.maximumBytes { return .send }
    guard isOwed, !isScheduled else { return .nothing }
    isScheduled = true
    return .startTimer
  }

  /// Handles the end of the timer.
  ///
  /// - Returns: Whether parts still wait for ACK.
  mutating func timerFired() -> Bool {
    isScheduled = false
    return isOwed
  }

  /// Records that ACK was sent, or that a new link replaced the one on which it was due.
  mutating func cleared() {
    parts = 0
    bytes = 0
  }
}

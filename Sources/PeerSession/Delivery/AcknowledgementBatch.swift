/// Counts the received parts that are not acknowledged yet, so that one ACK covers many (MSG-4).
struct AcknowledgementBatch: Equatable, Sendable {
  /// When to send ACK.
  enum Decision: Equatable {
    /// Do nothing: no part waits for ACK, or a timer is already running.
    case nothing
    /// Send ACK now.
    case send
    /// Start a 20 ms timer that calls ``timerFired()``.
    case startTimer
  }

  /// The number of parts after which ACK is sent immediately.
  static let maximumParts = 256
  /// The number of bytes after which ACK is sent immediately.
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
  ///   - atOnce: Whether the sender wants an immediate acknowledgement.
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

  /// Handles the expiry of the timer.
  ///
  /// - Returns: Whether parts still wait for ACK.
  mutating func timerFired() -> Bool {
    isScheduled = false
    return isOwed
  }

  /// Records that ACK was sent, or that a new link replaced the link on which ACK was due.
  mutating func cleared() {
    parts = 0
    bytes = 0
  }
}

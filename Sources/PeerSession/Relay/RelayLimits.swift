/// The limits on the data that a relay forwards and queues for each of its members.
public struct RelayLimits: Sendable, Equatable {
  /// The maximum number of bytes from other members that may be queued for a member, in addition to its outbox.
  ///
  /// A single message of any size may be queued. If the limit is exceeded, the member's routes end with `overrun`
  /// (RLY-12).
  public var queuedBytes = 8 << 20
  /// The rate at which the relay forwards data for one member.
  public var rate = RelayRate()
  /// How long a member may leave messages unacknowledged before the relay disconnects it (RLY-12).
  public var patience: Duration = .seconds(30)

  /// Creates limits with the defaults of `Protocol/session.md`.
  public init() {}
}

/// The amount of data that a relay forwards per second for one member.
///
/// A burst may be twice as large (RLY-14).
public struct RelayRate: Codable, Sendable, Equatable {
  /// The number of copies; a message has one copy for each recipient.
  public var copies = 5_000
  /// The total number of bytes in all copies.
  public var bytes = 64 << 20

  /// Creates a rate with the defaults of `Protocol/session.md`.
  public init() {}

  /// Creates a rate of at least one copy and one byte.
  public init(copies: Int, bytes: Int) {
    self.copies = max(1, copies)
    self.bytes = max(1, bytes)
  }

  private enum CodingKeys: String, CodingKey {
    case copies
    case bytes
  }

  /// Reads the rate in a HELLO.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    copies = try container.integer(.copies, in: 1...maximumControlInteger)
    bytes = try container.integer(.bytes, in: 1...maximumControlInteger)
  }
}

/// The amount that a relay has forwarded in a session so far.
public struct RelayTally: Sendable, Equatable {
  /// The number of copies; a message has one copy for each recipient.
  public var copies = 0
  /// The total number of bytes in all copies.
  public var bytes = 0
  /// The number of times a member's routes ended because too many bytes were queued for it (RLY-12).
  public var overruns = 0

  /// Creates a tally with all counters at zero.
  public init() {}
}

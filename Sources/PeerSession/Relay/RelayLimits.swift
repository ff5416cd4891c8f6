/// The limits of what a relay forwards and stores for each of its members.
public struct RelayLimits: Sendable, Equatable {
  /// The maximum number of bytes from other members that wait for a member, in addition to its
  /// outbox.
  ///
  /// One message of any size may wait. If more bytes wait, the member's routes end with `overrun`
  /// (RLY-12).
  public var queuedBytes = 8 << 20
  /// How much the relay forwards for one member.
  public var rate = RelayRate()
  /// How long a member with unacknowledged messages may acknowledge nothing before it is closed
  /// (RLY-12).
  public var patience: Duration = .seconds(30)

  /// Creates limits with the defaults of `Protocol/session.md`.
  public init() {}
}

/// How much a relay forwards for one member per second.
///
/// A burst may have twice as much (RLY-14).
public struct RelayRate: Codable, Sendable, Equatable {
  /// The number of copies: one for each recipient of a message.
  public var copies = 5_000
  /// The bytes of all copies.
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
  /// The number of copies: one for each recipient of a message.
  public var copies = 0
  /// Their bytes.
  public var bytes = 0
  /// How often a member's routes ended because too many bytes waited for it (RLY-12).
  public var overruns = 0

  /// Creates counters that are zero.
  public init() {}
}

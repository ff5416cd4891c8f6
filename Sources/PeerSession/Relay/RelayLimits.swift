/// The limits of what a relay forwards and stores for each of its members.
public struct RelayLimits: Sendable, Equatable {
  /// How many bytes from others wait for a member that does not read, beyond its outbox.
  ///
  /// One message of any size may wait. More ends the member's routes with `overrun` (RLY-12).
  public var queuedBytes = 8 << 20
  /// How much it passes on of what one member sends.
  public var rate = RelayRate()
  /// How long a member that is owed something may acknowledge nothing; then it is closed (RLY-12).
  public var patience: Duration = .seconds(30)

  /// The defaults of `Protocol/session.md`.
  public init() {}
}

/// How much a relay passes on, a second, of what one member sends; twice as much at once (RLY-14).
public struct RelayRate: Codable, Sendable, Equatable {
  /// Copies: one for each member that a message goes to.
  public var copies = 5_000
  /// Bytes of all copies together.
  public var bytes = 64 << 20

  /// The defaults of `Protocol/session.md`.
  public init() {}

  /// A rate of at least one copy, and one byte.
  public init(copies: Int, bytes: Int) {
    self.copies = max(1, copies)
    self.bytes = max(1, bytes)
  }

  private enum CodingKeys: String, CodingKey {
    case copies
    case bytes
  }

  /// Reads what a HELLO says.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    copies = try container.integer(.copies, in: 1...maximumControlInteger)
    bytes = try container.integer(.bytes, in: 1...maximumControlInteger)
  }
}

/// The amount that a relay has forwarded in a session so far.
public struct RelayTally: Sendable, Equatable {
  /// Copies of messages: one for each member that one went to.
  public var copies = 0
  /// Their bytes.
  public var bytes = 0
  /// How often too much waited for a member (RLY-12).
  public var overruns = 0

  /// Nothing yet.
  public init() {}
}

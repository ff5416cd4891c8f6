/// What a relay passes on and keeps for each of its members.
public struct RelayLimits: Sendable, Equatable {
  /// How many bytes from others wait for a member that does not read, beyond its outbox.
  ///
  /// One message of any size may wait. More ends the member's routes with `overrun` (RLY-12).
  public var queuedBytes = 8 << 20
  /// How many bytes a second a member may have passed on; twice as many at once (RLY-14).
  public var bytesPerSecond = 16 << 20
  /// How many messages a second a member may have passed on; twice as many at once (RLY-14).
  public var messagesPerSecond = 5_000

  /// The defaults of `Protocol/session.md`.
  public init() {}
}

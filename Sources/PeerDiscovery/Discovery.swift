/// A type that can both advertise and browse on one network.
public typealias Discovery = Advertiser & Browser

/// A type that makes boards of the local peer discoverable.
public protocol Advertiser: Sendable {
  /// Advertises while `body` runs, then withdraws the announcement.
  ///
  /// If discovery is unavailable, the advertiser emits an event instead of throwing an error. It starts to advertise as
  /// soon as discovery becomes available. The call returns after `body` has returned and the announcement is withdrawn.
  /// If the discovery system does not respond, the call returns 3 s after `body` (DSC-21). Canceling the task ends the
  /// sequence of events, and thus any loop in `body` over the events.
  ///
  /// - Parameters:
  ///   - advertisement: The service and announcement to publish.
  ///   - body: The operation to run, in the isolation of the caller. Its argument gives access to the events and lets
  ///     it update the announcement.
  /// - Returns: The result of `body`.
  /// - Throws: The error thrown by `body`.
  nonisolated(nonsending) func advertise<Result>(
    _ advertisement: Advertisement,
    _ body: nonisolated(nonsending) (Advertising) async throws -> Result
  ) async rethrows -> Result
}

/// A type that finds boards of other peers.
public protocol Browser: Sendable {
  /// Browses while `body` runs.
  ///
  /// Peers that are already announced are reported as `found`. If discovery is unavailable, the browser emits an event
  /// instead of throwing an error. Canceling the task ends the sequence of events, and thus any loop in `body` over the
  /// events.
  ///
  /// - Parameters:
  ///   - query: The services to look for.
  ///   - body: The operation to run, in the isolation of the caller, with the events.
  /// - Returns: The result of `body`.
  /// - Throws: The error thrown by `body`.
  nonisolated(nonsending) func browse<Result>(
    _ query: BrowserQuery,
    _ body: nonisolated(nonsending) (DiscoveryEvents<BrowserEvent>) async throws -> Result
  ) async rethrows -> Result
}

/// The service, port and announcement that an advertiser publishes.
public struct Advertisement: Hashable, Sendable {
  /// The DNS-SD service type to advertise.
  public let service: ServiceType
  /// The TCP port on which the local peer listens.
  public let port: UInt16
  /// The announcement of the local peer.
  public let announcement: Announcement

  /// Creates an advertisement.
  ///
  /// - Precondition: `port` is not 0.
  public init(service: ServiceType = .whiteboard, port: UInt16, announcement: Announcement) {
    precondition(port != 0, "an advertised port must not be 0")
    self.service = service
    self.port = port
    self.announcement = announcement
  }
}

/// Access to a running advertisement: its events, and a method to update it.
public struct Advertising: Sendable {
  /// The events of the advertiser.
  ///
  /// The sequence buffers only the 16 newest unread events, so it is safe not to read it.
  public let events: DiscoveryEvents<AdvertiserEvent>
  private let replace: @Sendable (Announcement) async -> Void
  private let original: Announcement

  /// Creates an advertising handle, for implementations of `Advertiser`.
  ///
  /// - Parameters:
  ///   - announcement: The announcement that is advertised first.
  ///   - events: The events of the advertiser.
  ///   - replace: A closure that publishes a new announcement in place of the previous one.
  public init(
    _ announcement: Announcement,
    events: DiscoveryEvents<AdvertiserEvent>,
    replace: @escaping @Sendable (Announcement) async -> Void
  ) {
    original = announcement
    self.events = events
    self.replace = replace
  }

  /// Publishes a changed announcement without a new registration.
  ///
  /// Browsers report `updated`. Of several changes in quick succession, only the last one is published. If discovery is
  /// unavailable, the announcement is published when discovery becomes available.
  ///
  /// - Precondition: `announcement` has the same peer, session, incarnation and role as the first one.
  public func update(_ announcement: Announcement) async {
    precondition(
      announcement.peer == original.peer && announcement.session == original.session
        && announcement.incarnation == original.incarnation && announcement.role == original.role,
      "an advertised identity cannot change; advertise again"
    )
    await replace(announcement)
  }
}

/// The services that a browser looks for.
public struct BrowserQuery: Hashable, Sendable {
  /// The DNS-SD service type to look for.
  public let service: ServiceType
  /// Whether to find only relays, which have the subtype `_relay`.
  public let relaysOnly: Bool
  /// The id of the local peer, so that the browser ignores it in every incarnation.
  public let own: AnnouncedPeerID?
  /// The peers and sessions to resolve first and forget last.
  public let preference: BrowserPreference

  /// Creates a query.
  ///
  /// - Parameters:
  ///   - service: The DNS-SD service type to look for.
  ///   - relaysOnly: Whether to find only relays.
  ///   - own: The id of the local peer, so that the browser ignores the local peer (DSC-14). `nil` means to ignore no
  ///     peer.
  ///   - preference: The peers and sessions to resolve first and forget last.
  public init(
    service: ServiceType = .whiteboard,
    relaysOnly: Bool = false,
    excluding own: AnnouncedPeerID?,
    preferring preference: BrowserPreference = BrowserPreference()
  ) {
    self.service = service
    self.relaysOnly = relaysOnly
    self.own = own
    self.preference = preference
  }
}

/// An event of an advertiser.
public enum AdvertiserEvent: Hashable, Sendable {
  /// The local peer is now discoverable under this instance name.
  case announced(InstanceName)
  /// The instance name was already in use, so the advertiser chose another one (DSC-12).
  ///
  /// The event `announced` follows.
  case renamed(from: InstanceName, to: InstanceName)
  /// The local peer is not discoverable until the event `available`.
  case unavailable(DiscoveryProblem)
  /// The discovery system became available, for the first time or again.
  case available
}

/// An event of a browser.
public enum BrowserEvent: Hashable, Sendable {
  /// A new peer was found.
  case found(DiscoveredPeer)
  /// A known peer changed its announcement or its addresses, or restarted.
  case updated(DiscoveredPeer)
  /// A known peer left or fell silent; the value describes its last known state.
  case lost(DiscoveredPeer)
  /// No peers can be found until the event `available`. Known peers are kept for 30 s.
  case unavailable(DiscoveryProblem)
  /// The discovery system became available, for the first time or again.
  case available
}

/// Something that can both advertise and browse on one network.
public typealias Discovery = Advertiser & Browser

/// Makes a board of ours discoverable.
public protocol Advertiser: Sendable {
  /// Advertises for as long as the body runs, then says goodbye.
  ///
  /// Where discovery is not possible now, that is an event and not an error, and advertising begins
  /// by itself when it becomes possible. The call returns when the body has and the goodbye is sent,
  /// or after 3 s of a system that does not answer (DSC-21). Cancelling the task ends the events,
  /// which is how a body that reads them ends.
  ///
  /// - Parameters:
  ///   - advertisement: What to publish.
  ///   - body: Runs in the caller's isolation, with the handle of what is published.
  /// - Returns: What the body returns.
  /// - Throws: What the body throws.
  nonisolated(nonsending) func advertise<Result>(
    _ advertisement: Advertisement,
    _ body: nonisolated(nonsending) (Advertising) async throws -> Result
  ) async rethrows -> Result
}

/// Finds the boards of others.
public protocol Browser: Sendable {
  /// Browses for as long as the body runs.
  ///
  /// Everybody who is there already is told as `found`. Where discovery is not possible now, that is
  /// an event and not an error. Cancelling the task ends the events, which is how a body that reads
  /// them ends.
  ///
  /// - Parameters:
  ///   - query: What to look for.
  ///   - body: Runs in the caller's isolation, with the events.
  /// - Returns: What the body returns.
  /// - Throws: What the body throws.
  nonisolated(nonsending) func browse<Result>(
    _ query: BrowserQuery,
    _ body: nonisolated(nonsending) (DiscoveryEvents<BrowserEvent>) async throws -> Result
  ) async rethrows -> Result
}

/// The contents that an advertiser publishes.
public struct Advertisement: Hashable, Sendable {
  /// The kind of service.
  public let service: ServiceType
  /// The TCP port where we listen.
  public let port: UInt16
  /// The announcement of the local peer.
  public let announcement: Announcement

  /// Joins the parts.
  ///
  /// - Precondition: the port is not 0.
  public init(service: ServiceType = .whiteboard, port: UInt16, announcement: Announcement) {
    precondition(port != 0, "an advertised port is one that somebody listens on")
    self.service = service
    self.port = port
    self.announcement = announcement
  }
}

/// The handle of what is being advertised.
public struct Advertising: Sendable {
  /// What becomes of it.
  ///
  /// The last 16 that were not read are kept; nobody need read them.
  public let events: DiscoveryEvents<AdvertiserEvent>
  private let replace: @Sendable (Announcement) async -> Void
  private let original: Announcement

  /// Makes a handle; for implementations of `Advertiser`.
  ///
  /// - Parameters:
  ///   - announcement: What is advertised first.
  ///   - events: What becomes of it.
  ///   - replace: Publishes another announcement in place of the last.
  public init(
    _ announcement: Announcement,
    events: DiscoveryEvents<AdvertiserEvent>,
    replace: @escaping @Sendable (Announcement) async -> Void
  ) {
    original = announcement
    self.events = events
    self.replace = replace
  }

  /// Publishes a changed announcement in place, without a new registration.
  ///
  /// Browsers see `updated`. Changes in quick succession are merged; the last one counts. It is
  /// remembered while discovery is unavailable.
  ///
  /// - Precondition: peer, session, incarnation and role are those that were first advertised.
  public func update(_ announcement: Announcement) async {
    precondition(
      announcement.peer == original.peer && announcement.session == original.session
        && announcement.incarnation == original.incarnation && announcement.role == original.role,
      "an advertised identity cannot change; advertise again"
    )
    await replace(announcement)
  }
}

/// The query of a browser.
public struct BrowserQuery: Hashable, Sendable {
  /// The kind of service.
  public let service: ServiceType
  /// Whether only relays are wanted, by the subtype `_relay`.
  public let relaysOnly: Bool
  /// The id of the local peer, so that it does not find itself, nor an earlier run of itself.
  public let own: AnnouncedPeerID?
  /// The peers and sessions that are resolved first and forgotten last.
  public let preference: BrowserPreference

  /// Joins the parts.
  ///
  /// - Parameters:
  ///   - service: The kind of service.
  ///   - relaysOnly: Whether only relays are wanted.
  ///   - own: Who we are (DSC-14); `nil` finds ourselves as well.
  ///   - preference: The peers and sessions that are resolved first and forgotten last.
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
  /// Others can find us now, under this name.
  case announced(InstanceName)
  /// Another service had the first name (DSC-12); `announced` follows for the second name.
  case renamed(from: InstanceName, to: InstanceName)
  /// Others cannot find us until `available`.
  case unavailable(DiscoveryProblem)
  /// The discovery system is there, for the first time or again.
  case available
}

/// An event of a browser.
public enum BrowserEvent: Hashable, Sendable {
  /// A peer was heard of that the reader does not know.
  case found(DiscoveredPeer)
  /// A known peer said something else, restarted, or is reached in other ways.
  case updated(DiscoveredPeer)
  /// A known peer said goodbye or has long been silent; the value is the last that was known.
  case lost(DiscoveredPeer)
  /// Nothing new will be heard until `available`. Known peers stay for half a minute.
  case unavailable(DiscoveryProblem)
  /// The discovery system is there, for the first time or again.
  case available
}

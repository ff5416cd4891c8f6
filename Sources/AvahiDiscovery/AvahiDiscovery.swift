public import PeerDiscovery

/// DNS-SD discovery on the local network, through the machine's Avahi daemon.
///
/// Calls into libavahi block and are not thread-safe. Each call of `advertise` or `browse` therefore has its own thread
/// and its own connection to the daemon until it returns. If the daemon is missing, stops or does not answer, the call
/// emits an event and tries to reconnect after delays of 0.2 to 5 s (DSC-21).
public struct AvahiDiscovery: Advertiser, Browser {
  private let configuration: AvahiConfiguration

  /// Creates a discovery service.
  ///
  /// Threads are started only when `advertise` or `browse` is called.
  ///
  /// - Parameter interface: The name of the only interface to use (DSC-22), or `nil` to use all. While the interface
  ///   does not exist, advertisers and browsers report `unavailable`.
  public init(interface: String? = nil) { configuration = AvahiConfiguration(interface: interface) }

  package init(configuration: AvahiConfiguration) { self.configuration = configuration }

  /// Advertises while `body` runs; see `Advertiser`.
  nonisolated(nonsending) public func advertise<Result>(
    _ advertisement: Advertisement,
    _ body: nonisolated(nonsending) (Advertising) async throws -> Result
  ) async rethrows -> Result {
    let outlet = EventOutlet(AdvertiserQueue(), push: { $0.push($1) }, pop: { $0.pop() })
    let inlet = AnnouncementInlet()
    let availability = Availability()
    let watch = StallWatch(configuration.stall) {
      if availability.becameUnavailable(.notAnswering) { outlet.push(.unavailable(.notAnswering)) }
    }
    let thread = AvahiThread(configuration: configuration, watch: watch) {
      AdvertiserDriver(advertisement, availability, inlet: inlet, outlet: outlet)
    }
    let handle = Advertising(advertisement.announcement, events: outlet.events) { announcement in
      inlet.put(announcement)
      thread.wake()
    }
    return try await thread.run(until: { try await body(handle) }, finally: outlet.finish)
  }

  /// Browses while `body` runs; see `Browser`.
  nonisolated(nonsending) public func browse<Result>(
    _ query: BrowserQuery,
    _ body: nonisolated(nonsending) (DiscoveryEvents<BrowserEvent>) async throws -> Result
  ) async rethrows -> Result {
    let outlet = EventOutlet(BrowserQueue(), push: { $0.push($1) }, pop: { $0.pop() })
    let availability = Availability()
    let watch = StallWatch(configuration.stall) {
      if availability.becameUnavailable(.notAnswering) { outlet.push(.unavailable(.notAnswering)) }
    }
    let thread = AvahiThread(configuration: configuration, watch: watch) {
      BrowserDriver(query, availability, outlet: outlet)
    }
    let events = outlet.events
    return try await thread.run(until: { try await body(events) }, finally: outlet.finish)
  }
}

public import PeerDiscovery

/// Discovery by DNS-SD on the local network, over the machine's Avahi daemon.
///
/// Each scope of `advertise` or `browse` has a thread and a connection to the daemon of its own,
/// which end with it: every call into libavahi blocks, and none is safe from two threads. Where
/// there is no daemon, or it goes away, the scope says so and keeps trying, between 0.2 and 5 seconds
/// apart (DSC-21).
public struct AvahiDiscovery: Advertiser, Browser {
  private let configuration: AvahiConfiguration

  /// Makes an advertiser and browser; nothing runs until one of its scopes does.
  ///
  /// - Parameter interface: The name of the one interface to use (DSC-22); nil for all. One that does
  ///   not exist is an `unavailable` event, until it does.
  public init(interface: String? = nil) {
    configuration = AvahiConfiguration(interface: interface)
  }

  /// Makes an advertiser and browser that reaches the daemon in another way; for tests.
  package init(configuration: AvahiConfiguration) { self.configuration = configuration }

  /// Advertises for as long as the body runs; see `Advertiser`.
  nonisolated(nonsending) public func advertise<Result>(
    _ advertisement: Advertisement,
    _ body: nonisolated(nonsending) (Advertising) async throws -> Result
  ) async rethrows -> Result {
    let outlet = EventOutlet(AdvertiserQueue(), push: { $0.push($1) }, pop: { $0.pop() })
    let inlet = AnnouncementInlet()
    let thread = AvahiThread(configuration: configuration) { [configuration] in
      AdvertiserDriver(advertisement, configuration: configuration, inlet: inlet, outlet: outlet)
    }
    let handle = Advertising(advertisement.announcement, events: outlet.events) { announcement in
      inlet.put(announcement)
      thread.wake()
    }
    return try await thread.run(until: { try await body(handle) }, finally: outlet.finish)
  }

  /// Browses for as long as the body runs; see `Browser`.
  nonisolated(nonsending) public func browse<Result>(
    _ query: BrowserQuery,
    _ body: nonisolated(nonsending) (DiscoveryEvents<BrowserEvent>) async throws -> Result
  ) async rethrows -> Result {
    let outlet = EventOutlet(BrowserQueue(), push: { $0.push($1) }, pop: { $0.pop() })
    let thread = AvahiThread(configuration: configuration) { [configuration] in
      BrowserDriver(query, configuration: configuration, outlet: outlet)
    }
    let events = outlet.events
    return try await thread.run(until: { try await body(events) }, finally: outlet.finish)
  }
}

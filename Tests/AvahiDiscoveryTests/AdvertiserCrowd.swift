import PeerDiscovery
import PeerTestKit

@testable import AvahiDiscovery

/// Many advertisers on one connection to the daemon, because the daemon limits connections per user.
final class AdvertiserCrowd: AvahiDriver {
  private let drivers: [AdvertiserDriver]

  private init(_ drivers: [AdvertiserDriver]) { self.drivers = drivers }

  var deadline: Duration? { drivers.compactMap(\.deadline).min() }

  func daemonChanged(_ daemon: AvahiDaemon, now: Duration) throws(AvahiFailure) {
    for driver in drivers { try driver.daemonChanged(daemon, now: now) }
  }

  func work(_ daemon: AvahiDaemon, now: Duration) throws(AvahiFailure) {
    for driver in drivers { try driver.work(daemon, now: now) }
  }

  func disconnected(_ problem: DiscoveryProblem, now: Duration) {
    for driver in drivers { driver.disconnected(problem, now: now) }
  }

  func idle(now: Duration) { for driver in drivers { driver.idle(now: now) } }

  func answered() { for driver in drivers { driver.answered() } }

  /// Runs the body while all advertisements are published.
  nonisolated(nonsending) static func advertise(
    _ advertisements: [Advertisement],
    _ body: nonisolated(nonsending) () async throws -> Void
  ) async throws {
    let outlets = advertisements.map { _ in EventOutlet(AdvertiserQueue(), push: { $0.push($1) }, pop: { $0.pop() }) }
    let configuration = AvahiConfiguration()
    let thread = AvahiThread(configuration: configuration, watch: StallWatch(configuration.stall) {}) {
      let drivers = zip(advertisements, outlets).map { advertisement, outlet in
        AdvertiserDriver(advertisement, Availability(), inlet: AnnouncementInlet(), outlet: outlet)
      }
      return AdvertiserCrowd(drivers)
    }
    try await thread.run(
      until: {
        for outlet in outlets { _ = try await AdvertiserProbe(outlet.events).announced() }
        try await body()
      },
      finally: { for outlet in outlets { outlet.finish() } }
    )
  }
}

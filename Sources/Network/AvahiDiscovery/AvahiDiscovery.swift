import PeerCore
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

/// Passes events from the Avahi thread to the task that reads them.
final class EventOutlet<Queue: Sendable, Event: Sendable>: Sendable {
  private let queue: Locked<Queue>
  private let pushEvent: @Sendable (inout Queue, Event) -> Void
  private let popEvent: @Sendable (inout Queue) -> Event?
  private let signal: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init(
    _ queue: Queue,
    push: @escaping @Sendable (inout Queue, Event) -> Void,
    pop: @escaping @Sendable (inout Queue) -> Event?
  ) {
    self.queue = Locked(queue)
    pushEvent = push
    popEvent = pop
    (signal, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  var events: DiscoveryEvents<Event> { DiscoveryEvents(signal: signal) { [self] in queue.withLock { popEvent(&$0) } } }

  func push(_ event: Event) {
    queue.withLock { pushEvent(&$0, event) }
    continuation.yield()
  }

  @Sendable func finish() { continuation.finish() }
}

final class AnnouncementInlet: Sendable {
  private let latest = Locked<Announcement?>(nil)

  func put(_ announcement: Announcement) { latest.withLock { $0 = announcement } }

  func take() -> Announcement? {
    latest.withLock { latest in
      defer { latest = nil }
      return latest
    }
  }
}

/// The last reported availability, which the thread that calls libavahi shares with ``StallWatch``.
final class Availability: Sendable {
  private enum State: Equatable {
    case unknown
    case available
    case unavailable(DiscoveryProblem)
  }

  private let said = Locked(State.unknown)

  func becameAvailable() -> Bool { say(.available) }

  func becameUnavailable(_ problem: DiscoveryProblem) -> Bool { say(.unavailable(problem)) }

  private func say(_ state: State) -> Bool {
    said.withLock { said in
      defer { said = state }
      return said != state
    }
  }
}

/// Reports that a call into libavahi does not return. Such a call blocks its thread for up to 25 s if the daemon or the
/// bus does not answer.
final class StallWatch: Sendable {
  private struct State {
    var timer: Task<Void, Never>?
    var isReported = false
  }

  private let limit: Duration
  private let report: @Sendable () -> Void
  private let state = Locked(State())

  /// `report` can be called on any thread.
  init(_ limit: Duration, report: @escaping @Sendable () -> Void) {
    self.limit = limit
    self.report = report
  }

  var isReported: Bool { state.withLock { $0.isReported } }

  func begin() {
    // No code awaits this task; ``end()`` cancels it.
    let timer = Task.detached { [self] in
      guard (try? await Task.sleep(for: limit)) != nil else { return }
      state.withLock { state in
        guard !Task.isCancelled else { return }
        state.isReported = true
        report()
      }
    }
    state.withLock { $0.timer = timer }
  }

  /// Cancels the timer, and returns whether a stall was reported.
  func end() -> Bool {
    state.withLock { state in
      state.timer?.cancel()
      defer { state = State() }
      return state.isReported
    }
  }
}

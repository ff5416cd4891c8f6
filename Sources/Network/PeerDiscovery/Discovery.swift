import PeerCore

/// A type that can both advertise and browse on one network.
public typealias Discovery = Advertiser & Browser

/// A type that makes boards of the local peer discoverable.
public protocol Advertiser: Sendable {
  /// Advertises while `body` runs, then withdraws the announcement.
  ///
  /// If discovery is unavailable, the advertiser emits an event instead of throwing an error. The advertiser starts to
  /// advertise as soon as discovery becomes available. The call returns after `body` has returned and the announcement
  /// is withdrawn. If the discovery system does not respond, the call returns 3 s after `body` (DSC-21). Canceling the
  /// task ends the sequence of events, and thus any loop in `body` over the events.
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
  ///   - replace: A closure that publishes a new announcement in place of the previous announcement.
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
  /// Browsers report `updated`. Of several changes in quick succession, only the last change is published. If discovery
  /// is unavailable, the announcement is published when discovery becomes available.
  ///
  /// - Precondition: `announcement` has the same peer, session, incarnation and role as the first announcement.
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
  /// The id of the local peer, which the browser ignores in every incarnation.
  public let own: AnnouncedPeerID?
  /// The peers and sessions to resolve first and forget last.
  public let preference: BrowserPreference

  /// Creates a query.
  ///
  /// - Parameters:
  ///   - service: The DNS-SD service type to look for.
  ///   - relaysOnly: Whether to find only relays.
  ///   - own: The id of the local peer, which the browser ignores (DSC-14); `nil` means to ignore no peer.
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
  /// The instance name was already in use, so the advertiser chose another name (DSC-12).
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

/// The events of an advertiser or browser, in order, for one reader.
///
/// The buffer is bounded, so a slow reader does not delay discovery. A browser merges the unread events of one peer
/// into one event with the current state of the peer (DSC-19). An advertiser buffers the last 16 events. The sequence
/// ends when the body of `advertise` or `browse` returns, or when the reading task is canceled. The sequence can be
/// read only once.
public struct DiscoveryEvents<Element: Sendable>: AsyncSequence, Sendable {
  private let signal: AsyncStream<Void>
  private let take: @Sendable () async -> Element?

  /// Creates a sequence, for implementations of `Advertiser` and `Browser`.
  ///
  /// - Parameters:
  ///   - signal: A stream that yields when the buffer may contain an event, and finishes when no more events will be
  ///     added. The stream should buffer only the newest element.
  ///   - take: A closure that removes and returns the next event in the buffer, or returns `nil` if the buffer is
  ///     empty.
  public init(signal: AsyncStream<Void>, take: @escaping @Sendable () async -> Element?) {
    self.signal = signal
    self.take = take
  }

  /// Creates an iterator over the events.
  public func makeAsyncIterator() -> Iterator { Iterator(signal: signal.makeAsyncIterator(), take: take) }

  /// An iterator over the events of an advertiser or browser.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var signal: AsyncStream<Void>.Iterator
    fileprivate let take: @Sendable () async -> Element?

    /// Waits for the next event, or returns `nil` at the end of the sequence.
    public mutating func next() async -> Element? { await next(isolation: nil) }

    /// Waits for the next event in the reader's isolation, or returns `nil` at the end of the sequence.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      while !Task.isCancelled {
        if let event = await take() { return event }
        guard await signal.next(isolation: actor) != nil else {
          // The advertiser or browser has stopped. Return the events that are still in the buffer.
          return Task.isCancelled ? nil : await take()
        }
      }
      return nil
    }
  }
}

/// The reason why the discovery system cannot find peers or publish announcements at the moment.
///
/// Sessions continue during these problems, and peers can still connect by address or join link. Implements DSC-20.
public enum DiscoveryProblem: Error, Hashable, Sendable {
  /// Avahi is not installed on this machine.
  case notInstalled
  /// The Avahi daemon is installed but not running.
  case daemonNotRunning
  /// The Avahi daemon or the D-Bus system bus is running, but does not answer.
  case notAnswering
  /// The D-Bus system bus, through which programs use Avahi, is not running.
  case busNotRunning
  /// The D-Bus system bus does not allow this program to use Avahi.
  case busRefused
  /// The Avahi daemon's configuration does not allow programs to publish services.
  case publishingDisabled
  /// The Avahi daemon has reached its limit of clients or records.
  case daemonBusy
  /// The requested network interface does not exist.
  case noSuchInterface(String)
  /// Another error from the Avahi daemon, with its code and message.
  case failed(code: Int32, reason: String)

  /// A sentence that describes the problem.
  public var summary: String {
    switch self {
    case .notInstalled: "Avahi is not installed, so peers nearby cannot be found."
    case .daemonNotRunning: "The Avahi daemon is not running, so peers nearby cannot be found."
    case .notAnswering: "The Avahi daemon does not answer, so peers nearby cannot be found."
    case .busNotRunning: "The system D-Bus is not running, so Avahi cannot be reached."
    case .busRefused: "The system D-Bus does not allow this program to use Avahi."
    case .publishingDisabled: "Avahi's configuration does not allow programs to publish services."
    case .daemonBusy: "The Avahi daemon has too many clients."
    case .noSuchInterface(let name): "There is no network interface \(UntrustedText(name).displayed)."
    case .failed(let code, let reason): "Avahi failed: \(UntrustedText(reason).displayed) (\(code))."
    }
  }

  /// A sentence that tells the user how to solve the problem.
  public var advice: String {
    switch self {
    case .notInstalled: "Install Avahi (on Debian: apt install avahi-daemon), or connect with HOST:PORT or a join link."
    case .daemonNotRunning: "Start the daemon (systemctl start avahi-daemon), or connect with HOST:PORT or a join link."
    case .notAnswering: "Restart it (systemctl restart avahi-daemon), or connect with HOST:PORT or a join link."
    case .busNotRunning: "Start D-Bus (systemctl start dbus), or connect with HOST:PORT or a join link."
    case .busRefused: "Check the policy in avahi-dbus.conf (group netdev may be needed), or connect with HOST:PORT."
    case .publishingDisabled:
      """
      Set disable-publishing=no and disable-user-service-publishing=no in \
      /etc/avahi/avahi-daemon.conf, or give others your HOST:PORT or join link.
      """
    case .daemonBusy: "Close other programs that use Avahi, or restart the daemon (systemctl restart avahi-daemon)."
    case .noSuchInterface: "List the network interfaces with: ip link."
    case .failed: "Read Avahi's log (journalctl -u avahi-daemon), or connect with HOST:PORT or a join link."
    }
  }
}

extension DiscoveryProblem: CustomStringConvertible {
  /// The description of the problem, followed by the advice.
  public var description: String { "\(summary) \(advice)" }
}

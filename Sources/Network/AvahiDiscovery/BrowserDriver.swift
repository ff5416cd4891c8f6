import CAvahi
import Glibc
import PeerDiscovery

/// Browses, and keeps a resolver open for every instance on every interface and protocol. A libavahi browser reports
/// new and removed instances, but not changes of their TXT records. Only an open resolver reports these changes. If a
/// resolver fails, a new resolver is opened. If the new resolver also fails, the peer is removed, but a resolver is
/// still opened periodically. The periodic resolver is necessary for two reasons. The daemon does not report the
/// instance again while its PTR record is cached (75 min). An open resolver sends queries less and less often.
/// Implements DSC-11, DSC-17, DSC-25 and DSC-26.
final class BrowserDriver: AvahiDriver {
  /// The daemon allows 1,024 objects for each client.
  static let maximumResolvers = 900

  /// The minimum and maximum delay before an instance that failed to resolve twice is resolved again.
  private static let shortestPause = Duration.seconds(5)
  private static let longestPause = Duration.seconds(60)

  private enum Attempt {
    case first
    case second
    case given(until: Duration, pause: Duration)

    /// Postpones the retry. The retry takes place even if the new resolver reports neither success nor failure.
    func postponed(from now: Duration) -> Attempt {
      guard case .given(_, let pause) = self else { return self }
      return .given(until: now + pause + BrowserDriver.longestPause, pause: pause)
    }

    var retry: Duration? { if case .given(let until, _) = self { until } else { nil } }
  }

  /// If this many resolvers are waiting for a result, no resolver is closed to make room.
  private static let maximumReplacing = 32

  private struct Resolving {
    let name: String
    let domain: String
    var resolver: OpaquePointer
    var attempt = Attempt.first
    var host: String?

    var isPending: Bool { host == nil && attempt.retry == nil }
  }

  private enum Note {
    case appeared(PeerTable.SightingKey, name: String, domain: String)
    case disappeared(PeerTable.SightingKey)
    case browserFailed
    case resolved(OpaquePointer, NetworkAddress, host: String, port: UInt16, txt: [[UInt8]])
    case resolverFailed(OpaquePointer)
  }

  private let query: BrowserQuery
  private let outlet: EventOutlet<BrowserQueue, BrowserEvent>
  private let availability: Availability
  private var table: PeerTable
  private var browser: OpaquePointer?
  private var resolving: [PeerTable.SightingKey: Resolving] = [:]
  private var waiting: WaitingInstances
  private var keys: [OpaquePointer: PeerTable.SightingKey] = [:]
  private var notes: [Note] = []

  init(_ query: BrowserQuery, _ availability: Availability, outlet: EventOutlet<BrowserQueue, BrowserEvent>) {
    self.query = query
    self.availability = availability
    self.outlet = outlet
    table = PeerTable(excluding: query.own, preferring: query.preference)
    waiting = WaitingInstances(query.preference)
  }

  var deadline: Duration? {
    let retries = resolving.values.compactMap(\.attempt.retry)
    return (retries + [table.deadline].compactMap(\.self)).min()
  }

  private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  func daemonChanged(_ daemon: AvahiDaemon, now: Duration) throws(AvahiFailure) {
    // Browsing does not depend on whether the daemon has chosen its host name.
    guard browser == nil else { return }
    let type = query.relaysOnly ? "_relay._sub.\(query.service.text)" : query.service.text
    browser = avahi_service_browser_new(
      daemon.client,
      daemon.interface,
      whiteboard_avahi_any_protocol,
      type,
      nil,
      AvahiLookupFlags(rawValue: 0),
      browserCalled,
      context
    )
    guard browser != nil else { throw daemon.failure }
    table.becameAvailable(now: now)
    if availability.becameAvailable() { outlet.push(.available) }
  }

  func work(_ daemon: AvahiDaemon, now: Duration) throws(AvahiFailure) {
    let notes = self.notes
    self.notes.removeAll()
    for note in notes { try handle(note, daemon, now: now) }
    for (key, known) in resolving {
      guard let due = known.attempt.retry, due <= now else { continue }
      try resolveAnew(key, known, daemon, then: known.attempt.postponed(from: now))
    }
    table.expire(now: now)
    dropEvicted(areWaiting: table.isFull)
    try resolveWaiting(daemon)
    publish()
  }

  /// Closes the resolvers of sightings that the table evicted. If `areWaiting` is true, the evicted instances wait to
  /// be resolved again. Pass false if a peer has too many sightings. Otherwise, each instance that is resolved again
  /// would displace another sighting of the same peer.
  private func dropEvicted(areWaiting: Bool) {
    for key in table.takeEvictions() {
      guard let evicted = stopResolving(key), areWaiting else { continue }
      waiting.gaveWay(key, name: evicted.name, domain: evicted.domain)
    }
  }

  /// Resolves waiting instances. Each new instance is resolved once, even if it displaces another instance (DSC-26).
  private func resolveWaiting(_ daemon: AvahiDaemon) throws(AvahiFailure) {
    while let next = waiting.next {
      if next.gaveWay {
        guard hasRoom else { return }
      } else if resolving.count >= Self.maximumResolvers {
        guard freeResolver() else { return }
      }
      waiting.remove(next.key)
      try resolve(next.key, name: next.name, domain: next.domain, daemon)
      // Resolve only one displaced instance at a time, because each may add a peer and fill the table.
      if next.gaveWay { return }
    }
  }

  /// Closes a resolver to make room, and returns whether another resolver can be opened. The resolver of an instance
  /// that is not a peer is closed first. If there is no such instance, a peer is evicted.
  private func freeResolver() -> Bool {
    let pending = resolving.values.count { $0.isPending }
    guard pending < Self.maximumReplacing else { return false }
    if let idle = resolving.first(where: { !$0.value.isPending && !table.contains($0.key) }) {
      stopResolving(idle.key)
      waiting.gaveWay(idle.key, name: idle.value.name, domain: idle.value.domain)
    } else if table.evictPeer() {
      dropEvicted(areWaiting: true)
    }
    return resolving.count < Self.maximumResolvers
  }

  func disconnected(_ problem: DiscoveryProblem, now: Duration) {
    browser = nil
    resolving.removeAll()
    waiting.removeAll()
    keys.removeAll()
    notes.removeAll()
    table.becameUnavailable(now: now)
    if availability.becameUnavailable(problem) { outlet.push(.unavailable(problem)) }
    idle(now: now)
  }

  func idle(now: Duration) {
    table.expire(now: now)
    publish()
  }

  func answered() { if browser != nil, availability.becameAvailable() { outlet.push(.available) } }

  private var hasRoom: Bool { !table.isFull && resolving.count < Self.maximumResolvers }

  private func publish() { for event in table.takeEvents() { outlet.push(event) } }

  private func handle(_ note: Note, _ daemon: AvahiDaemon, now: Duration) throws(AvahiFailure) {
    switch note {
    case .appeared(let key, let name, let domain):
      guard resolving[key] == nil else { return }
      waiting.appeared(key, name: name, domain: domain)
    case .disappeared(let key):
      waiting.remove(key)
      stopResolving(key)
      table.removed(key)
    case .browserFailed: throw daemon.failure
    case .resolved(let resolver, let address, let host, let port, let txt):
      guard let key = keys[resolver], let known = resolving[key] else { return }
      if let former = known.host, former != host {
        // An open resolver would report the new host name with the address of the old host.
        stopResolving(key)
        return try resolve(key, name: known.name, domain: known.domain, daemon)
      }
      resolving[key]?.host = host
      resolving[key]?.attempt = .first
      guard let announcement = try? Announcement.parse(strings: txt) else { return table.removed(key) }
      let endpoint = Endpoint(
        address: address,
        port: port,
        interface: NetworkInterface(index: key.interface, name: interfaceName(key.interface))
      )
      table.resolved(key, announcement, at: endpoint)
    case .resolverFailed(let resolver):
      guard let key = keys[resolver], let known = resolving[key] else { return }
      switch known.attempt {
      case .first: try resolveAnew(key, known, daemon, then: .second)
      case .second:
        resolving[key]?.attempt = .given(until: now + Self.shortestPause, pause: Self.shortestPause)
        table.removed(key)
      case .given(_, let pause):
        let next = min(pause * 2, Self.longestPause)
        resolving[key]?.attempt = .given(until: now + next, pause: next)
        table.removed(key)
      }
    }
  }

  private func resolveAnew(
    _ key: PeerTable.SightingKey,
    _ known: Resolving,
    _ daemon: AvahiDaemon,
    then attempt: Attempt
  ) throws(AvahiFailure) {
    stopResolving(key)
    try resolve(key, name: known.name, domain: known.domain, anyFamily: true, daemon)
    resolving[key]?.attempt = attempt
  }

  private func resolve(
    _ key: PeerTable.SightingKey,
    name: String,
    domain: String,
    anyFamily: Bool = false,
    _ daemon: AvahiDaemon
  ) throws(AvahiFailure) {
    let family = key.isIPv6 ? whiteboard_avahi_ipv6 : whiteboard_avahi_ipv4
    let resolver = avahi_service_resolver_new(
      daemon.client,
      AvahiIfIndex(bitPattern: key.interface),
      family,
      name,
      query.service.text,
      domain,
      anyFamily ? whiteboard_avahi_any_protocol : family,
      AvahiLookupFlags(rawValue: 0),
      resolverCalled,
      context
    )
    guard let resolver else {
      let failure = daemon.failure
      // If the daemon rejects a name that the daemon itself reported, skip only this instance.
      guard failure.code == Int32(AVAHI_ERR_DISCONNECTED) else { return }
      throw failure
    }
    resolving[key] = Resolving(name: name, domain: domain, resolver: resolver)
    keys[resolver] = key
  }

  @discardableResult private func stopResolving(_ key: PeerTable.SightingKey) -> Resolving? {
    guard let known = resolving.removeValue(forKey: key) else { return nil }
    keys[known.resolver] = nil
    avahi_service_resolver_free(known.resolver)
    return known
  }

  private func interfaceName(_ index: UInt32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { buffer in
      guard let base = buffer.baseAddress, if_indextoname(index, base) != nil else { return String(index) }
      return String(cString: base)
    }
  }

  // MARK: - Recording events in callbacks

  fileprivate func noteBrowsed(
    _ interface: AvahiIfIndex,
    _ transport: AvahiProtocol,
    _ event: AvahiBrowserEvent,
    _ name: UnsafePointer<CChar>?,
    _ domain: UnsafePointer<CChar>?
  ) {
    switch event {
    case AVAHI_BROWSER_NEW, AVAHI_BROWSER_REMOVE:
      guard let name, let domain, interface >= 0 else { return }
      let nameText = String(cString: name)
      let domainText = String(cString: domain)
      let key = PeerTable.SightingKey(
        instance: "\(nameText).\(domainText)",
        interface: UInt32(bitPattern: interface),
        isIPv6: transport == whiteboard_avahi_ipv6
      )
      notes.append(event == AVAHI_BROWSER_NEW ? .appeared(key, name: nameText, domain: domainText) : .disappeared(key))
    case AVAHI_BROWSER_FAILURE: notes.append(.browserFailed)
    default: break
    }
  }

  fileprivate func noteResolved(
    _ resolver: OpaquePointer?,
    _ event: AvahiResolverEvent,
    _ host: UnsafePointer<CChar>?,
    _ address: UnsafePointer<AvahiAddress>?,
    _ port: UInt16,
    _ txt: UnsafeMutablePointer<AvahiStringList>?
  ) {
    guard let resolver else { return }
    guard event == AVAHI_RESOLVER_FOUND, let host, let address = address.flatMap({ networkAddress($0.pointee) }) else {
      return notes.append(.resolverFailed(resolver))
    }
    notes.append(.resolved(resolver, address, host: String(cString: host), port: port, txt: strings(txt)))
  }
}

private func browserCalled(
  _: OpaquePointer?,
  _ interface: AvahiIfIndex,
  _ transport: AvahiProtocol,
  _ event: AvahiBrowserEvent,
  _ name: UnsafePointer<CChar>?,
  _: UnsafePointer<CChar>?,
  _ domain: UnsafePointer<CChar>?,
  _: AvahiLookupResultFlags,
  _ context: UnsafeMutableRawPointer?
) {
  guard let context else { return }
  Unmanaged<BrowserDriver>.fromOpaque(context).takeUnretainedValue().noteBrowsed(
    interface,
    transport,
    event,
    name,
    domain
  )
}

private func resolverCalled(
  _ resolver: OpaquePointer?,
  _: AvahiIfIndex,
  _: AvahiProtocol,
  _ event: AvahiResolverEvent,
  _: UnsafePointer<CChar>?,
  _: UnsafePointer<CChar>?,
  _: UnsafePointer<CChar>?,
  _ host: UnsafePointer<CChar>?,
  _ address: UnsafePointer<AvahiAddress>?,
  _ port: UInt16,
  _ txt: UnsafeMutablePointer<AvahiStringList>?,
  _: AvahiLookupResultFlags,
  _ context: UnsafeMutableRawPointer?
) {
  guard let context else { return }
  Unmanaged<BrowserDriver>.fromOpaque(context).takeUnretainedValue().noteResolved(
    resolver,
    event,
    host,
    address,
    port,
    txt
  )
}

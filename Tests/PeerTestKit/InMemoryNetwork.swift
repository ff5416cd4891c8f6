import PeerCore
public import PeerDiscovery

/// An in-memory network that simulates discovery over mDNS in virtual time.
///
/// Time passes only in `advance(by:)`, which processes delayed events. The network renames services after a name
/// collision, remembers silent peers for 130 s, and can simulate the faults that discovery must survive. Programs can
/// thus be tested without a daemon.
///
/// ```swift
/// let network = InMemoryNetwork(seed: 1)
/// let ada = await network.host(named: "ada")
/// let bob = await network.host(named: "bob")
/// ```
public actor InMemoryNetwork {
  /// How long a silent peer is remembered (DSC-17).
  ///
  /// The value is the lifetime of a cached SRV record, plus the duration of a failed attempt to renew the record.
  public static let silence = Duration.seconds(130)

  struct ID: Hashable, Comparable {
    let value: UInt64
    static func < (one: ID, other: ID) -> Bool { one.value < other.value }
  }

  private let latency: Duration
  private var random: SplitMix64
  private var now = Duration.zero
  private var lastID: UInt64 = 0
  private var machines: [String: Machine] = [:]
  private var registrations: [ID: Registration] = [:]
  private var departed: [ID: Registration] = [:]
  private var listeners: [ID: Listener] = [:]
  private var deliveries: [Delivery] = []

  /// Creates a network without hosts.
  ///
  /// - Parameters:
  ///   - seed: The seed for the new names that are chosen after a collision.
  ///   - latency: The delay of every announcement and withdrawal.
  public init(seed: UInt64, latency: Duration = .zero) {
    random = SplitMix64(seed: seed)
    self.latency = latency
  }

  // MARK: Hosts, faults and time

  /// Adds a working, connected host with one IPv4 and one link-local IPv6 address.
  ///
  /// - Precondition: No host has this name, and the network has fewer than 250 hosts.
  public func host(named name: String) -> InMemoryHost {
    precondition(machines[name] == nil, "every host needs its own name")
    machines[name] = Machine()
    let number = UInt8(machines.count)
    let link: [UInt8] = [0xfe, 0x80] + [UInt8](repeating: 0, count: 13) + [number]
    return InMemoryHost(
      name: name,
      interface: NetworkInterface(index: 2, name: "eth0"),
      addresses: [NetworkAddress(10, 77, 0, number)] + [NetworkAddress(bytes: link)].compactMap(\.self),
      network: self
    )
  }

  /// Makes the discovery system of a host unavailable, or available again if `problem` is `nil`.
  ///
  /// - Parameters:
  ///   - problem: The problem that the host's advertisers and browsers report.
  ///   - name: The name of the host.
  ///   - goodbye: Whether the host withdraws its announcements. If not, the other hosts remove them after ``silence``.
  public func setProblem(_ problem: DiscoveryProblem?, on name: String, goodbye: Bool = true) {
    machines[name]?.problem = problem
    for id in registrations.keys.sorted() where registrations[id]?.host.name == name {
      if let problem {
        if goodbye { sayGoodbye(id) }
        registrations[id]?.isAnnounced = false
        registrations[id]?.announcing = nil
        tell(id, .unavailable(problem))
      } else {
        tell(id, .available)
      }
    }
    for id in listeners.keys.sorted() where listeners[id]?.host.name == name { updateAvailability(of: id) }
    settle()
  }

  /// Disconnects or reconnects the network cable of a host.
  ///
  /// Disconnecting does not withdraw the host's announcements.
  ///
  /// - Parameters:
  ///   - isPlugged: Whether the cable is connected.
  ///   - name: The name of the host.
  public func setPlugged(_ isPlugged: Bool, on name: String) {
    machines[name]?.isPlugged = isPlugged
    settle()
  }

  /// Advances the time and processes all events that become due.
  public func advance(by duration: Duration) {
    let end = now + duration
    settle()
    while let next = nextDeadline, next <= end {
      now = max(now, next)
      settle()
    }
    now = end
    settle()
  }

  // MARK: Advertisers and browsers

  func register(_ advertisement: Advertisement, on host: InMemoryHost, signal: AsyncStream<Void>.Continuation) -> ID {
    let id = makeID()
    registrations[id] = Registration(
      host: host,
      service: advertisement.service,
      port: advertisement.port,
      signal: signal,
      announcement: advertisement.announcement,
      name: advertisement.announcement.instanceName
    )
    tell(id, machines[host.name]?.problem.map { .unavailable($0) } ?? .available)
    settle()
    return id
  }

  func replace(_ id: ID, with announcement: Announcement) {
    registrations[id]?.announcement = announcement
    settle()
  }

  func unregister(_ id: ID) {
    if isOnAir(id) { sayGoodbye(id) }
    departed[id] = registrations.removeValue(forKey: id)
    departed[id]?.signal.finish()
    settle()
  }

  func addBrowser(_ query: BrowserQuery, on host: InMemoryHost, signal: AsyncStream<Void>.Continuation) -> ID {
    let id = makeID()
    listeners[id] = Listener(
      host: host,
      query: query,
      signal: signal,
      table: PeerTable(excluding: query.own, preferring: query.preference)
    )
    updateAvailability(of: id)
    settle()
    return id
  }

  func removeBrowser(_ id: ID) {
    listeners.removeValue(forKey: id)?.signal.finish()
    deliveries.removeAll { $0.listener == id }
  }

  func popAdvertiserEvent(_ id: ID) -> AdvertiserEvent? { registrations[id]?.queue.pop() }

  func popBrowserEvent(_ id: ID) -> BrowserEvent? { listeners[id]?.queue.pop() }

  // MARK: Delivery

  private func makeID() -> ID {
    lastID += 1
    return ID(value: lastID)
  }

  private func tell(_ id: ID, _ event: AdvertiserEvent) {
    registrations[id]?.queue.push(event)
    registrations[id]?.signal.yield()
  }

  private func isOnAir(_ id: ID) -> Bool {
    guard let registration = registrations[id], let machine = machines[registration.host.name] else { return false }
    return registration.isAnnounced && machine.problem == nil
  }

  private func hears(_ listener: Listener, _ registration: Registration) -> Bool {
    guard let from = machines[registration.host.name], let to = machines[listener.host.name], to.problem == nil,
      listener.query.service == registration.service,
      !listener.query.relaysOnly || registration.announcement.role == .relay
    else { return false }
    return registration.host.name == listener.host.name || from.isPlugged && to.isPlugged
  }

  private func updateAvailability(of id: ID) {
    guard let listener = listeners[id], let machine = machines[listener.host.name] else { return }
    if let problem = machine.problem {
      listeners[id]?.table.becameUnavailable(now: now)
      listeners[id]?.copies.removeAll()
      deliveries.removeAll { $0.listener == id }
      listeners[id]?.queue.push(.unavailable(problem))
    } else {
      listeners[id]?.table.becameAvailable(now: now)
      listeners[id]?.queue.push(.available)
    }
    listeners[id]?.isAvailable = machine.problem == nil
    publish(id)
  }

  private var nextDeadline: Duration? {
    let tables = listeners.values.compactMap(\.table.deadline)
    let copies = listeners.values.flatMap { $0.copies.values.compactMap(\.expiry) }
    let announcements = registrations.values.compactMap(\.announcing)
    return (tables + copies + announcements + deliveries.map(\.due)).min()
  }

  /// Processes all events that are due at the current time.
  private func settle() {
    announce()
    spread()
    deliver()
    expire()
  }

  private func announce() {
    for id in registrations.keys.sorted() {
      guard let registration = registrations[id], !registration.isAnnounced,
        machines[registration.host.name]?.problem == nil
      else { continue }
      guard let due = registration.announcing else {
        registrations[id]?.announcing = now + latency
        if latency == .zero { finishAnnouncing(id) }
        continue
      }
      if due <= now { finishAnnouncing(id) }
    }
    renameMerged()
  }

  private func finishAnnouncing(_ id: ID) {
    while isNameTaken(for: id) { rename(id) }
    registrations[id]?.announcing = nil
    registrations[id]?.isAnnounced = true
    if let name = registrations[id]?.name { tell(id, .announced(name)) }
  }

  /// Renames the newer of two services whose names collide after a cable is reconnected.
  private func renameMerged() {
    for id in registrations.keys.sorted() where isOnAir(id) && isNameTaken(for: id, byOlder: true) {
      sayGoodbye(id)
      registrations[id]?.isAnnounced = false
      finishAnnouncing(id)
    }
  }

  private func isNameTaken(for id: ID, byOlder: Bool = false) -> Bool {
    guard let mine = registrations[id] else { return false }
    return registrations.contains { other, registration in
      other != id && (!byOlder || other < id) && isOnAir(other) && registration.name == mine.name
        && registration.service == mine.service
        && (registration.host.name == mine.host.name
          || machines[registration.host.name]?.isPlugged == true && machines[mine.host.name]?.isPlugged == true)
    }
  }

  private func rename(_ id: ID) {
    guard let registration = registrations[id] else { return }
    let name = InstanceName.renamed(
      peer: registration.announcement.peer,
      session: registration.announcement.session,
      using: &random
    )
    registrations[id]?.name = name
    tell(id, .renamed(from: registration.name, to: name))
  }

  /// Sends the withdrawal of an announcement to all reachable listeners.
  ///
  /// The other listeners remove the announcement after ``silence``.
  private func sayGoodbye(_ id: ID) {
    guard let registration = registrations[id] else { return }
    for (listenerID, listener) in listeners.sorted(by: { $0.key < $1.key }) where hears(listener, registration) {
      deliveries.append(Delivery(due: now + latency, registration: id, listener: listenerID, copy: nil))
    }
  }

  /// Sends each listener the announcements that it has not received yet.
  private func spread() {
    for listenerID in listeners.keys.sorted() {
      guard let listener = listeners[listenerID], listener.isAvailable else { continue }
      for (id, registration) in registrations.sorted(by: { $0.key < $1.key })
      where isOnAir(id) && hears(listener, registration) {
        let copy = Copy(announcement: registration.announcement, name: registration.name)
        let last = deliveries.last { $0.registration == id && $0.listener == listenerID }
        let known = last?.copy ?? (last == nil ? listener.copies[id] : nil)
        if let known, known.announcement == copy.announcement, known.name == copy.name {
          listeners[listenerID]?.copies[id]?.expiry = nil
          continue
        }
        deliveries.append(Delivery(due: now + latency, registration: id, listener: listenerID, copy: copy))
      }
      for (id, copy) in listener.copies where copy.expiry == nil {
        let isHeard = registrations[id].map { isOnAir(id) && hears(listener, $0) } ?? false
        let isLeaving = deliveries.contains { $0.registration == id && $0.listener == listenerID }
        if !isHeard, !isLeaving { listeners[listenerID]?.copies[id]?.expiry = now + Self.silence }
      }
    }
  }

  private func deliver() {
    let due = deliveries.filter { $0.due <= now }
    deliveries.removeAll { $0.due <= now }
    for delivery in due {
      guard let registration = registrations[delivery.registration] ?? departed[delivery.registration],
        let listener = listeners[delivery.listener], hears(listener, registration)
      else { continue }
      forget(delivery.registration, by: delivery.listener, unlessNamed: delivery.copy?.name)
      if let copy = delivery.copy {
        listeners[delivery.listener]?.copies[delivery.registration] = copy
        for address in registration.host.addresses {
          let endpoint = Endpoint(address: address, port: registration.port, interface: listener.host.interface)
          listeners[delivery.listener]?.table.resolved(
            key(copy.name, address, listener.host.interface),
            copy.announcement,
            at: endpoint
          )
        }
      }
      publish(delivery.listener)
    }
    let pending = Set(deliveries.map(\.registration))
    for id in departed.keys where !pending.contains(id) && !listeners.values.contains(where: { $0.copies[id] != nil }) {
      departed[id] = nil
    }
  }

  private func expire() {
    for id in listeners.keys.sorted() {
      for (registration, copy) in (listeners[id]?.copies ?? [:]).sorted(by: { $0.key < $1.key }) {
        if let expiry = copy.expiry, expiry <= now { forget(registration, by: id) }
      }
      listeners[id]?.table.expire(now: now)
      publish(id)
    }
  }

  private func forget(_ id: ID, by listener: ID, unlessNamed name: InstanceName? = nil) {
    guard let copy = listeners[listener]?.copies[id], copy.name != name,
      let host = (registrations[id] ?? departed[id])?.host, let interface = listeners[listener]?.host.interface
    else { return }
    listeners[listener]?.copies[id] = nil
    for address in host.addresses { listeners[listener]?.table.removed(key(copy.name, address, interface)) }
  }

  private func key(_ name: InstanceName, _ address: NetworkAddress, _ interface: NetworkInterface)
    -> PeerTable.SightingKey
  { PeerTable.SightingKey(instance: name.text, interface: interface.index, isIPv6: address.isIPv6) }

  private func publish(_ id: ID) {
    let events = listeners[id]?.table.takeEvents() ?? []
    _ = listeners[id]?.table.takeEvictions()
    for event in events { listeners[id]?.queue.push(event) }
    if (listeners[id]?.queue.count ?? 0) > 0 { listeners[id]?.signal.yield() }
  }
}

extension InMemoryNetwork {
  struct Machine {
    var problem: DiscoveryProblem?
    var isPlugged = true
  }

  struct Registration {
    let host: InMemoryHost
    let service: ServiceType
    let port: UInt16
    let signal: AsyncStream<Void>.Continuation
    var announcement: Announcement
    var name: InstanceName
    var isAnnounced = false
    var announcing: Duration?
    var queue = AdvertiserQueue()
  }

  struct Copy {
    var announcement: Announcement
    var name: InstanceName
    var expiry: Duration?
  }

  struct Listener {
    let host: InMemoryHost
    let query: BrowserQuery
    let signal: AsyncStream<Void>.Continuation
    var table: PeerTable
    var queue = BrowserQueue()
    var copies: [ID: Copy] = [:]
    var isAvailable = false
  }

  struct Delivery {
    let due: Duration
    let registration: ID
    let listener: ID
    /// The announcement, or `nil` for its withdrawal (an mDNS goodbye).
    let copy: Copy?
  }
}

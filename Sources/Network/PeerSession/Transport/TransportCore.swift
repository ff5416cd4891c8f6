import Logging
import NIOCore
import NIOPosix
import NIOSSL
import PeerCore
import PeerDiscovery
import PeerWire

/// The listener, and the state that all sessions of a process share.
///
/// Confined to the control event loop.
final class TransportCore {
  /// The number of queued bytes in the channel at which a control link is treated as full.
  static let controlWatermark = ChannelOptions.Types.WriteBufferWaterMark(low: 32_768, high: 131_072)

  let configuration: TransportConfiguration
  let eventLoop: any EventLoop
  let bulkGroup: any EventLoopGroup
  /// The threads for blocking work, such as stretching codes.
  let threads: NIOThreadPool
  let inbox: ResourceInbox
  private(set) var runs: [ObjectIdentifier: Task<Void, Never>] = [:]
  let security: LinkSecurity
  let localPeer: PeerID
  private(set) var port = 0
  var sessions: [SessionID: SessionCore] = [:]
  var joining: [ObjectIdentifier: SessionCore] = [:]
  var limiter = AttemptLimiter()
  var dialBudget = DialBudget()
  var known = KnownNames()
  /// The peers whose keys were verified at an admission by either side (LNK-3).
  var proved: Set<PeerID> = []
  var alwaysAdmitted: Set<PeerID> = []

  /// The UDP socket, on the same port as the TCP listener (7).
  private(set) var datagramChannel: (any Channel)?
  var datagramLinks: [UInt64: DatagramLink] = [:]

  private var listeners: [any Channel] = []
  private(set) lazy var interface = ListeningInterface(configuration.interface)
  var interfaceIndex: CInt = 0
  var restrictedHost: String?
  /// False until ``startAccepting()`` is called. Until then, connections wait in the system's queue. Without this wait,
  /// a program that has just restarted would refuse a dialler's session as not served, and the dialler would not dial
  /// again.
  private(set) var isAccepting = false
  /// The slots of the connections in `handshakes` (LNK-6).
  private var places = FairPlaces<ObjectIdentifier>(
    maximum: Limits.pendingConnections,
    maximumPerBlock: Limits.pendingConnectionsPerAddress,
    reserved: Limits.pendingConnectionsReserved,
    eviction: .oldest
  )
  private var handshakes: [ObjectIdentifier: ListenerHandshake] = [:]
  private var addressCache: (at: NIODeadline, addresses: [String])?
  private var nextInvitation = 0
  private(set) var isClosing = false
  private var stretching: EventLoopFuture<Void>?
  private(set) var stretchedCodes = 0
  let carriedSessions = AsyncStream.makeStream(of: CarriedSession.self)

  let neededSessions = AsyncStream.makeStream(of: SessionID.self)
  /// The sessions that this relay opens after its start, and the diallers that wait for them (HEL-2).
  private var opening: [SessionID: [() -> Void]] = [:]

  init(
    _ configuration: TransportConfiguration,
    eventLoop: any EventLoop,
    threads: TransportThreads,
    inbox: ResourceInbox
  ) throws {
    self.configuration = configuration
    self.eventLoop = eventLoop
    self.bulkGroup = threads.bulk
    self.threads = threads.files
    self.inbox = inbox
    self.security = try LinkSecurity(identity: configuration.identity)
    self.localPeer = configuration.identity.peerID
  }

  func means(on eventLoop: (any EventLoop)? = nil) -> LinkDial.Means {
    .init(
      security: security,
      eventLoop: eventLoop ?? self.eventLoop,
      localPeer: localPeer,
      timeout: TimeAmount(configuration.stepTimeout * 2)
    )
  }

  // MARK: Listening

  /// Returns the addresses to bind, in order of preference, and the ports to try.
  ///
  /// A port that is free for TCP may be in use for UDP, so port 0 is tried several times.
  static func listenPlan(_ listen: PeerAddress?) -> (hosts: [String], ports: [Int]) {
    let free = Array(repeating: 0, count: 16)
    guard let listen else {
      let first = TransportConfiguration.defaultPort
      return (["::", "0.0.0.0"], Array(first..<first + 100) + free)
    }
    return ([listen.host], listen.port == 0 ? free : [listen.port])
  }

  func serverBootstrap(on interface: CInt) -> ServerBootstrap {
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    return ServerBootstrap(group: eventLoop, childGroup: eventLoop).serverChannelOption(.backlog, value: 256)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1).restricted(to: interface).serverChannelOption(
        .autoRead,
        value: isAccepting
      ).childChannelOption(.writeBufferWaterMark, value: Self.controlWatermark).childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try bound.value.accept(channel) }
      }
  }

  func listening(on tcp: any Channel, _ udp: any Channel, port: Int) {
    listeners = [tcp]
    datagramChannel = udp
    self.port = port
  }

  func add(_ listener: any Channel) {
    guard !isClosing else { return listener.close(promise: nil) }
    listeners.append(listener)
    if isAccepting { _ = listener.setOption(.autoRead, value: true) }
  }

  private func accept(_ channel: any Channel) throws {
    let (handler, facts) = try security.makeHandler(.listener, expecting: nil)
    try accept(channel, facts) { link, _ in try channel.pipeline.syncOperations.addHandlers([handler, link]) }
  }

  /// Accepts a connection from a browser, or refuses it immediately (WEB-1).
  ///
  /// The last handler of `channel` reads and writes the bytes of the link. `origin` is the origin of the page.
  func acceptBrowser(_ channel: any Channel, origin: String) throws {
    try accept(channel, LinkFacts(), isFromBrowser: true) { link, handshake in
      let opening = WebOpening(handshake, gateway: localPeer, origin: origin)
      link.webOpening = opening
      link.delegate = opening
      try channel.pipeline.syncOperations.addHandler(link)
      opening.begin(link)
    }
  }

  private func accept(
    _ channel: any Channel,
    _ facts: LinkFacts,
    isFromBrowser: Bool = false,
    _ install: (ControlLink, ListenerHandshake) throws -> Void
  ) throws {
    let remote = channel.remoteAddress.flatMap(PeerAddress.init)
    let host = remote?.host ?? ""
    let block = AddressBlock(host: host)
    let isKnown = isAddressOfMember(host)
    guard !isClosing, places.decision(from: block, isKnown: isKnown) != .refused else {
      configuration.logger.info(
        "Connection refused because too many peers were waiting for admission.",
        metadata: ["from": "\(host)"]
      )
      throw ChannelError.connectionRefusedByLimits
    }
    let handshake = ListenerHandshake(self, host: host)
    let link = ControlLink(
      side: .listener,
      facts: facts,
      remote: remote,
      isFromBrowser: isFromBrowser,
      delegate: handshake
    )
    let id = ObjectIdentifier(handshake)
    let decision = places.enter(id, from: block, isKnown: isKnown)
    handshakes[id] = handshake
    handshake.start(link)
    do { try install(link, handshake) } catch {
      handshakeEnded(handshake)
      throw error
    }
    if case .place(let evicted?) = decision { handshakes[evicted]?.drop() }
  }

  func handshake(_ id: ObjectIdentifier) -> ListenerHandshake? { handshakes[id] }

  private func isAddressOfMember(_ host: String) -> Bool {
    sessions.values.contains { $0.directory.hasMember(at: host) }
  }

  func handshakeEnded(_ handshake: ListenerHandshake) {
    guard handshakes.removeValue(forKey: ObjectIdentifier(handshake)) != nil else { return }
    places.leave(ObjectIdentifier(handshake))
  }

  // MARK: Sessions

  func nextInvitationID() -> InvitationID {
    nextInvitation += 1
    return InvitationID(number: nextInvitation)
  }

  /// Returns the session for a dialler's HELLO; the zero id means the only session (HEL-2).
  func session(for id: SessionID) -> SessionCore? {
    if let session = sessions[id] { return session }
    guard id == .unnamed, sessions.count == 1 else { return nil }
    return sessions.values.first
  }

  func startAccepting() {
    guard !isAccepting, !listeners.isEmpty else { return }
    isAccepting = true
    for listener in listeners { _ = listener.setOption(.autoRead, value: true) }
  }

  func willOpen(_ sessions: [SessionID]) { for id in sessions { opening[id] = [] } }

  /// Returns the session that must be opened before a HELLO can be answered; `nil` if there is none.
  func openingSession(for id: SessionID) -> SessionID? {
    if opening[id] != nil { return id }
    // The zero id means the only session, so all sessions must be open.
    return id == .unnamed ? opening.keys.first : nil
  }

  func waitForOpening(of id: SessionID, then body: @escaping () -> Void) {
    if opening[id]?.isEmpty == true { neededSessions.continuation.yield(id) }
    opening[id]?.append(body)
  }

  func sessionOpened(_ id: SessionID) { for waiter in opening.removeValue(forKey: id) ?? [] { waiter() } }

  func add(_ session: SessionCore) {
    // The application of a relay calls `startAccepting()` itself, after it has restored all earlier sessions.
    if configuration.carries == nil { startAccepting() }
    if session.id == .unnamed {
      joining[ObjectIdentifier(session)] = session
    } else {
      joining[ObjectIdentifier(session)] = nil
      sessions[session.id] = session
    }
  }

  func makeCarried(_ id: SessionID, host: PeerID, _ policy: AdmissionPolicy, _ grant: RelayGrant) -> SessionCore {
    let session = SessionCore(transport: self, id: id, host: host, policy: policy)
    session.directory.hasJoined = true
    session.relaying.grant = grant
    add(session)
    return session
  }

  /// Only one key is computed at a time, because transfers use the same threads.
  func stretch(_ code: JoinCode, for session: SessionID) -> EventLoopFuture<CodeKey> {
    let (threads, eventLoop, peer) = (threads, eventLoop, localPeer)
    let key = (stretching ?? eventLoop.makeSucceededVoidFuture()).flatMap {
      threads.runIfActive(eventLoop: eventLoop) { CodeKey(code: code, session: session, listener: peer) }
    }
    stretching = key.map { _ in }.recover { _ in }
    stretchedCodes += 1
    return key
  }

  func sessionEnded(_ session: SessionCore) {
    joining[ObjectIdentifier(session)] = nil
    if sessions[session.id] === session { sessions[session.id] = nil }
  }

  func run(_ endpoint: BulkEndpoint) { run(ObjectIdentifier(endpoint)) { await endpoint.run() } }

  func run(_ id: ObjectIdentifier, _ body: @escaping @Sendable () async -> Void) {
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let loop = eventLoop
    // The transport waits for this task when it closes.
    runs[id] = Task {
      await body()
      loop.execute { bound.value.runs[id] = nil }
    }
  }

  func close() -> EventLoopFuture<Void> {
    isClosing = true
    carriedSessions.continuation.finish()
    neededSessions.continuation.finish()
    opening = [:]
    for session in Array(sessions.values) + Array(joining.values) { session.leave(.shuttingDown) }
    for handshake in handshakes.values { handshake.cancel(.shuttingDown) }
    let closed = (listeners + [datagramChannel].compactMap(\.self)).map { channel in
      channel.close(promise: nil)
      return channel.closeFuture
    }
    listeners = []
    return .andAllComplete(closed, on: eventLoop)
  }

  // MARK: Addresses and known peers

  /// Returns the addresses at which other peers can reach the local peer, best first, without scopes.
  ///
  /// The result is cached for two seconds.
  func advertisedAddresses() -> [String] {
    if let cache = addressCache, .now() - cache.at < .seconds(2) { return cache.addresses }
    listenOnInterface()
    let addresses = Array(
      LocalAddresses.current(listen: configuration.listen, interface: configuration.interface).prefix(Limits.addresses)
    )
    addressCache = (.now(), addresses)
    return addresses
  }

  func learn(_ peer: KnownPeer) {
    known[peer.peer] = peer.name.raw
    if peer.verified != .anyone { proved.insert(peer.peer) }
    if peer.isAlwaysAdmitted { alwaysAdmitted.insert(peer.peer) }
  }

  func nameWarning(_ peer: PeerID, _ name: UntrustedText) -> SessionWarning? {
    guard known[peer] == nil, let other = known.peer(named: name) else { return nil }
    return SessionWarning(
      code: SessionWarning.changedKey,
      message: "\(name) has a different key (\(peer.short)…) from the \(name) seen before"
        + " (\(other.short)…): it may be a new device, or another person with the same name.",
      peer: peer
    )
  }
}

extension ChannelError {
  /// An error that a channel initializer throws to close the connection without a message.
  fileprivate static var connectionRefusedByLimits: ChannelError { .ioOnClosedChannel }
}

extension SessionID {
  /// The placeholder that a dialler sends if it does not know the session's id (3.1).
  static let unnamed = SessionID(zero: ())

  private init(zero: Void) {
    guard let id = SessionID(bytes: Array(repeating: 0, count: Self.byteCount)) else {
      preconditionFailure("a session id has 16 bytes")
    }
    self = id
  }
}

extension TransportCore {
  /// Binds TCP and UDP to the same port and begins to listen.
  ///
  /// If the configuration names an interface, the first TCP socket is that of the loopback interface;
  /// ``listenOnInterface()`` adds the other socket.
  func bind(_ host: String, _ port: Int) -> EventLoopFuture<Void> {
    let address: SocketAddress
    do { address = try .makeScoped(host: host, port: port) } catch { return eventLoop.makeFailedFuture(error) }
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let isRestricted = interface != nil && isAny(host)
    let first = isRestricted ? ListeningInterface.loopback ?? 0 : 0
    return serverBootstrap(on: first).bind(to: address).flatMap { tcp in
      let transport = bound.value
      guard let port = tcp.localAddress?.port, let udpAddress = try? SocketAddress.makeScoped(host: host, port: port)
      else { return transport.eventLoop.makeFailedFuture(ChannelError.unknownLocalAddress) }
      let index = isRestricted ? transport.interface?.index ?? first : 0
      return transport.bindDatagrams(udpAddress, on: index).flatMap { udp in
        let transport = bound.value
        transport.listening(on: tcp, udp, port: port)
        guard isRestricted else { return transport.eventLoop.makeSucceededVoidFuture() }
        transport.restrictedHost = host
        return transport.listenOnInterface().flatMapError { error in
          udp.close().recover { _ in }.flatMapThrowing { throw error }
        }
      }.flatMapError { error in tcp.close().recover { _ in }.flatMapThrowing { throw error } }
    }
  }

  private func isAny(_ host: String) -> Bool { host == "::" || host == "0.0.0.0" }

  /// Listens on the interface that the configuration names, even after the interface was replaced.
  @discardableResult func listenOnInterface() -> EventLoopFuture<Void> {
    guard let restrictedHost, let index = interface?.index, index != interfaceIndex,
      index != ListeningInterface.loopback,
      let address = try? SocketAddress.makeScoped(host: restrictedHost, port: port)
    else { return eventLoop.makeSucceededVoidFuture() }
    interfaceIndex = index
    return serverBootstrap(on: index).bind(to: address).assumeIsolated().map { [self] in add($0) }
      .flatMapErrorThrowing { [self] error in
        interfaceIndex = 0
        throw error
      }.nonisolated()
  }
}

/// Threads shared by several transports, for a program that runs many transports.
///
/// Without shared threads, each transport has three or four threads of its own.
public struct TransportThreads: Sendable {
  let control: any EventLoopGroup
  let bulk: MultiThreadedEventLoopGroup
  let files: NIOThreadPool

  private init(count: Int, control: (any EventLoopGroup)?) {
    self.control = control ?? MultiThreadedEventLoopGroup(numberOfThreads: count)
    bulk = MultiThreadedEventLoopGroup(numberOfThreads: count)
    files = NIOThreadPool(numberOfThreads: 2)
    files.start()
    for eventLoop in bulk.makeIterator() { eventLoop.execute(preferOtherThreads) }
  }

  /// Runs `body` with new threads, which exist until `body` returns.
  ///
  /// Every transport that uses the threads must end before `body` returns.
  ///
  /// - Parameters:
  ///   - count: The number of threads of each kind: threads for links, and threads for transfers. Each session uses one
  ///     thread of each kind.
  ///   - body: The operation that uses the threads.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  public static func withThreads<Result, Failure: Error>(
    _ count: Int,
    _ body: (TransportThreads) async throws(Failure) -> Result
  ) async throws(Failure) -> Result { try await withThreads(count, links: nil, body) }

  /// If `links` is not nil, this thread serves the links.
  static func withThreads<Result, Failure: Error>(
    _ count: Int,
    links: LinkThread?,
    _ body: (TransportThreads) async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let threads = TransportThreads(count: count, control: links?.eventLoop)
    let outcome: Swift.Result<Result, Failure>
    do throws(Failure) { outcome = .success(try await body(threads)) } catch { outcome = .failure(error) }
    try? await threads.files.shutdownGracefully()
    try? await threads.bulk.shutdownGracefully()
    if links == nil { try? await threads.control.shutdownGracefully() }
    return try outcome.get()
  }
}

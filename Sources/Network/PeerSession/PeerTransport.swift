import Logging
import NIOCore
import NIOPosix
import PeerWire

/// One listening port, one identity, and the sessions of a process.
///
/// A transport exists while the body of ``withTransport(_:_:)`` runs. When that call returns or throws, every session
/// has ended and every socket is closed.
public final class PeerTransport: Sendable {
  let core: NIOLoopBound<TransportCore>
  let eventLoop: any EventLoop

  /// The sessions that hosts moved to this relay, in order.
  ///
  /// ``TransportConfiguration/carries`` accepted each of them. A session that this relay already serves is not
  /// repeated. The sequence supports one consumer and ends with the transport.
  public let carriedSessions: AsyncStream<CarriedSession>
  /// The sessions named in ``willOpen(_:)`` for which a dialler waits.
  ///
  /// The sequence supports one consumer and ends with the transport.
  public let neededSessions: AsyncStream<SessionID>
  /// The local peer's id.
  public let peerID: PeerID
  /// The local TCP and UDP port; 0 if the transport does not listen.
  public let port: Int
  /// The only interface to listen on; `nil` for all.
  package let interface: ListeningInterface?

  /// Call this initializer on the transport's event loop.
  private init(_ core: TransportCore) {
    self.core = NIOLoopBound(core, eventLoop: core.eventLoop)
    eventLoop = core.eventLoop
    carriedSessions = core.carriedSessions.stream
    neededSessions = core.neededSessions.stream
    peerID = core.localPeer
    port = core.port
    interface = core.interface
  }

  /// Listens while `body` runs.
  ///
  /// A connection waits until ``host(_:admission:name:membership:)`` or ``join(_:progress:verify:)`` has created the
  /// first session. At a relay, the connection waits until ``startAccepting()``.
  ///
  /// When `body` returns or throws, every session and transfer ends, and every socket is closed, before the call
  /// returns. Cancellation affects only `body`.
  ///
  /// - Parameters:
  ///   - configuration: The settings of the transport.
  ///   - body: The code that uses the transport. The transport must not be used after `body` has returned.
  /// - Returns: The result of `body`.
  /// - Throws: ``SessionError`` with code `system` if no port can be bound or the inbox cannot be opened, and the error
  ///   of `body`.
  public static func withTransport<Result>(
    _ configuration: TransportConfiguration,
    _ body: (PeerTransport) async throws -> Result
  ) async throws -> Result {
    if let threads = configuration.threads { return try await withTransport(configuration, on: threads, body) }
    return try await TransportThreads.withThreads(1, links: configuration.linkThread) { threads in
      try await withTransport(configuration, on: threads, body)
    }
  }

  private static func withTransport<Result>(
    _ configuration: TransportConfiguration,
    on threads: TransportThreads,
    _ body: (PeerTransport) async throws -> Result
  ) async throws -> Result {
    let outcome: Swift.Result<Result, any Error>
    do {
      let eventLoop = threads.control.next()
      let inbox = try await ResourceInbox.open(
        directory: configuration.inboxDirectory,
        quota: InboxQuota(
          total: configuration.inboxQuota,
          session: configuration.inboxQuotaPerSession,
          peer: configuration.inboxQuotaPerPeer,
          diskReserve: configuration.inboxDiskReserve
        ),
        isTemporary: configuration.isTemporaryResource ?? { @Sendable _ in false }
      )
      let core = try await eventLoop.submit {
        let core = try TransportCore(configuration, eventLoop: eventLoop, threads: threads, inbox: inbox)
        return NIOLoopBound(core, eventLoop: eventLoop)
      }.get()
      do {
        let known = await configuration.peerStore?.all ?? []
        try await eventLoop.submit { for peer in known { core.value.learn(peer) } }.get()
        if configuration.isListening { try await listen(core, eventLoop, configuration) }
        let transport = try await eventLoop.submit { PeerTransport(core.value) }.get()
        outcome = .success(try await body(transport))
      } catch { outcome = .failure(error) }
      try? await eventLoop.flatSubmit { core.value.close() }.get()
      let runs = try? await eventLoop.submit { Array(core.value.runs.values) }.get()
      for run in runs ?? [] { await run.value }
    } catch { outcome = .failure(error) }
    return try outcome.get()
  }

  private static func listen(
    _ core: NIOLoopBound<TransportCore>,
    _ eventLoop: any EventLoop,
    _ configuration: TransportConfiguration
  ) async throws {
    let (hosts, ports) = TransportCore.listenPlan(configuration.listen)
    var lastError: (any Error)?
    for port in ports {
      for host in hosts {
        do { return try await eventLoop.flatSubmit { core.value.bind(host, port) }.get() } catch { lastError = error }
      }
    }
    let place = configuration.listen.map(String.init(describing:)) ?? "any port"
    throw SessionError(
      .system,
      "Cannot listen on \(place): \(lastError.map(reason(of:)) ?? "no address"). "
        + "Choose another address with --listen ADDR:PORT."
    )
  }

  /// Returns the IP addresses at which other peers can reach the local peer, best first.
  ///
  /// There are at most 16 addresses, without port and scope.
  public func addresses() async -> [String] {
    (try? await onLoop { $0.advertisedAddresses() }) ?? []
  }

  /// Returns at most 16 IP literals without port and scope, best first, at which other peers could reach a transport.
  package static func addresses(listen: PeerAddress?, interface: String?) -> [String] {
    Array(LocalAddresses.current(listen: listen, interface: interface).prefix(Limits.addresses))
  }

  /// Returns whether a program accepts connections at one of the addresses.
  ///
  /// The connections are closed immediately.
  package static func answers(at addresses: [PeerAddress], within limit: Duration) async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
      for address in addresses {
        group.addTask {
          guard let target = try? address.socketAddress() else { return false }
          let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connectTimeout(
            TimeAmount(limit)
          )
          guard let channel = try? await bootstrap.connect(to: target).get() else { return false }
          channel.close(promise: nil)
          return true
        }
      }
      for await isAnswered in group where isAnswered { return true }
      return false
    }
  }

  /// Begins to accept connections at a relay (``TransportConfiguration/carries``).
  ///
  /// After a restart, call this method when the earlier sessions are restored or named in ``willOpen(_:)``. Otherwise,
  /// the relay would refuse sessions that are not restored yet, and the refused peers might not dial again soon. Other
  /// transports accept connections as soon as they have a session.
  public func startAccepting() async {
    try? await onLoop { $0.startAccepting() }
  }

  /// Makes the diallers of sessions wait until ``sessionOpened(_:)`` is called for the session.
  ///
  /// ``neededSessions`` reports the sessions for which a dialler waits.
  public func willOpen(_ sessions: [SessionID]) async {
    try? await onLoop { $0.willOpen(sessions) }
  }

  /// Answers the diallers that wait for a session, whether or not the session can be served.
  ///
  /// Does nothing for a session that ``willOpen(_:)`` did not name.
  public func sessionOpened(_ session: SessionID) async {
    try? await onLoop { $0.sessionOpened(session) }
  }

  /// Creates a session with the local peer as its host, and admits peers according to `admission`.
  ///
  /// - Parameters:
  ///   - id: The session's id; pass the previous id to continue a session.
  ///   - admission: The admission policy.
  ///   - name: The name of the session, truncated to 128 bytes. Peers receive the name when they join.
  ///   - membership: The stored membership (MEM-7). The host that the record names remains the host. If another peer
  ///     created the session, the local peer continues as a member and dials the other members.
  /// - Returns: The session, with no other peer in it yet.
  /// - Throws: `internalError` if this process already serves that session.
  public func host(_ id: SessionID, admission: AdmissionPolicy, name: String = "", membership: MembershipRecord? = nil)
    async throws(SessionError) -> Session
  {
    try await host(id, admission: admission, hosting: nil, name: name, membership: membership)
  }

  /// If `hosting` is not nil, members learn from the start how the local peer admits newcomers.
  package func host(
    _ id: SessionID,
    admission: AdmissionPolicy,
    hosting: HostAdmission?,
    name: String,
    membership: MembershipRecord?
  ) async throws(SessionError) -> Session {
    let peer = peerID
    return try await onLoop { transport in
      guard transport.sessions[id] == nil else {
        throw SessionError(.internalError, "This process already serves the session.")
      }
      let session = SessionCore(transport: transport, id: id, host: peer, policy: admission)
      session.name = .sessionName(name)
      session.directory.hasJoined = true
      if let membership { session.directory.restore(membership) }
      session.admission.hosting = hosting
      session.admission.hostIfOwn()
      session.relaying.chooseTopology()
      transport.add(session)
      // The stored membership may name another peer as the host.
      session.publish()
      return Session(session)
    }
  }

  /// Resumes relaying another host's session after this relay restarts.
  ///
  /// - Parameters:
  ///   - id: The session's id.
  ///   - admission: The latest admission policy of the host.
  ///   - host: The host.
  ///   - grant: The host's grant for this relay (``CarryRequest/grant``).
  ///   - membership: The stored membership (MEM-7).
  /// - Returns: The session, with no other peer in it yet.
  /// - Throws: `notCarried` if the host did not issue the grant for this relay and session, or if
  ///   ``TransportConfiguration/isRelay`` is not set; `internalError` if this process already serves that session.
  public func host(
    _ id: SessionID,
    admission: AdmissionPolicy,
    host: PeerID,
    grant: RelayGrant,
    membership: MembershipRecord? = nil
  ) async throws(SessionError) -> Session {
    try await onLoop { transport in
      guard transport.configuration.isRelay, grant.isValid(session: id, host: host, relay: transport.localPeer) else {
        throw SessionError(.notCarried, "The host's grant is not for this relay and session.")
      }
      guard transport.sessions[id] == nil else {
        throw SessionError(.internalError, "This process already serves the session.")
      }
      let session = transport.makeCarried(id, host: host, admission, grant)
      if let membership { session.directory.restore(membership) }
      return Session(session)
    }
  }

  /// Requests to join a session, and waits until the local peer is admitted.
  ///
  /// - Parameters:
  ///   - request: The address of the host, and the known facts about the host.
  ///   - progress: Receives each step of the attempt. The closure is called on an event loop and must not block.
  ///   - verify: Receives the verification words when the host asks its user. If the local user must compare the words,
  ///     `verify` returns whether they match, and the session starts only after that (ADM-8). Otherwise, the result is
  ///     ignored. The call may take as long as the request's timeout. Its task is canceled if the handshake ends first.
  /// - Returns: The session, with the host in it. Other members follow as events.
  /// - Throws: `unreachable`; `wrongPeer` or `selfDialled` if the key differs from the named key; `notVerified` if the
  ///   host gives no proof or the words differ; `wrongCode`, `lockedOut`, `declined`, `timedOut`, `full`, `busy`,
  ///   `notKnown`, `kicked`, `noSuchSession` or `versionMismatch` if the host refuses for that reason; `withdrawn` if
  ///   the host wants a code and the request has none; `messageTooLarge` if the context exceeds 1,024 bytes;
  ///   `internalError` if this process serves the session already; `cancelled` if the task is canceled; the invitation
  ///   is then withdrawn.
  public func join(
    _ request: JoinRequest,
    progress: @escaping @Sendable (JoinStep) -> Void = { _ in },
    verify: @escaping @Sendable (Verification) async -> Bool
  ) async throws(SessionError) -> Session {
    try await join(request, progress: progress, comparing: { await verify($0) ? .same : .different })
  }

  /// Requests to join a session like ``join(_:progress:verify:)``, but `verify` can also state why the words are not
  /// confirmed.
  package func join(
    _ request: JoinRequest,
    progress: @escaping @Sendable (JoinStep) -> Void = { _ in },
    comparing verify: @escaping @Sendable (Verification) async -> WordComparison
  ) async throws(SessionError) -> Session {
    var retry = JoinRetry(limit: request.redialLimit, start: .uptime)
    while true {
      let refusalCount = request.announced?.refusalCount ?? 0
      do throws(SessionError) { return try await joinOnce(request, progress, verify) } catch {
        var error = error
        if let announced = request.announced {
          // Another announced peer may admit the local peer.
          let isRefused = announced.refusalCount > refusalCount
          if isRefused, refusalCount < AnnouncedListeners.maximumRefusals { continue }
          if error.isDeparture || error.code == .wrongPeer {
            error = announced.takeTemporaryRefusal() ?? announced.namedRefusal ?? error
          }
        }
        let jitter = Double.random(in: 0...1)
        guard let wait = retry.wait(after: error, now: .uptime, jitter: jitter) else { throw error }
        progress(.retrying(error))
        do { try await Task.sleep(for: wait) } catch { throw .cancelled }
      }
    }
  }

  private func joinOnce(
    _ request: JoinRequest,
    _ progress: @escaping @Sendable (JoinStep) -> Void,
    _ verify: @escaping @Sendable (Verification) async -> WordComparison
  ) async throws(SessionError) -> Session {
    let eventLoop = eventLoop
    let joining = try await onLoop { transport in
      NIOLoopBound(Joining(transport, request, progress: progress), eventLoop: eventLoop)
    }
    return try await withSessionErrors {
      try await withTaskCancellationHandler {
        try await eventLoop.flatSubmit { joining.value.start(verify) }.get()
      } onCancel: {
        eventLoop.execute { joining.value.cancel() }
      }
    }
  }

  private func onLoop<Value: Sendable>(_ body: @escaping @Sendable (TransportCore) throws -> Value)
    async throws(SessionError) -> Value
  {
    let core = core
    return try await withSessionErrors { try await self.eventLoop.submit { try body(core.value) }.get() }
  }
}

func withSessionErrors<Value>(_ body: () async throws -> Value) async throws(SessionError) -> Value {
  do { return try await body() } catch let error as SessionError { throw error } catch is CancellationError {
    throw .cancelled
  } catch { throw SessionError(.internalError, "\(error)") }
}

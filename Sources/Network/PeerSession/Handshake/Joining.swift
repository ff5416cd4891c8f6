import NIOCore
import PeerWire

/// An attempt to join, until the local peer is admitted or refused. Confined to the control event loop.
final class Joining {
  private let transport: TransportCore
  private let request: JoinRequest
  private let session: SessionCore
  private let promise: EventLoopPromise<Session>
  private let progress: @Sendable (JoinStep) -> Void
  private var dial: LinkDial?
  private var handshake: DiallerHandshake?
  private var listener: (target: AnnouncedListeners.Target, isNamed: Bool)?

  init(_ transport: TransportCore, _ request: JoinRequest, progress: @escaping @Sendable (JoinStep) -> Void) {
    self.transport = transport
    self.request = request
    self.progress = progress
    // Until ACCEPT names the host, the dialed peer is treated as the host.
    self.session = SessionCore(
      transport: transport,
      id: request.session ?? .unnamed,
      host: request.peer ?? transport.localPeer,
      policy: request.admission
    )
    self.session.directory.storedMembership = request.membership
    self.session.admission.hosting = request.hosting
    self.promise = transport.eventLoop.makePromise()
  }

  func start(_ verify: @escaping @Sendable (Verification) async -> WordComparison) -> EventLoopFuture<Session> {
    if let id = request.session, transport.sessions[id] != nil {
      promise.fail(SessionError(.internalError, "This process already serves the session."))
      return promise.futureResult
    }
    guard request.context.count <= Limits.invitationContext else {
      promise.fail(SessionError(.messageTooLarge, "An invitation's context has at most 1,024 bytes."))
      return promise.futureResult
    }
    transport.add(session)
    let addresses = request.addresses.filter {
      request.announced?.isDead(.init(peer: request.peer, address: $0)) != true
    }
    let dial = LinkDial(transport.means(), addresses, expecting: request.peer, announced: request.announced) {
      [self] result in
      switch result {
      case .failure(let error): fail(error)
      case .success(let link): shake(link, verify)
      }
    }
    self.dial = dial
    dial.progress = progress
    dial.start()
    if let timeout = request.answerTimeout { limitAnswer(timeout) }
    return promise.futureResult
  }

  private func limitAnswer(_ timeout: Duration) {
    let timer = transport.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) { [self] in
      answerTimePassed()
    }
    promise.futureResult.whenComplete { _ in timer.cancel() }
  }

  private func answerTimePassed() {
    guard handshake?.hasAskedPerson != true else { return }
    let error = dial?.timeoutError
    dial?.cancel()
    handshake?.withdraw()
    fail(error ?? SessionError(closeCode: .timedOut, message: "", isOurs: true))
  }

  func cancel() {
    dial?.cancel()
    handshake?.withdraw()
    fail(.cancelled)
  }

  /// What the local peer knew of the session before, or else the peer that the join link names, whose ticket proves
  /// other members (MEM-8, DSC-28).
  private var knownMembership: Membership? {
    guard let id = request.session else { return nil }
    guard let record = request.membership else {
      guard request.trust == .pinnedByLink, let named = request.peer else { return nil }
      return Membership(local: transport.localPeer, session: id, host: named)
    }
    var membership = Membership(local: transport.localPeer, session: id, host: record.host)
    membership.restore(record)
    return membership
  }

  private func shake(_ link: ControlLink, _ verify: @escaping @Sendable (Verification) async -> WordComparison) {
    guard let peer = link.facts.peer, let exporter = link.facts.exporter else {
      return fail(SessionError(.internalError, "The TLS handshake ended without the peer's key."))
    }
    guard peer != transport.localPeer else {
      link.close(.self)
      return fail(SessionError(.selfDialled, "That address belongs to this peer itself."))
    }
    let address = link.remote
    let isNamed = request.peer.map { $0 == peer } ?? address.map { request.addresses.contains($0) } ?? true
    if let address { listener = (.init(peer: isNamed ? request.peer : peer, address: address), isNamed) }
    // If the link does not name the peer, the code, compared words or an earlier admission must prove its key.
    let requestedTrust = isNamed ? request.trust : .unverified
    if !isNamed {
      let half = transport.configuration.stepTimeout / 2
      limitAnswer(max(AnnouncedListeners.answerTimeout, half))
    }
    let membership = knownMembership
    // Send the pass only to a listener whose key the join link named (ADM-4).
    let pass = requestedTrust == .pinnedByLink ? request.pass : nil
    let hello = Control.DiallerHello(
      introduction: session.introduction(for: nil),
      ticket: membership?.ticket,
      invitation: .init(timeout: request.timeout, context: request.context, pass: pass)
    )
    var trust = requestedTrust
    if isNamed && trust == .unverified && request.allowsUnproved && request.code == nil {
      // Accept the key unverified only if no code is given. The application then receives the warning below.
      trust = .discovered
    }
    // An earlier admission proved the key (LNK-3).
    if transport.proved.contains(peer) { trust = .pinnedByLink }
    let isUnproved = isNamed && request.trust == .unverified
    let handshake = DiallerHandshake(
      session,
      link,
      facts: .init(
        local: transport.localPeer,
        remote: peer,
        binding: exporter.export(.binding),
        trust: trust,
        code: request.code,
        hello: hello,
        membership: membership.map { MemberDial($0, mustProve: !isNamed || request.trust == .discovered) }
      ),
      verify: verify
    ) { [self] result in
      switch result {
      case .success:
        session.admission.followsHost = request.followsHost
        session.admission.asksUser = request.asksUser
        session.admission.joined(isCodeProved: self.handshake?.basis == .code, earlier: request.earlierCode)
        if isUnproved && request.code == nil && session.transport.known[peer] == nil {
          session.emit(
            .warning(
              SessionWarning(
                code: "unverified-host",
                message: "No link or member confirms that the key \(peer.short)… belongs to this address."
                  + " To verify the host, join by a link or with a code.",
                peer: peer
              )
            )
          )
          session.deliverEvents()
        }
        promise.succeed(Session(session))
      case .failure(let failure): fail(failure.error)
      }
      self.handshake = nil
    }
    self.handshake = handshake
    handshake.progress = progress
    handshake.start()
  }

  private func fail(_ error: SessionError) {
    if error.code != .cancelled, let listener {
      request.announced?.refused(listener.target, error, isNamed: listener.isNamed)
      if !listener.isNamed, let peer = listener.target.peer { progress(.refused(by: peer, error)) }
    }
    listener = nil
    session.end(.left, error)
    promise.fail(error)
  }
}

/// Decides when a joining peer dials the listener again (3.6, LIV-3). This type does no I/O and has no clock or random
/// source. ``DialPlan`` makes the same decision for members.
package struct JoinRetry: Sendable {
  static let lockedOutLimit = Duration.seconds(75)

  private let limit: Duration
  private let start: Duration
  private var failures = 0

  /// If `limit` is zero, the peer dials only once.
  package init(limit: Duration, start: Duration) {
    self.limit = limit
    self.start = start
  }

  /// Returns the delay between a failed dial and the next dial; `nil` if the peer must not dial again.
  package mutating func wait(after error: SessionError, now: Duration, jitter: Double) -> Duration? {
    guard limit > .zero, Self.isTemporary(error) else { return nil }
    let end = start + (error.code == .lockedOut ? max(limit, Self.lockedOutLimit) : limit)
    let milliseconds = DialPlan.waits[min(failures, DialPlan.waits.count - 1)]
    failures += 1
    let wait = Duration.milliseconds(milliseconds) * (1 + 0.3 * jitter)
    return now + wait < end ? wait : nil
  }

  /// Returns whether the cause of the failure may resolve itself while a user waits. `full` and `no-such-session` may
  /// resolve themselves too, but the user must see these errors.
  static func isTemporary(_ error: SessionError) -> Bool {
    switch error.redial {
    case .later: [.busy, .lockedOut, .timedOut, .internalError].contains(error.code)
    // One of two simultaneous links was closed.
    case .notApplicable: true
    case .afterRestart, .withProof, .never, nil: false
    }
  }
}

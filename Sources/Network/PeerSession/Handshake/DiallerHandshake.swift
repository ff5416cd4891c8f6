import NIOCore
import NIOPosix
import PeerCore
import PeerDiscovery
import PeerWire

/// The handshake on one dialed connection, from TLS to an open control link. Confined to the control event loop.
/// ``DiallerAdmission`` makes the decisions.
final class DiallerHandshake: LinkDelegate {
  struct Failure: Error {
    var error: SessionError
    var redial: CloseCode.Redial
  }

  private let session: SessionCore
  let link: ControlLink
  private var admission: DiallerAdmission
  private let hello: Control.DiallerHello
  private let verify: (@Sendable (Verification) async -> WordComparison)?
  private var completion: ((Result<Void, Failure>) -> Void)?
  private var timer: Scheduled<Void>?
  private var asking: Task<Void, Never>?
  private var refusal: Failure?
  /// The reason to trust the identity of the other end; `nil` until the link is open.
  private(set) var basis: AdmissionBasis?
  var progress: ((JoinStep) -> Void)?

  /// `verify` asks a user to compare words; `nil` if the key is already verified. `completion` is called once.
  init(
    _ session: SessionCore,
    _ link: ControlLink,
    facts: DiallerAdmission.Facts,
    verify: (@Sendable (Verification) async -> WordComparison)?,
    completion: @escaping (Result<Void, Failure>) -> Void
  ) {
    self.session = session
    self.link = link
    self.hello = facts.hello
    var facts = facts
    facts.step = session.configuration.stepTimeout
    self.admission = DiallerAdmission(facts: facts)
    self.verify = verify
    self.completion = completion
  }

  func start() {
    link.delegate = self
    run { $0.begin(now: .uptime) }
  }

  var hasAskedPerson: Bool { admission.hasAskedPerson }

  func withdraw() { run { $0.withdraw() } }

  private func run(_ event: (inout DiallerAdmission) -> [DiallerAction]) {
    guard completion != nil else { return }
    perform(event(&admission))
    guard completion != nil else { return }
    if admission.shouldRead { link.resumeReading() } else { link.pauseReading() }
    rearm()
  }

  private func rearm() {
    timer?.cancel()
    guard let deadline = admission.deadline else { return }
    let wait = TimeAmount(max(.zero, deadline - .uptime))
    timer = session.eventLoop.assumeIsolated().scheduleTask(in: wait) { [self] in timePassed(now: .uptime) }
  }

  func timePassed(now: Duration) { run { $0.timePassed(now: now) } }

  private func perform(_ actions: [DiallerAction]) {
    for action in actions {
      switch action {
      case .send(let type, let payload): link.send(type, payload)
      case .computeCodeKey(let code, let id, let listener):
        progress?(.provingCode)
        stretch(code, id, listener)
      case .showWords(let words, let name, let mustBeCompared):
        progress?(.awaitingAcceptance(name))
        show(words, name, mustBeCompared)
      case .opened(let opening): opened(opening)
      case .close(let code, let message):
        refusal = failure(SessionError(closeCode: code, message: message, isOurs: true), code)
        link.close(code, message)
      case .ended(let code, let message):
        refusal = failure(SessionError(closeCode: code, message: message.explanation), code)
        link.abort()
      case .lost: link.abort()
      }
    }
  }

  /// Stretches the code outside the event loop, because this takes a tenth of a second.
  private func stretch(_ code: JoinCode, _ id: SessionID, _ listener: PeerID) {
    session.transport.threads.runIfActive(eventLoop: session.eventLoop) {
      CodeKey(code: code, session: id, listener: listener)
    }.assumeIsolated().whenSuccess { [self] key in run { $0.codeKeyComputed(key, now: .uptime) } }
  }

  private func show(_ words: [String], _ name: UntrustedText, _ mustBeCompared: Bool) {
    guard let peer = link.facts.peer, let verify else { return }
    let verification = Verification(peer: peer, name: name, words: words, mustBeCompared: mustBeCompared)
    let bound = NIOLoopBound(self, eventLoop: session.eventLoop)
    let eventLoop = session.eventLoop
    // The task is canceled when the handshake ends. After that, the user's answer has no effect.
    asking = Task {
      let comparison = await verify(verification)
      guard mustBeCompared, !Task.isCancelled else { return }
      eventLoop.execute {
        bound.value.run { admission in
          switch comparison {
          case .same: admission.personAnswered(true, now: .uptime)
          case .different: admission.personAnswered(false, now: .uptime)
          case .noUser: admission.userMissing()
          case .stopped: admission.withdraw()
          }
        }
      }
    }
  }

  private func opened(_ opening: DiallerAdmission.Opening) {
    guard let peer = link.facts.peer, !session.hasEnded else { return link.abort() }
    let theirs = opening.hello.introduction
    let accept = opening.accept
    if session.id == .unnamed {
      guard session.transport.sessions[theirs.session] == nil else {
        refusal = Failure(
          error: SessionError(.internalError, "This process already serves that session."),
          redial: .never
        )
        return link.close(.left)
      }
    }
    // The host may have removed the peer during the dial (MEM-3).
    if let reason = session.membership.removed[peer] {
      refusal = Failure(error: SessionError(.kicked, "The host removed the peer from the session."), redial: .never)
      return link.close(.kicked, reason.raw)
    }
    session.joined(as: theirs.session, host: accept.host, maximum: accept.maximum)
    session.directory.heard(host: accept.host, from: peer)
    if peer == session.membership.authority { session.admission.received(accept.admission, accept.code) }
    session.relaying.heard(accept.topology, from: peer)
    if let name = accept.name, session.name.isEmpty { session.name = name }
    if let ticket = accept.ticket { session.directory.received(ticket) }
    // If two links open at the same time, the link dialed by the peer with the smaller id stays (DUP-2).
    if session.mustYield(to: peer, theirs) {
      link.close(.duplicateLink)
      return finish(.success(()))
    }
    if session.isOutdated(hello, accept, theirs, of: peer) {
      refusal = Failure(
        error: SessionError(.unreachable, "The connection was replaced while it was being established."),
        redial: .later
      )
      return link.close(.duplicateLink)
    }
    basis = opening.basis
    link.delegate = session
    if let verification = opening.basis.verification { session.admission.remember(peer, theirs.name, verification) }
    session.open(
      link,
      .init(
        peer: peer,
        introduction: theirs,
        ownRole: hello.introduction.role,
        number: Control.linkNumber(after: hello.introduction.links, theirs.links),
        received: hello.resume == nil ? nil : accept.resume?.received,
        ended: accept.resume == nil ? accept.ended : nil,
        ticket: opening.hello.ticket
      )
    )
    // If the listener is a relay, the relay may reach all of these members. The relay soon reports which members it
    // reaches (RLY-6).
    session.directory.learn(accept.members, from: peer, dialAfter: theirs.role == .relay ? .milliseconds(300) : .zero)
    for frame in opening.held { session.link(link, received: frame.type, ByteBuffer(bytes: frame.payload)) }
    finish(.success(()))
  }

  /// Returns the failure for an error, with the rule for the next dial. If a user did not answer in time, the peer does
  /// not dial again, so that the host's user is not asked twice (3.2).
  private func failure(_ error: SessionError, _ code: CloseCode) -> Failure {
    guard code == .timedOut, admission.hasAskedPerson else { return Failure(error: error, redial: code.redial) }
    var error = SessionError(
      .timedOut,
      admission.awaitsOwnPerson
        ? "The verification words were not confirmed in time." : "The host's user did not accept in time."
    )
    error.redial = .never
    return Failure(error: error, redial: .never)
  }

  private func finish(_ result: Result<Void, Failure>) {
    timer?.cancel()
    asking?.cancel()
    completion.take()?(result)
  }

  // MARK: LinkDelegate

  func link(_ link: ControlLink, received type: FrameType, _ payload: ByteBuffer) {
    let bytes = Array(payload.readableBytesView)
    run { $0.frameReceived(type, bytes, now: .uptime) }
    // After ACCEPT, the listener considers the link open, although the local user may still be comparing words (ADM-8).
    if type == .accept { link.frameLimit = Limits.framePayload }
  }

  func linkEnded(_ link: ControlLink, _ reason: LinkEnd) {
    if let refusal { return finish(.failure(refusal)) }
    switch reason {
    case .closed(let code, let message):
      finish(.failure(failure(SessionError(closeCode: code, message: message), code)))
    case .closedByUs, .broken:
      finish(
        .failure(
          Failure(
            error: SessionError(.unreachable, "The connection broke before the peer admitted this peer."),
            redial: .later
          )
        )
      )
    }
  }
}

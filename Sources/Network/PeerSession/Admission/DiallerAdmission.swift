import PeerCore
import PeerDiscovery
import PeerWire

/// The owner of the link performs the actions in order.
enum DiallerAction: Equatable, Sendable {
  case send(FrameType, [UInt8])
  /// Compute the key of the code outside the event loop, then call ``DiallerAdmission/codeKeyComputed(_:now:)``.
  case computeCodeKey(JoinCode, SessionID, listener: PeerID)
  /// Show the verification words with the name of the other side (ADM-7). If the user must compare them, ask whether
  /// the words match, and call ``DiallerAdmission/personAnswered(_:now:)`` (ADM-8).
  case showWords([String], name: UntrustedText, mustBeCompared: Bool)
  case opened(DiallerAdmission.Opening)
  case close(CloseCode, String)
  case ended(CloseCode, UntrustedText)
  /// The listener has been silent for too long: close the link as broken (ADM-15).
  case lost
}

struct MemberDial: Sendable {
  var membership: Membership
  /// Whether the listener must prove its membership, because no peer that may admit others named the listener (MEM-8).
  var mustProve: Bool
  var admitters: Membership.Admitters

  init(_ membership: Membership, mustProve: Bool, admitters: Membership.Admitters = .members) {
    self.membership = membership
    self.mustProve = mustProve
    self.admitters = admitters
  }
}

/// Decides, on the dialler's side of one control link, how the local peer gets admitted. Implements 3.1 to 3.3 and 4 of
/// `Protocol/session.md`. This type does no I/O: its owner reports events, performs the returned actions, and calls
/// ``timePassed(now:)`` at ``deadline``. If the join request names a key, the owner has already compared the listener's
/// key with that key (LNK-3). After `.opened`, `.close`, `.ended` or `.lost`, no more actions are returned.
struct DiallerAdmission: Sendable {
  struct Facts: Sendable {
    var local: PeerID
    var remote: PeerID
    /// The connection's exported value for ``LinkExporter/Label/binding``.
    var binding: [UInt8]
    var trust: JoinTrust
    var code: JoinCode?
    var codeKey: CodeKey?
    var hello: Control.DiallerHello
    /// `nil` for a peer that joins for the first time.
    var membership: MemberDial?
    /// The local nonce for the verification words (4.3).
    var nonce = ProofBytes.random()
    var step = AdmissionTimes.step

    /// Whether to refuse a listener that asks for no proof (HEL-4).
    var insistsOnProof: Bool { trust != .pinnedByLink && (code != nil || trust == .unverified) }

    /// Returns whether to trust a listener that demands no code or confirmation (HEL-4, MEM-8).
    func accepts(_ ticket: Ticket?) -> Bool {
      guard let membership else { return !insistsOnProof }
      return membership.membership.proves(ticket, of: remote, by: membership.admitters)
        || !(insistsOnProof || membership.mustProve)
    }
  }

  struct Opening: Equatable, Sendable {
    var hello: Control.ListenerHello
    var accept: Control.Accept
    var basis: AdmissionBasis
    /// The frames that followed ACCEPT while the user compared words, in order.
    var held: [(type: FrameType, payload: [UInt8])]

    static func == (left: Self, right: Self) -> Bool {
      left.hello == right.hello && left.accept == right.accept && left.basis == right.basis
        && left.held.elementsEqual(right.held, by: ==)
    }
  }

  private enum State {
    case idle
    case awaitingHello
    case awaitingKey(Control.ListenerHello, JoinCode)
    case awaitingAccept(Control.ListenerHello, AdmissionBasis)
    case awaitingHostProof(Control.ListenerHello, ProofBytes)
    case awaitingNonce(Control.ListenerHello, ShortWords.Dialler)
    case awaitingPeople(Comparison)
    case over
  }

  /// The state while users compare words. The local user compares the words only if nothing else proves the key.
  private struct Comparison {
    var hello: Control.ListenerHello
    var needsOurPerson: Bool
    var accept: Control.Accept?
    /// The time until which users may decide (3.2).
    let end: Duration
    var pulse: DecidingPulse

    /// The DECIDING frame that states whether the local user is still comparing the words (ADM-15).
    var report: DiallerAction { .send(.deciding, [needsOurPerson ? 0 : 1]) }
  }

  /// The number of held bytes above which reading stops until the user answers.
  static let maximumHeldBytes = 4_194_304

  private(set) var deadline: Duration?

  /// Whether the listener's user was asked. If the answer times out, that user is not asked again (3.2).
  private(set) var hasAskedPerson = false

  private(set) var awaitsOwnPerson = false
  private let facts: Facts
  private var state = State.idle
  /// The held frames are not part of `state`, because `state` is copied.
  private var held: [(type: FrameType, payload: [UInt8])] = []
  private var heldBytes = 0

  init(facts: Facts) { self.facts = facts }

  var shouldRead: Bool { heldBytes < Self.maximumHeldBytes }

  mutating func begin(now: Duration) -> [DiallerAction] {
    guard case .idle = state else { return [] }
    if facts.remote == facts.local { return close(.`self`, "This is the local peer's own address.") }
    state = .awaitingHello
    deadline = now + (facts.hello.carry == nil ? facts.step : facts.step * 2)
    return [.send(.hello, facts.hello.encoded())]
  }

  mutating func frameReceived(_ type: FrameType, _ payload: [UInt8], now: Duration) -> [DiallerAction] {
    if case .over = state { return [] }
    do throws(ControlMessageError) {
      switch (state, type) {
      case (_, .close):
        let message = try Control.Close.decode(payload)
        finish()
        return [.ended(message.code, message.message)]
      case (.awaitingHello, .hello): return helloReceived(try Control.ListenerHello.decode(payload), now: now)
      case (.awaitingAccept(let hello, let basis), .accept):
        return open(hello, try Control.Accept.decode(payload), basis)
      case (.awaitingHostProof(let hello, let expected), .accept):
        let accept = try Control.Accept.decode(payload)
        guard let proof = accept.proof, isEqualInConstantTime(proof.bytes, expected.bytes) else {
          return close(.notVerified, "The host could not prove that it knows the code.")
        }
        return open(hello, accept, .code)
      case (.awaitingNonce(let hello, let words), .sasNonce):
        let (reveal, shown) = words.nonceReceived(try Control.ShortWordsNonce.decode(payload))
        let needsOurPerson = facts.trust != .pinnedByLink
        awaitsOwnPerson = needsOurPerson
        let comparison = Comparison(
          hello: hello,
          needsOurPerson: needsOurPerson,
          end: now + (facts.hello.invitation ?? Control.InvitationRequest()).timeout,
          pulse: DecidingPulse(now: now)
        )
        wait(comparison)
        return [
          // Send DECIDING before SAS-REVEAL, so that the listener receives DECIDING before its user can answer.
          comparison.report, .send(.sasReveal, reveal.encoded()),
          .showWords(shown, name: hello.introduction.name, mustBeCompared: needsOurPerson),
        ]
      case (.awaitingPeople(let comparison), _): return try frameReceived(type, payload, during: comparison, now: now)
      default: return close(.protocolError, CloseMessage.unexpected(type))
      }
    } catch { return close(.protocolError, CloseMessage.invalid(type, error)) }
  }

  mutating func codeKeyComputed(_ key: CodeKey, now: Duration) -> [DiallerAction] {
    guard case .awaitingKey(let hello, _) = state else { return [] }
    return prove(key, to: hello, now: now)
  }

  mutating func personAnswered(_ isSame: Bool, now: Duration) -> [DiallerAction] {
    guard case .awaitingPeople(var comparison) = state, comparison.needsOurPerson else { return [] }
    guard isSame else { return close(.notVerified, "The verification words are not the same.") }
    comparison.needsOurPerson = false
    awaitsOwnPerson = false
    if let accept = comparison.accept { return open(comparison.hello, accept, .ask) }
    wait(comparison)
    return [comparison.report]
  }

  /// Ends the attempt because the local program has no user who could compare the words. DECIDING states this reason,
  /// so that the listener's user does not suspect an attack (ADM-15).
  mutating func userMissing() -> [DiallerAction] {
    guard case .awaitingPeople(let comparison) = state, comparison.needsOurPerson else { return [] }
    return [.send(.deciding, [DecidingPulse.noUser])]
      + close(.withdrawn, "The joining program has no user to compare the verification words.")
  }

  mutating func withdraw() -> [DiallerAction] {
    if case .over = state { return [] }
    return close(.withdrawn, "The invitation was withdrawn.")
  }

  mutating func timePassed(now: Duration) -> [DiallerAction] {
    guard let deadline, now >= deadline else { return [] }
    guard case .awaitingPeople(var comparison) = state else {
      return close(.timedOut, "This step of admission took too long.")
    }
    guard now < comparison.end else {
      return close(
        .timedOut,
        comparison.needsOurPerson
          ? "The joining user did not confirm the verification words in time."
          : "The user who was asked did not answer in time."
      )
    }
    guard comparison.pulse.timePassed(now: now) else {
      finish()
      return [.lost]
    }
    wait(comparison)
    return [comparison.report]
  }

  private mutating func wait(_ comparison: Comparison) {
    state = .awaitingPeople(comparison)
    deadline = min(comparison.end, comparison.pulse.due)
  }

  private mutating func helloReceived(_ hello: Control.ListenerHello, now: Duration) -> [DiallerAction] {
    let own = facts.hello.introduction
    guard own.versions.common(with: hello.introduction.versions) != nil else {
      return close(
        .versionMismatch,
        "This peer supports protocol versions \(own.versions.lowest) to \(own.versions.highest)."
      )
    }
    let session = hello.introduction.session
    guard session != .unnamed, own.session == session || own.session == .unnamed else {
      return close(.protocolError, "The listener's HELLO frame names another session.")
    }
    switch hello.admission {
    case .none:
      guard facts.accepts(hello.ticket) else { return close(.notVerified, "The listener did not prove its identity.") }
      state = .awaitingAccept(hello, facts.trust == .pinnedByLink ? .known : .anyone)
      deadline = now + facts.step
      return []
    case .code:
      guard let code = facts.code else { return close(.withdrawn, "This session requires a join code.") }
      if let key = facts.codeKey, key.session == session, key.listener == facts.remote {
        return prove(key, to: hello, now: now)
      }
      state = .awaitingKey(hello, code)
      deadline = now + facts.step
      return [.computeCodeKey(code, session, listener: facts.remote)]
    case .ask where facts.hello.invitation == nil:
      // A returning member needs its ticket or the code, because no user is waiting to compare verification words.
      return close(.withdrawn, "A returning member cannot wait for a user to answer.")
    case .ask:
      guard facts.code == nil || facts.trust == .pinnedByLink else {
        return close(.notVerified, SessionError.codeNotAsked)
      }
      let words = ShortWords.Dialler(
        context: ShortWords.Context(
          binding: facts.binding,
          session: session,
          dialler: facts.local,
          listener: facts.remote
        ),
        nonce: facts.nonce
      )
      hasAskedPerson = true
      state = .awaitingNonce(hello, words)
      deadline = now + facts.step
      return [.send(.sasCommit, words.commit.encoded())]
    }
  }

  private mutating func prove(_ key: CodeKey, to hello: Control.ListenerHello, now: Duration) -> [DiallerAction] {
    let proof = key.proof(of: .joiner, binding: facts.binding, dialler: facts.local)
    state = .awaitingHostProof(hello, key.proof(of: .host, binding: facts.binding, dialler: facts.local))
    deadline = now + facts.step
    return [.send(.codeProof, Control.CodeProof(proof: proof).encoded())]
  }

  private mutating func frameReceived(
    _ type: FrameType,
    _ payload: [UInt8],
    during comparison: Comparison,
    now: Duration
  ) throws(ControlMessageError) -> [DiallerAction] {
    var comparison = comparison
    comparison.pulse.frameReceived(now: now)
    guard comparison.accept != nil else {
      switch type {
      case .deciding: guard !payload.isEmpty else { return close(.protocolError, "A DECIDING must not be empty.") }
      case .accept:
        let accept = try Control.Accept.decode(payload)
        guard comparison.needsOurPerson else { return open(comparison.hello, accept, .ask) }
        comparison.accept = accept
      default: return close(.protocolError, CloseMessage.unexpected(type))
      }
      wait(comparison)
      return []
    }
    wait(comparison)
    // The listener considers the link open and continues to send. Hold its frames until the local user answers. Answer
    // PING immediately, because without PONG the listener would close the link.
    switch type {
    case .ping:
      guard payload.count == 8 else { return close(.protocolError, "A PING must have 8 bytes.") }
      return [.send(.pong, payload)]
    case .pong, .deciding: return []
    case .accept, .hello, .codeProof, .sasCommit, .sasNonce, .sasReveal:
      return close(.protocolError, CloseMessage.unexpected(type))
    default:
      held.append((type, payload))
      heldBytes += payload.count + 64
      return []
    }
  }

  private mutating func open(_ hello: Control.ListenerHello, _ accept: Control.Accept, _ basis: AdmissionBasis)
    -> [DiallerAction]
  {
    let opening = Opening(hello: hello, accept: accept, basis: basis, held: held)
    finish()
    return [.opened(opening)]
  }

  private mutating func close(_ code: CloseCode, _ message: String) -> [DiallerAction] {
    finish()
    return [.close(code, message)]
  }

  private mutating func finish() {
    state = .over
    deadline = nil
    held = []
    heldBytes = 0
  }
}

/// Decides when to send DECIDING while users decide, and when the other side has been silent for too long (ADM-15).
/// This type does no I/O and has no clock. ``DiallerAdmission`` and ``ListenerAdmission`` each use a pulse.
struct DecidingPulse: Sendable {
  static let interval = Duration.seconds(1)
  /// The time of silence after which the link counts as broken. The limit is longer than for an open link (LIV-2),
  /// because a broken link discards the words that users have begun to compare.
  static let silenceLimit = Duration.seconds(30)
  /// The value of DECIDING with which a dialler states that its program has no user (ADM-15).
  static let noUser: UInt8 = 2

  private(set) var due: Duration
  /// When the last frame arrived; `nil` before the first frame. If frames are expected from the start, the initial
  /// value is the start time.
  private var heardAt: Duration?

  init(now: Duration, isExpected: Bool = false) {
    due = now + Self.interval
    heardAt = isExpected ? now : nil
  }

  mutating func frameReceived(now: Duration) { heardAt = now }

  /// Returns whether the link is still alive; if so, the caller sends DECIDING.
  mutating func timePassed(now: Duration) -> Bool {
    // If this call is late, the process was stopped and could not receive frames (LIV-2).
    if now - due >= .milliseconds(500), heardAt != nil { heardAt = now }
    due = now + Self.interval
    guard let heardAt else { return true }
    return now - heardAt < Self.silenceLimit
  }
}

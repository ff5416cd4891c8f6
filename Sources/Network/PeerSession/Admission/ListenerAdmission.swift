import PeerCore
import PeerDiscovery
import PeerWire

struct InvitationToAnswer: Equatable, Sendable {
  var peer: PeerID
  var name: UntrustedText
  var words: [String]
  /// Untrusted bytes from the joiner's application.
  var context: [UInt8]
  var timeout: Duration
}

/// A code that a listener accepts (ADM-9).
struct CodeChoice: Sendable, Equatable {
  var key: CodeKey
  /// The application's label for the code; `nil` for the session's own code.
  var label: String?
  /// The key of a browser link; `nil` for a code (WEB-5).
  var guestKey: GuestKey?
}

/// The owner of the link performs the actions in order.
enum ListenerAction: Equatable, Sendable {
  case send(FrameType, [UInt8])
  /// Compute the key of the code outside the event loop, then call ``ListenerAdmission/codeKeyComputed(_:now:)``.
  case computeCodeKey
  /// Ask the user, then call ``ListenerAdmission/personAnswered(_:now:)``.
  case askPerson(InvitationToAnswer)
  /// Stop asking the user, because the answer would no longer have an effect.
  case invitationEnded(CloseCode, UntrustedText)
  case accept(proof: ProofBytes?, basis: AdmissionBasis)
  case close(CloseCode, String)
  case ended(CloseCode, UntrustedText)
}

/// Decides, on the listener's side of one control link, whether the dialler is admitted. Implements 3.1 to 3.3 and 4 of
/// `Protocol/session.md`. This type does no I/O: its owner reports events, performs the returned actions, and calls
/// ``timePassed(now:)`` at ``deadline``. After `.accept`, `.close` or `.ended`, no more actions are returned.
struct ListenerAdmission: Sendable {
  enum Mode: Sendable {
    case anyone
    case known(isKnown: Bool)
    case code(CodeKey, besides: [CodeChoice] = [])
    /// Admission of a browser by one of the browser links (WEB-5).
    case guest([CodeChoice])
    case ask
    case codeWithoutKey

    var admitters: Membership.Admitters {
      switch self {
      case .anyone, .code, .guest, .codeWithoutKey: .members
      case .known, .ask: .host
      }
    }
  }

  struct Facts: Sendable {
    var local: PeerID
    var remote: PeerID
    /// The dialler's IP address, without port (ADM-3).
    var address: String
    /// The connection's exported value for ``LinkExporter/Label/binding``.
    var binding: [UInt8]
    var mode: Mode
    /// Whether the dialler resumes delivery state that the local peer holds (RSM-2).
    var isResuming = false
    var wasKicked = false
    var kickReason = ""
    var isFull = false
    var maximum = 0
    /// How the session treats an invitation on this link (HEL-5, ADM-11).
    var invitation = InvitationReception.ask
    /// The local nonce for the verification words (4.3).
    var nonce = ProofBytes.random()
    var step = AdmissionTimes.step
  }

  private enum State {
    case awaitingHello
    case awaitingKey(Control.Introduction)
    case awaitingProof([CodeChoice])
    case awaitingCommit(Control.DiallerHello, SessionID)
    case awaitingReveal(Control.DiallerHello, ShortWords.Listener)
    case awaitingPeople(Decision)
    case over
  }

  private struct Decision {
    var isAccepted = false
    /// The time until which users may decide (3.2).
    let end: Duration
    var pulse: DecidingPulse

    /// The DECIDING frame that states whether the local user has accepted (ADM-15).
    var report: ListenerAction { .send(.deciding, [isAccepted ? 1 : 0]) }
  }

  private(set) var deadline: Duration?

  /// The basis of admission to report to the application; `nil` for a returning member.
  private(set) var admission: PeerAdmission?
  private(set) var guestKey: GuestKey?

  private(set) var wasRefusedAsFull = false

  private let facts: Facts
  private var state = State.awaitingHello
  /// How the limiter counts the dialler's wrong proofs (ADM-3).
  private var standing = AttemptLimiter.Standing.newcomer
  /// Whether the dialler's user has confirmed the words; `nil` if the dialler does not report it (ADM-16).
  private var isConfirmed: Bool?
  private(set) var diallerHasNoUser = false
  /// The ticket that proves to the dialler that the local peer belongs to the session (MEM-8).
  private var ticket: Ticket?

  init(facts: Facts) { self.facts = facts }

  /// Whether the link waits for a user or will soon do so. At most 16 links may be in this state (HEL-5).
  var isPendingInvitation: Bool {
    switch state {
    case .awaitingCommit, .awaitingReveal, .awaitingPeople: true
    case .awaitingHello, .awaitingKey, .awaitingProof, .over: false
    }
  }

  /// Whether the local user has accepted the dialler, and the dialler's user is still comparing the words (ADM-16).
  var isAwaitingDialler: Bool { if case .awaitingPeople(let decision) = state { decision.isAccepted } else { false } }

  /// Checks the HELLO in the order of HEL-6.
  mutating func helloReceived(
    _ hello: Control.DiallerHello,
    answering own: Control.Introduction,
    membership: Membership,
    now: Duration
  ) -> [ListenerAction] {
    ticket = membership.ticket
    if membership.mayAdmit(facts.remote) {
      standing = membership.session.isOfOwnedBoard ? .memberOfOwnedBoard : .member
    }
    guard case .awaitingHello = state else { return [] }
    guard own.versions.common(with: hello.introduction.versions) != nil else {
      return close(
        .versionMismatch,
        "This peer supports protocol versions \(own.versions.lowest) to \(own.versions.highest)."
      )
    }
    let named = hello.introduction.session
    guard named == own.session || named == .unnamed else {
      return close(.noSuchSession, "This peer does not serve that session.")
    }
    if facts.remote == facts.local { return close(.`self`, "The connection comes from this peer itself.") }
    if facts.wasKicked { return close(.kicked, facts.kickReason) }
    if facts.isFull && !facts.isResuming {
      wasRefusedAsFull = true
      return close(.full, CloseMessage.full(facts.maximum))
    }

    if facts.isResuming { return admit(answering: own, basis: .resumed, as: nil) }
    if case .guest(let choices) = facts.mode {
      // Neither a ticket nor an earlier admission replaces the browser link (WEB-6).
      state = .awaitingProof(choices)
      deadline = now + facts.step
      return [sendHello(own, .code)]
    }
    // A guest that dials as a peer is a stranger: its access is limited to its browser link (WEB-34).
    if let ticket = hello.ticket, !membership.isGuest(facts.remote) {
      do throws(TicketError) {
        try membership.check(ticket, of: facts.remote, by: facts.mode.admitters)
        return admit(answering: own, basis: .ticket, as: .vouched(by: ticket.admitter))
      } catch {
        // If the ticket's signer is not allowed to admit peers, handle the dialler like a dialler without a ticket
        // (TCK-2).
        guard error == .unknownAdmitter else {
          return close(.protocolError, "The signature of the ticket is not valid.")
        }
      }
    }
    // A peer that joins sends an invitation; a member that returns does not.
    let isReturning = hello.ticket != nil && hello.invitation == nil
    if hello.invitation == nil, membership.mayAdmit(facts.remote) {
      // The key alone identifies a returning member (MEM-7).
      return admit(answering: own, basis: .ticket, as: .vouched(by: facts.local))
    }
    switch facts.mode {
    case .anyone: return admit(answering: own, basis: .anyone)
    case .guest: return close(.busy, "This peer is not ready yet.")
    case .known(false) where isReturning, .ask where isReturning:
      return close(.unknownAdmitter, "The ticket is not signed by a known member.")
    case .known(let isKnown):
      guard isKnown else { return close(.notKnown, "This session admits only known peers.") }
      return admit(answering: own, basis: .known)
    case .code(let key, let besides): return requestProof([CodeChoice(key: key)] + besides, own, now: now)
    case .codeWithoutKey:
      state = .awaitingKey(own)
      deadline = now + AdmissionTimes.hold(facts.step)
      return [.computeCodeKey]
    case .ask:
      switch facts.invitation {
      case .ask: break
      case .busy: return close(.busy, "Too many invitations are waiting for an answer.")
      case .silenced: return close(.busy, SessionError.justDeclined)
      }
      state = .awaitingCommit(hello, own.session)
      deadline = now + facts.step
      return [sendHello(own, .ask)]
    }
  }

  /// Handles the keys of the codes, after `.computeCodeKey`. `choices` is empty if the session no longer admits by
  /// code.
  mutating func codeKeyComputed(_ choices: [CodeChoice], now: Duration) -> [ListenerAction] {
    guard case .awaitingKey(let own) = state else { return [] }
    guard !choices.isEmpty else { return close(.busy, "This peer is not ready yet.") }
    return requestProof(choices, own, now: now)
  }

  private mutating func requestProof(_ choices: [CodeChoice], _ own: Control.Introduction, now: Duration)
    -> [ListenerAction]
  {
    state = .awaitingProof(choices)
    deadline = now + facts.step
    return [sendHello(own, .code)]
  }

  mutating func limitChoices(to valid: [CodeChoice]) {
    guard case .awaitingProof(let choices) = state else { return }
    state = .awaitingProof(choices.filter { choice in valid.contains { $0.key == choice.key } })
  }

  /// All links of the program share `limiter` (ADM-3).
  mutating func frameReceived(_ type: FrameType, _ payload: [UInt8], limiter: inout AttemptLimiter, now: Duration)
    -> [ListenerAction]
  {
    if case .over = state { return [] }
    do throws(ControlMessageError) {
      switch (state, type) {
      case (_, .close): return closeReceived(try Control.Close.decode(payload))
      case (.awaitingProof(let choices), .codeProof):
        // The secret in a browser link cannot be guessed, so attempts are not limited.
        if case .guest = facts.mode { return proofReceived(try Control.CodeProof.decode(payload), choices) }
        guard !limiter.isLocked(address: facts.address, peer: facts.remote, as: standing, now: now) else {
          return close(.lockedOut, "Too many wrong codes. Try again in a minute.")
        }
        let actions = proofReceived(try Control.CodeProof.decode(payload), choices)
        if admission == nil {
          limiter.proofWasWrong(address: facts.address, peer: facts.remote, as: standing, now: now)
        }
        return actions
      case (.awaitingCommit(let hello, let session), .sasCommit):
        let words = ShortWords.Listener(
          context: ShortWords.Context(
            binding: facts.binding,
            session: session,
            dialler: facts.remote,
            listener: facts.local
          ),
          nonce: facts.nonce,
          commitReceived: try Control.ShortWordsCommit.decode(payload)
        )
        state = .awaitingReveal(hello, words)
        deadline = now + facts.step
        return [.send(.sasNonce, words.reply.encoded())]
      case (.awaitingReveal(let hello, let words), .sasReveal):
        guard let shown = words.revealReceived(try Control.ShortWordsReveal.decode(payload)) else {
          return close(.protocolError, "The nonce does not match the commitment.")
        }
        let invitation = hello.invitation ?? Control.InvitationRequest()
        let decision = Decision(
          end: now + invitation.timeout,
          pulse: DecidingPulse(now: now, isExpected: isConfirmed != nil)
        )
        wait(decision)
        return [
          decision.report,
          .askPerson(
            InvitationToAnswer(
              peer: facts.remote,
              name: hello.introduction.name,
              words: shown,
              context: invitation.context,
              timeout: invitation.timeout
            )
          ),
        ]
      case (.awaitingReveal, .deciding), (.awaitingPeople, .deciding): return try decisionReceived(payload, now: now)
      default: return close(.protocolError, CloseMessage.unexpected(type))
      }
    } catch { return close(.protocolError, CloseMessage.invalid(type, error)) }
  }

  /// An answer after the timeout, or after the invitation ended, admits no peer.
  mutating func personAnswered(_ answer: InvitationAnswer, now: Duration) -> [ListenerAction] {
    guard case .awaitingPeople(var decision) = state else { return [] }
    if now >= decision.end { return timePassed(now: now) }
    switch answer {
    case .accept where isConfirmed == false:
      decision.isAccepted = true
      wait(decision)
      return [decision.report]
    case .accept: return admitByPerson()
    case .decline(let reason):
      finish()
      return [.close(.declined, reason)]
    }
  }

  private mutating func decisionReceived(_ payload: [UInt8], now: Duration) throws(ControlMessageError)
    -> [ListenerAction]
  {
    guard let answer = payload.first else { return close(.protocolError, "A DECIDING must not be empty.") }
    if isConfirmed != true { isConfirmed = answer == 1 }
    diallerHasNoUser = answer == DecidingPulse.noUser
    guard case .awaitingPeople(var decision) = state else { return [] }
    if decision.isAccepted, isConfirmed == true, now < decision.end { return admitByPerson() }
    decision.pulse.frameReceived(now: now)
    wait(decision)
    return []
  }

  private mutating func admitByPerson() -> [ListenerAction] {
    finish()
    admission = .here(label: nil)
    return [.accept(proof: nil, basis: .ask)]
  }

  private mutating func wait(_ decision: Decision) {
    state = .awaitingPeople(decision)
    deadline = min(decision.end, decision.pulse.due)
  }

  /// Closes an invitation that lost its slot to an invitation from another address (HEL-5).
  mutating func placeLost() -> [ListenerAction] {
    guard isPendingInvitation else { return [] }
    return close(.busy, "Too many invitations are waiting for an answer.")
  }

  mutating func timePassed(now: Duration) -> [ListenerAction] {
    guard let deadline, now >= deadline else { return [] }
    if case .awaitingKey = state { return close(.busy, "This peer is not ready yet.") }
    guard case .awaitingPeople(var decision) = state else {
      return close(.timedOut, "This step of admission took too long.")
    }
    guard now < decision.end else {
      return close(
        .timedOut,
        decision.isAccepted
          ? "The joining user did not confirm the verification words in time."
          : "The user who was asked did not answer in time."
      )
    }
    guard decision.pulse.timePassed(now: now) else {
      return closeReceived(Control.Close(.withdrawn, "The connection broke."))
    }
    wait(decision)
    return [decision.report]
  }

  /// `code` is `nil` if the connection broke or the local peer closed it.
  mutating func linkLost(_ code: CloseCode? = nil, _ message: UntrustedText = UntrustedText("")) -> [ListenerAction] {
    if case .over = state { return [] }
    guard let code else { return ending(.withdrawn, "The connection broke.") }
    return ending(code, message)
  }

  private mutating func proofReceived(_ message: Control.CodeProof, _ choices: [CodeChoice]) -> [ListenerAction] {
    // Every code is tried, even after a match, so that the time does not reveal which code matches (ADM-9).
    let right = choices.filter {
      $0.key.isValid(message.proof, of: .joiner, binding: facts.binding, dialler: facts.remote)
    }
    guard let choice = right.first else { return close(.wrongCode, "") }
    finish()
    admission = .here(label: choice.label)
    guestKey = choice.guestKey
    return [.accept(proof: choice.key.proof(of: .host, binding: facts.binding, dialler: facts.remote), basis: .code)]
  }

  private mutating func closeReceived(_ message: Control.Close) -> [ListenerAction] {
    ending(message.code, message.message) + [.ended(message.code, message.message)]
  }

  private mutating func admit(
    answering own: Control.Introduction,
    basis: AdmissionBasis,
    as admission: PeerAdmission? = .here(label: nil)
  ) -> [ListenerAction] {
    finish()
    self.admission = admission
    return [sendHello(own, .none), .accept(proof: nil, basis: basis)]
  }

  private mutating func close(_ code: CloseCode, _ message: String) -> [ListenerAction] {
    ending(code, UntrustedText(message)) + [.close(code, message)]
  }

  private mutating func ending(_ code: CloseCode, _ message: UntrustedText) -> [ListenerAction] {
    var wasAsking = false
    if case .awaitingPeople = state { wasAsking = true }
    finish()
    return wasAsking ? [.invitationEnded(code, message)] : []
  }

  private mutating func ending(_ code: CloseCode, _ message: String) -> [ListenerAction] {
    ending(code, UntrustedText(message))
  }

  private mutating func finish() {
    state = .over
    deadline = nil
  }

  private func sendHello(_ own: Control.Introduction, _ admission: Control.AdmissionStep) -> ListenerAction {
    let hello = Control.ListenerHello(introduction: own, admission: admission, ticket: ticket)
    return .send(.hello, hello.encoded())
  }
}

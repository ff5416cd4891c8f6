import PeerCore
import PeerDiscovery
import PeerWire

@testable import PeerSession

/// The constant values, computed once, because stretching a code takes a tenth of a second.
private struct World: Sendable {
  let dialler = peer(1)
  let listener = peer(2)
  let host = peer(3)
  let session: SessionID
  let code: JoinCode
  let key: CodeKey
  let wrongKey: CodeKey

  init() {
    guard let session = SessionID(bytes: [UInt8](1...16)),
      let code = try? JoinCode(words: "abandon ability able about"),
      let wrong = try? JoinCode(words: "zoo zone zero zebra")
    else { preconditionFailure("the words are in the list") }
    self.session = session
    self.code = code
    key = CodeKey(code: code, session: session, listener: listener)
    wrongKey = CodeKey(code: wrong, session: session, listener: listener)
  }
}

private let world = World()

private func peer(_ byte: UInt8) -> PeerID {
  guard let peer = PeerID(bytes: [UInt8](repeating: byte, count: 32)) else {
    preconditionFailure("32 bytes are a PeerID")
  }
  return peer
}

private func introduction(_ name: String, _ incarnation: UInt64) -> Control.Introduction {
  Control.Introduction(
    session: world.session,
    name: UntrustedText(name),
    incarnation: SessionIncarnation(incarnation),
    port: 26_273,
    addresses: ["127.0.0.1"],
    role: .member,
    links: 0
  )
}

private func bytes32(_ byte: UInt8) -> ProofBytes {
  guard let bytes = ProofBytes([UInt8](repeating: byte, count: 32)) else { preconditionFailure("32 bytes") }
  return bytes
}

/// Returns a frame of any type, well-formed or with arbitrary bytes.
private func frame(_ input: inout Input) -> (FrameType, [UInt8]) {
  let types = FrameType.allCases
  let type = types[Int(input.byte()) % types.count]
  let choice = input.byte()
  var payload: [UInt8]
  switch choice % 10 {
  case 0: payload = Control.DiallerHello(introduction: introduction("a", 1)).encoded()
  case 1:
    let steps: [Control.AdmissionStep] = [.none, .code, .ask]
    payload = Control.ListenerHello(introduction: introduction("b", 2), admission: steps[Int(choice) / 10 % 3])
      .encoded()
  case 2: payload = Control.Accept(host: world.host, maximum: 16, members: []).encoded()
  case 3: payload = Control.Accept(host: world.host, maximum: 16, members: [], proof: bytes32(choice)).encoded()
  case 4: payload = Control.CodeProof(proof: bytes32(choice)).encoded()
  case 5: payload = Control.ShortWordsCommit(commit: bytes32(choice)).encoded()
  case 6: payload = Control.ShortWordsNonce(nonce: bytes32(choice)).encoded()
  case 7: payload = Control.ShortWordsReveal(nonce: bytes32(choice)).encoded()
  case 8: payload = Control.Close(.left, "").encoded()
  default: payload = input.bytes(Int(input.byte()))
  }
  if choice & 0x80 != 0, !payload.isEmpty { payload[Int(input.byte()) % payload.count] ^= input.byte() }
  return (type, payload)
}

/// Checks both sides of admission with an attacker between them.
///
/// The attacker forwards frames, drops them, and sends any frame to either side in any state.
func fuzzAdmission(_ input: inout Input) {
  var run = Run(&input)
  while !input.isEmpty { run.step(&input) }
}

private struct Run {
  var listener: ListenerAdmission
  var dialler: DiallerAdmission
  var limiter = AttemptLimiter()
  var now = Duration.zero
  /// The frames that each side sent and the other has not received yet.
  var toListener: [(FrameType, [UInt8])] = []
  var toDialler: [(FrameType, [UInt8])] = []
  var isListenerOver = false
  var isDiallerOver = false
  let mode: UInt8
  let hasRightCode: Bool
  let insists: Bool
  var isPersonAsked = false
  var hasPersonAccepted = false
  var hasOurPersonAgreed = false
  var mustCompare = false
  var rightProofPassed = false
  var isTampered = false
  var computes = false

  init(_ input: inout Input) {
    let choice = input.byte()
    let other = input.byte()
    mode = choice & 3
    hasRightCode = choice & 4 != 0
    let modes: [ListenerAdmission.Mode] = [.anyone, .known(isKnown: choice & 8 != 0), .code(world.key), .ask]
    let trusts: [JoinTrust] = [.pinnedByLink, .discovered, .unverified]
    // The sides have different exporters if the attacker terminates TLS on both sides.
    let binding = [UInt8](repeating: 7, count: 32)
    isTampered = choice & 0x10 != 0
    var facts = ListenerAdmission.Facts(
      local: world.listener,
      remote: world.dialler,
      address: "192.0.2.1",
      binding: binding,
      mode: modes[Int(mode)]
    )
    facts.isResuming = other & 1 != 0
    facts.wasKicked = other & 2 != 0
    facts.isFull = other & 4 != 0
    if other & 8 != 0 { facts.invitation = .busy }
    facts.nonce = bytes32(0x4C)
    listener = ListenerAdmission(facts: facts)
    let theirs = DiallerAdmission.Facts(
      local: world.dialler,
      remote: world.listener,
      binding: isTampered ? [UInt8](repeating: 8, count: 32) : binding,
      trust: trusts[Int(other >> 4) % 3],
      code: choice & 0x20 != 0 ? world.code : nil,
      codeKey: choice & 0x40 != 0 ? (hasRightCode ? world.key : world.wrongKey) : nil,
      hello: Control.DiallerHello(introduction: introduction("a", 1), invitation: .init()),
      nonce: bytes32(0x44)
    )
    insists = theirs.insistsOnProof
    dialler = DiallerAdmission(facts: theirs)
    perform(dialler.begin(now: now))
  }

  mutating func step(_ input: inout Input) {
    switch input.byte() % 12 {
    case 0, 1, 2:
      guard !toListener.isEmpty else { return }
      let (type, payload) = toListener.removeFirst()
      give(toListener: type, payload)
    case 3, 4, 5:
      guard !toDialler.isEmpty else { return }
      let (type, payload) = toDialler.removeFirst()
      perform(dialler.frameReceived(type, payload, now: now))
    case 6:
      let (type, payload) = frame(&input)
      give(toListener: type, payload)
    case 7:
      let (type, payload) = frame(&input)
      perform(dialler.frameReceived(type, payload, now: now))
    case 8:
      now += .milliseconds(Int(input.short()))
      perform(listener.timePassed(now: now))
      perform(dialler.timePassed(now: now))
    case 9:
      let accepts = input.byte() & 1 == 0
      if isPersonAsked && accepts { hasPersonAccepted = true }
      perform(listener.personAnswered(accepts ? .accept : .decline(reason: "no"), now: now))
    case 10:
      let agrees = input.byte() & 1 == 0
      if mustCompare && agrees { hasOurPersonAgreed = true }
      perform(dialler.personAnswered(agrees, now: now))
    default:
      switch input.byte() & 3 {
      case 0: perform(dialler.codeKeyComputed(hasRightCode ? world.key : world.wrongKey, now: now))
      case 1: perform(listener.linkLost())
      case 2: perform(dialler.withdraw())
      default: if !toDialler.isEmpty { toDialler.removeFirst() }
      }
    }
    insist(!isListenerOver || listener.deadline == nil, "a side that has ended has no deadline")
    insist(!isDiallerOver || dialler.deadline == nil, "a side that has ended has no deadline")
  }

  private mutating func give(toListener type: FrameType, _ payload: [UInt8]) {
    // HELLO is handled separately, because the owner of the link must first find the session.
    if type == .hello, let hello = try? Control.DiallerHello.decode(payload) {
      return perform(
        listener.helloReceived(
          hello,
          answering: introduction("b", 2),
          membership: Membership(local: world.listener, session: introduction("b", 2).session, host: world.listener),
          now: now
        )
      )
    }
    perform(listener.frameReceived(type, payload, limiter: &limiter, now: now))
  }

  private mutating func perform(_ actions: [ListenerAction]) {
    insist(actions.isEmpty || !isListenerOver, "a listener that has finished does nothing more")
    for action in actions {
      switch action {
      case .send(let type, let payload):
        insist(payload.count <= Limits.framePayloadBeforeAdmission, "a frame is within its limit")
        toDialler.append((type, payload))
      case .computeCodeKey: preconditionFailure("the key is known")
      case .askPerson(let invitation):
        insist(invitation.words.count == ShortWords.count, "a person sees three words")
        isPersonAsked = true
      case .invitationEnded:
        insist(isPersonAsked, "only a shown invitation ends")
        isPersonAsked = false
      case .accept(let proof, let basis):
        isListenerOver = true
        let accept = Control.Accept(host: world.host, maximum: 16, members: [], proof: proof)
        toDialler.append((.accept, accept.encoded()))
        switch basis {
        case .code:
          insist(mode == 2 && proof != nil, "a code is the listener's mode")
          insist(hasRightCode && !isTampered, "only a peer that knows the code is admitted, without tampering")
        case .ask: insist(mode == 3 && hasPersonAccepted, "the user accepted the guest")
        case .known: insist(mode == 1, "known is the listener's mode")
        case .anyone: insist(mode == 0, "anyone is the listener's mode")
        case .resumed: break
        case .ticket: preconditionFailure("no ticket of this world verifies")
        }
      case .close, .ended: isListenerOver = true
      }
    }
  }

  private mutating func perform(_ actions: [DiallerAction]) {
    insist(actions.isEmpty || !isDiallerOver, "a dialler that has finished does nothing more")
    for action in actions {
      switch action {
      case .send(let type, let payload):
        insist(payload.count <= Limits.framePayloadBeforeAdmission, "a frame is within its limit")
        toListener.append((type, payload))
      case .computeCodeKey: break
      case .showWords(let words, _, let mustBeCompared):
        insist(words.count == ShortWords.count, "a person sees three words")
        mustCompare = mustBeCompared
      case .opened(let opening):
        isDiallerOver = true
        switch opening.basis {
        case .code: insist(hasRightCode && !isTampered, "only a host that knows the code is trusted")
        case .ask: insist(!mustCompare || hasOurPersonAgreed, "the user compared the words")
        case .anyone, .known, .resumed, .ticket: insist(!insists, "a dialler that requires a proof gets one")
        }
      case .close, .ended, .lost: isDiallerOver = true
      }
    }
  }
}

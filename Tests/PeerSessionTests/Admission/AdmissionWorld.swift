import PeerCore
import PeerDiscovery
import PeerWire

@testable import PeerSession

/// A dialler and a listener, whose frames a test can deliver, change or drop.
struct AdmissionWorld {
  static let sessionID = SessionID.random()
  static let dialler = PeerIdentity.ephemeral()
  static let listener = PeerIdentity.ephemeral()
  static let middle = PeerIdentity.ephemeral()
  static let code = JoinCode.random()
  static let codeKey = CodeKey(code: code, session: sessionID, listener: listener.peerID)

  static let binding = [UInt8](repeating: 7, count: 32)

  var dialler: DiallerAdmission
  var listener: ListenerAdmission
  var limiter = AttemptLimiter()
  var now = Duration.seconds(1_000)
  /// The listener's knowledge of the session.
  var membership = Membership(local: listener.peerID, session: sessionID, host: listener.peerID)

  /// All actions of each side except frames.
  var diallerWanted: [DiallerAction] = []
  var listenerWanted: [ListenerAction] = []
  /// The types of all frames, in order; those of the dialler are negative.
  var types: [Int] = []

  /// Whether DECIDING is lost on the way to both sides, as if neither side knew this frame.
  var dropsReports = false

  private var toListener: [(FrameType, [UInt8])] = []
  private var toDialler: [(FrameType, [UInt8])] = []

  init(dialler: DiallerAdmission.Facts, listener: ListenerAdmission.Facts) {
    self.dialler = DiallerAdmission(facts: dialler)
    self.listener = ListenerAdmission(facts: listener)
  }

  static func introduction(_ name: String, session: SessionID = sessionID) -> Control.Introduction {
    Control.Introduction(
      session: session,
      name: UntrustedText(name),
      incarnation: SessionIncarnation(5),
      port: 26_273,
      addresses: ["192.0.2.1", "fe80::1"],
      role: .member,
      links: 0
    )
  }

  static func diallerFacts(trust: JoinTrust = .discovered, code: JoinCode? = nil, timeout: Duration = .seconds(60))
    -> DiallerAdmission.Facts
  {
    DiallerAdmission.Facts(
      local: dialler.peerID,
      remote: listener.peerID,
      binding: binding,
      trust: trust,
      code: code,
      hello: Control.DiallerHello(
        introduction: introduction("Dora"),
        invitation: Control.InvitationRequest(timeout: timeout, context: [1, 2, 3])
      )
    )
  }

  static func listenerFacts(_ mode: ListenerAdmission.Mode) -> ListenerAdmission.Facts {
    ListenerAdmission.Facts(
      local: listener.peerID,
      remote: dialler.peerID,
      address: "192.0.2.7",
      binding: binding,
      mode: mode
    )
  }

  static var accept: Control.Accept { Control.Accept(host: listener.peerID, maximum: 16, members: []) }

  /// Starts both sides, and delivers frames until none is left.
  mutating func run() {
    perform(dialler.begin(now: now))
    carry()
  }

  mutating func carry() {
    while true {
      if !toListener.isEmpty {
        let (type, payload) = toListener.removeFirst()
        if type == .hello, let hello = try? Control.DiallerHello.decode(payload) {
          perform(listener.helloReceived(hello, answering: Self.introduction("Lena"), membership: membership, now: now))
        } else {
          perform(listener.frameReceived(type, payload, limiter: &limiter, now: now))
        }
      } else if !toDialler.isEmpty {
        let (type, payload) = toDialler.removeFirst()
        perform(dialler.frameReceived(type, payload, now: now))
      } else {
        return
      }
    }
  }

  /// Lets time pass, and delivers the frames that both sides send in the meantime.
  mutating func pass(_ time: Duration) {
    let end = now + time
    while let due = [dialler.deadline, listener.deadline].compactMap(\.self).min(), due <= end {
      now = max(now, due)
      perform(dialler.timePassed(now: now))
      perform(listener.timePassed(now: now))
      carry()
    }
    now = end
  }

  mutating func perform(_ actions: [DiallerAction]) {
    for action in actions {
      switch action {
      case .send(let type, let payload):
        types.append(-Int(type.rawValue))
        if type == .deciding, dropsReports { continue }
        toListener.append((type, payload))
      case .computeCodeKey(let code, let session, let listener):
        diallerWanted.append(action)
        let key =
          code == Self.code && listener == Self.listener.peerID && session == Self.sessionID
          ? Self.codeKey : CodeKey(code: code, session: session, listener: listener)
        perform(dialler.codeKeyComputed(key, now: now))
      case .close(let code, let message):
        diallerWanted.append(action)
        toListener.append((.close, Control.Close(code, message).encoded()))
      case .showWords, .opened, .ended, .lost: diallerWanted.append(action)
      }
    }
  }

  mutating func perform(_ actions: [ListenerAction]) {
    for action in actions {
      switch action {
      case .send(let type, let payload):
        types.append(Int(type.rawValue))
        if type == .deciding, dropsReports { continue }
        toDialler.append((type, payload))
      case .accept(let proof, _):
        listenerWanted.append(action)
        var accept = Self.accept
        accept.proof = proof
        toDialler.append((.accept, accept.encoded()))
      case .close(let code, let message):
        listenerWanted.append(action)
        toDialler.append((.close, Control.Close(code, message).encoded()))
      case .computeCodeKey: perform(listener.codeKeyComputed([CodeChoice(key: Self.codeKey)], now: now))
      case .askPerson, .invitationEnded, .ended: listenerWanted.append(action)
      }
    }
  }

  // Results that the tests read from the actions.

  var opening: DiallerAdmission.Opening? {
    diallerWanted.lazy.compactMap { action in if case .opened(let opening) = action { opening } else { nil } }.first
  }

  var admitted: AdmissionBasis? {
    listenerWanted.lazy.compactMap { action in if case .accept(_, let basis) = action { basis } else { nil } }.first
  }

  /// The close code that each side sent.
  var diallerClosed: CloseCode? {
    diallerWanted.lazy.compactMap { action in if case .close(let code, _) = action { code } else { nil } }.first
  }

  var listenerClosed: CloseCode? {
    listenerWanted.lazy.compactMap { action in if case .close(let code, _) = action { code } else { nil } }.first
  }

  var invitation: InvitationToAnswer? {
    listenerWanted.lazy.compactMap { action in if case .askPerson(let invitation) = action { invitation } else { nil } }
      .first
  }

  var shownWords: (words: [String], mustBeCompared: Bool)? {
    diallerWanted.lazy.compactMap { action in
      if case .showWords(let words, _, let mustBeCompared) = action { (words, mustBeCompared) } else { nil }
    }.first
  }
}

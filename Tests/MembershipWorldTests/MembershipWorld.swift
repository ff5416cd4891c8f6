import NIOCore
import PeerCore
import PeerDiscovery
import PeerWire

@testable import PeerSession

/// A few peers of one session in virtual time.
///
/// They use the product's own code for membership (``Membership``), admission (``ListenerAdmission``,
/// ``DiallerAdmission``) and dialing (``DialPlan``), without sockets and clocks. A world is a value, so that an
/// exhaustive search can branch at every step.
struct MembershipWorld {
  /// An action of a user or the machine on one peer.
  enum Step: Hashable, CustomStringConvertible {
    case join(Int, through: Int)
    /// The program ends with a goodbye.
    case quit(Int)
    /// The process dies without a goodbye.
    case kill(Int)
    /// The program is started again with the same data directory.
    case restart(Int)
    /// Time passes until no work is due soon.
    case settle
    /// Enough time passes for broken links to be given up (LIV-4).
    case lose

    var description: String {
      switch self {
      case .join(let peer, let other): "\(peer) joins through \(other)"
      case .quit(let peer): "\(peer) quits"
      case .kill(let peer): "\(peer) is killed"
      case .restart(let peer): "\(peer) restarts"
      case .settle: "settle"
      case .lose: "65 s pass"
      }
    }
  }

  /// How the host admits newcomers. The other peers admit by the code, or known peers, as the programs do.
  enum Mode: CaseIterable { case code, ask, anyone }

  /// The knowledge of a running peer about another.
  struct Contact {
    var incarnation: SessionIncarnation
    var plan = DialPlan()
    var isVouched = false
    var hasRefusedCode = false
    var brokenAt: NIODeadline?
  }

  /// One run of a peer's program.
  struct Process {
    var incarnation: SessionIncarnation
    var membership: Membership
    var contacts: [Int: Contact] = [:]
    var links: Set<Int> = []
  }

  /// A peer. Its key and number never change, but each start is a new process.
  struct Peer {
    var stored: MembershipRecord?
    var process: Process?
    /// The incarnation that discovery shows; nil if discovery shows none.
    var announced: SessionIncarnation?
  }

  static let session = SessionID.random()
  static let code = JoinCode.random()
  static let identities = (0..<5).map { _ in PeerIdentity.ephemeral() }
  static let numbers = Dictionary(uniqueKeysWithValues: identities.enumerated().map { ($1.peerID, $0) })
  /// Computed once, because a key takes a tenth of a second.
  static let codeKeys = identities.map { CodeKey(code: code, session: session, listener: $0.peerID) }

  let mode: Mode
  /// Whether programs wrongly forget everything when they end.
  var storesNothing = false
  /// Whether discovery works.
  let isAnnounced: Bool
  private(set) var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
  private(set) var peers: [Peer]
  private var lastIncarnation: UInt64 = 0
  /// The number of dials, so that a test can prove that the search did something.
  private(set) var dials = 0

  /// Creates a world in which the first peer hosts and no other peer has joined.
  init(count: Int, mode: Mode, isAnnounced: Bool = true) {
    self.mode = mode
    self.isAnnounced = isAnnounced
    peers = Array(repeating: Peer(), count: count)
    begin(0, Membership(local: id(0), session: Self.session, host: id(0)))
  }

  private func id(_ peer: Int) -> PeerID { Self.identities[peer].peerID }

  // MARK: Steps

  var steps: [Step] {
    var steps: [Step] = [.settle, .lose]
    for (index, peer) in peers.enumerated() {
      if peer.process != nil {
        steps += [.quit(index), .kill(index)]
      } else if peer.stored != nil {
        steps.append(.restart(index))
      } else {
        // All newcomers are equivalent, so only the first of them joins.
        guard index == peers.firstIndex(where: { $0.stored == nil && $0.process == nil }) else { continue }
        // If only the host's tickets count, a newcomer joins through the host (TCK-5).
        for other in peers.indices where peers[other].process != nil {
          guard mode == .code || other == 0 else { continue }
          steps.append(.join(index, through: other))
        }
      }
    }
    return steps
  }

  mutating func perform(_ step: Step) {
    switch step {
    case .join(let peer, let other): join(peer, through: other)
    case .quit(let peer): end(peer, isGoodbye: true)
    case .kill(let peer): end(peer, isGoodbye: false)
    case .restart(let peer): restart(peer)
    case .settle: run(for: .seconds(30))
    case .lose: run(for: .seconds(65))
    }
  }

  /// Every pair of running peers without a link.
  var unconnected: [(Int, Int)] {
    let running = peers.indices.filter { peers[$0].process != nil }
    return running.flatMap { one in running.filter { $0 > one && !isLinked(one, $0) }.map { (one, $0) } }
  }

  private func isLinked(_ one: Int, _ other: Int) -> Bool { peers[one].process?.links.contains(other) == true }

  private mutating func begin(_ peer: Int, _ membership: Membership) {
    lastIncarnation += 1
    let incarnation = SessionIncarnation(lastIncarnation)
    peers[peer].process = Process(incarnation: incarnation, membership: membership)
    peers[peer].stored = membership.record
    guard isAnnounced else { return }
    peers[peer].announced = incarnation
    for other in peers.indices where other != peer && peers[other].process != nil {
      found(peer, by: other)
      found(other, by: peer)
    }
    // A killed peer is still shown for a while.
    for other in peers.indices where peers[other].process == nil && peers[other].announced != nil {
      found(other, by: peer)
    }
  }

  private mutating func restart(_ peer: Int) {
    guard let record = peers[peer].stored else { return }
    var membership = Membership(local: id(peer), session: Self.session, host: id(peer))
    if !storesNothing { membership.restore(record) } else { membership.host = record.host }
    begin(peer, membership)
    let now = now
    for member in membership.members {
      guard let other = Self.numbers[member.peer] else { continue }
      change(peer, other) {
        $0.isVouched = true
        $0.plan.named(of: $0.incarnation, dialAt: now)
      }
    }
  }

  private mutating func end(_ peer: Int, isGoodbye: Bool) {
    guard let process = peers[peer].process else { return }
    peers[peer].process = nil
    for other in process.links {
      peers[other].process?.links.remove(peer)
      let now = now
      change(other, peer) { contact in
        contact.incarnation = process.incarnation
        if isGoodbye {
          _ = contact.plan.closed(CloseCode.left.redial, by: process.incarnation)
        } else {
          contact.plan.dialledLast = peer > other
          contact.plan.linkBroke(now: now)
          contact.brokenAt = now
        }
      }
    }
    if isGoodbye {
      peers[peer].announced = nil
      for other in peers.indices where peers[other].process != nil {
        peers[other].process?.contacts[peer]?.plan.vanished()
      }
    }
  }

  // MARK: Events between peers

  private mutating func change(_ peer: Int, _ other: Int, _ body: (inout Contact) -> Void) {
    guard peers[peer].process != nil else { return }
    var contact = peers[peer].process?.contacts[other] ?? Contact(incarnation: SessionIncarnation(0))
    body(&contact)
    peers[peer].process?.contacts[other] = contact
  }

  private mutating func found(_ peer: Int, by other: Int) {
    guard let incarnation = peers[peer].announced else { return }
    let (now, hasLink) = (now, isLinked(other, peer))
    change(other, peer) { contact in
      if contact.incarnation == SessionIncarnation(0) { contact.incarnation = incarnation }
      contact.plan.discovered(incarnation, isMoved: false, hasLink: hasLink, now: now)
    }
  }

  /// Handles a member that ACCEPT or MEMBERS names.
  private mutating func heard(_ peer: Int, of other: Int, by source: Int, after delay: TimeAmount) {
    guard peer != other, !isLinked(peer, other), let process = peers[other].process else { return }
    let now = now
    let isVouching =
      admitters(of: peer) == .members || peers[peer].process?.membership.maySpeakForHost(id(source)) == true
    change(peer, other) { contact in
      if isVouching { contact.isVouched = true }
      contact.incarnation = process.incarnation
      contact.plan.named(of: process.incarnation, dialAt: now + delay)
    }
  }

  // MARK: Links

  private mutating func join(_ peer: Int, through other: Int) {
    guard let membership = peers[other].process?.membership else { return }
    begin(peer, Membership(local: id(peer), session: Self.session, host: membership.host))
    let hello = Control.DiallerHello(introduction: introduction(peer), invitation: .init())
    let outcome = handshake(peer, other, hello, nil)
    precondition(outcome == nil, "a newcomer with a link is admitted")
  }

  private func introduction(_ peer: Int) -> Control.Introduction {
    Control.Introduction(
      session: Self.session,
      name: UntrustedText("p\(peer)"),
      incarnation: peers[peer].process?.incarnation ?? SessionIncarnation(0),
      port: 26_273,
      addresses: ["192.0.2.\(peer)"],
      role: .member,
      links: 0
    )
  }

  private func admissionMode(of listener: Int, for dialler: Int) -> ListenerAdmission.Mode {
    if id(dialler) == peers[listener].process?.membership.host { return .anyone }
    switch mode {
    case .code: return .code(Self.codeKeys[listener])
    case .ask: return listener == 0 ? .ask : .known(isKnown: false)
    case .anyone: return listener == 0 ? .anyone : .known(isKnown: false)
    }
  }

  private func admitters(of peer: Int) -> Membership.Admitters {
    switch mode {
    case .code: .members
    case .ask: .host
    case .anyone: peer == 0 ? .members : .host
    }
  }

  /// Runs a handshake from HELLO to ACCEPT with the product's own state machines; returns the close code that ended it;
  /// nil if the link is open.
  private mutating func handshake(_ dialler: Int, _ listener: Int, _ hello: Control.DiallerHello, _ dial: MemberDial?)
    -> CloseCode?
  {
    guard let theirs = peers[listener].process else { return .internalError }
    let binding = [UInt8](repeating: 7, count: 32)
    let refused = peers[dialler].process?.contacts[listener]?.hasRefusedCode == true
    var out = DiallerAdmission(
      facts: .init(
        local: id(dialler),
        remote: id(listener),
        binding: binding,
        trust: .pinnedByLink,
        code: mode == .code && !refused ? Self.code : nil,
        hello: hello,
        membership: dial
      )
    )
    var `in` = ListenerAdmission(
      facts: .init(
        local: id(listener),
        remote: id(dialler),
        address: "192.0.2.\(dialler)",
        binding: binding,
        mode: admissionMode(of: listener, for: dialler)
      )
    )
    var limiter = AttemptLimiter()
    var toDialler: [ListenerAction] = []
    var toListener = out.begin(now: .zero)
    var listenerShown: Ticket?
    while !toListener.isEmpty || !toDialler.isEmpty {
      if !toListener.isEmpty {
        switch toListener.removeFirst() {
        case .send(.hello, _):
          toDialler += `in`.helloReceived(
            hello,
            answering: introduction(listener),
            membership: theirs.membership,
            now: .zero
          )
        case .send(let type, let payload): toDialler += `in`.frameReceived(type, payload, limiter: &limiter, now: .zero)
        case .computeCodeKey: toListener += out.codeKeyComputed(Self.codeKeys[listener], now: .zero)
        case .showWords: break
        case .close(let code, _), .ended(let code, _): return code
        case .lost: return .internalError
        case .opened(let opening):
          listenerShown = opening.hello.ticket
          open(dialler, listener, hello, opening.accept, shown: listenerShown)
          return nil
        }
      } else {
        switch toDialler.removeFirst() {
        case .send(let type, let payload): toListener += out.frameReceived(type, payload, now: .zero)
        case .askPerson: toDialler += `in`.personAnswered(.accept, now: .zero)
        case .accept(let proof, _):
          var accept = Control.Accept(
            host: theirs.membership.host,
            maximum: 16,
            members: [],
            ticket: theirs.membership.renewed(for: id(dialler), showing: hello.ticket, by: Self.identities[listener])
          )
          accept.proof = proof
          toListener += out.frameReceived(.accept, accept.encoded(), now: .zero)
        case .close(let code, let message):
          let close = Control.Close(code, message).encoded()
          toListener += out.frameReceived(.close, close, now: .zero)
        case .invitationEnded, .ended, .computeCodeKey: break
        }
      }
    }
    return .internalError
  }

  private mutating func open(
    _ dialler: Int,
    _ listener: Int,
    _ hello: Control.DiallerHello,
    _ accept: Control.Accept,
    shown: Ticket?
  ) {
    let others = peers[listener].process?.links ?? []
    let isKnown = peers[listener].process?.membership.contains(id(dialler)) == true
    if let ticket = accept.ticket { received(dialler, ticket) }
    peers[dialler].process?.links.insert(listener)
    peers[listener].process?.links.insert(dialler)
    for (one, other) in [(dialler, listener), (listener, dialler)] {
      guard let incarnation = peers[other].process?.incarnation else { continue }
      change(one, other) { contact in
        contact.incarnation = incarnation
        contact.isVouched = true
        contact.plan.linkOpened(dialledHere: true)
        contact.brokenAt = nil
      }
      let met = MembershipRecord.Member(peer: id(other), name: UntrustedText("p\(other)"))
      let isNew = peers[one].process?.membership.met(met)
      if isNew == true { proofChanged(one) }
      peers[one].stored = peers[one].process?.membership.record
    }
    let renewed = peers[dialler].process?.membership.renewed(
      for: id(listener),
      showing: shown,
      by: Self.identities[dialler]
    )
    if let renewed { received(listener, renewed) }
    for other in others where other != dialler {
      heard(dialler, of: other, by: listener, after: .zero)
      if !isKnown { heard(other, of: dialler, by: listener, after: .seconds(3)) }
    }
  }

  private mutating func received(_ peer: Int, _ ticket: Ticket) {
    if peers[peer].process?.membership.received(ticket) == true { proofChanged(peer) }
    peers[peer].stored = peers[peer].process?.membership.record
  }

  private mutating func proofChanged(_ peer: Int) {
    let now = now
    for other in peers.indices { peers[peer].process?.contacts[other]?.plan.proofChanged(now: now) }
  }

  // MARK: Time

  /// Advances the time and makes the dials that are due.
  mutating func run(for duration: TimeAmount) {
    let end = now + duration
    while let (due, peer, other) = nextDial, due <= end {
      now = max(now, due)
      giveUp()
      dial(peer, other)
    }
    now = end
    giveUp()
  }

  /// Gives up links that broke a minute ago (LIV-4).
  private mutating func giveUp() {
    for peer in peers.indices {
      for (other, contact) in peers[peer].process?.contacts ?? [:] {
        guard let brokenAt = contact.brokenAt, now - brokenAt >= .seconds(60) else { continue }
        let now = now
        change(peer, other) {
          $0.brokenAt = nil
          $0.plan.lost(now: now, jitter: 1)
        }
      }
    }
  }

  private var nextDial: (due: NIODeadline, peer: Int, other: Int)? {
    var best: (due: NIODeadline, peer: Int, other: Int)?
    for (peer, state) in peers.enumerated() {
      guard let process = state.process else { continue }
      for (other, contact) in process.contacts where !process.links.contains(other) {
        guard !contact.plan.isBarred, let due = contact.plan.next else { continue }
        let candidate = (max(due, now), peer, other)
        if best.map({ candidate < $0 }) ?? true { best = candidate }
      }
    }
    return best
  }

  private mutating func dial(_ peer: Int, _ other: Int) {
    guard let process = peers[peer].process, let contact = process.contacts[other] else { return }
    dials += 1
    let now = now
    change(peer, other) { $0.plan.began() }
    var refusal: CloseCode?
    if peers[other].process == nil {
      refusal = .internalError
    } else {
      let hello = Control.DiallerHello(introduction: introduction(peer), ticket: process.membership.ticket)
      let dial = MemberDial(process.membership, mustProve: !contact.isVouched, admitters: admitters(of: peer))
      refusal = handshake(peer, other, hello, dial)
    }
    guard let refusal else { return change(peer, other) { $0.plan.ended() } }
    var outcome = DialPlan.Outcome.planned
    let isKept = process.membership.contains(id(other))
    change(peer, other) { contact in
      if refusal == .wrongCode { contact.hasRefusedCode = true }
      outcome = contact.plan.failed(
        refusal.redial,
        .init(incarnation: contact.incarnation, isAwaited: contact.brokenAt != nil, isKept: isKept),
        now: now,
        jitter: 1
      )
    }
    if outcome == .forgotten { peers[peer].process?.contacts[other] = nil }
  }

  // MARK: Comparing worlds

  /// Everything that affects the future of the world, with times relative to now.
  var signature: String {
    var text = ""
    for (index, peer) in peers.enumerated() {
      text += "\(index):"
      guard let process = peer.process else {
        text += peer.stored.map { "down\(describe($0))\(peer.announced != nil)" } ?? "new"
        text += ";"
        continue
      }
      text += "up\(describe(process.membership.record))l\(process.links.sorted())"
      for (other, contact) in process.contacts.sorted(by: { $0.key < $1.key }) {
        let plan = contact.plan
        // An incarnation is either the peer's current process or an earlier process.
        let isNow: (SessionIncarnation) -> Bool = { $0 == peers[other].process?.incarnation }
        text += "c\(other)v\(contact.isVouched)f\(plan.failures)i\(isNow(contact.incarnation))"
        text += "n\(plan.next.map { max(($0 - now).nanoseconds, 0) / 100_000_000 } ?? -1)"
        text += "a\(plan.announced.map(isNow).map(String.init) ?? "-")"
        text += "L\(plan.lostAt.map { (now - $0).nanoseconds / 60_000_000_000 } ?? -1)"
        text += "b\(contact.brokenAt.map { (now - $0).nanoseconds / 1_000_000_000 } ?? -1)"
        switch plan.bar {
        case .untilRestart(let of): text += "R\(isNow(of))"
        case .untilProof(let of): text += "P\(isNow(of))"
        case .always: text += "A"
        case nil: break
        }
      }
      text += ";"
    }
    return text
  }

  private func describe(_ record: MembershipRecord) -> String {
    let members = record.members.compactMap { Self.numbers[$0.peer] }.sorted()
    let chain = record.ticket.map { [$0.signature] + $0.via } ?? []
    return "m\(members)t\(chain.compactMap { Self.numbers[$0.admitter] })"
  }
}

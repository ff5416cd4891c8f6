import NIOCore
import PeerDiscovery
import PeerWire

/// Dials the members of a session when ``RedialPolicy`` decides to. Confined to the session's event loop. The session
/// owns this object, so the functions get the session from their caller.
final class MemberDialler {
  private(set) var handshakes: [ObjectIdentifier: DiallerHandshake] = [:]
  var policy: RedialPolicy
  private var willDialNext = false

  init(lostAfter: TimeAmount) { policy = RedialPolicy(lostAfter: lostAfter) }

  func dialDue(_ now: NIODeadline, in session: SessionCore) {
    for peer in policy.due(now: now) {
      if let entry = session.entries[peer], session.relaying.leavesToRelays(entry, now) {
        // Without this delay, the session would check again with each tick.
        policy[peer].postpone(until: now + Star.wait)
      } else {
        dialIfDue(peer, now, in: session)
      }
    }
    let lost = policy.lostPeerDue(now: now) { standing($0, now, in: session) }
    if let lost, let entry = session.entries[lost] { dial(entry, in: session) }
  }

  /// Begins the dials that waited for the end of another dial (MEM-6), without waiting for the next tick.
  private func dialNext(in session: SessionCore) {
    guard !willDialNext else { return }
    willDialNext = true
    session.eventLoop.assumeIsolated().execute { [self] in
      willDialNext = false
      dialDue(.now(), in: session)
    }
  }

  func dialIfDue(_ peer: PeerID, _ now: NIODeadline, in session: SessionCore) {
    guard policy.allowsDial(of: peer, now: now, standing: { standing($0, now, in: session) }),
      let entry = session.entries[peer]
    else { return }
    dial(entry, in: session)
  }

  func plan(_ entry: PeerEntry, after wait: TimeAmount, in session: SessionCore) {
    policy[entry.id].plan(after: wait, now: .now(), jitter: jitter())
    session.planTick()
  }

  /// Returns a random fraction, from 0 to 1, of the jitter in LIV-3.
  func jitter() -> Double { .random(in: 0...1) }

  func hello(to peer: PeerID, in session: SessionCore) -> Control.DiallerHello {
    let entry = session.entries[peer]
    let resume = entry?.delivery.map { delivery in
      Control.Resume(incarnation: delivery.incarnation, received: delivery.inbox.received, since: delivery.since)
    }
    let carry = session.relaying.carriers[peer].map { terms in
      Control.Carry(terms, RelayGrant.make(by: session.configuration.identity, session: session.id, relay: peer))
    }
    return Control.DiallerHello(
      introduction: session.introduction(for: entry),
      resume: resume,
      ended: entry?.unreportedEnd,
      ticket: session.membership.ticket,
      carry: carry
    )
  }

  private func standing(_ peer: PeerID, _ now: NIODeadline, in session: SessionCore) -> RedialPolicy.Standing {
    guard let entry = session.entries[peer] else { return .init() }
    return .init(
      hasLink: entry.link != nil,
      isRemoved: session.membership.isRemoved(peer),
      isLeftToRelays: session.relaying.leavesToRelays(entry, now),
      isProven: entry.delivery != nil || session.membership.contains(peer)
    )
  }

  func dial(_ entry: PeerEntry, in session: SessionCore) {
    let addresses = entry.addresses.filter { address in
      entry.observed.contains(address) || session.transport.dialBudget.take(address.host, now: .now())
    }
    guard !addresses.isEmpty || entry.addresses.isEmpty else {
      // Too many peers with this address were dialed (MEM-18).
      policy[entry.id].postpone(until: .now() + .seconds(5))
      return
    }
    policy[entry.id].began()
    let dial = LinkDial(session.transport.means(), addresses, expecting: entry.id) { [self] result in
      switch result {
      case .failure(let error):
        dialFailed(entry, error, redial: .later, in: session)
        dialNext(in: session)
      case .success(let link): connected(link, entry, in: session)
      }
    }
    dial.start()
  }

  private func connected(_ link: ControlLink, _ entry: PeerEntry, in session: SessionCore) {
    // A dial may have begun before it was known that the peer is a guest, or before another link opened. A second link
    // would replace that link, and the two sides could then close different links, so that both end (DUP-2).
    guard !session.hasEnded, entry.link == nil, !session.membership.isRemoved(entry.id), !entry.member.isGuest,
      let exporter = link.facts.exporter
    else {
      policy[entry.id].ended()
      dialNext(in: session)
      return link.abort()
    }
    var code: JoinCode?
    if case .code(let own) = session.admission.policy, !entry.hasRefusedCode { code = own }
    let handshake = DiallerHandshake(
      session,
      link,
      facts: .init(
        local: session.localPeer,
        remote: entry.id,
        binding: exporter.export(.binding),
        trust: .pinnedByLink,
        code: code,
        hello: hello(to: entry.id, in: session),
        membership: MemberDial(
          session.membership,
          mustProve: !entry.isVouched,
          admitters: session.admission.policy.admitters
        )
      ),
      verify: nil
    ) { [self] result in
      handshakes[ObjectIdentifier(link)] = nil
      policy[entry.id].ended()
      if case .failure(let failure) = result {
        // Record the failure even if another link exists, because that link may break again.
        dialFailed(entry, failure.error, redial: failure.redial, in: session)
      }
      dialNext(in: session)
    }
    handshakes[ObjectIdentifier(link)] = handshake
    handshake.start()
  }

  func dialFailed(_ entry: PeerEntry, _ error: SessionError, redial: CloseCode.Redial, in session: SessionCore) {
    guard !session.hasEnded else { return }
    policy[entry.id].ended()
    guard entry.link == nil else { return }
    if error.code == .wrongCode { entry.hasRefusedCode = true }
    if error.code == .unreachable { session.relaying.couldNotDial(entry) }
    let outcome = policy.dialFailed(
      entry.id,
      .init(
        incarnation: entry.member.incarnation,
        redial: redial,
        code: error.code,
        isJoined: entry.isJoined,
        hasDelivery: entry.delivery != nil,
        isRelayed: entry.relayed.map { !session.relaying.star.lostHubs.contains($0.route.relay) } ?? false,
        isMember: session.membership.contains(entry.id),
        isRelay: entry.member.role == .relay,
        isHearsay: entry.namedBy.map { !session.membership.maySpeakForHost($0) } ?? false,
        hasRelays: session.relaying.hasRelays
      ),
      now: .now(),
      jitter: jitter()
    )
    switch outcome {
    case .planned: session.planTick()
    case .barred: refused(entry, error, in: session)
    case .forgotten: session.directory.forget(entry.id)
    }
  }

  private func refused(_ entry: PeerEntry, _ error: SessionError, in session: SessionCore) {
    if policy[entry.id].isLost {
      // The peer's departure was already reported when the peer was considered lost.
      session.emit(
        .warning(
          SessionWarning(
            code: error.code.rawValue,
            message: "\(entry.member.name) was lost earlier, and now refuses the connection:" + " \(error.message)",
            peer: entry.id
          )
        )
      )
      session.deliverEvents()
    } else {
      session.depart(entry, .refused(error))
    }
    if error.code == .kicked && entry.id == session.membership.authority { session.end(.left, error) }
  }
}

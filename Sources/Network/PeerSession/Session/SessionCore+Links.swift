import NIOCore
import PeerCore
import PeerDiscovery
import PeerWire

// The open links of a session: opening, frame handling and closing.
extension SessionCore {
  struct Opening {
    var peer: PeerID
    var introduction: Control.Introduction
    var ownRole: Control.Role
    /// The number of this link: 1 more than the larger `links` value of the two sides.
    var number: Int
    /// The last part that the other side received; `nil` if the delivery state starts over (RSM-2, RSM-3).
    var received: UInt64?
    /// The reason why the peer gave up the shared delivery state, if the peer sent a reason (CLS-3, RSM-6).
    var ended: String?
    var admission: PeerAdmission?
    var guestKey: GuestKey?
    var ticket: Ticket?
  }

  func open(_ link: ControlLink, _ opening: Opening) {
    let entry = directory.entry(for: opening.peer, opening.introduction)
    directory.notice([opening.peer])
    entry.member = Control.Member(peer: opening.peer, opening.introduction).usable(from: link.remote)
    entry.admission = opening.admission ?? entry.admission
    entry.guestKey = opening.guestKey ?? entry.guestKey
    entry.member.isGuest = entry.guestKey != nil
    entry.shownTicket = opening.ticket
    entry.isVouched = true
    if let remote = link.remote {
      // An address that the local peer dialed is valid, even if the peer announces another port. If the peer opened the
      // connection, its source port cannot be dialed.
      switch link.side {
      case .dialler: entry.remember(remote)
      case .listener where opening.introduction.port > 0:
        entry.remember(PeerAddress(host: remote.host, port: opening.introduction.port))
      case .listener: break
      }
    }
    relaying.linkOpens(entry)
    let previous = entry.link
    let crossed = previous != nil && previous?.side != link.side && entry.linkNumber == opening.number

    entry.link = link
    link.entry = entry
    // While users decided about the peer, the link may have been silent for longer than an open link may be (LIV-2).
    link.excuseSilence(until: .now())
    entry.linkNumber = max(entry.linkNumber, opening.number)
    entry.passes = opening.introduction.passes ?? RelayRate()
    entry.offersRoutes =
      opening.introduction.passes != nil && opening.introduction.role == .member && !link.isFromBrowser
    dialler.policy[entry.id].linkOpened(dialledHere: link.side == .dialler)
    entry.acknowledgements.sent()
    previous?.close(crossed ? .duplicateLink : .replaced)
    if let old = entry.delivery?.incarnation, old != opening.introduction.incarnation {
      if entry.isReplaced(opening.introduction.incarnation) { reportCopy(of: entry) }
      entry.former.replace(old, with: opening.introduction.incarnation, now: .now())
    }

    let joinedBefore = entry.delivery?.outbox.joinGeneration
    do throws(AcknowledgementError) { try messages.linkOpened(entry, opening, in: self) } catch {
      entry.link = nil
      return fail(link, entry, .protocolError, "The peer acknowledges messages that were never sent.")
    }
    if link.side == .dialler { entry.delivery?.lastDialled = opening.number }
    link.frameLimit = Limits.framePayload
    updateReading(entry)
    setState(entry, .connected)
    startDatagrams(entry, link)
    bulk.linkOpened(entry, link, in: self)
    relaying.linkOpened(entry, link)
    directory.met(entry)
    entry.knownRemovals = []
    directory.spreadRemovals(to: entry)
    admission.sendTerms(to: entry)
    if entry.delivery?.outbox.joinGeneration != joinedBefore { directory.introduce(entry, link) }
    publish()
    deliverEvents()
    messages.flush(entry)
    // The local peer became a relay after it had sent HELLO, so the peer learns of the new role on a new link (WEB-7).
    if opening.ownRole != relaying.role, !link.isFromBrowser { renewLink(entry) }
  }

  func flush(_ peer: PeerID) { if let entry = entries[peer] { messages.flush(entry) } }

  /// Dials a new link to a peer to replace the current link, without losing messages (3.4).
  func renewLink(_ entry: PeerEntry) {
    entry.link.take()?.abort()
    dialler.policy[entry.id].dialledLast = true
    linkBroken(entry)
  }

  /// Retains the delivery state of a peer whose link broke, and begins to dial the peer again (LIV-3).
  func linkBroken(_ entry: PeerEntry, isTaken: Bool = false) {
    guard entry.isJoined else { return }
    let now = NIODeadline.now()
    entry.apartSince = now
    dialler.policy[entry.id].linkBroke(now: now)
    if isTaken {
      dialler.policy[entry.id].linkTaken(now: now, jitter: dialler.jitter())
      reportOwnCopy()
    }
    entry.datagrams?.close()
    entry.datagrams = nil
    setState(entry, .reconnecting)
    publish()
    deliverEvents()
    dialler.dialIfDue(entry.id, now, in: self)
  }
}

// MARK: - Frames of an open link

extension SessionCore: LinkDelegate {
  func link(_ link: ControlLink, received type: FrameType, _ payload: ByteBuffer) {
    guard let entry = link.entry, entry.link === link else { return }
    switch type {
    case .message: messages.messageReceived(link, entry, payload, in: self)
    case .ack: messages.acknowledgementReceived(link, entry, payload, in: self)
    case .ping:
      guard payload.readableBytes == 8 else { return fail(link, entry, .protocolError, "A PING must have 8 bytes.") }
      // If the peer does not read, further answers would only use memory.
      if link.isWritable { link.send(.pong, Array(payload.readableBytesView)) }
    case .pong:
      guard payload.readableBytes == 8 else { return fail(link, entry, .protocolError, "A PONG must have 8 bytes.") }
    // The peer sent this frame before it received ACCEPT (ADM-15).
    case .deciding: break
    case .datagram:
      guard payload.readableBytes <= Limits.datagramMessage else {
        return fail(link, entry, .tooLarge, "A datagram is longer than the limit.")
      }
      emit(.datagram(Array(payload.readableBytesView), from: entry.id), bytes: payload.readableBytes)
    case .relayDatagram: relaying.receivedDatagram(Array(payload.readableBytesView), entry.id)
    case .members, .kick, .addresses, .bulkRequest, .relayGrant:
      do throws(ControlMessageError) { try receiveControl(link, entry, type, Array(payload.readableBytesView)) } catch {
        fail(link, entry, .protocolError, CloseMessage.invalid(type, error))
      }
    default: fail(link, entry, .protocolError, CloseMessage.unexpected(type))
    }
  }

  func linkReadComplete(_ link: ControlLink) {
    guard let entry = link.entry, entry.link === link else { return deliverEvents() }
    messages.readCompleted(entry, in: self)
    if entry.state == .suspect {
      setState(entry, .connected)
      publish()
    }
    deliverEvents()
  }

  func linkWritable(_ link: ControlLink) {
    guard let entry = link.entry, entry.link === link else { return }
    if entry.owesRemovals { directory.spreadRemovals(to: entry) }
    messages.flush(entry)
  }

  func linkEnded(_ link: ControlLink, _ reason: LinkEnd) {
    guard let entry = link.entry, entry.link === link else { return }
    entry.link = nil
    guard !hasEnded else { return }
    guard case .closed(let code, let message) = reason else { return linkBroken(entry) }
    if code == .duplicateLink, relaying.hasRoute(to: entry.id) { return relaying.settle(entry.id, .rerouted) }
    // If this process is not dialing, the link that replaced the closed link belongs to another process with the local
    // key (DUP-7).
    let isTaken = code == .replaced && !link.isFromBrowser && !dialler.policy[entry.id].isDialling
    let consequence = dialler.policy.linkClosed(
      entry.id,
      code,
      by: entry.member.incarnation,
      isRelay: entry.isSessionRelay,
      isAdmittedByPerson: link.isAdmittedByPerson,
      now: .now(),
      jitter: dialler.jitter()
    )
    switch consequence {
    case .reconnects: linkBroken(entry, isTaken: isTaken)
    case .withdrawn:
      let error = SessionError(.withdrawn, "The peer stopped waiting before it was admitted.")
      depart(entry, .refused(error))
    case .departs:
      let speaksForHost = speaksForHost(entry)
      // Only the host, or a relay on its behalf, can remove the local peer. If another member reports a removal, the
      // session continues without that member.
      let departure =
        code == .kicked && !speaksForHost
        ? .refused(SessionError(closeCode: code, message: message)) : DepartureReason(code, message: message)
      depart(entry, departure)
      planTick()
      if code == .kicked && speaksForHost { end(.left, SessionError(closeCode: .kicked, message: message)) }
    }
  }

  /// Returns whether a peer may remove members, because it is the host or a relay of the session (MEM-3).
  func speaksForHost(_ entry: PeerEntry) -> Bool {
    entry.id == membership.authority || entry.isSessionRelay && membership.maySpeakForHost(entry.id)
  }

  private func receiveControl(_ link: ControlLink, _ entry: PeerEntry, _ type: FrameType, _ payload: [UInt8])
    throws(ControlMessageError)
  {
    switch type {
    case .members:
      let members = try Control.Members.decode(payload)
      // Other peers must not dial the addresses that a guest names (WEB-28).
      guard !link.isFromBrowser else { return }
      directory.learn(members.members, from: entry.id)
      if let ticket = members.ticket { directory.received(ticket) }
      relaying.received(members.relays ?? [], from: entry.id, at: link.remote)
      if speaksForHost(entry) {
        admission.received(members.admission, members.code)
        relaying.heard(members.topology, from: entry.id)
      }
    case .kick: directory.received(try Control.Kick.decode(payload), entry, link)
    case .addresses:
      let addresses = try Control.Addresses.decode(payload)
      guard !link.isFromBrowser else { return }
      entry.member.port = addresses.port
      entry.member.addresses = usableAddresses(addresses.addresses, from: link.remote)
      directory.met(entry)
      if relaying.isRelaying || relaying.table.hasRoutes(entry.id) { directory.announce(entry.id) }
    case .relayGrant: relaying.grantReceived(try RelayGrant.decode(payload), entry, link)
    case .bulkRequest:
      let request = try Control.BulkRequest.decode(payload)
      guard link.side == .dialler else {
        return fail(link, entry, .protocolError, "Only the listener may send BULK-REQUEST.")
      }
      bulk.linksRequested(request, entry, link, in: self)
    default: break
    }
  }
}

extension DepartureReason {
  /// Creates a reason from the `ended` text of the other side (CLS-3, RSM-6).
  init(ended: String?) {
    switch ended.flatMap(CloseCode.init(rawValue:)) {
    case .tooSlow: self = DepartureReason(.tooSlow, message: "")
    case .tooFast: self = DepartureReason(.tooFast, message: "")
    default: self = ended == DepartureReason.rerouted.word ? .rerouted : .reset
    }
  }

  init(_ code: CloseCode, message: String) {
    switch code {
    case .left: self = .left
    case .shuttingDown: self = .shuttingDown
    case .kicked: self = .kicked(reason: UntrustedText(message))
    case .disconnected: self = .disconnected
    default: self = .refused(SessionError(closeCode: code, message: message))
    }
  }
}

// Two processes that use one key at the same time, for example because a data directory was copied (DUP-6, DUP-7).
extension SessionCore {
  /// Returns whether a dialler must wait, because another process with its key has just replaced it.
  func mustPause(_ hello: Control.DiallerHello, from peer: PeerID, now: NIODeadline) -> Bool {
    guard let entry = entries[peer], entry.isReplaced(hello.introduction.incarnation) else { return false }
    reportCopy(of: entry)
    return !entry.former.mayReturn(now: now)
  }

  func reportCopy(of entry: PeerEntry) {
    guard !entry.hasReportedCopy else { return }
    entry.hasReportedCopy = true
    let name = entry.member.name.displayed
    warnOfCopy(
      "Two programs use the identity of \(name) (\(entry.id.short)) on this board at the same time,"
        + " so they take turns. \(name) should give one of them a new identity.",
      entry.id
    )
  }

  func reportOwnCopy() {
    guard !hasReportedOwnCopy else { return }
    hasReportedOwnCopy = true
    warnOfCopy(
      "Another program uses this program's identity (\(localPeer.short)) on this board at the same"
        + " time, so the two take turns. Give one of them a new identity.",
      localPeer
    )
  }

  private func warnOfCopy(_ message: String, _ peer: PeerID) {
    emit(.warning(SessionWarning(code: SessionWarning.identityInUse, message: message, peer: peer)))
    deliverEvents()
  }

  /// Checks whether a computer that announces the local key really has that key (DSC-14).
  func foundOwnKey(at addresses: [PeerAddress]) {
    let foreign = addresses.filter { !transport.isLocal($0.host) }
    guard !hasEnded, !hasReportedOwnCopy, !foreign.isEmpty else { return }
    let dial = LinkDial(transport.means(), foreign, expecting: localPeer) { [self] result in
      guard case .success(let link) = result else { return }
      link.close(.self)
      if !hasEnded { reportOwnCopy() }
    }
    dial.start()
  }
}

extension PeerEntry {
  func isReplaced(_ incarnation: SessionIncarnation) -> Bool {
    incarnation != delivery?.incarnation && former.contains(incarnation)
  }
}

extension TransportCore {
  /// Returns whether an address belongs to this machine; true if the answer is unknown.
  func isLocal(_ host: String) -> Bool {
    let plain = host.prefix { $0 != "%" }.lowercased()
    let address = plain.hasPrefix("::ffff:") ? String(plain.dropFirst(7)) : plain
    if address == "::1" || address.hasPrefix("127.") { return true }
    guard let devices = try? System.enumerateDevices() else { return true }
    return devices.contains { device in
      device.address?.ipAddress.map { $0.prefix { $0 != "%" }.lowercased() == address } ?? false
    }
  }
}

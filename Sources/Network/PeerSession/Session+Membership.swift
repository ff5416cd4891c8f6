import PeerDiscovery
import PeerWire

// The members of the session: admitting, disconnecting and removing peers.
extension Session {
  /// Answers an invitation from ``events``.
  ///
  /// An accepted peer joins only after its user has confirmed the verification words (ADM-16). Until then, the
  /// invitation remains pending, and another answer replaces this answer.
  ///
  /// - Returns: Whether the peer's user is still comparing the verification words.
  /// - Throws: `unknown` if the invitation is not, or no longer, waiting for an answer.
  @discardableResult public func respond(to invitation: InvitationID, _ answer: InvitationAnswer)
    async throws(SessionError) -> Bool
  { try await onLoop { try $0.admission.respond(to: invitation, answer) } }

  /// Admits a peer from now on without asking the user (ADM-10).
  ///
  /// The choice applies to every session of this transport, and is saved with the known peers.
  ///
  /// - Parameters:
  ///   - peer: The peer.
  ///   - name: The peer's display name.
  /// - Throws: ``PeerStoreError`` if the choice cannot be saved. The choice is then valid until the program exits.
  public func alwaysAdmit(_ peer: PeerID, name: String) async throws {
    let store = try await onLoop { core in
      core.admission.alwaysAdmit(peer)
      return core.configuration.peerStore
    }
    try await store?.alwaysAdmit(peer, name: name)
  }

  package func setName(_ name: String) async { try? await onLoop { $0.name = .sessionName(name) } }

  /// Disconnects one peer.
  ///
  /// The local peer does not dial the peer again, but the peer may return by itself.
  ///
  /// - Parameters:
  ///   - peer: The peer.
  ///   - cause: The reason that the peer receives (MSG-5).
  /// - Throws: `notConnected` if the peer is not in the session.
  public func disconnect(_ peer: PeerID, because cause: DisconnectionCause = .choice) async throws(SessionError) {
    try await onLoop { core in
      guard core.entries[peer]?.isJoined == true else { throw SessionError.notInSession(peer) }
      core.disconnect(peer, cause.code, .disconnected, message: "")
    }
  }

  /// Stops or resumes reading the link of one peer, so that TCP slows down only that peer (MSG-5). The setting lasts
  /// until the local peer leaves the session or the peer joins again. Calls take effect in order, soon after they
  /// return. Data that was read before still arrives as events. The call does nothing for a relayed peer, which has no
  /// link of its own, or for a peer that is not in the session.
  package func setReading(_ reads: Bool, from peer: PeerID) { execute { $0.setReading(reads, from: peer) } }

  /// Disconnects a peer whose messages break the application's own rules.
  ///
  /// - Parameters:
  ///   - peer: The peer.
  ///   - rule: A sentence that describes the broken rule; the peer receives it with `protocol-error`.
  /// - Throws: `notConnected` if the peer is not in the session.
  public func reject(_ peer: PeerID, breaking rule: String) async throws(SessionError) {
    try await onLoop { core in
      guard core.entries[peer]?.isJoined == true else { throw SessionError.notInSession(peer) }
      core.disconnect(
        peer,
        .protocolError,
        .refused(SessionError(.protocolError, "The peer broke a rule. \(rule)")),
        message: rule
      )
    }
  }

  /// Stops waiting for an unreachable peer, because another peer took its place. The unreachable peer may return later.
  /// Does nothing if the peer is connected.
  package func giveUp(_ peer: PeerID) {
    execute { core in
      guard let entry = core.entries[peer], entry.link == nil else { return }
      core.depart(entry, .lost)
      core.dialler.policy[peer].lost(now: .now(), jitter: core.dialler.jitter())
    }
  }

  /// Removes a peer from the session for all members, permanently (MEM-3).
  ///
  /// The removal persists across restarts. The peer is also removed from the known peers (MEM-12).
  ///
  /// - Parameters:
  ///   - peer: The peer to remove.
  ///   - reason: The reason, shown to the peer and the other members; truncated to 512 bytes.
  /// - Throws: `notHost` if another peer is the host; `notConnected` if the peer is not a member.
  public func kick(_ peer: PeerID, reason: String) async throws(SessionError) {
    let (store, logger) = try await onLoop { core in
      guard core.isHost else { throw SessionError(.notHost, "Only the host of the session can remove a peer.") }
      guard core.entries[peer]?.isJoined == true || core.membership.contains(peer) else {
        throw SessionError.notInSession(peer)
      }
      core.admission.forget(peer)
      core.directory.kick(peer, reason: reason)
      return (core.configuration.peerStore, core.logger)
    }
    do { _ = try await store?.forget(peer) } catch {
      // This session refuses the peer even if the peer store could not be updated.
      logger.info("Cannot forget a known peer.", metadata: ["error": "\(error)"])
    }
  }

  /// Confirms the owner of an owned board as the host of the session (MEM-15). Until this call, such a session accepts
  /// no removal of a member.
  package func confirm(owner: PeerID) { execute { $0.directory.confirm(owner: owner) } }

  /// Reports that discovery shows a peer of this session (MEM-9).
  ///
  /// If there is no link to the peer, the local peer soon dials it. If the dial fails, the local peer dials again while
  /// discovery still shows the peer. A peer that only discovery reported must prove its membership (MEM-8), so a false
  /// announcement does no harm.
  ///
  /// - Parameters:
  ///   - peer: The peer.
  ///   - addresses: The peer's addresses, best first; at most 16 are stored.
  ///   - incarnation: The peer's incarnation in this session; a new incarnation is dialed even if the previous
  ///     incarnation left.
  public func found(_ peer: PeerID, at addresses: [PeerAddress], as incarnation: SessionIncarnation) {
    execute { $0.directory.found(peer, at: addresses, as: incarnation) }
  }

  /// Reports that discovery shows the local key with another incarnation on this session's board. If another computer
  /// at one of the addresses has the key, a warning is emitted (DSC-14).
  package func foundOwnKey(at addresses: [PeerAddress]) { execute { $0.foundOwnKey(at: addresses) } }

  package func membershipRecord() async throws(SessionError) -> MembershipRecord {
    try await onLoop { $0.membership.record }
  }

  package func restore(_ record: MembershipRecord) async { try? await onLoop { $0.directory.restore(record) } }

  /// Reports that discovery no longer shows a peer.
  ///
  /// The report does not end a link (LIV-5).
  public func vanished(_ peer: PeerID) { execute { $0.directory.vanished(peer) } }
}

import PeerDiscovery
import PeerWire

// The removal of peers by the host, and the distribution of removals to all members (MEM-3, MEM-11).
extension MemberDirectory {
  /// Only the host may call this method (MEM-3).
  func kick(_ peer: PeerID, reason: String) {
    var kick = Control.Kick(peer: peer, reason: reason)
    kick.signature = KickSignature(
      by: session.configuration.identity,
      session: membership.session,
      peer: peer,
      reason: kick.reason
    )
    remove(kick)
  }

  /// The removal is valid if the host signed it, or if the peer may speak for the host (MEM-3, MEM-11).
  func received(_ kick: Control.Kick, _ entry: PeerEntry, _ link: ControlLink) {
    if let signature = kick.signature {
      let signer = PeerID(spki: signature.key)
      // Do not verify the same signature twice.
      guard
        membership.removed.signature(of: kick.peer) == signature && membership.removed[kick.peer] == kick.reason
          || signature.isValid(session: membership.session, host: signer, peer: kick.peer, reason: kick.reason)
      else { return rejectSignature(link, entry) }
      // This may be the first message that names the host to the local peer.
      notice([signer])
      guard signer == membership.authority else {
        // Another member may have forwarded the KICK of a false host in good faith.
        if membership.isHostProved { return rejectSignature(link, entry) }
        if membership.session.isOfOwnedBoard {
          if heldRemovals.count < Limits.removedPeers { heldRemovals.append(kick) }
        } else {
          heard(host: signer, from: entry.id)
        }
        return
      }
      entry.knownRemovals.insert(kick.peer)
    }
    guard kick.signature != nil || session.speaksForHost(entry) else { return }
    apply(kick)
  }

  private func rejectSignature(_ link: ControlLink, _ entry: PeerEntry) {
    session.fail(link, entry, .protocolError, "The signature of a KICK is not valid.")
  }

  /// Never removes a peer that may be the host.
  func apply(_ kick: Control.Kick) {
    guard kick.peer != membership.host, !membership.claimants.contains(kick.peer) else { return }
    if kick.peer == session.localPeer {
      session.end(.left, SessionError(closeCode: .kicked, message: kick.reason.explanation))
    } else {
      remove(kick)
    }
  }

  private func remove(_ kick: Control.Kick) {
    // The removed guest must not use its link again with another key (WEB-15, WEB-16).
    if let key = entries[kick.peer]?.guestKey {
      let others = entries.values.filter { $0.guestKey == key && $0.id != kick.peer }.map(\.id)
      session.admission.guests.close(key, to: Set(others))
    }
    let wasRemoved = membership.isRemoved(kick.peer)
    let wasSigned = membership.removed.signature(of: kick.peer) != nil
    if !wasRemoved || (!wasSigned && kick.signature != nil) || !kick.reason.isEmpty {
      let isGuest = entries[kick.peer]?.member.isGuest ?? false
      update { $0.remove(kick.peer, reason: kick.reason, signature: kick.signature, isGuest: isGuest) }
    }
    if kick.signature != nil {
      if !wasSigned { for entry in entries.values { spreadRemovals(to: entry) } }
      // A guest for which there was no room is not among the stored removals.
      if !membership.isRemoved(kick.peer) {
        for entry in entries.values where entry.id != kick.peer { send(kick, to: entry) }
      }
    } else if session.relaying.isRelaying && !wasRemoved {
      // The members behind this relay learn of the removal only from this message.
      for entry in entries.values where entry.id != kick.peer { entry.link?.send(.kick, kick.encoded()) }
    }
    session.disconnect(kick.peer, .kicked, .kicked(reason: kick.reason), message: kick.reason.raw)
  }

  /// Sends signed removals that were not yet exchanged on a peer's link, while the link accepts writes (MEM-11).
  func spreadRemovals(to entry: PeerEntry) {
    entry.owesRemovals = false
    guard let link = entry.link, !membership.isRemoved(entry.id) else { return }
    for kick in membership.removed.signed where !entry.knownRemovals.contains(kick.peer) {
      guard link.isWritable else {
        entry.owesRemovals = true
        return
      }
      send(kick, to: entry)
    }
  }

  private func send(_ kick: Control.Kick, to entry: PeerEntry) {
    guard let link = entry.link, entry.knownRemovals.insert(kick.peer).inserted else { return }
    link.send(.kick, kick.encoded())
  }
}

import PeerDiscovery
import PeerWire

// Who the host of the session is (MEM-14 to MEM-16).
extension MemberDirectory {
  /// Accepts a peer as the host if the session's id names it.
  ///
  /// - Parameter peers: The peers that the local peer has just met or heard of.
  func notice(_ peers: [PeerID]) {
    guard membership.session.namesHost, membership.authority == nil else { return }
    let former = membership.host
    if update({ $0.noticed(peers) }) { hostReplaced(former) }
  }

  /// Accepts the owner of an owned board as the host.
  func confirm(owner: PeerID) {
    let former = membership.host
    if update({ $0.confirmed(owner: owner) }) { hostReplaced(former) }
    if let entry = entries[owner], entry.link != nil { session.relaying.offersRoutes(entry) }
    session.admission.termsChanged()
    session.admission.follow()
    let held = heldRemovals
    heldRemovals = []
    for kick in held where kick.signature.map({ PeerID(spki: $0.key) == owner }) ?? false { apply(kick) }
    session.deliverEvents()
  }

  /// Compares the host that a peer names in ACCEPT with the host that the local peer knows.
  func heard(host named: PeerID, from peer: PeerID) {
    notice([named, peer])
    if membership.session.namesHost {
      guard named != membership.authority else { return }
      reportFalse(named, namedBy: peer)
    } else if membership.isHostProved {
      if named != membership.host { reportFalse(named, namedBy: peer) }
    } else if !membership.session.isOfOwnedBoard, update({ $0.claimed(host: named) }) {
      session.emit(
        .warning(
          SessionWarning(
            code: "host-disputed",
            message: "\(name(peer)) says that \(name(named)) is the host, but until now,"
              + " \(name(membership.host)) was the host. The id of this session proves neither, so"
              + " neither can remove the other here.",
            peer: peer
          )
        )
      )
    }
  }

  /// Reports a peer that is wrongly named as the host.
  func reportFalse(_ named: PeerID, namedBy peer: PeerID) {
    guard falseHosts.count < Limits.members, falseHosts.insert(named).inserted else { return }
    session.emit(
      .warning(
        SessionWarning(
          code: "false-host",
          message: "\(name(peer)) says that \(name(named)) is the host. That is false, and"
            + " \(name(named)) cannot remove members.",
          peer: named
        )
      )
    )
  }

  private func hostReplaced(_ former: PeerID) {
    session.hostReplaced()
    if entries[former]?.isJoined == true { reportFalse(former, namedBy: former) }
  }

  /// Returns the display name of a peer with the start of its id.
  private func name(_ peer: PeerID) -> String {
    guard peer != session.localPeer else { return "this peer" }
    guard let name = entries[peer]?.member.name, !name.isEmpty else { return "\(peer.short)…" }
    return "\(name) (\(peer.short)…)"
  }
}

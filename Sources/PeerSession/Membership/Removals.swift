import PeerCore
import PeerDiscovery
import PeerWire

/// The peers that were removed from a session (MEM-3).
///
/// It stores at most 1,024 removals. After that, each new removal replaces the earliest removal of a guest, or if there
/// is none, the earliest.
struct Removals: Equatable, Sendable {
  private struct Removal: Equatable {
    var reason: UntrustedText
    var signature: KickSignature?
  }

  private var removals: [PeerID: Removal] = [:]
  /// The removed peers: first the guests, then all others, each the earliest removal first.
  private(set) var peers: [PeerID] = []
  /// The number of guests in ``peers``.
  private(set) var guestCount = 0

  /// Returns the reason for removing a peer, possibly empty; `nil` if the peer was not removed.
  subscript(peer: PeerID) -> UntrustedText? { removals[peer]?.reason }

  /// Returns the host's signature on a removal, if it is known.
  func signature(of peer: PeerID) -> KickSignature? { removals[peer]?.signature }

  /// The removals that any member can pass on, because the host signed them (MEM-11).
  var signed: [Control.Kick] {
    peers.compactMap { peer in
      guard let removal = removals[peer], let signature = removal.signature else { return nil }
      return Control.Kick(peer: peer, reason: removal.reason.raw, signature: signature)
    }
  }

  /// Adds a removal.
  ///
  /// A repeated removal has no effect if the earlier one is signed, or if the new one has neither a reason nor a
  /// signature. A guest replaces only other guests, because without a browser link it cannot join anyway (WEB-6).
  mutating func add(_ peer: PeerID, reason: UntrustedText, signature: KickSignature?, isGuest: Bool = false) {
    if let known = removals[peer] {
      guard known.signature == nil, signature != nil || !reason.isEmpty else { return }
    } else {
      peers.insert(peer, at: isGuest ? guestCount : peers.endIndex)
      if isGuest { guestCount += 1 }
    }
    removals[peer] = Removal(reason: reason, signature: signature)
    guard peers.count > Limits.removedPeers else { return }
    removals[peers.removeFirst()] = nil
    guestCount = max(0, guestCount - 1)
  }

  /// Drops the removals that `host` did not sign, because another peer was wrongly taken for the host (MEM-15).
  mutating func retain(signedBy host: PeerID) {
    let isGuest = Set(peers.prefix(guestCount))
    removals = removals.filter { _, removal in removal.signature.map { PeerID(spki: $0.key) == host } ?? false }
    peers.removeAll { removals[$0] == nil }
    guestCount = peers.count(where: isGuest.contains)
  }

  /// Adds the host's signature to the removals that have none.
  mutating func sign(by identity: PeerIdentity, session: SessionID) {
    for (peer, removal) in removals where removal.signature == nil {
      removals[peer]?.signature = KickSignature(by: identity, session: session, peer: peer, reason: removal.reason)
    }
  }
}

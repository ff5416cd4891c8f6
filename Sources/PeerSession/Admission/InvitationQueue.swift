import PeerWire

/// How the session treats an invitation that needs a user's answer.
enum InvitationReception: Equatable, Sendable {
  case ask
  /// Too many invitations are already waiting (HEL-5).
  case busy
  /// The user declined an invitation from this address within the last minute (ADM-11).
  case silenced
}

/// The invitations of one session that wait for a user, and the addresses that the user silenced.
///
/// Implements HEL-5 and ADM-11. `now` is the time since an arbitrary reference point.
struct InvitationQueue<ID: Hashable & Sendable>: Sendable {
  /// How long an address is silenced after the user declines an invitation from it.
  static var silence: Duration { .seconds(60) }
  /// The maximum number of silenced addresses.
  ///
  /// If it is exceeded, the address silenced first is removed.
  static var maximumSilenced: Int { 256 }

  private var places = FairPlaces<ID>(
    maximum: Limits.pendingInvitations,
    maximumPerBlock: Limits.pendingInvitationsPerAddress,
    reserved: Limits.pendingInvitationsReserved,
    eviction: .newest
  )
  private var peers: [PeerID: ID] = [:]
  private var silenced: [AddressBlock: Duration] = [:]

  init() {}

  var count: Int { places.count }
  var silencedCount: Int { silenced.count }

  /// Returns how an invitation would be treated, without changing the queue.
  ///
  /// An invitation is expected if the host knows the peer, or if the invitation contains a pass that the host issued.
  func reception(of peer: PeerID, from block: AddressBlock, isExpected: Bool, now: Duration) -> InvitationReception {
    if let end = silenced[block], now < end { return .silenced }
    guard peers[peer] == nil else { return .busy }
    return places.decision(from: block, isKnown: isExpected) == .refused ? .busy : .ask
  }

  /// Adds an invitation for which ``reception(of:from:isExpected:now:)`` returned `.ask`.
  ///
  /// - Returns: The evicted invitation, if any. The owner closes it with `busy`.
  mutating func enter(_ id: ID, peer: PeerID, from block: AddressBlock, isExpected: Bool) -> ID? {
    guard case .place(let evicted) = places.enter(id, from: block, isKnown: isExpected) else { return nil }
    if let evicted { leave(evicted) }
    peers[peer] = id
    return evicted
  }

  /// Removes an invitation that ended; does nothing if it is not in the queue.
  mutating func leave(_ id: ID) {
    places.leave(id)
    peers = peers.filter { $0.value != id }
  }

  /// Silences an address after the user declined its invitation (ADM-11).
  mutating func declined(_ block: AddressBlock, now: Duration) {
    silenced = silenced.filter { now < $0.value }
    silenced[block] = now + Self.silence
    if silenced.count > Self.maximumSilenced, let first = silenced.min(by: { $0.value < $1.value }) {
      silenced[first.key] = nil
    }
  }
}

import PeerWire

/// How a session receives an invitation that a person would answer.
enum InvitationReception: Equatable, Sendable {
  /// The person is asked.
  case ask
  /// Too many invitations wait already (HEL-5).
  case busy
  /// The person declined an invitation from this address within the last minute (ADM-11).
  case silenced
}

/// The invitations of one session that wait for a person, and the addresses that the person silenced.
///
/// Implements HEL-5 and ADM-11. `now` is the time since any fixed moment.
struct InvitationQueue<ID: Hashable & Sendable>: Sendable {
  /// How long a person's refusal silences an address.
  static var silence: Duration { .seconds(60) }
  /// The addresses that are remembered as silenced; the one silenced longest ago is forgotten first.
  static var maximumSilenced: Int { 256 }

  private var places = FairPlaces<ID>(
    maximum: Limits.pendingInvitations,
    maximumPerBlock: Limits.pendingInvitationsPerAddress,
    reserved: Limits.pendingInvitationsReserved,
    eviction: .newest
  )
  private var peers: [PeerID: ID] = [:]
  private var silenced: [AddressBlock: Duration] = [:]

  /// Creates an empty queue.
  init() {}

  /// The number of invitations that wait.
  var count: Int { places.count }
  /// The number of addresses remembered as silenced.
  var silencedCount: Int { silenced.count }

  /// Returns how an invitation would be received; changes nothing.
  ///
  /// An invitation is expected if the host knows its peer or handed out the pass that it shows.
  func reception(
    of peer: PeerID,
    from block: AddressBlock,
    isExpected: Bool,
    now: Duration
  ) -> InvitationReception {
    if let end = silenced[block], now < end { return .silenced }
    guard peers[peer] == nil else { return .busy }
    return places.decision(from: block, isKnown: isExpected) == .refused ? .busy : .ask
  }

  /// Takes in an invitation that ``reception(of:from:isExpected:now:)`` answered with `.ask`.
  ///
  /// - Returns: The invitation that lost its place, for the owner to close with `busy`.
  mutating func enter(_ id: ID, peer: PeerID, from block: AddressBlock, isExpected: Bool) -> ID? {
    guard case .place(let evicted) = places.enter(id, from: block, isKnown: isExpected) else {
      return nil
    }
    if let evicted { leave(evicted) }
    peers[peer] = id
    return evicted
  }

  /// Takes the end of an invitation; does nothing if it is not in the queue.
  mutating func leave(_ id: ID) {
    places.leave(id)
    peers = peers.filter { $0.value != id }
  }

  /// Silences an address after the person declined an invitation from there (ADM-11).
  mutating func declined(_ block: AddressBlock, now: Duration) {
    silenced = silenced.filter { now < $0.value }
    silenced[block] = now + Self.silence
    if silenced.count > Self.maximumSilenced,
      let first = silenced.min(by: { $0.value < $1.value })
    {
      silenced[first.key] = nil
    }
  }
}

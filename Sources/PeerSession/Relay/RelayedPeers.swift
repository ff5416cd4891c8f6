import PeerWire

/// A route to a peer through a relay.
struct RelayRoute: Hashable, Sendable {
  /// The relay.
  var relay: PeerID
  /// The number that the relay assigned to the peer.
  var number: UInt8
}

/// A member's route requests to its relays, and the routes that the relays assigned.
///
/// Implements the member's side of RLY-4 to RLY-8 of `Protocol/session.md`, without I/O. It
/// requests a peer from every relay. If several relays open a route, it uses the relay with the
/// smallest id. Both ends therefore use the same relay.
struct RelayedPeers {
  /// A message to a relay.
  struct Action: Equatable {
    var relay: PeerID
    var message: RelayMessage
  }

  /// The reason for closing the link to a relay with `protocol-error`.
  enum Violation: Error, Equatable {
    /// The relay assigned a number that is already in use, or withdrew a number that is not in use.
    case number(UInt8)
    /// The relay assigned a second number to a peer, or a number to the local peer.
    case peer
  }

  private struct Relay {
    /// The requested peers and their incarnations.
    var asked: [PeerID: SessionIncarnation] = [:]
    /// The peer for each route number, until the number is released.
    var peers: [UInt8: PeerID] = [:]
    /// The route numbers of the peers that are still requested.
    var numbers: [PeerID: UInt8] = [:]
  }

  private var relays: [PeerID: Relay] = [:]

  /// The available relays, in the order of their ids.
  var names: [PeerID] { relays.keys.sorted() }

  /// Whether no relay is available.
  var isEmpty: Bool { relays.isEmpty }

  /// Adds a relay whose delivery state just began.
  mutating func gained(_ relay: PeerID) {
    if relays[relay] == nil { relays[relay] = Relay() }
  }

  /// Removes a relay that left.
  ///
  /// - Returns: The peers that the relay reached, in order.
  mutating func lost(_ relay: PeerID) -> [PeerID] {
    relays.removeValue(forKey: relay)?.numbers.keys.sorted() ?? []
  }

  /// Returns the route to a peer, if a relay reaches it.
  func route(to peer: PeerID) -> RelayRoute? {
    for relay in names {
      if let number = relays[relay]?.numbers[peer] {
        return RelayRoute(relay: relay, number: number)
      }
    }
    return nil
  }

  /// Returns the peer for a route number that is in use.
  func peer(at number: UInt8, of relay: PeerID) -> PeerID? {
    guard let state = relays[relay], let peer = state.peers[number], state.numbers[peer] == number
    else { return nil }
    return peer
  }

  /// Requests a route to a peer from every relay that was not asked yet.
  mutating func want(_ peer: PeerID, _ incarnation: SessionIncarnation) -> [Action] {
    var actions: [Action] = []
    for relay in names where relay != peer {
      guard let state = relays[relay], state.numbers[peer] == nil,
        state.asked[peer] != incarnation
      else { continue }
      relays[relay]?.asked[peer] = incarnation
      actions.append(
        Action(
          relay: relay,
          message: .reach(peer: peer.bytes, incarnation: incarnation.bytes)
        )
      )
    }
    return actions
  }

  /// Returns whether every relay was asked for a route to a peer.
  func isAsked(_ peer: PeerID, _ incarnation: SessionIncarnation) -> Bool {
    relays.allSatisfy { relay, state in
      relay == peer || state.numbers[peer] != nil || state.asked[peer] == incarnation
    }
  }

  /// Withdraws the request for a peer, and stops using its routes.
  mutating func unwant(_ peer: PeerID, _ end: RouteEnd) -> [Action] {
    var actions: [Action] = []
    for relay in names {
      let wasAsked = relays[relay]?.asked.removeValue(forKey: peer) != nil
      let wasUsed = relays[relay]?.numbers.removeValue(forKey: peer) != nil
      guard wasAsked || wasUsed else { continue }
      actions.append(Action(relay: relay, message: .unreach(peer: peer.bytes, end)))
    }
    return actions
  }

  /// Handles a number that a relay assigned to a peer.
  ///
  /// If the peer is no longer requested, the number stays unused until the relay withdraws it.
  mutating func opened(
    _ number: UInt8,
    of relay: PeerID,
    to peer: PeerID,
    _ incarnation: SessionIncarnation,
    local: PeerID
  ) throws(Violation) {
    guard var state = relays[relay] else { return }
    guard state.peers[number] == nil else { throw .number(number) }
    guard peer != local, state.numbers[peer] == nil else { throw .peer }
    state.peers[number] = peer
    if state.asked[peer] == incarnation { state.numbers[peer] = number }
    relays[relay] = state
  }

  /// Handles a relay's withdrawal of a route number.
  ///
  /// After the answer, the relay may assign the number again.
  ///
  /// - Returns: The peer for the number, if the number was in use.
  mutating func closed(_ number: UInt8, of relay: PeerID) throws(Violation) -> PeerID? {
    guard var state = relays[relay] else { return nil }
    guard let peer = state.peers.removeValue(forKey: number) else { throw .number(number) }
    let wasUsed = state.numbers[peer] == number
    if wasUsed {
      state.numbers[peer] = nil
      // The relay forgets the request together with the route.
      state.asked[peer] = nil
    }
    relays[relay] = state
    return wasUsed ? peer : nil
  }
}

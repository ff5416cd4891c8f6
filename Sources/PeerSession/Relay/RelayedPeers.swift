import PeerWire

/// A way to a peer that leads by a relay.
struct RelayRoute: Hashable, Sendable {
  /// The relay.
  var relay: PeerID
  /// The relay's number for the peer.
  var number: UInt8
}

/// What a member asked of the relays it has links with, and the routes it was given.
///
/// Implements the member's side of RLY-4 to RLY-8 of `Protocol/session.md`, without I/O. It asks every
/// relay for a peer; of the routes that open the one by the smallest relay counts, so that both ends
/// take the same.
struct RelayedPeers {
  /// A message to a relay.
  struct Action: Equatable {
    var relay: PeerID
    var message: RelayMessage
  }

  /// The reason for closing a relay with `protocol-error`.
  enum Violation: Error, Equatable {
    /// A number that is in use, or one that is not.
    case number(UInt8)
    /// A second number for the same peer, or one for ourselves.
    case peer
  }

  private struct Relay {
    /// Whom we asked for, as which incarnation.
    var asked: [PeerID: SessionIncarnation] = [:]
    /// The peer of each number, until the number is released.
    var peers: [UInt8: PeerID] = [:]
    /// The numbers that we use: those we asked for, and ask for still.
    var numbers: [PeerID: UInt8] = [:]
  }

  private var relays: [PeerID: Relay] = [:]

  /// The relays that can be asked, in order.
  var names: [PeerID] { relays.keys.sorted() }

  /// Whether no relay can be asked.
  var isEmpty: Bool { relays.isEmpty }

  /// Takes a relay with which we have just begun.
  mutating func gained(_ relay: PeerID) {
    if relays[relay] == nil { relays[relay] = Relay() }
  }

  /// Forgets a relay that is gone.
  ///
  /// - Returns: Who was reached by it, in order.
  mutating func lost(_ relay: PeerID) -> [PeerID] {
    relays.removeValue(forKey: relay)?.numbers.keys.sorted() ?? []
  }

  /// The way to a peer, if relays carry us to it.
  func route(to peer: PeerID) -> RelayRoute? {
    for relay in names {
      if let number = relays[relay]?.numbers[peer] {
        return RelayRoute(relay: relay, number: number)
      }
    }
    return nil
  }

  /// Returns the peer of a number that is in use.
  func peer(at number: UInt8, of relay: PeerID) -> PeerID? {
    guard let state = relays[relay], let peer = state.peers[number], state.numbers[peer] == number
    else { return nil }
    return peer
  }

  /// Asks every relay that was not asked yet for a peer.
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

  /// Whether every relay that could carry us to a peer was asked.
  func isAsked(_ peer: PeerID, _ incarnation: SessionIncarnation) -> Bool {
    relays.allSatisfy { relay, state in
      relay == peer || state.numbers[peer] != nil || state.asked[peer] == incarnation
    }
  }

  /// Asks for a peer no longer; its routes lead nowhere from now on.
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

  /// Takes a number that a relay gave a peer.
  ///
  /// One that we do not ask for any more is kept unused until it is taken back.
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

  /// Takes the end of a number, which may be used again when this was answered.
  ///
  /// - Returns: Whom it led to, if we used it.
  mutating func closed(_ number: UInt8, of relay: PeerID) throws(Violation) -> PeerID? {
    guard var state = relays[relay] else { return nil }
    guard let peer = state.peers.removeValue(forKey: number) else { throw .number(number) }
    let wasUsed = state.numbers[peer] == number
    if wasUsed {
      state.numbers[peer] = nil
      // The relay has forgotten the wish with the route.
      state.asked[peer] = nil
    }
    relays[relay] = state
    return wasUsed ? peer : nil
  }
}

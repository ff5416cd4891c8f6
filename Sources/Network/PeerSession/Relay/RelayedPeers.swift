import PeerCore
import PeerWire

struct RelayRoute: Hashable, Sendable {
  var relay: PeerID
  var number: UInt8
}

/// A member's route requests to its relays and bridges, and the routes that the relays and bridges assigned. Implements
/// the member's side of RLY-4 to RLY-8 and RLY-15 of `Protocol/session.md`, without I/O. The member requests a route to
/// a peer from every relay, and from the bridges one after another. If several relays or bridges open a route, both
/// ends use the same route: the first in the order of kinds and ids.
struct RelayedPeers {
  /// The kinds of peers that relay for others, best first (RLY-8).
  enum Kind: Int {
    case relay
    case host
    case bridge
  }

  struct Action: Equatable {
    var relay: PeerID
    var message: RelayMessage
  }

  enum Violation: Error, Equatable {
    case number(UInt8)
    /// The relay assigned a second number to a peer, or a number to the local peer.
    case peer
  }

  private struct Relay {
    var kind: Kind
    var asked: [PeerID: SessionIncarnation] = [:]
    var peers: [UInt8: PeerID] = [:]
    var numbers: [PeerID: UInt8] = [:]
  }

  private var relays: [PeerID: Relay] = [:]

  /// The available relays and bridges, best first.
  private var names: [PeerID] {
    relays.sorted { ($0.value.kind.rawValue, $0.key) < ($1.value.kind.rawValue, $1.key) }.map(\.key)
  }

  var hasRelays: Bool { relays.values.contains { $0.kind == .relay } }

  mutating func gained(_ relay: PeerID, as kind: Kind = .relay) {
    relays[relay, default: Relay(kind: kind)].kind = kind
  }

  mutating func lost(_ relay: PeerID) -> [PeerID] { relays.removeValue(forKey: relay)?.numbers.keys.sorted() ?? [] }

  /// Returns the best open route to a peer. A route through a hub that is out of reach is used only if there is no other
  /// (RLY-20).
  func route(to peer: PeerID, outOfReach: Set<PeerID> = []) -> RelayRoute? {
    let routes = names.compactMap { relay in
      relays[relay]?.numbers[peer].map { RelayRoute(relay: relay, number: $0) }
    }
    return routes.first { !outOfReach.contains($0.relay) } ?? routes.first
  }

  func peer(at number: UInt8, of relay: PeerID) -> PeerID? {
    guard let state = relays[relay], let peer = state.peers[number], state.numbers[peer] == number else { return nil }
    return peer
  }

  mutating func want(_ peer: PeerID, _ incarnation: SessionIncarnation) -> [Action] {
    names.filter { relays[$0]?.kind == .relay && isUnasked($0, peer, incarnation) }.map { ask($0, peer, incarnation) }
  }

  /// Requests a route to a peer from the best bridge that was not asked yet (RLY-15).
  mutating func wantBridge(_ peer: PeerID, _ incarnation: SessionIncarnation) -> [Action] {
    nextBridge(to: peer, incarnation).map { [ask($0, peer, incarnation)] } ?? []
  }

  private mutating func ask(_ relay: PeerID, _ peer: PeerID, _ incarnation: SessionIncarnation) -> Action {
    relays[relay]?.asked[peer] = incarnation
    return Action(relay: relay, message: .reach(peer: peer.bytes, incarnation: incarnation.bytes))
  }

  private func isUnasked(_ relay: PeerID, _ peer: PeerID, _ incarnation: SessionIncarnation) -> Bool {
    guard let state = relays[relay], relay != peer else { return false }
    return state.numbers[peer] == nil && state.asked[peer] != incarnation
  }

  func isAsked(_ peer: PeerID, _ incarnation: SessionIncarnation) -> Bool {
    !relays.contains { $1.kind == .relay && isUnasked($0, peer, incarnation) }
  }

  func nextBridge(to peer: PeerID, _ incarnation: SessionIncarnation) -> PeerID? {
    names.first { relays[$0]?.kind != .relay && isUnasked($0, peer, incarnation) }
  }

  mutating func unwant(_ peer: PeerID, _ end: RouteEnd) -> [Action] {
    names.compactMap { unwant(peer, end, through: $0) }
  }

  /// Withdraws the request to one relay; returns nil if there is no request and no route.
  mutating func unwant(_ peer: PeerID, _ end: RouteEnd, through relay: PeerID) -> Action? {
    let wasAsked = relays[relay]?.asked.removeValue(forKey: peer) != nil
    let wasUsed = relays[relay]?.numbers.removeValue(forKey: peer) != nil
    return wasAsked || wasUsed ? Action(relay: relay, message: .unreach(peer: peer.bytes, end)) : nil
  }

  /// Handles a route that a relay opened. If the peer is no longer requested, the route number stays unused until the
  /// relay withdraws it.
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

  /// Handles a relay's withdrawal of a route number; returns the peer for the number, if the number was in use. After
  /// the answer, the relay may assign the number again.
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

/// The host's signed statement that a peer is a relay of its session (11.1).
///
/// A relay saves the grant with the session, so that the relay can continue after a restart.
public struct RelayGrant: Equatable, Sendable {
  /// The host's DER SubjectPublicKeyInfo.
  public private(set) var key: [UInt8]
  /// The ECDSA signature on P-256 with SHA-256, in DER.
  public private(set) var signature: [UInt8]

  /// Creates a grant from stored values; ``isValid(session:host:relay:)`` checks it.
  public init(key: [UInt8], signature: [UInt8]) {
    self.key = key
    self.signature = signature
  }

  static func make(by identity: PeerIdentity, session: SessionID, relay: PeerID) -> RelayGrant {
    RelayGrant(key: identity.publicKeyDER, signature: identity.sign(signedBytes(session: session, relay: relay)))
  }

  /// Returns whether the host of the session signed this grant for the given relay (RLY-1).
  public func isValid(session: SessionID, host: PeerID, relay: PeerID) -> Bool {
    host.hasSigned(Self.signedBytes(session: session, relay: relay), signature, key: key)
  }

  static func signedBytes(session: SessionID, relay: PeerID) -> [UInt8] {
    Array("whiteboard-p2p relay 1\0".utf8) + session.bytes + relay.bytes
  }
}

extension RelayGrant: ControlPayload {
  static var frameType: FrameType { .relayGrant }

  init() { self.init(key: [], signature: []) }

  mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
    try fields.required("key", &key, .key)
    try fields.required("signature", &signature, .signature)
  }
}

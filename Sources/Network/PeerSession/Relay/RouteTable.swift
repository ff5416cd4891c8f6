import PeerWire

/// A relay's routes between its members, and the requests for them. Implements the relay's side of RLY-4 to RLY-7 of
/// `Protocol/session.md`, without I/O. A route opens when both members have requested the current incarnation of the
/// other. When the route ends, both requests end too. A member that still wants the route must request it again.
struct RouteTable {
  enum Action: Equatable {
    /// ROUTE: assigns this member a route number for the other member.
    case open(at: PeerID, route: UInt8, to: PeerID)
    /// UNROUTE: withdraws this member's route number.
    case close(at: PeerID, route: UInt8, RouteEnd)
    /// MEMBERS: sends this member the changed properties of a requested member.
    case correct(PeerID, about: PeerID)
  }

  enum Violation: Error, Equatable {
    /// The member requests more peers than a session can have (RLY-4).
    case tooManyWishes
    case nonsense
  }

  private struct Seat {
    var incarnation: SessionIncarnation
    var wishes: [PeerID: SessionIncarnation] = [:]
    var numbers: [PeerID: UInt8] = [:]
    var peers: [UInt8: PeerID] = [:]
    /// The route numbers that were withdrawn but not yet released (RLY-5).
    var unanswered: Set<UInt8> = []

    var freeNumber: UInt8? { (UInt8.min...UInt8.max).first { peers[$0] == nil && !unanswered.contains($0) } }
  }

  private var seats: [PeerID: Seat] = [:]

  var routeCount: Int { seats.values.reduce(0) { $0 + $1.numbers.count } / 2 }

  mutating func joined(_ peer: PeerID, _ incarnation: SessionIncarnation) -> [Action] {
    let ended = left(peer, .restarted)
    seats[peer] = Seat(incarnation: incarnation)
    return ended
  }

  mutating func left(_ peer: PeerID, _ end: RouteEnd) -> [Action] {
    guard let seat = seats.removeValue(forKey: peer) else { return [] }
    return seat.numbers.keys.sorted().compactMap { other in close(at: other, peer, end) }
  }

  /// Records that `peer` requests `other`, and opens the route if both requested it. If the table has `maximumRoutes`
  /// routes, no further route opens (RLY-17).
  mutating func reach(from peer: PeerID, to other: PeerID, _ incarnation: SessionIncarnation, maximumRoutes: Int = .max)
    throws(Violation) -> [Action]
  {
    guard peer != other else { throw .nonsense }
    guard var seat = seats[peer] else { return [] }
    guard seat.wishes[other] != nil || seat.wishes.count < Limits.members else { throw .tooManyWishes }
    var actions: [Action] = []
    if seat.numbers[other] != nil {
      // A member that already reaches a peer requests it again only if the member's own delivery state was reset.
      actions = close(peer, other, .rerouted, .rerouted)
      seat = seats[peer] ?? seat
    }
    seat.wishes[other] = incarnation
    seats[peer] = seat
    guard var far = seats[other] else { return actions }
    guard far.incarnation == incarnation else { return actions + [.correct(peer, about: other)] }
    guard far.wishes[peer] == seat.incarnation, maximumRoutes == .max || routeCount < maximumRoutes,
      let here = seat.freeNumber, let there = far.freeNumber
    else { return actions }
    seat.numbers[other] = here
    seat.peers[here] = other
    far.numbers[peer] = there
    far.peers[there] = peer
    seats[peer] = seat
    seats[other] = far
    return actions + [.open(at: other, route: there, to: peer), .open(at: peer, route: here, to: other)]
  }

  mutating func unreach(from peer: PeerID, to other: PeerID, _ end: RouteEnd) -> [Action] {
    seats[peer]?.wishes[other] = nil
    return close(peer, other, end, .rerouted)
  }

  mutating func free(_ route: UInt8, of peer: PeerID) throws(Violation) {
    guard seats[peer] != nil else { return }
    guard seats[peer]?.unanswered.remove(route) != nil else { throw .nonsense }
  }

  mutating func closeAll(of peer: PeerID, _ end: RouteEnd) -> [Action] {
    (seats[peer]?.numbers.keys.sorted() ?? []).flatMap { close(peer, $0, end, end) }
  }

  /// Returns the recipients of a message that a member addressed by route numbers, in the order of the numbers.
  /// Withdrawn numbers are ignored, because the member might not know of the withdrawal yet (RLY-5).
  func targets(of routes: RouteSet, from peer: PeerID) -> [(peer: PeerID, route: UInt8)] {
    guard let seat = seats[peer] else { return [] }
    return routes.routes.compactMap { number in
      guard let other = seat.peers[number], let route = seats[other]?.numbers[peer] else { return nil }
      return (other, route)
    }
  }

  func hasRoutes(_ peer: PeerID) -> Bool { seats[peer]?.numbers.isEmpty == false }

  func isOpen(_ peer: PeerID, _ other: PeerID) -> Bool { seats[peer]?.numbers[other] != nil }

  /// Ends the route between two members: the first member receives the reason `own`, the second member receives `end`.
  private mutating func close(_ peer: PeerID, _ other: PeerID, _ end: RouteEnd, _ own: RouteEnd) -> [Action] {
    guard isOpen(peer, other) else { return [] }
    return [close(at: other, peer, end), close(at: peer, other, own)].compactMap(\.self)
  }

  private mutating func close(at peer: PeerID, _ other: PeerID, _ end: RouteEnd) -> Action? {
    guard let number = seats[peer]?.numbers.removeValue(forKey: other) else { return nil }
    seats[peer]?.peers[number] = nil
    seats[peer]?.unanswered.insert(number)
    seats[peer]?.wishes[other] = nil
    return .close(at: peer, route: number, end)
  }
}

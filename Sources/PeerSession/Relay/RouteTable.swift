import PeerWire

/// Who is carried to whom by a relay: what the members asked for and the routes that came of it.
///
/// Implements the relay's side of RLY-4 to RLY-7 of `Protocol/session.md`, without I/O. A route opens
/// when both have asked for the other as it is now, and its end uses both wishes up: who still wants
/// asks again.
struct RouteTable {
  /// A message from the relay to a member; messages keep their order.
  enum Action: Equatable {
    /// ROUTE: at this member the number is now that other.
    case open(at: PeerID, route: UInt8, to: PeerID)
    /// UNROUTE: at this member the number leads nowhere.
    case close(at: PeerID, route: UInt8, RouteEnd)
    /// MEMBERS: this member asks for another as it is not; it hears how it is.
    case correct(PeerID, about: PeerID)
  }

  /// The reason for closing a member with `protocol-error`.
  enum Violation: Error, Equatable {
    /// It asks for more peers than a session has (RLY-4).
    case tooManyWishes
    /// It asks for itself, or frees a number that was not taken back.
    case nonsense
  }

  private struct Seat {
    var incarnation: SessionIncarnation
    /// Whom it asks for, as which incarnation.
    var wishes: [PeerID: SessionIncarnation] = [:]
    /// Its numbers of those it is carried to.
    var numbers: [PeerID: UInt8] = [:]
    var peers: [UInt8: PeerID] = [:]
    /// Numbers that were taken back and not freed (RLY-5).
    var unanswered: Set<UInt8> = []

    /// The smallest number that is free.
    var freeNumber: UInt8? {
      (UInt8.min...UInt8.max).first { peers[$0] == nil && !unanswered.contains($0) }
    }
  }

  private var seats: [PeerID: Seat] = [:]

  /// How many routes there are, each counted once.
  var routeCount: Int { seats.values.reduce(0) { $0 + $1.numbers.count } / 2 }

  /// Takes a member that begins anew with this relay.
  mutating func joined(_ peer: PeerID, _ incarnation: SessionIncarnation) -> [Action] {
    let ended = left(peer, .restarted)
    seats[peer] = Seat(incarnation: incarnation)
    return ended
  }

  /// Ends what a member has, which is gone.
  mutating func left(_ peer: PeerID, _ end: RouteEnd) -> [Action] {
    guard let seat = seats.removeValue(forKey: peer) else { return [] }
    return seat.numbers.keys.sorted().compactMap { other in close(at: other, peer, end) }
  }

  /// Notes that `peer` asks to be carried to `other`, and opens the route when both do.
  mutating func reach(
    from peer: PeerID,
    to other: PeerID,
    _ incarnation: SessionIncarnation
  ) throws(Violation) -> [Action] {
    guard peer != other else { throw .nonsense }
    guard var seat = seats[peer] else { return [] }
    guard seat.wishes[other] != nil || seat.wishes.count < Limits.members else {
      throw .tooManyWishes
    }
    var actions: [Action] = []
    if seat.numbers[other] != nil {
      // It would not ask for whom it has: it begins anew with that one.
      actions = close(peer, other, .rerouted, .rerouted)
      seat = seats[peer] ?? seat
    }
    seat.wishes[other] = incarnation
    seats[peer] = seat
    guard var far = seats[other] else { return actions }
    guard far.incarnation == incarnation else {
      return actions + [.correct(peer, about: other)]
    }
    guard far.wishes[peer] == seat.incarnation,
      let here = seat.freeNumber, let there = far.freeNumber
    else { return actions }
    seat.numbers[other] = here
    seat.peers[here] = other
    far.numbers[peer] = there
    far.peers[there] = peer
    seats[peer] = seat
    seats[other] = far
    return actions + [
      .open(at: other, route: there, to: peer), .open(at: peer, route: here, to: other),
    ]
  }

  /// Takes a wish back, and ends the route that came of it.
  mutating func unreach(from peer: PeerID, to other: PeerID, _ end: RouteEnd) -> [Action] {
    seats[peer]?.wishes[other] = nil
    return close(peer, other, end, .rerouted)
  }

  /// Lets a number be used again.
  mutating func free(_ route: UInt8, of peer: PeerID) throws(Violation) {
    guard seats[peer] != nil else { return }
    guard seats[peer]?.unanswered.remove(route) != nil else { throw .nonsense }
  }

  /// Ends all routes of a member that stays.
  mutating func closeAll(of peer: PeerID, _ end: RouteEnd) -> [Action] {
    (seats[peer]?.numbers.keys.sorted() ?? []).flatMap { close(peer, $0, end, end) }
  }

  /// Where what a member sends to some of its numbers goes, in the order of its numbers.
  ///
  /// Numbers that lead nowhere are left out: the member may not have heard yet (RLY-5).
  func targets(of routes: RouteSet, from peer: PeerID) -> [(peer: PeerID, route: UInt8)] {
    guard let seat = seats[peer] else { return [] }
    return routes.routes.compactMap { number in
      guard let other = seat.peers[number], let route = seats[other]?.numbers[peer] else {
        return nil
      }
      return (other, route)
    }
  }

  /// Whether the two are carried to each other.
  func isOpen(_ peer: PeerID, _ other: PeerID) -> Bool { seats[peer]?.numbers[other] != nil }

  /// Ends the route between two members: `end` is what the other hears, `own` what the first does.
  private mutating func close(
    _ peer: PeerID,
    _ other: PeerID,
    _ end: RouteEnd,
    _ own: RouteEnd
  ) -> [Action] {
    guard isOpen(peer, other) else { return [] }
    return [close(at: other, peer, end), close(at: peer, other, own)].compactMap(\.self)
  }

  /// Releases the number of one side.
  private mutating func close(at peer: PeerID, _ other: PeerID, _ end: RouteEnd) -> Action? {
    guard let number = seats[peer]?.numbers.removeValue(forKey: other) else { return nil }
    seats[peer]?.peers[number] = nil
    seats[peer]?.unanswered.insert(number)
    seats[peer]?.wishes[other] = nil
    return .close(at: peer, route: number, end)
  }
}

import Whiteboard

/// The joined members, with the state of the link to each.
final class MemberLinks {
  private var peers: [MemberID: MemberLink] = [:]

  subscript(member: MemberID) -> MemberLink? { peers[member] }

  var isEmpty: Bool { peers.isEmpty }

  var count: Int { peers.count }

  /// The joined members, in ascending order.
  var members: [MemberID] { peers.keys.sorted() }

  /// The states of all links, in no particular order.
  var states: some Collection<MemberLink> { peers.values }

  /// The joined members and the states of their links, in no particular order.
  var entries: some Sequence<(key: MemberID, value: MemberLink)> { peers }

  func insert(_ member: MemberID, now: UInt64) { peers[member] = MemberLink(now: now) }

  func remove(_ member: MemberID) -> Bool { peers.removeValue(forKey: member) != nil }

  /// The time after which the author of a change receives a report about it, in milliseconds.
  ///
  /// It grows with the number of members, because every member sends reports (SYN-14).
  var reportDelay: UInt64 { min(50 * UInt64(max(count, 8)) / 8, 1000) }

  /// The time between two signed heads, in milliseconds.
  ///
  /// It grows with the number of members, because every member verifies each head (AUT-7).
  var headInterval: UInt64 { 1000 * UInt64(max(count, 8)) / 8 }
}

import Whiteboard

/// A round-robin selection of members, in the order of their ids.
struct Turn {
  private var last: MemberID

  /// Creates a selection that starts with the member after the given one.
  init(after member: MemberID) { last = member }

  /// Selects at most `count` of the members, which are in the order of their ids.
  mutating func next(_ count: Int, of members: [MemberID]) -> [MemberID] {
    let start = members.firstIndex { $0 > last } ?? 0
    let chosen = Array((members[start...] + members[..<start]).prefix(count))
    last = chosen.last ?? last
    return chosen
  }
}

import Whiteboard

/// Whose turn it is among the members, in the order of their ids and round again.
struct Turn {
  private var last: MemberID

  /// Creates a turn that starts with the successor of that member.
  init(after member: MemberID) { last = member }

  /// Gives some of the members their turn.
  ///
  /// - Parameters:
  ///   - count: How many at most.
  ///   - members: Who may have one, in the order of their ids.
  /// - Returns: Whose turn it is.
  mutating func next(_ count: Int, of members: [MemberID]) -> [MemberID] {
    let start = members.firstIndex { $0 > last } ?? 0
    let chosen = Array((members[start...] + members[..<start]).prefix(count))
    last = chosen.last ?? last
    return chosen
  }
}

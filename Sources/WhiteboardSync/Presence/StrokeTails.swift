import Whiteboard

/// The previewed points of other members' strokes that are not committed yet.
///
/// Each committed point replaces the previewed point at the same index. The visible part of a stroke never shrinks
/// (SYN-32).
struct StrokeTails {
  private static let strokesPerMember = 32
  private static let points = 1024

  private struct Tail {
    let member: MemberID
    var points: [Int: InkPoint] = [:]
  }

  private var tails: [ObjectID: Tail] = [:]

  /// Adds previewed points; returns whether more points are visible after the first `committed` points.
  mutating func received(_ stroke: ObjectID, first: Int, _ points: [InkPoint], from member: MemberID, committed: Int)
    -> Bool
  {
    guard tails[stroke] != nil || tails.values.lazy.filter({ $0.member == member }).count < Self.strokesPerMember else {
      return false
    }
    let before = tail(of: stroke, committed: committed).count
    var tail = tails[stroke] ?? Tail(member: member)
    for (offset, point) in points.enumerated() {
      let index = first + offset
      guard index >= committed, index < committed + Self.points else { continue }
      // If several previews contain a point, the first preview is used, so that visible points do not move until they
      // are committed.
      if tail.points[index] == nil { tail.points[index] = point }
    }
    tails[stroke] = tail
    return self.tail(of: stroke, committed: committed).count > before
  }

  /// Returns the previewed points that follow the first `committed` points without a gap.
  func tail(of stroke: ObjectID, committed: Int) -> [InkPoint] {
    guard let tail = tails[stroke] else { return [] }
    var result: [InkPoint] = []
    while let next = tail.points[committed + result.count] { result.append(next) }
    return result
  }

  /// Removes the previewed points that are now committed, or all of them if the stroke is finished.
  mutating func committed(_ stroke: ObjectID, count: Int, isFinished: Bool) {
    if isFinished {
      tails[stroke] = nil
    } else if var tail = tails[stroke] {
      tail.points = tail.points.filter { $0.key >= count }
      tails[stroke] = tail
    }
  }

  mutating func removed(_ stroke: ObjectID) { tails[stroke] = nil }

  mutating func memberLeft(_ member: MemberID) -> [ObjectID] {
    let gone = tails.filter { $0.value.member == member }.map { $0.key }.sorted()
    for stroke in gone { tails[stroke] = nil }
    return gone
  }
}

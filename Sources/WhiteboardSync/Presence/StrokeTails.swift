import Whiteboard

/// The points of strokes being drawn elsewhere that came as previews and are not committed yet.
///
/// Committed points replace previews index by index; what shows of a stroke only ever grows (SYN-32).
struct StrokeTails {
  private static let strokesPerMember = 32
  private static let points = 1024

  private struct Tail {
    let member: MemberID
    var points: [Int: InkPoint] = [:]
  }

  private var tails: [ObjectID: Tail] = [:]

  /// Takes some points in.
  /// - Returns: whether what follows the `committed` points grew.
  mutating func received(
    _ stroke: ObjectID,
    first: Int,
    _ points: [InkPoint],
    from member: MemberID,
    committed: Int
  ) -> Bool {
    guard
      tails[stroke] != nil
        || tails.values.lazy.filter({ $0.member == member }).count < Self.strokesPerMember
    else { return false }
    let before = tail(of: stroke, committed: committed).count
    var tail = tails[stroke] ?? Tail(member: member)
    for (offset, point) in points.enumerated() {
      let index = first + offset
      guard index >= committed, index < committed + Self.points else { continue }
      // The first to arrive stays: what was shown once does not move until it is committed.
      if tail.points[index] == nil { tail.points[index] = point }
    }
    tails[stroke] = tail
    return self.tail(of: stroke, committed: committed).count > before
  }

  /// The points that follow the `committed` ones without a gap.
  func tail(of stroke: ObjectID, committed: Int) -> [InkPoint] {
    guard let tail = tails[stroke] else { return [] }
    var result: [InkPoint] = []
    while let next = tail.points[committed + result.count] { result.append(next) }
    return result
  }

  /// Drops what is committed by now, or all of it where the stroke is finished.
  mutating func committed(_ stroke: ObjectID, count: Int, isFinished: Bool) {
    if isFinished {
      tails[stroke] = nil
    } else if var tail = tails[stroke] {
      tail.points = tail.points.filter { $0.key >= count }
      tails[stroke] = tail
    }
  }

  /// Forgets a stroke.
  mutating func removed(_ stroke: ObjectID) { tails[stroke] = nil }

  /// Forgets the strokes of a member who left.
  /// - Returns: those strokes.
  mutating func memberLeft(_ member: MemberID) -> [ObjectID] {
    let gone = tails.filter { $0.value.member == member }.map(\.key).sorted()
    for stroke in gone { tails[stroke] = nil }
    return gone
  }
}

import Whiteboard

/// A local stroke that is being drawn: its committed and pending points, and the times when they are sent.
struct LiveStroke {
  /// Milliseconds between commits.
  static let commitInterval: UInt64 = 250
  /// Milliseconds between previews.
  static let previewInterval: UInt64 = 16

  private(set) var committed = 0
  private(set) var pending: [InkPoint] = []
  private var lastCommit: UInt64
  private var lastPreview: UInt64 = 0
  private var previewed = 0

  init(now: UInt64) { lastCommit = now }

  /// The number of points.
  var count: Int { committed + pending.count }

  mutating func append(_ points: [InkPoint]) { pending += points }

  /// The time when points are next previewed or committed; nil if no points are pending.
  var nextDeadline: UInt64? {
    guard let commit = commitDue else { return nil }
    return previewed < count ? min(commit, lastPreview + Self.previewInterval) : commit
  }

  private var commitDue: UInt64? {
    if pending.isEmpty { return nil }
    return pending.count >= BoardLimits.pointsPerChunk ? 0 : lastCommit + Self.commitInterval
  }

  /// Returns whether the pending points must be committed now.
  func isCommitDue(_ now: UInt64) -> Bool { commitDue.map { now >= $0 } ?? false }

  mutating func didCommit(_ now: UInt64) {
    committed = count
    pending = []
    lastCommit = now
  }

  /// Returns the next preview if it is due; nil otherwise.
  ///
  /// A preview contains the last pending points, including those that were already previewed.
  mutating func preview(_ now: UInt64) -> (first: Int, points: [InkPoint])? {
    guard previewed < count, !pending.isEmpty, now >= lastPreview + Self.previewInterval else { return nil }
    lastPreview = now
    previewed = count
    let points = Array(pending.suffix(BoardLimits.pointsPerPreview))
    return (count - points.count, points)
  }
}

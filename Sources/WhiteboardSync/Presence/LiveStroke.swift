import Whiteboard

/// A stroke that is being drawn here: what is committed, what is not, and when each goes out.
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

  /// How many points there are.
  var count: Int { committed + pending.count }

  mutating func append(_ points: [InkPoint]) { pending += points }

  /// When something of it goes out next, where something is pending.
  var nextDeadline: UInt64? {
    guard let commit = commitDue else { return nil }
    return previewed < count ? min(commit, lastPreview + Self.previewInterval) : commit
  }

  private var commitDue: UInt64? {
    if pending.isEmpty { return nil }
    return pending.count >= BoardLimits.pointsPerChunk ? 0 : lastCommit + Self.commitInterval
  }

  /// Whether it is time to commit what is pending.
  func isCommitDue(_ now: UInt64) -> Bool { commitDue.map { now >= $0 } ?? false }

  mutating func didCommit(_ now: UInt64) {
    committed = count
    pending = []
    lastCommit = now
  }

  /// The preview that is due: the last points, those of the preview before among them.
  mutating func preview(_ now: UInt64) -> (first: Int, points: [InkPoint])? {
    guard previewed < count, !pending.isEmpty, now >= lastPreview + Self.previewInterval else {
      return nil
    }
    lastPreview = now
    previewed = count
    let points = Array(pending.suffix(BoardLimits.pointsPerPreview))
    return (count - points.count, points)
  }
}

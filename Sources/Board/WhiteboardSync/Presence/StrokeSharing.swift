import Whiteboard

final class StrokeSharing {
  private let board: Board
  private let peers: MemberLinks
  private let actions: ActionQueue
  private var strokes: [ObjectID: LiveStroke] = [:]
  private var tails = StrokeTails()

  init(_ board: Board, _ peers: MemberLinks, _ actions: ActionQueue) {
    self.board = board
    self.peers = peers
    self.actions = actions
  }

  // MARK: - Local strokes

  func insert(_ id: ObjectID, committed: Int, _ now: Moment) {
    strokes[id] = LiveStroke(committed: committed, now: now.uptime)
  }

  /// Adds points to a local stroke without sending them.
  func extend(_ id: ObjectID, with ink: [InkPoint]) throws(BoardError) {
    guard var stroke = strokes[id] else { throw .unknownObject(id) }
    guard stroke.count + ink.count <= BoardLimits.pointsPerStroke else { throw .tooLong("stroke") }
    stroke.append(ink)
    strokes[id] = stroke
  }

  func isDrawing(_ id: ObjectID) -> Bool { strokes[id] != nil }

  func finishableStroke(_ id: ObjectID) throws(BoardError) -> LiveStroke {
    guard let stroke = strokes[id] else { throw .unknownObject(id) }
    guard stroke.count > 0 else { throw .empty }
    return stroke
  }

  func remove(_ id: ObjectID) { strokes[id] = nil }

  /// Called after the local role has changed.
  func discardAll() { strokes = [:] }

  func advanceAll(_ now: Moment) { for id in strokes.keys.sorted() { advance(id, now) } }

  /// Previews and commits the points that are due. If the stroke was just extended, also commits the points that become
  /// due before the next extension.
  func advance(_ id: ObjectID, isExtended: Bool = false, _ now: Moment) {
    guard var stroke = strokes[id] else { return }
    let viewers = peers.viewers
    if !viewers.isEmpty, let preview = stroke.preview(now.uptime) {
      actions.queue(.preview(stroke: id, first: preview.first, points: preview.points), to: viewers)
    }
    if stroke.isCommitDue(now.uptime + (isExtended ? LiveStroke.previewInterval : 0)) {
      do {
        try board.gesture { () throws(BoardError) in
          try board.appendInk(stroke.pending, to: id, first: stroke.committed)
        }
        stroke.didCommit(now.uptime)
      } catch {
        // The stroke was purged, or the board is full, so stop drawing the stroke.
        strokes[id] = nil
        return
      }
    }
    strokes[id] = stroke
  }

  var nextDeadline: UInt64? {
    guard !strokes.isEmpty else { return nil }
    let isPreviewed = !peers.viewers.isEmpty
    return strokes.values.compactMap { $0.nextDeadline(isPreviewed: isPreviewed) }.min()
  }

  /// The time in milliseconds in which the points of a stroke can be gathered, because no member would see them earlier.
  var interval: UInt64 { peers.viewers.isEmpty ? LiveStroke.commitInterval : LiveStroke.previewInterval }

  func visibleInk(of id: ObjectID) -> [InkPoint] {
    guard let ink = board.snapshot(id)?.ink else { return [] }
    if let stroke = strokes[id] { return ink + stroke.pending }
    return ink + tails.tail(of: id, committed: ink.count)
  }

  // MARK: - Strokes of members

  func receivePreview(of stroke: ObjectID, first: Int, _ points: [InkPoint], from member: MemberID) {
    // Accept previews only from the author of a stroke, and only until the stroke is finished or purged.
    guard stroke.dot.incarnation == peers[member]?.link.record?.incarnation else { return }
    let isVisible = board.state.isVisible(stroke)
    var committed = 0
    if isVisible {
      guard let record = board.state.record(stroke), record.kind == .drawing, !record.isFinished else { return }
      committed = record.points.count
    } else {
      guard !board.state.context.contains(stroke.dot) else { return }
    }
    guard tails.received(stroke, first: first, points, from: member, committed: committed), isVisible else { return }
    reportTail(of: stroke, committed: committed, member)
  }

  func strokeChanged(_ snapshot: ObjectSnapshot, from member: MemberID?) {
    guard let ink = snapshot.ink else { return }
    tails.committed(snapshot.id, count: ink.count, isFinished: snapshot.isFinished ?? false)
    if let member { reportTail(of: snapshot.id, committed: ink.count, member) }
  }

  func objectRemoved(_ id: ObjectID) { tails.removed(id) }

  func memberLeft(_ member: MemberID) {
    for stroke in tails.memberLeft(member) {
      guard let ink = board.snapshot(stroke)?.ink else { continue }
      actions.append(.preview(StrokePreview(stroke: stroke, member: member, first: ink.count, points: [])))
    }
  }

  private func reportTail(of stroke: ObjectID, committed: Int, _ member: MemberID) {
    let tail = tails.tail(of: stroke, committed: committed)
    guard !tail.isEmpty else { return }
    actions.append(.preview(StrokePreview(stroke: stroke, member: member, first: committed, points: tail)))
  }
}

/// A local stroke that is being drawn: its committed and pending points, and the times when they are sent.
struct LiveStroke {
  static let commitInterval: UInt64 = 250
  static let previewInterval: UInt64 = 16

  private(set) var committed: Int
  private(set) var pending: [InkPoint] = []
  private var lastCommit: UInt64
  private var lastPreview: UInt64 = 0
  private var previewed: Int

  init(committed: Int, now: UInt64) {
    self.committed = committed
    previewed = committed
    lastCommit = now
  }

  var count: Int { committed + pending.count }

  mutating func append(_ points: [InkPoint]) { pending += points }

  func nextDeadline(isPreviewed: Bool) -> UInt64? {
    guard let commit = commitDue else { return nil }
    return isPreviewed && previewed < count ? min(commit, lastPreview + Self.previewInterval) : commit
  }

  private var commitDue: UInt64? {
    if pending.isEmpty { return nil }
    return pending.count >= BoardLimits.pointsPerChunk ? 0 : lastCommit + Self.commitInterval
  }

  func isCommitDue(_ now: UInt64) -> Bool { commitDue.map { now >= $0 } ?? false }

  mutating func didCommit(_ now: UInt64) {
    committed = count
    pending = []
    lastCommit = now
  }

  /// A preview contains the last pending points, including points that were already previewed.
  mutating func preview(_ now: UInt64) -> (first: Int, points: [InkPoint])? {
    guard previewed < count, !pending.isEmpty, now >= lastPreview + Self.previewInterval else { return nil }
    lastPreview = now
    previewed = count
    let points = Array(pending.suffix(BoardLimits.pointsPerPreview))
    return (count - points.count, points)
  }
}

/// The previewed points of other members' strokes that are not committed yet. Each committed point replaces the
/// previewed point at the same index. The visible part of a stroke never shrinks (SYN-32).
struct StrokeTails {
  private static let strokesPerMember = 32
  private static let points = 1024

  private struct Tail {
    let member: MemberID
    var points: [Int: InkPoint] = [:]
  }

  private var tails: [ObjectID: Tail] = [:]

  /// Adds previewed points. Returns whether more points are visible after the first `committed` points.
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

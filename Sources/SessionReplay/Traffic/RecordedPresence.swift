import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// The pointers of members, and their strokes before these were on the board, as recorded.
public struct RecordedPresence: Sendable {
  /// Points of a stroke that were shown before they were on the board.
  public struct Preview: Hashable, Sendable {
    /// When, in milliseconds from the beginning.
    public let elapsed: Int64
    /// The stroke.
    public let stroke: ObjectID
    /// Which of its points is the first of these.
    public let first: Int
    /// The points.
    public let points: [InkPoint]
  }

  /// The presence of a member from a time on; nil if it left.
  private struct Change {
    let elapsed: Int64
    let presence: Presence?
  }

  /// How long what a member showed stands, in milliseconds, where nothing more comes of it.
  private static let patience: Int64 = 10_000

  private var changes: [MemberID: [Change]] = [:]
  /// When what is seen of anybody becomes another, in order.
  private var turns: [Int64] = []
  /// The strokes that were not on the board yet, by time.
  public private(set) var previews: [Preview] = []
  /// When the last of it, or of other traffic but comings and goings, was, in milliseconds from the beginning.
  let end: Int64

  /// What traffic shows.
  /// - Parameters:
  ///   - traffic: The traffic, in order.
  ///   - start: When the recording begins, milliseconds since 1970; else with the traffic.
  /// - Complexity: O(n).
  init(_ traffic: [TrafficEntry], since start: Int64?) {
    let start = start ?? traffic.first?.time ?? 0
    var counters: [MemberID: UInt64] = [:]
    var latest: Int64 = 0
    var end: Int64 = 0
    for entry in traffic {
      // Clocks are set; what happened did so in order all the same.
      latest = max(latest, Recording.elapsed(entry.time, since: start))
      switch entry.kind {
      case .began, .state: continue
      case .joined, .left:
        guard let member = entry.peers.first.flatMap({ MemberID($0) }) else { continue }
        counters[member] = nil
        if changes[member] != nil { changes[member]?.append(.init(elapsed: latest, presence: nil)) }
        continue
      case .datagram:
        guard let member = entry.peers.first.flatMap({ MemberID($0) }) else { break }
        switch try? SyncDatagram.decode(entry.bytes) {
        case .presence(let counter, let presence, _):
          guard counters[member].map({ counter > $0 }) ?? true else { break }
          counters[member] = counter
          changes[member, default: []].append(.init(elapsed: latest, presence: presence))
        case .preview(let stroke, let first, let points):
          previews.append(Preview(elapsed: latest, stroke: stroke, first: first, points: points))
        case .application, nil: break
        }
      default: break
      }
      end = latest
    }
    self.end = end
    turns = (changes.values.flatMap(Self.turns) + previews.map(\.elapsed)).sorted()
  }

  /// When what is seen of a member becomes another: it shows something else, leaves, or was silent too long.
  private static func turns(_ changes: [Change]) -> [Int64] {
    var turns: [Int64] = []
    var seen: Presence?
    for (index, change) in changes.enumerated() {
      if change.presence != seen { turns.append(change.elapsed) }
      seen = change.presence
      let silence = change.elapsed + patience
      if seen != nil, index + 1 == changes.count || changes[index + 1].elapsed >= silence {
        turns.append(silence)
        seen = nil
      }
    }
    return turns
  }

  /// What everyone shows of themselves at a time, in the order of their ids.
  ///
  /// - Parameter elapsed: When, in milliseconds from the beginning.
  /// - Returns: Those who were there and showed something.
  /// - Complexity: O(m log n), of m members.
  public func shown(at elapsed: Int64) -> [(member: MemberID, presence: Presence)] {
    changes.keys.sorted().compactMap { member in
      let all = changes[member] ?? []
      let next = all.partition { $0.elapsed > elapsed }
      guard next > 0, elapsed - all[next - 1].elapsed < Self.patience,
        let presence = all[next - 1].presence
      else { return nil }
      return (member, presence)
    }
  }

  /// When what is seen of anybody next becomes another.
  ///
  /// - Parameter elapsed: After which time, in milliseconds from the beginning.
  /// - Returns: That time; nil if it stays as it is.
  /// - Complexity: O(log n).
  public func nextTurn(after elapsed: Int64) -> Int64? {
    let next = turns.partition { $0 > elapsed }
    return next < turns.count ? turns[next] : nil
  }

  /// How many previews there are up to a time.
  public func previewCount(at elapsed: Int64) -> Int {
    previews.partition { $0.elapsed > elapsed }
  }
}

extension Array {
  /// Returns the first index from which a condition holds, in an array where it then holds to the
  /// end.
  fileprivate func partition(_ holds: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if holds(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

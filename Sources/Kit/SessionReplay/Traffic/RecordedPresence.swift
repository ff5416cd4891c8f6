import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// The recorded pointers of members, and their unfinished strokes.
public struct RecordedPresence: Sendable {
  /// Points of a stroke that were shown before they were committed to the board.
  public struct Preview: Hashable, Sendable {
    /// The time when the points were shown, in milliseconds from the beginning.
    public let elapsed: Int64
    /// The id of the stroke.
    public let stroke: ObjectID
    /// The index of the first point within the stroke.
    public let first: Int
    /// The points of the stroke, in order.
    public let points: [InkPoint]
  }

  /// A member's presence from a time on; nil if the member left.
  private struct Change {
    let elapsed: Int64
    let presence: Presence?
  }

  /// A member that is silent for this many milliseconds is treated as absent.
  private static let patience: Int64 = 10_000

  private var changes: [MemberID: [Change]] = [:]
  private var turns: [Int64] = []
  /// The points of unfinished strokes, in order of time.
  public private(set) var previews: [Preview] = []
  /// The time of the last traffic other than joins and leaves, in milliseconds from the beginning.
  let end: Int64

  init(_ traffic: [TrafficEntry], since start: Int64?) {
    let start = start ?? traffic.first?.time ?? 0
    var counters: [MemberID: UInt64] = [:]
    var latest: Int64 = 0
    var end: Int64 = 0
    for entry in traffic {
      // A clock can be set back, but the events happened in this order.
      latest = max(latest, Recording.elapsed(entry.time, since: start))
      switch entry.kind {
      case .began, .state: continue
      case .joined, .left:
        guard let member = entry.peers.first.flatMap({ MemberID(bytes: $0) }) else { continue }
        counters[member] = nil
        if changes[member] != nil { changes[member]?.append(.init(elapsed: latest, presence: nil)) }
        continue
      case .datagram:
        guard let member = entry.peers.first.flatMap({ MemberID(bytes: $0) }) else { break }
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

  /// Returns the times at which the visible presence of a member changes, because the member moves, leaves, or is
  /// silent for too long.
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

  /// Returns the presence of all members at a time, in the order of their ids.
  ///
  /// - Parameter elapsed: The time, in milliseconds from the beginning.
  /// - Returns: The members that showed their presence at that time.
  /// - Complexity: O(m log n) for m members.
  public func shown(at elapsed: Int64) -> [(member: MemberID, presence: Presence)] {
    changes.keys.sorted().compactMap { member in
      let all = changes[member] ?? []
      let next = all.partition { $0.elapsed > elapsed }
      guard next > 0, elapsed - all[next - 1].elapsed < Self.patience, let presence = all[next - 1].presence else {
        return nil
      }
      return (member, presence)
    }
  }

  /// Returns the next time when the visible presence of any member changes.
  ///
  /// - Parameter elapsed: The time after which to search, in milliseconds from the beginning.
  /// - Returns: The time of the change; `nil` if there is none.
  /// - Complexity: O(log n).
  public func nextTurn(after elapsed: Int64) -> Int64? {
    let next = turns.partition { $0 > elapsed }
    return next < turns.count ? turns[next] : nil
  }

  /// Returns the number of previews up to a time.
  public func previewCount(at elapsed: Int64) -> Int { previews.partition { $0.elapsed > elapsed } }
}

extension Array {
  /// Returns the first index at which `holds` is true; `holds` must be true for all later elements too.
  fileprivate func partition(_ holds: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if holds(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

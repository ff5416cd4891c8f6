import Dispatch
import PeerCore
import Whiteboard
import WhiteboardSync

/// The time of a run, and the start time of each operation.
final class LoadClock: Sendable {
  private struct State {
    var isLoaded = false
    /// The start times in seconds, by member and operation.
    var times: [[Double]]
  }

  private let start = DispatchTime.now().uptimeNanoseconds
  private let state: Locked<State>

  init(members: Int) { state = Locked(State(times: Array(repeating: [], count: members))) }

  /// The number of seconds since the run began.
  var now: Double { Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9 }
  var moment: Moment {
    let milliseconds = UInt64(now * 1000)
    return Moment(wall: 1_800_000_000_000 + milliseconds, uptime: milliseconds + 1)
  }

  var isLoaded: Bool {
    get { state.withLock { $0.isLoaded } }
    set { state.withLock { $0.isLoaded = newValue } }
  }

  /// Records the start of a member's next operation; operations are counted from 1.
  func began(_ operation: Int, of member: Int) {
    let now = now
    state.withLock { $0.times[member].append(now) }
  }

  /// The start times of all operations of all members.
  var times: [[Double]] { state.withLock { $0.times } }
}

/// The times at which the operations of the other members arrived at one member.
struct Arrivals: Sendable {
  /// The arrival times in seconds, by member and operation.
  private(set) var times: [[Double]]

  init(of members: Int) { times = Array(repeating: [], count: members) }

  /// Records the operation that an object's position encodes, and all earlier operations of that member.
  mutating func note(_ snapshot: ObjectSnapshot, of member: MemberID, at now: Double) {
    let number = Int(snapshot.centerPosition.y)
    let operation = Int(snapshot.centerPosition.x)
    guard times.indices.contains(number) else { return }
    while times[number].count < operation { times[number].append(now) }
  }
}

/// The result of a run.
struct Outcome {
  /// The milliseconds from the start of an operation until the last reader had it, ascending.
  var latencies: [Double] = []
  /// The maximum latency of the operations that started in each second.
  var longest: [Double] = []
  /// The number of operations that a reading member did not receive.
  var lost = 0

  /// Adds the operations of one board.
  mutating func add(_ clock: LoadClock, _ readers: [(number: Int, arrivals: Arrivals)], writers: Range<Int>) {
    let begun = clock.times
    let first = begun.compactMap(\.first).min() ?? 0
    for writer in writers {
      for operation in begun[writer].indices {
        var last = 0.0
        var isLost = false
        for reader in readers where reader.number != writer {
          let times = reader.arrivals.times[writer]
          if operation < times.count { last = max(last, times[operation]) } else { isLost = true }
        }
        guard !isLost else {
          lost += 1
          continue
        }
        let latency = (last - begun[writer][operation]) * 1000
        latencies.append(latency)
        let second = Int(begun[writer][operation] - first)
        while longest.count <= second { longest.append(0) }
        longest[second] = max(longest[second], latency)
      }
    }
    latencies.sort()
  }

  func quantile(_ part: Double) -> Double {
    latencies.isEmpty ? .nan : latencies[min(latencies.count - 1, Int(Double(latencies.count) * part))]
  }
}

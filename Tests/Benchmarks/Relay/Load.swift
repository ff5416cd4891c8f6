import Dispatch
import NIOConcurrencyHelpers
import Whiteboard
import WhiteboardSync

/// The time of a run, and when each operation was begun.
final class LoadClock: Sendable {
  private struct State {
    var isLoaded = false
    /// Seconds, by guest and operation.
    var times: [[Double]]
  }

  private let start = DispatchTime.now().uptimeNanoseconds
  private let state: NIOLockedValueBox<State>

  init(guests: Int) {
    state = NIOLockedValueBox(State(times: Array(repeating: [], count: guests)))
  }

  /// Seconds since the run began.
  var now: Double { Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9 }
  /// Both clocks as a replica wants them.
  var moment: Moment {
    let milliseconds = UInt64(now * 1000)
    return Moment(wall: 1_800_000_000_000 + milliseconds, uptime: milliseconds + 1)
  }

  /// Whether the load has begun and is not over.
  var isLoaded: Bool {
    get { state.withLockedValue { $0.isLoaded } }
    set { state.withLockedValue { $0.isLoaded = newValue } }
  }

  /// A guest begins its next operation; they count from 1.
  func began(_ operation: Int, of guest: Int) {
    let now = now
    state.withLockedValue { $0.times[guest].append(now) }
  }

  /// When each operation of each guest was begun.
  var times: [[Double]] { state.withLockedValue { $0.times } }
}

/// When the operations of the others arrived at one guest.
struct Arrivals: Sendable {
  /// Seconds, by guest and operation.
  private(set) var times: [[Double]]

  init(of guests: Int) { times = Array(repeating: [], count: guests) }

  /// What an object shows says which of whose operations has come; those before it have come with it.
  mutating func note(_ snapshot: ObjectSnapshot, of member: MemberID, at now: Double) {
    let guest = Int(snapshot.centerPosition.y)
    let operation = Int(snapshot.centerPosition.x)
    guard times.indices.contains(guest) else { return }
    while times[guest].count < operation { times[guest].append(now) }
  }
}

/// What came of a run.
struct Outcome {
  /// Milliseconds from the begin of an operation until the last reader had it, ascending.
  var latencies: [Double] = []
  /// The longest of them in each second in which they began.
  var longest: [Double] = []
  /// Operations that somebody who reads did not get.
  var lost = 0

  init(_ clock: LoadClock, _ readers: [(number: Int, arrivals: Arrivals)], writers: Range<Int>) {
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

  /// The latency below which this part of all is.
  func quantile(_ part: Double) -> Double {
    latencies.isEmpty
      ? .nan : latencies[min(latencies.count - 1, Int(Double(latencies.count) * part))]
  }
}

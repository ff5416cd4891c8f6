import Metrics
import PeerSession

/// The metrics of a relay's boards.
///
/// They contain no board names and no peer names.
struct RelayMetrics: Sendable {
  private let serving = Meter(label: "whiteboard_boards", dimensions: [("state", "serving")])
  private let opening = Meter(label: "whiteboard_boards", dimensions: [("state", "opening")])
  private let failed = Meter(label: "whiteboard_boards", dimensions: [("state", "failed")])
  private let unsaved = Meter(label: "whiteboard_boards_unsaved")
  private let people = Meter(label: "whiteboard_people")
  private let copies = Counter(label: "whiteboard_relayed_copies_total")
  private let bytes = Counter(label: "whiteboard_relayed_bytes_total")
  private let overruns = Counter(label: "whiteboard_overruns_total")
  private let joins = Counter(label: "whiteboard_joins_total")

  /// Sets the number of boards in each state, and the number of peers on all boards.
  ///
  /// A peer is counted once for each board that it is on.
  func show(_ boards: some Collection<ServedBoard>) {
    var counts = (serving: 0, opening: 0, failed: 0, unsaved: 0, people: 0)
    for board in boards {
      switch board.state {
      case .serving: counts.serving += 1
      case .opening: counts.opening += 1
      case .failed: counts.failed += 1
      }
      if board.unsaved != nil { counts.unsaved += 1 }
      counts.people += board.people.count
    }
    serving.set(counts.serving)
    opening.set(counts.opening)
    failed.set(counts.failed)
    unsaved.set(counts.unsaved)
    people.set(counts.people)
  }

  /// Counts the messages that a board relayed between two readings of its tally.
  func passed(since before: RelayTally, _ now: RelayTally) {
    // After a session has ended, its tally is zero.
    copies.increment(by: max(0, now.copies - before.copies))
    bytes.increment(by: max(0, now.bytes - before.bytes))
    overruns.increment(by: max(0, now.overruns - before.overruns))
  }

  /// Counts a peer that joined a board.
  func joined() { joins.increment() }

  /// Counts the messages that a board refused.
  ///
  /// There are two reasons: the author is a viewer, or the author's right to edit was revoked.
  func refused(viewer: Int, revoked: Int) {
    for (reason, count) in [("viewer", viewer), ("revoked", revoked)] where count > 0 {
      Counter(label: "whiteboard_refused_total", dimensions: [("reason", reason)]).increment(by: count)
    }
  }

  /// Counts another host's board that was not accepted.
  func refused(board refusal: BoardRefusal) {
    Counter(label: "whiteboard_boards_refused_total", dimensions: [("reason", refusal.label)]).increment()
  }

  /// Counts a peer that left a board, by the reason for leaving.
  func left(_ reason: String) {
    // The reason is one of a few words that the protocol defines, so the number of series is bounded.
    Counter(label: "whiteboard_departures_total", dimensions: [("reason", reason)]).increment()
  }
}

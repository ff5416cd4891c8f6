import FoundationEssentials
import PeerCore
import PeerSession

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The metrics of a relay and its process, in version 0.0.4 of the Prometheus text format. They contain no board names
/// and no peer names. Any thread may use them.
package final class RelayMetrics: Sendable {
  package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  enum Name: String, CaseIterable {
    case processorTime = "process_cpu_seconds_total"
    case maximumDescriptors = "process_max_fds"
    case openDescriptors = "process_open_fds"
    case residentMemory = "process_resident_memory_bytes"
    case startTime = "process_start_time_seconds"
    case boards = "whiteboard_boards"
    case boardsRefused = "whiteboard_boards_refused_total"
    case boardsUnsaved = "whiteboard_boards_unsaved"
    case clusterConnected = "whiteboard_cluster_connected"
    case clusterRelays = "whiteboard_cluster_relays"
    case departures = "whiteboard_departures_total"
    case joins = "whiteboard_joins_total"
    case droppedLogLines = "whiteboard_log_lines_dropped_total"
    case overruns = "whiteboard_overruns_total"
    case people = "whiteboard_people"
    case refused = "whiteboard_refused_total"
    case relayedBytes = "whiteboard_relayed_bytes_total"
    case relayedCopies = "whiteboard_relayed_copies_total"

    var help: String {
      switch self {
      case .processorTime: "Processor time of this process, user and system."
      case .maximumDescriptors: "Maximum number of open file descriptors."
      case .openDescriptors: "Number of open file descriptors."
      case .residentMemory: "Resident memory of this process."
      case .startTime: "Unix time at which this process started."
      case .boards: "Boards of this relay, by state."
      case .boardsRefused: "Boards of other hosts that the relay refused, by reason."
      case .boardsUnsaved: "Boards with changes that are not saved."
      case .clusterConnected: "1 if the relay is connected to its cluster, otherwise 0."
      case .clusterRelays: "Other relays of the cluster that were heard in the last 15 seconds."
      case .departures: "Number of times that a peer left a board, by the reason in the session protocol."
      case .joins: "Number of times that a peer joined a board."
      case .droppedLogLines: "Log lines that were dropped because the reader was too slow."
      case .overruns: "Number of times that too much data waited for a member."
      case .people: "Peers on the boards, each counted once per board."
      case .refused:
        "Refused batches and answers, from viewers (viewer) or after the right to edit was revoked (revoked)."
      case .relayedBytes: "Bytes of the relayed copies."
      case .relayedCopies: "Relayed copies of messages, one for each receiving member."
      }
    }

    var isOfCluster: Bool { self == .clusterConnected || self == .clusterRelays }

    var label: String? {
      switch self {
      case .boards: "state"
      case .boardsRefused, .departures, .refused: "reason"
      default: nil
      }
    }
  }

  /// The values of each metric by label value. A metric without a label has an empty label value. All label values are
  /// words of this program, so they need no escapes and are few.
  private let values = Locked<[Name: [String: Double]]>([.boards: ["serving": 0, "opening": 0, "failed": 0]])

  package init() { set(.startTime, Date.now.timeIntervalSince1970) }

  func set(_ name: Name, _ value: Double, of label: String = "") {
    values.withLock { $0[name, default: [:]][label] = value }
  }

  /// Negative amounts are ignored.
  func add(_ name: Name, _ amount: Int = 1, of label: String = "") {
    guard amount > 0 else { return }
    values.withLock { $0[name, default: [:]][label, default: 0] += Double(amount) }
  }

  package func logLineWasDropped() { add(.droppedLogLines) }

  /// A metric without a label is included as 0 even before it gets a value, except the metrics of clusters.
  package func text() -> String {
    readProcess()
    let values = values.withLock { $0 }
    return Name.allCases.map { name in
      let kind = name.rawValue.hasSuffix("_total") ? "counter" : "gauge"
      let found = values[name] ?? (name.label == nil && !name.isOfCluster ? ["": 0] : [:])
      let lines = found.sorted { $0.key < $1.key }.map { value, number in
        "\(name.rawValue)\(name.label.map { "{\($0)=\"\(value)\"}" } ?? "") \(Self.shown(number))\n"
      }
      return "# HELP \(name.rawValue) \(name.help)\n# TYPE \(name.rawValue) \(kind)\n\(lines.joined())"
    }.joined()
  }

  private static func shown(_ number: Double) -> String { Int64(exactly: number).map { "\($0)" } ?? "\(number)" }
}

extension RelayMetrics {
  /// A peer is counted once for each board that it is on.
  func show(_ boards: some Collection<ServedBoard>, unopened: Int) {
    var counts = ["serving": 0, "opening": unopened, "failed": 0]
    for board in boards {
      switch board.state {
      case .serving: counts["serving", default: 0] += 1
      case .opening: counts["opening", default: 0] += 1
      case .failed: counts["failed", default: 0] += 1
      }
    }
    for (state, count) in counts { set(.boards, Double(count), of: state) }
    set(.boardsUnsaved, Double(boards.count { $0.unsaved != nil }))
    set(.people, Double(boards.reduce(0) { $0 + $1.people.count }))
  }

  /// Ignores negative differences, because the tally of a session becomes zero when the session ends.
  func passed(since before: RelayTally, _ now: RelayTally) {
    add(.relayedCopies, now.copies - before.copies)
    add(.relayedBytes, now.bytes - before.bytes)
    add(.overruns, now.overruns - before.overruns)
  }
}

extension RelayMetrics {
  /// If the system does not report a value, the metric does not change.
  private func readProcess() {
    var usage = rusage()
    if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
      func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
      set(.processorTime, seconds(usage.ru_utime) + seconds(usage.ru_stime))
    }
    // The number of resident pages is the second number in this file (proc(5)).
    let memory = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let numbers = memory.split(separator: " ")
    if numbers.count > 1, let pages = Int(numbers[1]) {
      set(.residentMemory, Double(pages * sysconf(Int32(_SC_PAGESIZE))))
    }
    if let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
      // Do not count the descriptor of the directory itself.
      set(.openDescriptors, Double(max(open.count - 1, 0)))
    }
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      set(.maximumDescriptors, Double(limit.rlim_cur))
    }
  }
}

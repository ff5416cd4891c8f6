import PeerTestKit
import Testing

@testable import WhiteboardRelay

struct RelayMetricsTests {
  private let metrics = RelayMetrics()

  private func samples(_ name: String) -> [String] {
    metrics.text().split(separator: "\n").map(String.init).filter { $0.hasPrefix(name) }
  }

  @Test("each metric has its help and type, and those without a label are shown from the start")
  func showsFromTheStart() {
    let text = metrics.text()
    #expect(
      text.contains(
        """
        # HELP whiteboard_boards Boards of this relay, by state.
        # TYPE whiteboard_boards gauge
        whiteboard_boards{state="failed"} 0
        whiteboard_boards{state="opening"} 0
        whiteboard_boards{state="serving"} 0
        # HELP whiteboard_boards_refused_total Boards of other hosts that the relay refused, by reason.
        # TYPE whiteboard_boards_refused_total counter
        # HELP whiteboard_boards_unsaved Boards with changes that are not saved.
        # TYPE whiteboard_boards_unsaved gauge
        whiteboard_boards_unsaved 0

        """
      )
    )
    let names = text.split(separator: "\n").filter { $0.hasPrefix("# HELP") }.map { $0.split(separator: " ")[2] }
    #expect(names == names.sorted() && names.count == RelayMetrics.Name.allCases.count)
  }

  @Test("a counter never decreases, and its values are sorted by their labels") func counts() {
    metrics.add(.refused, 2, of: "viewer")
    metrics.add(.refused, of: "revoked")
    metrics.add(.refused, -1, of: "viewer")
    metrics.add(.relayedBytes, 9_007_199_254_740_991)
    metrics.logLineWasDropped()
    #expect(
      samples("whiteboard_refused_total") == [
        "whiteboard_refused_total{reason=\"revoked\"} 1", "whiteboard_refused_total{reason=\"viewer\"} 2",
      ]
    )
    #expect(samples("whiteboard_relayed_bytes_total") == ["whiteboard_relayed_bytes_total 9007199254740991"])
    #expect(samples("whiteboard_log_lines_dropped_total") == ["whiteboard_log_lines_dropped_total 1"])
  }

  @Test("nothing is lost when many threads count and one reads") func isThreadSafe() async {
    await withTaskGroup { group in
      for _ in 0..<4 { group.addTask { for _ in 0..<1_000 { metrics.add(.joins) } } }
      group.addTask { for _ in 0..<10 { _ = metrics.text() } }
    }
    #expect(samples("whiteboard_joins_total") == ["whiteboard_joins_total 4000"])
  }

  @Test("promtool accepts the output") func isCleanToPromtool() async throws {
    guard let promtool = Judge("promtool") else {
      Issue.record("promtool is not installed (Debian: prometheus)", severity: .warning)
      return
    }
    metrics.add(.departures, of: "shutting-down")
    let verdict = try await promtool.judge(["check", "metrics"], input: metrics.text())
    #expect(verdict.status == 0)
    #expect(verdict.words.isEmpty)
    #expect(try await promtool.judge(["check", "metrics"], input: "x_total 1\n").status != 0)
    #expect(try await promtool.judge(["check", "metrics"], input: "x{a=\"} 1\n").status != 0)
  }

  @Test("a process reports its own metrics") func measuresProcess() throws {
    var shown: [Substring: Double] = [:]
    for line in metrics.text().split(separator: "\n") where line.hasPrefix("process_") {
      let parts = line.split(separator: " ")
      shown[parts[0]] = Double(parts[1])
    }
    #expect(try #require(shown["process_start_time_seconds"]) > 1_700_000_000)
    #expect(try #require(shown["process_cpu_seconds_total"]) > 0)
    #expect(try #require(shown["process_resident_memory_bytes"]) > 1_000_000)
    let open = try #require(shown["process_open_fds"])
    let maximum = try #require(shown["process_max_fds"])
    #expect(open > 2 && open <= maximum)
  }
}

import CoreMetrics
import PeerTestKit
import Testing
import WhiteboardRelay

struct PrometheusMetricsTests {
  private let metrics = PrometheusMetrics([
    .counter("relay_operations_total", help: "Operations, by outcome.", labels: ["outcome", "role"]),
    .counter("relay_received_bytes_total", help: "Bytes received."),
    .gauge("relay_boards", help: "Boards that are open."),
    .gauge("relay_peers", help: "Peers that are connected, by role.", labels: ["role"]),
  ])

  /// Returns the samples of one family, without its comments.
  private func samples(_ name: String) -> [String] {
    metrics.text().split(separator: "\n").map(String.init).filter { $0.hasPrefix(name) }
  }

  private func refused(_ reason: String) -> String? {
    samples("metrics_refused_total").first { $0.contains("\"\(reason)\"") }.map { String($0.split(separator: " ")[1]) }
  }

  @Test("families without labels are shown from the start, each with its help and type") func showsFromTheStart() {
    #expect(
      metrics.text() == """
        # HELP metrics_refused_total Metrics that were created but are not shown, by reason.
        # TYPE metrics_refused_total counter
        metrics_refused_total{reason="too_many_series"} 0
        metrics_refused_total{reason="unknown_name"} 0
        metrics_refused_total{reason="wrong_kind"} 0
        metrics_refused_total{reason="wrong_labels"} 0
        # HELP relay_boards Boards that are open.
        # TYPE relay_boards gauge
        relay_boards 0
        # HELP relay_operations_total Operations, by outcome.
        # TYPE relay_operations_total counter
        # HELP relay_peers Peers that are connected, by role.
        # TYPE relay_peers gauge
        # HELP relay_received_bytes_total Bytes received.
        # TYPE relay_received_bytes_total counter
        relay_received_bytes_total 0

        """
    )
  }

  @Test("a counter counts whole amounts exactly, accepts fractions, and never decreases") func counts() {
    let bytes = Counter(label: "relay_received_bytes_total", factory: metrics)
    bytes.increment(by: Int64(9_007_199_254_740_993))
    bytes.increment(by: -5)
    bytes.increment()
    #expect(samples("relay_received_bytes_total") == ["relay_received_bytes_total 9007199254740994"])
    bytes.reset()
    let parts = FloatingPointCounter(label: "relay_received_bytes_total", factory: metrics)
    parts.increment(by: 1.5)
    parts.increment(by: -Double.infinity)
    parts.increment(by: Double.nan)
    bytes.increment(by: 2)
    #expect(samples("relay_received_bytes_total") == ["relay_received_bytes_total 3.5"])
  }

  @Test("the largest amounts overflow without a trap") func overflows() {
    let bytes = Counter(label: "relay_received_bytes_total", factory: metrics)
    for _ in 0..<3 { bytes.increment(by: Int64.max) }
    #expect(samples("relay_received_bytes_total") == ["relay_received_bytes_total 9223372036854775805"])
  }

  @Test("a gauge goes up and down, and shows NaN and infinity") func gauges() {
    let boards = Meter(label: "relay_boards", factory: metrics)
    boards.set(7)
    boards.increment(by: 2.5)
    boards.decrement()
    #expect(samples("relay_boards") == ["relay_boards 8.5"])
    Gauge(label: "relay_boards", factory: metrics).record(-1)
    #expect(samples("relay_boards") == ["relay_boards -1"])
    for (value, shown) in [(Double.nan, "NaN"), (.infinity, "+Inf"), (-.infinity, "-Inf")] {
      boards.set(value)
      #expect(samples("relay_boards") == ["relay_boards \(shown)"])
    }
  }

  @Test("series are sorted by their label values, whatever the order of the dimensions") func ordersLabels() {
    for (outcome, role) in [("refused", "viewer"), ("merged", "relay"), ("merged", "editor")] {
      Counter(label: "relay_operations_total", dimensions: [("role", role), ("outcome", outcome)], factory: metrics)
        .increment()
    }
    Counter(label: "relay_operations_total", dimensions: [("outcome", "merged"), ("role", "relay")], factory: metrics)
      .increment()
    #expect(
      samples("relay_operations_total") == [
        #"relay_operations_total{outcome="merged",role="editor"} 1"#,
        #"relay_operations_total{outcome="merged",role="relay"} 2"#,
        #"relay_operations_total{outcome="refused",role="viewer"} 1"#,
      ]
    )
  }

  @Test("the value of a label is escaped, bounded and free of control characters") func escapesLabels() {
    Meter(label: "relay_peers", dimensions: [("role", "a\"\\b\nc\u{1b}[31m")], factory: metrics).set(1)
    #expect(samples("relay_peers") == [#"relay_peers{role="a\"\\b\\nc\\u{1b}[31m"} 1"#])
    let long = String(repeating: "x", count: 10_000)
    Meter(label: "relay_peers", dimensions: [("role", long)], factory: metrics).set(1)
    let cut = String(repeating: "x", count: PrometheusMetrics.labelLimit) + "…"
    #expect(samples("relay_peers").last == #"relay_peers{role="\#(cut)"} 1"#)
  }

  @Test("a metric without a matching family is counted as refused and not shown") func refuses() {
    let before = metrics.text()
    Counter(label: "other_total", factory: metrics).increment()
    #expect(refused("unknown_name") == "1")
    Counter(label: "relay_boards", factory: metrics).increment()
    Recorder(label: "relay_boards", factory: metrics).record(1)
    Timer(label: "relay_peers", dimensions: [("role", "x")], factory: metrics).recordSeconds(1)
    #expect(refused("wrong_kind") == "3")
    let wrong: [[(String, String)]] = [
      [], [("roles", "x")], [("role", "x"), ("other", "y")], [("role", "x"), ("role", "y")],
    ]
    for dimensions in wrong { Meter(label: "relay_peers", dimensions: dimensions, factory: metrics).set(1) }
    #expect(refused("wrong_labels") == "4")
    let shown = metrics.text().split(separator: "\n").filter { !$0.contains("metrics_refused_total") }
    #expect(shown == before.split(separator: "\n").filter { !$0.contains("metrics_refused_total") })
  }

  @Test("a family has at most its limit of series, and has room again when one is destroyed") func boundsSeries() {
    var meters: [Meter] = []
    for index in 0..<(PrometheusMetrics.seriesLimit + 10) {
      meters.append(Meter(label: "relay_peers", dimensions: [("role", "\(index)")], factory: metrics))
    }
    for meter in meters { meter.set(1) }
    #expect(samples("relay_peers").count == PrometheusMetrics.seriesLimit)
    #expect(refused("too_many_series") == "10")
    meters[3].destroy()
    #expect(samples("relay_peers").count == PrometheusMetrics.seriesLimit - 1)
    Meter(label: "relay_peers", dimensions: [("role", "new")], factory: metrics).set(5)
    #expect(samples("relay_peers").contains(#"relay_peers{role="new"} 5"#))
  }

  @Test("a series without labels stays when its metric is destroyed, and so does the refusal count")
  func keepsUnlabelled() {
    let bytes = Counter(label: "relay_received_bytes_total", factory: metrics)
    bytes.increment()
    bytes.destroy()
    #expect(samples("relay_received_bytes_total") == ["relay_received_bytes_total 1"])
    Counter(label: "metrics_refused_total", dimensions: [("reason", "wrong_kind")], factory: metrics).destroy()
    #expect(refused("wrong_kind") == "0")
  }

  @Test("nothing is lost when many threads record and one reads") func isThreadSafe() async {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask { [metrics] in
          let parts = FloatingPointCounter(label: "relay_received_bytes_total", factory: metrics)
          let merged = Counter(
            label: "relay_operations_total",
            dimensions: [("outcome", "merged"), ("role", "editor")],
            factory: metrics
          )
          for _ in 0..<5_000 {
            parts.increment(by: 0.5)
            merged.increment()
          }
        }
      }
      for _ in 0..<50 { #expect(metrics.text().hasSuffix("\n")) }
    }
    #expect(samples("relay_received_bytes_total") == ["relay_received_bytes_total 20000"])
    #expect(samples("relay_operations_total").map { $0.hasSuffix(" 40000") } == [true])
  }

  @Test("promtool accepts the output") func isCleanToPromtool() async throws {
    guard let promtool = Judge("promtool") else {
      Issue.record("promtool is not installed (Debian: prometheus)", severity: .warning)
      return
    }
    let all = PrometheusMetrics(
      ProcessMetrics.families + [
        .counter("relay_x_total", help: "Backslash \\ and\nline end.", labels: ["reason"]),
        .counter("relay_empty_total", help: "No series.", labels: ["reason"]), .gauge("relay_state", help: "A state."),
      ]
    )
    Counter(label: "relay_x_total", dimensions: [("reason", "a\"b\\c\nd")], factory: all).increment()
    Meter(label: "relay_state", factory: all).set(-Double.infinity)
    ProcessMetrics(factory: all, start: 1_700_000_000.25).read()
    let verdict = try await promtool.judge(["check", "metrics"], input: all.text())
    #expect(verdict.status == 0)
    #expect(verdict.words.isEmpty)
    #expect(try await promtool.judge(["check", "metrics"], input: "x_total 1\n").status != 0)
    #expect(try await promtool.judge(["check", "metrics"], input: "x{a=\"} 1\n").status != 0)
  }

  @Test("a process reports its own metrics") func measuresProcess() throws {
    let metrics = PrometheusMetrics(ProcessMetrics.families)
    let process = ProcessMetrics(factory: metrics, start: 12)
    process.read()
    process.read()
    var shown: [Substring: Double] = [:]
    for line in metrics.text().split(separator: "\n") where line.hasPrefix("process_") {
      let parts = line.split(separator: " ")
      shown[parts[0]] = Double(parts[1])
    }
    #expect(shown["process_start_time_seconds"] == 12)
    #expect(try #require(shown["process_cpu_seconds_total"]) > 0)
    #expect(try #require(shown["process_resident_memory_bytes"]) > 1_000_000)
    let open = try #require(shown["process_open_fds"])
    let maximum = try #require(shown["process_max_fds"])
    #expect(open > 2 && open <= maximum)
    #expect(!metrics.text().contains("unknown_name\"} 1"))
  }
}

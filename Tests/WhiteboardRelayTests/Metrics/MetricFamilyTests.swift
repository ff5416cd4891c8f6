import Testing
import WhiteboardRelay

struct MetricFamilyTests {
  @Test("a family that Prometheus cannot parse traps at its declaration") func stopsOnMistakes() async {
    await #expect(processExitsWith: .failure) { _ = MetricFamily.gauge("relay-peers", help: "x") }
    await #expect(processExitsWith: .failure) { _ = MetricFamily.gauge("9relay", help: "x") }
    await #expect(processExitsWith: .failure) { _ = MetricFamily.gauge("", help: "x") }
    await #expect(processExitsWith: .failure) { _ = MetricFamily.gauge("relay_peers", help: "") }
    await #expect(processExitsWith: .failure) { _ = MetricFamily.counter("relay_peers", help: "x") }
    await #expect(processExitsWith: .failure) { _ = MetricFamily.gauge("relay_total", help: "x") }
    await #expect(processExitsWith: .failure) {
      _ = MetricFamily.gauge("relay_peers", help: "x", labels: ["role", "role"])
    }
    await #expect(processExitsWith: .failure) { _ = MetricFamily.gauge("relay_peers", help: "x", labels: ["__role"]) }
    await #expect(processExitsWith: .failure) {
      let family = MetricFamily.gauge("relay_peers", help: "x")
      _ = PrometheusMetrics([family, family])
    }
  }
}

import CoreMetrics
import PeerCore

/// A metrics backend that stores measurements and writes them in the Prometheus text format.
///
/// It is a `MetricsFactory` for swift-metrics. A `Counter` belongs to a counter family. A `Meter` or a `Gauge` belongs
/// to a gauge family. A `Timer` or an aggregating `Recorder` belongs to a histogram family. The label of a metric is
/// the name of its family. Its dimensions are exactly the labels of the family, in any order. A metric that does not
/// match a family is ignored and counted in `metrics_refused_total`.
///
/// A family without labels is exported from the start. A family with labels has at most ``seriesLimit`` series.
/// Creating a metric takes a lock and allocates memory, so create each metric once and reuse it. Recording a value
/// allocates no memory, and takes a lock only for a histogram.
///
/// Two metrics with the same name and dimensions share one series. The series is removed when the first of them is
/// destroyed. Do not use labels with an unbounded number of values, such as peers or boards.
public final class PrometheusMetrics: MetricsFactory {
  /// The maximum number of series in a family with labels.
  public static let seriesLimit = 128
  /// The maximum number of characters in a label value.
  public static let labelLimit = 128
  /// The HTTP content type of ``text()``.
  public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  private typealias Table = [String: [[String]: any MetricSeries]]

  private enum Refusal: String, CaseIterable {
    case unknownName = "unknown_name"
    case wrongKind = "wrong_kind"
    case wrongLabels = "wrong_labels"
    case tooManySeries = "too_many_series"
  }

  private static let refusals = MetricFamily.counter(
    "metrics_refused_total",
    help: "Metrics that were created but are not shown, by reason.",
    labels: ["reason"]
  )

  private let families: [MetricFamily]
  private let familiesByName: [String: MetricFamily]
  private let series: Locked<Table>
  private let refused: [Refusal: CounterSeries]

  /// Creates a factory for exactly the given families.
  ///
  /// If two families have the same name, the program stops with a programming error.
  public init(_ families: [MetricFamily]) {
    let families = (families + [Self.refusals]).sorted { $0.name < $1.name }
    precondition(
      zip(families, families.dropFirst()).allSatisfy { $0.name != $1.name },
      "every metric family needs its own name"
    )
    self.families = families
    familiesByName = Dictionary(uniqueKeysWithValues: families.map { ($0.name, $0) })
    refused = Dictionary(uniqueKeysWithValues: Refusal.allCases.map { ($0, CounterSeries()) })
    var table: Table = [:]
    for family in families where family.labels.isEmpty { table[family.name] = [[]: Self.makeSeries(of: family.kind)] }
    table[Self.refusals.name] = Dictionary(uniqueKeysWithValues: refused.map { ([$0.rawValue], $1) })
    series = Locked(table)
  }

  /// Returns all metrics in the text format 0.0.4, with families sorted by name and series by label values.
  ///
  /// - Complexity: O(n) in the series.
  public func text() -> String {
    let table = series.withLock { $0 }
    var text = PrometheusText()
    for family in families {
      text.append(family)
      let series = table[family.name, default: [:]].sorted { $0.key.lexicographicallyPrecedes($1.key) }
      for (values, one) in series { text.append(one.reading, of: family, values: values) }
    }
    return text.text
  }

  private static func makeSeries(of kind: MetricFamily.Kind) -> any MetricSeries {
    switch kind {
    case .counter: CounterSeries()
    case .gauge: GaugeSeries()
    case .histogram(let upperBounds): HistogramSeries(upperBounds: upperBounds)
    }
  }

  private func findOrMake<Series: MetricSeries>(_ name: String, _ dimensions: [(String, String)], as type: Series.Type)
    -> Series?
  {
    guard let family = familiesByName[name] else { return refuse(.unknownName) }
    guard let values = Self.values(of: family.labels, in: dimensions) else { return refuse(.wrongLabels) }
    let found: (any MetricSeries)? = series.withLock { table in
      let known = table[name, default: [:]]
      if let one = known[values] { return one }
      guard known.count < Self.seriesLimit else { return nil }
      let one = Self.makeSeries(of: family.kind)
      // Do not keep the new series if its handler does not match the family.
      if one is Series { table[name, default: [:]][values] = one }
      return one
    }
    guard let found else { return refuse(.tooManySeries) }
    guard let fitting = found as? Series else { return refuse(.wrongKind) }
    return fitting
  }

  private func refuse<Series>(_ refusal: Refusal) -> Series? {
    refused[refusal]?.increment(by: Int64(1))
    return nil
  }

  private static func values(of labels: [String], in dimensions: [(String, String)]) -> [String]? {
    guard dimensions.count == labels.count else { return nil }
    var values: [String] = []
    for label in labels {
      guard let dimension = dimensions.first(where: { $0.0 == label }) else { return nil }
      values.append(UntrustedText(dimension.1).escaped(limit: labelLimit))
    }
    return values
  }

  private func forget(_ handler: AnyObject) {
    series.withLock { table in
      for family in families where !family.labels.isEmpty && family != Self.refusals {
        guard let values = table[family.name]?.first(where: { $0.value === handler })?.key else { continue }
        table[family.name]?[values] = nil
        return
      }
    }
  }
}

extension PrometheusMetrics {
  /// Returns a series of a counter family.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    findOrMake(label, dimensions, as: CounterSeries.self) ?? NOOPMetricsHandler.instance
  }

  /// Returns a series of a counter family, for fractional amounts.
  public func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> any FloatingPointCounterHandler
  { findOrMake(label, dimensions, as: CounterSeries.self) ?? NOOPMetricsHandler.instance }

  /// Returns a series of a gauge family.
  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    findOrMake(label, dimensions, as: GaugeSeries.self) ?? NOOPMetricsHandler.instance
  }

  /// Returns a series of a histogram family, or of a gauge family if `aggregate` is false.
  public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    if aggregate {
      findOrMake(label, dimensions, as: HistogramSeries.self) ?? NOOPMetricsHandler.instance
    } else {
      findOrMake(label, dimensions, as: GaugeSeries.self) ?? NOOPMetricsHandler.instance
    }
  }

  /// Returns a series of a histogram family that records seconds.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    findOrMake(label, dimensions, as: HistogramSeries.self) ?? NOOPMetricsHandler.instance
  }

  /// Removes a series with labels, and makes room for another one.
  public func destroyCounter(_ handler: any CounterHandler) { forget(handler) }

  /// Removes a series with labels, and makes room for another one.
  public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { forget(handler) }

  /// Removes a series with labels, and makes room for another one.
  public func destroyMeter(_ handler: any MeterHandler) { forget(handler) }

  /// Removes a series with labels, and makes room for another one.
  public func destroyRecorder(_ handler: any RecorderHandler) { forget(handler) }

  /// Removes a series with labels, and makes room for another one.
  public func destroyTimer(_ handler: any TimerHandler) { forget(handler) }
}

/// A writer for version 0.0.4 of the Prometheus text format.
struct PrometheusText {
  private(set) var text = ""

  mutating func append(_ family: MetricFamily) {
    let kind =
      switch family.kind {
      case .counter: "counter"
      case .gauge: "gauge"
      case .histogram: "histogram"
      }
    text += "# HELP \(family.name) \(Self.escaped(family.help, quoted: false))\n"
    text += "# TYPE \(family.name) \(kind)\n"
  }

  mutating func append(_ reading: MetricReading, of family: MetricFamily, values: [String]) {
    let labels = Array(zip(family.labels, values))
    switch reading {
    case .number(.whole(let number)): appendLine(family.name, labels, "\(number)")
    case .number(.real(let number)): appendLine(family.name, labels, Self.shown(number))
    case .observations(let counts, let sum):
      guard case .histogram(let upperBounds) = family.kind else { return }
      var below: UInt64 = 0
      for (bound, count) in zip(upperBounds + [.infinity], counts) {
        below &+= count
        appendLine(family.name + "_bucket", labels + [("le", Self.shown(bound))], "\(below)")
      }
      appendLine(family.name + "_sum", labels, Self.shown(sum))
      appendLine(family.name + "_count", labels, "\(below)")
    }
  }

  private mutating func appendLine(_ name: String, _ labels: [(String, String)], _ number: String) {
    text += name
    if !labels.isEmpty {
      let pairs = labels.map { "\($0)=\"\(Self.escaped($1, quoted: true))\"" }
      text += "{" + pairs.joined(separator: ",") + "}"
    }
    text += " \(number)\n"
  }

  private static func shown(_ number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number > 0 ? "+Inf" : "-Inf" }
    if let whole = Int64(exactly: number) { return "\(whole)" }
    return "\(number)"
  }

  private static func escaped(_ text: String, quoted: Bool) -> String {
    var result = ""
    for character in text.unicodeScalars {
      switch character {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\"" where quoted: result += "\\\""
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }
}

/// A group of metrics with the same name, a description, and the labels that distinguish its series.
///
/// The program declares all families before it records measurements. If a family violates a rule below, the program
/// stops with a programming error.
public struct MetricFamily: Hashable, Sendable {
  /// The kind of a metric.
  public enum Kind: Hashable, Sendable {
    /// A number that only increases while the program runs.
    case counter
    /// A number that increases and decreases.
    case gauge
    /// A distribution of values.
    ///
    /// For each bound, the histogram has the number of values up to that bound. It also has the sum of all values.
    case histogram(upperBounds: [Double])
  }

  /// Histogram bounds for durations, from 0.5 ms to 10 s.
  public static let durationBounds: [Double] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]

  /// The name, including the unit, such as `relay_fsync_seconds`.
  public let name: String
  /// One sentence that explains the metric in a list of names.
  public let help: String
  /// The kind of the metric.
  public let kind: Kind
  /// The names of the labels, in the order in which they are shown.
  public let labels: [String]

  /// Creates a family of counters.
  ///
  /// The name must end in `_total`.
  public static func counter(_ name: String, help: String, labels: [String] = []) -> MetricFamily {
    MetricFamily(name: name, help: help, kind: .counter, labels: labels)
  }

  /// Creates a family of gauges, whose values increase and decrease.
  public static func gauge(_ name: String, help: String, labels: [String] = []) -> MetricFamily {
    MetricFamily(name: name, help: help, kind: .gauge, labels: labels)
  }

  /// Creates a family of histograms.
  ///
  /// If timers record into it, the name must end in `_seconds`.
  public static func histogram(
    _ name: String,
    help: String,
    labels: [String] = [],
    upperBounds: [Double] = MetricFamily.durationBounds
  ) -> MetricFamily { MetricFamily(name: name, help: help, kind: .histogram(upperBounds: upperBounds), labels: labels) }

  private init(name: String, help: String, kind: Kind, labels: [String]) {
    precondition(Self.isName(name), "a metric's name may contain only a-z, 0-9 and _: \(name)")
    precondition(!help.isEmpty, "a metric needs a help text: \(name)")
    precondition(
      labels.allSatisfy { Self.isName($0) && !$0.hasPrefix("__") && $0 != "le" },
      "a label may contain only a-z, 0-9 and _, and must not be le or begin with __: \(name)"
    )
    precondition(Set(labels).count == labels.count, "the labels of a metric must differ: \(name)")
    precondition(
      (kind == .counter) == name.hasSuffix("_total"),
      "a counter's name must end in _total, and no other name may: \(name)"
    )
    if case .histogram(let bounds) = kind {
      precondition(
        !bounds.isEmpty && bounds.allSatisfy(\.isFinite) && zip(bounds, bounds.dropFirst()).allSatisfy(<),
        "the bounds of a histogram must be finite and ascend: \(name)"
      )
    }
    self.name = name
    self.help = help
    self.kind = kind
    self.labels = labels
  }

  private static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= first) else { return false }
    return text.utf8.allSatisfy {
      switch $0 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
      default: false
      }
    }
  }
}

import CoreMetrics
import PeerCore

/// A metrics backend that stores measurements and writes them in the Prometheus text format.
///
/// It is a `MetricsFactory` for swift-metrics. A `Counter` belongs to a counter family. A `Meter` or a `Gauge` belongs
/// to a gauge family. The label of a metric is the name of its family. Its dimensions are exactly the labels of the
/// family, in any order. A metric that does not match a family, such as a `Timer`, is ignored and counted in
/// `metrics_refused_total`.
///
/// A family without labels is exported from the start. A family with labels has at most ``seriesLimit`` series.
/// Creating a metric takes a lock and allocates memory, so create each metric once and reuse it. Recording a value
/// allocates no memory and takes no lock.
///
/// Two metrics with the same name and dimensions share one series. The series is removed when the first of them is
/// destroyed. Do not use labels with an unbounded number of values, such as peers or boards.
package final class PrometheusMetrics: MetricsFactory {
  /// The maximum number of series in a family with labels.
  package static let seriesLimit = 128
  /// The maximum number of characters in a label value.
  package static let labelLimit = 128
  /// The HTTP content type of ``text()``.
  package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

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
  package init(_ families: [MetricFamily]) {
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
  package func text() -> String {
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
  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    findOrMake(label, dimensions, as: CounterSeries.self) ?? NOOPMetricsHandler.instance
  }

  package func makeFloatingPointCounter(label: String, dimensions: [(String, String)])
    -> any FloatingPointCounterHandler
  { findOrMake(label, dimensions, as: CounterSeries.self) ?? NOOPMetricsHandler.instance }

  package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    findOrMake(label, dimensions, as: GaugeSeries.self) ?? NOOPMetricsHandler.instance
  }

  package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    guard aggregate else {
      return findOrMake(label, dimensions, as: GaugeSeries.self) ?? NOOPMetricsHandler.instance
    }
    return refuse(familiesByName[label] == nil ? .unknownName : .wrongKind) ?? NOOPMetricsHandler.instance
  }

  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    refuse(familiesByName[label] == nil ? .unknownName : .wrongKind) ?? NOOPMetricsHandler.instance
  }

  package func destroyCounter(_ handler: any CounterHandler) { forget(handler) }

  package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { forget(handler) }

  package func destroyMeter(_ handler: any MeterHandler) { forget(handler) }

  package func destroyRecorder(_ handler: any RecorderHandler) { forget(handler) }

  package func destroyTimer(_ handler: any TimerHandler) {}
}

/// A writer for version 0.0.4 of the Prometheus text format.
struct PrometheusText {
  private(set) var text = ""

  mutating func append(_ family: MetricFamily) {
    text += "# HELP \(family.name) \(Self.escaped(family.help, quoted: false))\n"
    text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
  }

  mutating func append(_ reading: MetricNumber, of family: MetricFamily, values: [String]) {
    let labels = Array(zip(family.labels, values))
    switch reading {
    case .whole(let number): appendLine(family.name, labels, "\(number)")
    case .real(let number): appendLine(family.name, labels, Self.shown(number))
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
package struct MetricFamily: Hashable, Sendable {
  package enum Kind: String, Sendable {
    /// A number that only increases while the program runs.
    case counter
    /// A number that increases and decreases.
    case gauge
  }

  /// The name, including the unit, such as `relay_fsync_seconds`.
  package let name: String
  /// One sentence that explains the metric in a list of names.
  package let help: String
  package let kind: Kind
  package let labels: [String]

  /// The name must end in `_total`.
  package static func counter(_ name: String, help: String, labels: [String] = []) -> MetricFamily {
    MetricFamily(name: name, help: help, kind: .counter, labels: labels)
  }

  package static func gauge(_ name: String, help: String, labels: [String] = []) -> MetricFamily {
    MetricFamily(name: name, help: help, kind: .gauge, labels: labels)
  }

  private init(name: String, help: String, kind: Kind, labels: [String]) {
    precondition(Self.isName(name), "a metric's name may contain only a-z, 0-9 and _: \(name)")
    precondition(!help.isEmpty, "a metric needs a help text: \(name)")
    precondition(
      labels.allSatisfy { Self.isName($0) && !$0.hasPrefix("__") },
      "a label may contain only a-z, 0-9 and _, and must not begin with __: \(name)"
    )
    precondition(Set(labels).count == labels.count, "the labels of a metric must differ: \(name)")
    precondition(
      (kind == .counter) == name.hasSuffix("_total"),
      "a counter's name must end in _total, and no other name may: \(name)"
    )
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

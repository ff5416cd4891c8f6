import CoreMetrics
import NIOConcurrencyHelpers

/// Keeps what is measured, and shows it as Prometheus reads it.
///
/// A `MetricsFactory` of swift-metrics: a `Counter` fills a counter's family, a `Meter` or a `Gauge` a gauge's, a
/// `Timer` or an aggregating `Recorder` a histogram's. The label of a metric is its family's name, its dimensions are
/// just the family's labels, in any order. What is in no family, or does not fit it, is measured nowhere and
/// counted in `metrics_refused_total`. A family without labels is shown from the start; any other holds at most
/// ``seriesLimit`` series. Making a metric takes a lock and allocates: keep it and use it. Using it does neither, but
/// for a histogram's lock.
///
/// Whoever makes two metrics of one name and one set of dimensions has one series; it goes when the first of
/// them is destroyed. Never make a label of what grows without bound, such as peers or boards.
public final class PrometheusMetrics: MetricsFactory {
  /// The series that a family with labels holds at most.
  public static let seriesLimit = 128
  /// The characters that a label's value holds at most.
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
    help: "Metrics that were made and are not shown, by reason.",
    labels: ["reason"]
  )

  private let families: [MetricFamily]
  private let familiesByName: [String: MetricFamily]
  private let series: NIOLockedValueBox<Table>
  private let refused: [Refusal: CounterSeries]

  /// Shows these families and no others, each from now on.
  ///
  /// Two families of one name are a mistake of the program and stop it.
  public init(_ families: [MetricFamily]) {
    let families = (families + [Self.refusals]).sorted { $0.name < $1.name }
    precondition(
      zip(families, families.dropFirst()).allSatisfy { $0.name != $1.name },
      "every family has a name of its own"
    )
    self.families = families
    familiesByName = Dictionary(uniqueKeysWithValues: families.map { ($0.name, $0) })
    refused = Dictionary(uniqueKeysWithValues: Refusal.allCases.map { ($0, CounterSeries()) })
    var table: Table = [:]
    for family in families where family.labels.isEmpty {
      table[family.name] = [[]: Self.makeSeries(of: family.kind)]
    }
    table[Self.refusals.name] = Dictionary(
      uniqueKeysWithValues: refused.map { ([$0.rawValue], $1) }
    )
    series = NIOLockedValueBox(table)
  }

  /// Everything measured, in the text format 0.0.4: families by name, series by their labels' values.
  ///
  /// - Complexity: O(n) in the series.
  public func text() -> String {
    let table = series.withLockedValue { $0 }
    var text = PrometheusText()
    for family in families {
      text.append(family)
      let series = table[family.name, default: [:]].sorted {
        $0.key.lexicographicallyPrecedes($1.key)
      }
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

  private func findOrMake<Series: MetricSeries>(
    _ name: String,
    _ dimensions: [(String, String)],
    as type: Series.Type
  ) -> Series? {
    guard let family = familiesByName[name] else { return refuse(.unknownName) }
    guard let values = Self.values(of: family.labels, in: dimensions) else {
      return refuse(.wrongLabels)
    }
    let found: (any MetricSeries)? = series.withLockedValue { table in
      let known = table[name, default: [:]]
      if let one = known[values] { return one }
      guard known.count < Self.seriesLimit else { return nil }
      let one = Self.makeSeries(of: family.kind)
      // A handler that does not fit its family is not to leave a series behind.
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

  private static func values(
    of labels: [String],
    in dimensions: [(String, String)]
  ) -> [String]? {
    guard dimensions.count == labels.count else { return nil }
    var values: [String] = []
    for label in labels {
      guard let dimension = dimensions.first(where: { $0.0 == label }) else { return nil }
      values.append(dimension.1.cleaned(limit: labelLimit))
    }
    return values
  }

  private func forget(_ handler: AnyObject) {
    series.withLockedValue { table in
      for family in families where !family.labels.isEmpty && family != Self.refusals {
        guard let values = table[family.name]?.first(where: { $0.value === handler })?.key else {
          continue
        }
        table[family.name]?[values] = nil
        return
      }
    }
  }
}

extension PrometheusMetrics {
  /// The series of a counter's family.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    findOrMake(label, dimensions, as: CounterSeries.self) ?? NOOPMetricsHandler.instance
  }

  /// The series of a counter's family, for amounts that are not whole.
  public func makeFloatingPointCounter(
    label: String,
    dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    findOrMake(label, dimensions, as: CounterSeries.self) ?? NOOPMetricsHandler.instance
  }

  /// The series of a gauge's family.
  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    findOrMake(label, dimensions, as: GaugeSeries.self) ?? NOOPMetricsHandler.instance
  }

  /// The series of a histogram's family, or without `aggregate` of a gauge's.
  public func makeRecorder(
    label: String,
    dimensions: [(String, String)],
    aggregate: Bool
  ) -> any RecorderHandler {
    if aggregate {
      findOrMake(label, dimensions, as: HistogramSeries.self) ?? NOOPMetricsHandler.instance
    } else {
      findOrMake(label, dimensions, as: GaugeSeries.self) ?? NOOPMetricsHandler.instance
    }
  }

  /// The series of a histogram's family, in seconds.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    findOrMake(label, dimensions, as: HistogramSeries.self) ?? NOOPMetricsHandler.instance
  }

  /// Ends a series that has labels, and frees its place.
  public func destroyCounter(_ handler: any CounterHandler) { forget(handler) }

  /// Ends a series that has labels, and frees its place.
  public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {
    forget(handler)
  }

  /// Ends a series that has labels, and frees its place.
  public func destroyMeter(_ handler: any MeterHandler) { forget(handler) }

  /// Ends a series that has labels, and frees its place.
  public func destroyRecorder(_ handler: any RecorderHandler) { forget(handler) }

  /// Ends a series that has labels, and frees its place.
  public func destroyTimer(_ handler: any TimerHandler) { forget(handler) }
}

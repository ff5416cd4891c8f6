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

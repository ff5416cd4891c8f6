/// Metrics of one name: what is measured, in words, and the labels that tell its series apart.
///
/// Families are written down by the program before anything is measured. One that breaks the rules below is a
/// mistake of the program and stops it.
public struct MetricFamily: Hashable, Sendable {
  /// The kinds of metrics.
  public enum Kind: Hashable, Sendable {
    /// Counts up from the program's start.
    case counter
    /// Goes up and down.
    case gauge
    /// Counts observations by size: how many were at most each of these bounds, and their sum.
    case histogram(upperBounds: [Double])
  }

  /// From half a millisecond to ten seconds: for how long something took.
  public static let durationBounds: [Double] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]

  /// The name, with its unit: `relay_fsync_seconds`.
  public let name: String
  /// One sentence for whoever reads the name in a list.
  public let help: String
  /// The kind of the metric.
  public let kind: Kind
  /// The names of the labels, in the order they are shown in.
  public let labels: [String]

  /// A family that counts; its name ends in `_total`.
  public static func counter(_ name: String, help: String, labels: [String] = []) -> MetricFamily {
    MetricFamily(name: name, help: help, kind: .counter, labels: labels)
  }

  /// A family of values that go up and down.
  public static func gauge(_ name: String, help: String, labels: [String] = []) -> MetricFamily {
    MetricFamily(name: name, help: help, kind: .gauge, labels: labels)
  }

  /// A family that counts observations by size; one that timers fill has a name that ends in `_seconds`.
  public static func histogram(
    _ name: String,
    help: String,
    labels: [String] = [],
    upperBounds: [Double] = MetricFamily.durationBounds
  ) -> MetricFamily {
    MetricFamily(name: name, help: help, kind: .histogram(upperBounds: upperBounds), labels: labels)
  }

  private init(name: String, help: String, kind: Kind, labels: [String]) {
    precondition(Self.isName(name), "a metric's name may contain a-z, 0-9 and _: \(name)")
    precondition(!help.isEmpty, "a metric says what it measures: \(name)")
    precondition(
      labels.allSatisfy { Self.isName($0) && !$0.hasPrefix("__") && $0 != "le" },
      "a label's name is of a-z, 0-9 and _, begins not with __ and is not le: \(name)"
    )
    precondition(Set(labels).count == labels.count, "a metric names a label once: \(name)")
    precondition(
      (kind == .counter) == name.hasSuffix("_total"),
      "the name of a counter, and of nothing else, ends in _total: \(name)"
    )
    if case .histogram(let bounds) = kind {
      precondition(
        !bounds.isEmpty && bounds.allSatisfy(\.isFinite)
          && zip(bounds, bounds.dropFirst()).allSatisfy(<),
        "the bounds of a histogram are finite and ascend: \(name)"
      )
    }
    self.name = name
    self.help = help
    self.kind = kind
    self.labels = labels
  }

  private static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= first) else {
      return false
    }
    return text.utf8.allSatisfy {
      switch $0 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "_"):
        true
      default: false
      }
    }
  }
}

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

package enum DecimalText {
  /// Returns a number with at most two decimals, formatted the same on every machine.
  package static func hundredths(_ value: Double) -> String {
    guard value.isFinite else { return "0" }
    let hundredths = Int64((min(max(value, -1e12), 1e12) * 100).rounded())
    let (whole, rest) = hundredths.magnitude.quotientAndRemainder(dividingBy: 100)
    let sign = hundredths < 0 ? "-" : ""
    guard rest > 0 else { return "\(sign)\(whole)" }
    let (tenth, last) = rest.quotientAndRemainder(dividingBy: 10)
    return "\(sign)\(whole).\(tenth)\(last == 0 ? "" : "\(last)")"
  }
}

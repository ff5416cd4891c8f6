/// What of XML a page needs.
package enum XML {
  /// Text of others as XML, without controls and what else XML does not admit.
  package static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\t", "\n": result += " "
      default:
        let isControl =
          scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
          || (0xFFFE...0xFFFF).contains(scalar.value)
        if !isControl { result.unicodeScalars.append(scalar) }
      }
    }
    return result
  }

  /// A number with two decimals at most, the same on every machine.
  package static func number(_ value: Double) -> String {
    guard value.isFinite else { return "0" }
    let hundredths = Int64((min(max(value, -1e12), 1e12) * 100).rounded())
    let (whole, rest) = hundredths.magnitude.quotientAndRemainder(dividingBy: 100)
    let sign = hundredths < 0 ? "-" : ""
    guard rest > 0 else { return "\(sign)\(whole)" }
    let (tenth, last) = rest.quotientAndRemainder(dividingBy: 10)
    return "\(sign)\(whole).\(tenth)\(last == 0 ? "" : "\(last)")"
  }

  /// The colour `0xRRGGBB` as `#rrggbb`.
  package static func color(_ rgb: UInt32) -> String {
    let digits = String(rgb & 0xFF_FFFF, radix: 16)
    return "#" + String(repeating: "0", count: 6 - digits.count) + digits
  }
}

extension String {
  /// Returns the text as one safe line of at most `limit` characters, truncated with `…`.
  ///
  /// White space becomes a space. Control, format, private-use and unassigned characters become
  /// U+FFFD, because a terminal might interpret or hide them.
  ///
  /// - Complexity: O(n) in the limit.
  func cleaned(limit: Int) -> String {
    let isPlain = utf8.count <= limit && utf8.allSatisfy { 0x20...0x7e ~= $0 }
    if isPlain { return self }
    var result = String.UnicodeScalarView()
    var count = 0
    for scalar in unicodeScalars {
      guard count < limit else {
        result.append("…")
        break
      }
      result.append(scalar.harmless)
      count += 1
    }
    return String(result)
  }
}

extension Unicode.Scalar {
  fileprivate var harmless: Unicode.Scalar {
    if properties.isWhitespace { return " " }
    switch properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
      .paragraphSeparator:
      return "\u{fffd}"
    default:
      return self
    }
  }
}

/// Characters of a text that no font shows, in which others can hide words or turn text around.
///
/// Every place that writes text for people or programs asks here which characters are invisible.
package enum InvisibleText {
  /// Calls a closure for each code point of a text, in order.
  ///
  /// Joiners that join letters or emoji, and one variation selector after a character, change how a
  /// text looks and are not invisible. All other format characters and ignorable code points are:
  /// zero-width spaces, marks and overrides of the direction, tags, and fillers.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - body: Receives the code point, and whether it is invisible.
  /// - Complexity: O(n).
  package static func scan(
    _ text: some StringProtocol,
    _ body: (_ scalar: Unicode.Scalar, _ isInvisible: Bool) -> Void
  ) {
    var rest = text.unicodeScalars.makeIterator()
    var previous: Unicode.Scalar?
    var current = rest.next()
    while let scalar = current {
      let next = rest.next()
      body(scalar, isInvisible(scalar, after: previous, before: next))
      previous = scalar
      current = next
    }
  }

  /// The text without its invisible characters.
  ///
  /// - Parameter text: The text.
  /// - Returns: The rest of it, as it looked before.
  /// - Complexity: O(n).
  package static func removed(from text: String) -> String {
    guard text.utf8.contains(where: { $0 >= 0x80 }) else { return text }
    var result = String.UnicodeScalarView()
    scan(text) { scalar, isInvisible in
      if !isInvisible { result.append(scalar) }
    }
    return String(result)
  }

  private static func isInvisible(
    _ scalar: Unicode.Scalar,
    after previous: Unicode.Scalar?,
    before next: Unicode.Scalar?
  ) -> Bool {
    // The first invisible one is the soft hyphen.
    guard scalar.value >= 0xAD else { return false }
    let properties = scalar.properties
    guard properties.isDefaultIgnorableCodePoint || properties.generalCategory == .format else {
      return false
    }
    if properties.isVariationSelector {
      guard let previous else { return true }
      return previous.properties.isDefaultIgnorableCodePoint || previous.value <= 0x20
    }
    switch scalar {
    case "\u{200C}": return !joinsLetters(previous, next)
    case "\u{200D}": return !joinsLetters(previous, next) && !joinsEmoji(previous, next)
    default: return true
    }
  }

  /// Whether a joiner between two code points changes how letters of Arabic, Indic and similar
  /// scripts connect; nil stands for the end of the text.
  private static func joinsLetters(_ previous: Unicode.Scalar?, _ next: Unicode.Scalar?) -> Bool {
    guard let previous, isJoinable(previous) else { return false }
    // A sign such as a virama can end a word with a joiner.
    return next.map(isJoinable) ?? true || isMark(previous)
  }

  /// Whether a code point is a letter or a mark of a script in which letters connect.
  private static func isJoinable(_ scalar: Unicode.Scalar) -> Bool {
    guard scalar.value >= 0x600, !scalar.properties.isDefaultIgnorableCodePoint else {
      return false
    }
    return scalar.properties.isAlphabetic || isMark(scalar)
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark: !scalar.properties.isDefaultIgnorableCodePoint
    default: false
    }
  }

  private static func joinsEmoji(_ previous: Unicode.Scalar?, _ next: Unicode.Scalar?) -> Bool {
    guard let previous, let next else { return false }
    return (isEmoji(previous) || previous == "\u{FE0F}") && isEmoji(next)
  }

  /// Returns whether a code point can be part of a joined emoji; digits have the property, but never join.
  private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value > 0x7F && scalar.properties.isEmoji
  }
}

/// Detection of invisible characters, which can hide words in a string or reverse its direction.
///
/// All code that writes text for users or programs uses this type to find them.
package enum InvisibleText {
  /// Calls a closure for each code point of a string, in order.
  ///
  /// Joiners between letters or emoji, and one variation selector after a character, change how text looks. They count
  /// as visible. All other format characters and ignorable code points are invisible, such as zero-width spaces,
  /// direction marks and overrides, tags, and fillers.
  ///
  /// - Complexity: O(*n*), where *n* is the length of the string.
  package static func scan(_ text: some StringProtocol, _ body: (_ scalar: Unicode.Scalar, _ isInvisible: Bool) -> Void)
  {
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

  /// Returns a string without its invisible characters; it looks the same.
  package static func removed(from text: String) -> String {
    guard text.utf8.contains(where: { $0 >= 0x80 }) else { return text }
    var result = String.UnicodeScalarView()
    scan(text) { scalar, isInvisible in if !isInvisible { result.append(scalar) } }
    return String(result)
  }

  private static func isInvisible(
    _ scalar: Unicode.Scalar,
    after previous: Unicode.Scalar?,
    before next: Unicode.Scalar?
  ) -> Bool {
    // The first invisible code point is U+00AD, the soft hyphen.
    guard scalar.value >= 0xAD else { return false }
    let properties = scalar.properties
    guard properties.isDefaultIgnorableCodePoint || properties.generalCategory == .format else { return false }
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

  /// Returns whether a joiner between two code points changes how the letters connect.
  ///
  /// This is the case in Arabic, Indic and similar scripts. Nil stands for the end of the text.
  private static func joinsLetters(_ previous: Unicode.Scalar?, _ next: Unicode.Scalar?) -> Bool {
    guard let previous, isJoinable(previous) else { return false }
    // A word can end with a joiner that follows a sign such as a virama.
    return next.map(isJoinable) ?? true || isMark(previous)
  }

  /// Returns whether a code point is a letter or a mark of a script in which letters connect.
  private static func isJoinable(_ scalar: Unicode.Scalar) -> Bool {
    guard scalar.value >= 0x600, !scalar.properties.isDefaultIgnorableCodePoint else { return false }
    return scalar.properties.isAlphabetic || isMark(scalar)
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isMark && scalar.properties.generalCategory != .enclosingMark
      && !scalar.properties.isDefaultIgnorableCodePoint
  }

  private static func joinsEmoji(_ previous: Unicode.Scalar?, _ next: Unicode.Scalar?) -> Bool {
    guard let previous, let next else { return false }
    return (isEmoji(previous) || previous == "\u{FE0F}") && isEmoji(next)
  }

  /// Returns whether a code point can be part of a joined emoji.
  ///
  /// Digits have the emoji property, but never join.
  private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool { scalar.value > 0x7F && scalar.properties.isEmoji }
}

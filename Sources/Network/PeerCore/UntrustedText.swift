/// Text from another peer or another source, which must not be printed or logged unchanged.
///
/// The text has two safe forms. For names and labels, ``displayed`` omits the unsafe characters. For messages and
/// contents, ``escaped(limit:)`` shows them as escapes. String interpolation, `print`, `dump` and the debugger all show
/// ``displayed``. Use ``raw``, the received text, only to compare, store and send it. Implements DSC-15.
public struct UntrustedText: Hashable, Sendable {
  /// The received text, including any control characters and changes of text direction.
  ///
  /// Never write it to a terminal, a log, a window title, a path or a shell.
  public let raw: String

  /// Wraps received text.
  public init(_ raw: some StringProtocol) { self.raw = String(raw) }

  /// Wraps received bytes, and replaces invalid UTF-8 with U+FFFD.
  public init(bytes: some Collection<UInt8>) { raw = String(decoding: bytes, as: UTF8.self) }

  /// Whether the received text is empty.
  public var isEmpty: Bool { raw.isEmpty }

  package var byteCount: Int { raw.utf8.count }
}

extension UntrustedText: CustomStringConvertible, CustomDebugStringConvertible {
  /// A textual representation, equal to `displayed`.
  public var description: String { displayed }

  /// A textual representation for debugging, equal to `displayed`.
  public var debugDescription: String { displayed }
}

extension UntrustedText: Comparable {
  /// Compares the received texts.
  public static func < (left: Self, right: Self) -> Bool { left.raw < right.raw }
}

extension UntrustedText {
  /// Returns the text with its unsafe and invisible characters as escapes such as `\u{1b}`, truncated with `…` after
  /// `limit` code points.
  ///
  /// The result is one line. The result cannot control a terminal, and cannot reorder or hide other text. A character
  /// keeps at most two combining marks, and marks without a character are dropped.
  ///
  /// - Complexity: O(n) in the limit.
  public func escaped(limit: Int = 2_048) -> String {
    let shown = raw.unicodeScalars.prefix(limit)
    var result = String.UnicodeScalarView()
    var marks = MarkLimit()
    InvisibleText.scan(Substring(shown)) { scalar, isInvisible in
      if scalar.isMark {
        guard marks.accept() else { return }
      } else if scalar.properties.isWhitespace {
        marks.endCharacter()
      } else {
        marks.startCharacter()
      }
      if scalar == "\n" {
        result.append(contentsOf: #"\n"#.unicodeScalars)
      } else if scalar.isSafe, !isInvisible {
        result.append(scalar)
      } else {
        result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
      }
    }
    if shown.endIndex < raw.unicodeScalars.endIndex { result.append("…") }
    return String(result)
  }

  /// Returns the escaped text in double quotes, for a message.
  public func quoted(limit: Int = 64) -> String { "\"\(escaped(limit: limit))\"" }
}

extension UntrustedText {
  /// The maximum number of columns in `displayed`.
  public static let defaultWidth = 64

  /// The text made safe for display, in at most 64 columns.
  public var displayed: String { displayed(width: Self.defaultWidth) }

  /// Returns the text made safe for display, truncated with `…` if it takes more than `width` columns.
  ///
  /// Control, format, private-use and unassigned characters are dropped. This step removes escape sequences, direction
  /// changes, zero-width and tag characters. White space becomes single spaces. A character keeps at most two combining
  /// marks, and marks without a character are dropped. The result may be empty.
  ///
  /// - Complexity: O(n) in the width and the number of dropped characters.
  public func displayed(width: Int) -> String {
    var line = Line(width: width)
    for scalar in raw.unicodeScalars where !line.isFull { line.append(scalar) }
    return line.text
  }
}

private struct Line {
  let width: Int
  var isFull = false
  private var scalars: [(scalar: Unicode.Scalar, width: Int)] = []
  private var columns = 0
  private var isSpacePending = false
  private var marks = MarkLimit()

  init(width: Int) { self.width = max(width, 0) }

  var text: String {
    var result = String.UnicodeScalarView()
    result.append(contentsOf: scalars.lazy.map { $0.scalar })
    return String(result)
  }

  mutating func append(_ scalar: Unicode.Scalar) {
    let properties = scalar.properties
    if properties.isWhitespace || scalar == "\u{2800}" {
      isSpacePending = !scalars.isEmpty
      marks.endCharacter()
      return
    }
    guard scalar.isSafe, !properties.isDefaultIgnorableCodePoint, !properties.isVariationSelector else { return }
    if scalar.isMark {
      if marks.accept() { add(scalar, properties.generalCategory == .spacingMark ? 1 : 0) }
      return
    }
    if isSpacePending { add(" ", 1) }
    isSpacePending = false
    marks.startCharacter()
    if !isFull { add(scalar, scalar.isWide ? 2 : 1) }
  }

  private mutating func add(_ scalar: Unicode.Scalar, _ scalarWidth: Int) {
    if columns + scalarWidth <= width {
      scalars.append((scalar, scalarWidth))
      columns += scalarWidth
      return
    }
    isFull = true
    while columns + 1 > width, let last = scalars.popLast() { columns -= last.width }
    while scalars.last?.scalar == " " { scalars.removeLast() }
    if width > 0 { scalars.append(("…", 1)) }
  }
}

/// A counter that limits the combining marks of each character.
struct MarkLimit {
  private static let maximum = 2

  /// The number of marks of the current character; the maximum if there is no character.
  private var count = MarkLimit.maximum

  mutating func startCharacter() { count = 0 }

  /// Marks are dropped until the next character begins.
  mutating func endCharacter() { count = Self.maximum }

  mutating func accept() -> Bool {
    guard count < Self.maximum else { return false }
    count += 1
    return true
  }
}

/// Detects invisible characters, which can hide words or reverse the direction of text. All code that writes text for
/// users or programs uses this type.
package enum InvisibleText {
  /// Calls a closure for each code point of a string, in order.
  ///
  /// Joiners between letters or emoji, and one variation selector after a character, count as visible, because they
  /// change how text looks. All other format characters and ignorable code points are invisible, such as zero-width
  /// spaces, direction marks and overrides, tags, and fillers.
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

  /// Returns whether a joiner between two code points changes how the letters connect. This is the case in Arabic,
  /// Indic and similar scripts. Nil stands for the end of the text.
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

  /// Digits have the emoji property, but never join.
  private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool { scalar.value > 0x7F && scalar.properties.isEmoji }
}

extension UntrustedText {
  /// The maximum number of columns in `displayed`.
  public static let defaultWidth = 64

  /// The text made safe for display, in at most 64 columns.
  public var displayed: String { displayed(width: Self.defaultWidth) }

  /// Returns the text made safe for display, truncated with `…` if it takes more than `width` columns.
  ///
  /// Control, format, private-use and unassigned characters are dropped. This removes escape sequences, direction
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

  /// Ends the character; marks are dropped until the next one begins.
  mutating func endCharacter() { count = Self.maximum }

  /// Counts a mark; returns whether the mark is kept.
  mutating func accept() -> Bool {
    guard count < Self.maximum else { return false }
    count += 1
    return true
  }
}

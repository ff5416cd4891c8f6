/// Text received from another peer, which must not be printed or logged unchanged.
///
/// String interpolation, `print`, `dump` and the debugger all show ``displayed``. Use ``raw`` only
/// to compare or store the received text. Implements DSC-15.
public struct UntrustedText: Hashable, Sendable {
  /// The maximum number of columns in `displayed`.
  public static let defaultWidth = 64

  /// The received text, including any control and bidirectional formatting characters.
  ///
  /// Never write it to a terminal, a log, a window title, a path or a shell.
  public let raw: String

  /// Wraps a received string.
  public init(_ raw: String) { self.raw = raw }

  /// Wraps received bytes, and replaces invalid UTF-8 with U+FFFD.
  public init(bytes: some Collection<UInt8>) { raw = String(decoding: bytes, as: UTF8.self) }

  /// Whether the received text is empty.
  public var isEmpty: Bool { raw.isEmpty }

  /// The text made safe for display, in at most 64 columns.
  public var displayed: String { displayed(width: Self.defaultWidth) }

  /// Returns the text made safe for display, truncated with `…` if it takes more than `width`
  /// columns.
  ///
  /// Control, format, private-use and unassigned characters are dropped. This removes escape
  /// sequences, direction changes, zero-width characters and tag characters. Each run of white
  /// space becomes a single space. A character keeps at most two combining marks, and marks without
  /// a base character are dropped. The result may be empty.
  ///
  /// - Complexity: O(n) in the width and the number of dropped characters.
  public func displayed(width: Int) -> String {
    var cleaned = Cleaner(width: width)
    for scalar in raw.unicodeScalars where !cleaned.isFull { cleaned.append(scalar) }
    return cleaned.text
  }
}

extension UntrustedText: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A textual representation, equal to `displayed`.
  public var description: String { displayed }

  /// A textual representation for debugging, equal to `displayed`.
  public var debugDescription: String { displayed }

  /// A mirror with only `displayed`, so that `dump` does not show `raw`.
  public var customMirror: Mirror { Mirror(self, children: ["displayed": displayed]) }
}

private struct Cleaner {
  private static let maximumMarks = 2

  let width: Int
  var isFull = false
  private var scalars: [(scalar: Unicode.Scalar, width: Int)] = []
  private var columns = 0
  private var isSpacePending = false
  private var marks = Cleaner.maximumMarks

  init(width: Int) { self.width = max(width, 0) }

  var text: String {
    var result = String.UnicodeScalarView()
    result.append(contentsOf: scalars.lazy.map(\.scalar))
    return String(result)
  }

  mutating func append(_ scalar: Unicode.Scalar) {
    let properties = scalar.properties
    if properties.isWhitespace || scalar == "\u{2800}" {
      isSpacePending = !scalars.isEmpty
      return
    }
    guard !properties.isDefaultIgnorableCodePoint, !properties.isVariationSelector else { return }
    switch properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
      .paragraphSeparator:
      return
    case .nonspacingMark, .enclosingMark, .spacingMark:
      guard !isSpacePending, marks < Self.maximumMarks else { return }
      marks += 1
      add(scalar, properties.generalCategory == .spacingMark ? 1 : 0)
    default:
      if isSpacePending { add(" ", 1) }
      isSpacePending = false
      marks = 0
      if !isFull { add(scalar, Self.isWide(scalar) ? 2 : 1) }
    }
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

  /// Returns whether a terminal shows the character in two columns, according to its Unicode block
  /// (Unicode TR 11).
  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.properties.isEmojiPresentation { return true }
    switch scalar.value {
    case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0xa4cf,
      0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60,
      0xffe0...0xffe6, 0x16fe0...0x18aff, 0x1b000...0x1b2ff, 0x1f300...0x1faff, 0x20000...0x3fffd:
      return true
    default:
      return false
    }
  }
}

/// Text from another peer or another source, which must not be printed or logged unchanged.
///
/// It has two safe forms: ``displayed`` for names and labels, without the unsafe characters, and ``escaped(limit:)``
/// for messages and contents, in which they are visible. String interpolation, `print`, `dump` and the debugger all
/// show ``displayed``. Use ``raw``, the received text, only to compare, store and send it. Implements DSC-15.
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

  /// The size of the received text in UTF-8.
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
  /// The result is one line. It cannot control a terminal, and cannot reorder or hide other text. A character keeps at
  /// most two combining marks, and marks without a character are dropped.
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

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

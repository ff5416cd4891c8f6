/// The reason why bytes were refused; `code` is the word in `Protocol/board.md` and its vectors.
public enum CodecError: Error, Hashable, Sendable {
  /// The bytes end before the form does.
  case truncated
  /// Bytes follow the end of the form.
  case trailingBytes
  /// A varint is longer than its number needs, or than 64 bits.
  case varint
  /// A number or a length is beyond the limit for it.
  case overLimit(String)
  /// The form is legal but not the canonical one.
  case notCanonical(String)
  /// A value, class, flag or kind that is reserved was used.
  case reserved(String)
  /// Text is not UTF-8.
  case notText
  /// A property was written by an operation that has no right to write it.
  case notTheAuthor(String)
  /// Two parts of one form contradict each other.
  case inconsistent(String)
  /// The checksum does not match.
  case checksum

  /// The stable word for this error.
  public var code: String {
    switch self {
    case .truncated: "truncated"
    case .trailingBytes: "trailing"
    case .varint: "varint"
    case .overLimit: "limit"
    case .notCanonical: "canonical"
    case .reserved: "reserved"
    case .notText: "text"
    case .notTheAuthor: "author"
    case .inconsistent: "inconsistent"
    case .checksum: "checksum"
    }
  }
}

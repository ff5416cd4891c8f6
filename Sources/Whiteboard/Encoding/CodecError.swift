/// The reason why encoded bytes were refused.
///
/// `code` is the name of the error in `Protocol/board.md` and in the test vectors.
public indirect enum CodecError: Error, Hashable, Sendable {
  /// The input ends too early.
  case truncated
  /// Bytes follow the end of the encoded item.
  case trailingBytes
  /// A varint is longer than its number needs, or exceeds 64 bits.
  case varint
  /// The number or length named by the associated value exceeds its limit.
  case overLimit(String)
  /// The item named by the associated value is valid, but not in its canonical form.
  case notCanonical(String)
  /// The item named by the associated value has a reserved value.
  case reserved(String)
  /// A string is not valid UTF-8.
  case notText
  /// An operation wrote the property named by the associated value without having the right to write it.
  case notTheAuthor(String)
  /// The part named by the associated value contradicts another part.
  case inconsistent(String)
  /// The checksum does not match.
  case checksum

  /// The stable code of this error, such as `truncated`.
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

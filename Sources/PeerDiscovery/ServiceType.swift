/// A DNS-SD service type.
///
/// Every value of this type is a valid name. The transport is always TCP, because peers connect to the discovered
/// address over TCP. Implements DSC-1.
public struct ServiceType: Hashable, Sendable, CustomStringConvertible {
  /// The service type that every whiteboard advertises.
  public static let whiteboard = ServiceType(unchecked: "whiteboard-p2p")

  /// The maximum number of characters in a name.
  public static let maximumLength = 15

  /// The name without the transport, as in `whiteboard-p2p`.
  public let name: String

  /// The name in DNS-SD format, as in `_whiteboard-p2p._tcp`.
  public var text: String { "_\(name)._tcp" }

  /// A textual representation, equal to `text`.
  public var description: String { text }

  /// Creates a service type from a name that follows RFC 6335, 5.1.
  ///
  /// - Parameter name: 1 to 15 characters of `a-z`, `0-9` and `-`, with at least one letter. A hyphen must not be first
  ///   or last, nor follow another hyphen.
  /// - Throws: ``ServiceTypeError`` for the first violated rule.
  public init(_ name: some StringProtocol) throws(ServiceTypeError) {
    let bytes = Array(name.utf8.prefix(Self.maximumLength + 1))
    guard !bytes.isEmpty else { throw .empty }
    guard bytes.count <= Self.maximumLength else { throw .tooLong }
    var hasLetter = false
    var previous = UInt8(ascii: "-")
    for (index, byte) in bytes.enumerated() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"): hasLetter = true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): break
      case UInt8(ascii: "-"): guard previous != byte, index != bytes.count - 1 else { throw .misplacedHyphen }
      default: throw .illegalCharacter
      }
      previous = byte
    }
    guard hasLetter else { throw .noLetter }
    self.name = String(name)
  }

  private init(unchecked name: String) { self.name = name }
}

/// The reason why a name is not a valid service type.
public enum ServiceTypeError: Error, Hashable, Sendable {
  /// The name is empty.
  case empty
  /// The name exceeds 15 characters.
  case tooLong
  /// The name contains a character other than `a-z`, `0-9` and `-`.
  case illegalCharacter
  /// A hyphen is first, last or next to another hyphen.
  case misplacedHyphen
  /// The name contains no letter.
  case noLetter
}

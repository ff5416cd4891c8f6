/// The DNS-SD name of a kind of service, known to be legal.
///
/// Implements DSC-1. The transport is always TCP: what is found is a place to open a link to.
public struct ServiceType: Hashable, Sendable, CustomStringConvertible {
  /// The service that every whiteboard advertises.
  public static let whiteboard = ServiceType(unchecked: "whiteboard-p2p")

  /// The greatest number of characters in a name.
  public static let maximumLength = 15

  /// The name alone, as in `whiteboard-p2p`.
  public let name: String

  /// The name as DNS-SD writes it, as in `_whiteboard-p2p._tcp`.
  public var text: String { "_\(name)._tcp" }

  /// The same as `text`.
  public var description: String { text }

  /// Checks a name by the rules of RFC 6335, 5.1.
  ///
  /// - Parameter name: 1 to 15 of `a-z`, `0-9` and `-`, with at least one letter, and no hyphen at
  ///   either end or beside another.
  /// - Throws: ``ServiceTypeError``: the first rule the name breaks.
  public init(_ name: some StringProtocol) throws(ServiceTypeError) {
    let bytes = Array(name.utf8.prefix(Self.maximumLength + 1))
    guard !bytes.isEmpty else { throw .empty }
    guard bytes.count <= Self.maximumLength else { throw .tooLong }
    var hasLetter = false
    var previous = UInt8(ascii: "-")
    for (index, byte) in bytes.enumerated() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"):
        hasLetter = true
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        break
      case UInt8(ascii: "-"):
        guard previous != byte, index != bytes.count - 1 else { throw .misplacedHyphen }
      default:
        throw .illegalCharacter
      }
      previous = byte
    }
    guard hasLetter else { throw .noLetter }
    self.name = String(name)
  }

  private init(unchecked name: String) { self.name = name }
}

/// The reason why a text is not a service type.
public enum ServiceTypeError: Error, Hashable, Sendable {
  /// There is no character.
  case empty
  /// There are more than 15 characters.
  case tooLong
  /// A character is none of `a-z`, `0-9` and `-`.
  case illegalCharacter
  /// A hyphen stands at an end or beside another.
  case misplacedHyphen
  /// There is no letter.
  case noLetter
}

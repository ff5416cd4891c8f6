import Whiteboard

/// A name that a script or user gives to an object.
public struct ObjectAlias: Equatable, Hashable, Sendable, CustomStringConvertible {
  /// The text of the alias.
  public let description: String

  /// The maximum length of an alias, in ASCII characters.
  public static let maximumLength = 64

  /// Creates an alias; returns nil if the text is not a valid alias.
  ///
  /// An alias starts with a letter, and continues with letters, digits, `-`, `_` and `.`. The words `last` and
  /// `selected` are not valid.
  ///
  /// - Parameter text: The text of the alias.
  public init?(_ text: String) {
    guard (1...ObjectAlias.maximumLength).contains(text.utf8.count), text != "last", text != "selected",
      let first = text.utf8.first, ObjectAlias.isLetter(first),
      text.utf8.allSatisfy({
        ObjectAlias.isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F
      })
    else { return nil }
    description = text
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) }
}

/// A reference to an object, or to several objects, in a command.
public enum ObjectReference: Equatable, Sendable, CustomStringConvertible {
  /// The object that the local peer created last.
  case last
  /// All selected objects.
  case selected
  /// The object with an alias.
  case alias(ObjectAlias)
  /// The only object whose id has this sequence number.
  case sequence(UInt64)
  /// The object with an id.
  case id(ObjectID)

  /// Parses a reference; returns nil if the text is not a reference.
  ///
  /// - Parameter text: The text form of the reference.
  public init?(_ text: String) {
    if text == "last" {
      self = .last
      return
    }
    if text == "selected" {
      self = .selected
      return
    }
    if let alias = ObjectAlias(text) {
      self = .alias(alias)
      return
    }
    if let id = ObjectID(text) {
      self = .id(id)
      return
    }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), text.utf8.first != 0x30, let sequence = UInt64(text)
    else { return nil }
    self = .sequence(sequence)
  }

  /// The text form of the reference.
  public var description: String {
    switch self {
    case .last: "last"
    case .selected: "selected"
    case .alias(let alias): alias.description
    case .sequence(let sequence): "\(sequence)"
    case .id(let id): id.description
    }
  }
}

import Whiteboard

/// A finite point within the board, in board units.
///
/// The y axis points down.
public struct BoardPoint: Equatable, Sendable {
  /// The distance to the right of the origin, in board units.
  public let x: Double
  /// The distance below the origin, in board units.
  public let y: Double

  /// Creates a point; returns nil if a coordinate is not valid.
  ///
  /// - Parameters:
  ///   - x: The distance to the right of the origin, in board units.
  ///   - y: The distance below the origin, in board units.
  public init?(x: Double, y: Double) {
    guard BoardPoint.admits(x), BoardPoint.admits(y) else { return nil }
    self.x = x
    self.y = y
  }

  /// Half the width and height of the board, in board units.
  ///
  /// A coordinate is at least `-bound` and less than `bound`.
  public static let bound = 33_554_432.0

  /// Checks a coordinate.
  ///
  /// - Parameter coordinate: The number.
  /// - Returns: Whether the number is finite, at least `-bound`, and less than `bound`.
  public static func admits(_ coordinate: Double) -> Bool { coordinate >= -bound && coordinate < bound }
}

/// The target of a move.
public enum Movement: Equatable, Sendable {
  /// Moves the center to a point.
  case to(BoardPoint)
  /// Moves by a distance.
  case by(BoardPoint)
}

/// The part of the board that a user sees, for members that follow the user.
public struct BoardView: Equatable, Sendable {
  /// The center of the view.
  public let center: BoardPoint
  /// The width, in board units.
  public let width: Int
  /// The height, in board units.
  public let height: Int

  /// Creates a view.
  ///
  /// - Parameters:
  ///   - center: The center of the view.
  ///   - width: The width, in board units.
  ///   - height: The height, in board units.
  public init(center: BoardPoint, width: Int, height: Int) {
    self.center = center
    self.width = width
    self.height = height
  }
}

/// The area that `find` searches.
public enum BoardArea: Equatable, Sendable {
  /// The objects at a point.
  case point(BoardPoint)
  /// The objects that touch the rectangle with the given opposite corners. If `isInside` is true, only the objects that
  /// are wholly inside the rectangle.
  case rectangle(BoardPoint, BoardPoint, isInside: Bool)
  /// The objects whose text, label or alias contains the words.
  case text(String)
}

/// The position in the stack to which `order` moves an object.
public enum StackPlace: Equatable, Sendable {
  /// In front of all objects.
  case front
  /// Behind all objects.
  case back
  /// One position toward the front.
  case forward
  /// One position toward the back.
  case backward
  /// Just in front of an object.
  case above(ObjectReference)
  /// Just behind an object.
  case below(ObjectReference)
}

/// The text form of colors: `#rrggbb` or `#rrggbbaa`.
package enum ColorText {
  /// Returns the text of a color `0xRRGGBBAA`, with eight digits.
  package static func text(_ color: UInt32) -> String {
    let digits = String(color, radix: 16)
    return "#" + String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// Accepts only texts that ``text(_:)`` returned.
  package static func rgba(of text: String) -> UInt32? {
    text.hasPrefix("#") && text.utf8.count == 9 ? UInt32(text.dropFirst(), radix: 16) : nil
  }
}

extension ColorText {
  /// Returns a color `0xRRGGBBAA`. A text with six digits means an opaque color.
  static func color(_ text: some StringProtocol) -> UInt32? {
    let digits = text.utf8.dropFirst()
    guard text.utf8.first == UInt8(ascii: "#"), digits.count == 6 || digits.count == 8,
      digits.allSatisfy(isHexadecimal), let number = UInt32(text.dropFirst(), radix: 16)
    else { return nil }
    return digits.count == 6 ? number << 8 | 0xFF : number
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
  }
}

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

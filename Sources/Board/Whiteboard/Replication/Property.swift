/// The name of a cell within its object.
///
/// A property consists of a number and, for some numbers, a qualifier (BRD-8).
///
/// The kind of qualifier depends only on the number, so that a program can store and forward properties that it does
/// not know.
public struct Property: Hashable, Comparable, Sendable {
  /// The property's number, at most `BoardLimits.property`.
  public let number: UInt16
  @usableFromInline let high: UInt64
  @usableFromInline let low: UInt64

  /// The kind of qualifier that follows a property's number.
  public enum Qualification: UInt8, Sendable {
    case none = 0
    /// A number, such as the index of a stroke's first point.
    case number = 1
    /// A dot, such as that of a run of text.
    case dot = 2
  }

  /// Returns the kind of qualifier that follows a property number; nil if the number is reserved.
  @inlinable public static func qualification(of number: UInt16) -> Qualification? {
    Qualification(rawValue: UInt8((number >> 6) & 3))
  }

  /// Creates a property without a qualifier.
  @inlinable public init(_ number: UInt16) {
    precondition(Self.qualification(of: number) == Qualification.none, "this property needs a qualifier")
    self.number = number
    high = 0
    low = 0
  }

  /// Creates a property with a number as its qualifier.
  @inlinable public init(_ number: UInt16, index: UInt64) {
    precondition(Self.qualification(of: number) == .number, "this property has no index as its qualifier")
    self.number = number
    high = index
    low = 0
  }

  /// Creates a property with a dot as its qualifier.
  @inlinable public init(_ number: UInt16, dot: Dot) {
    precondition(Self.qualification(of: number) == .dot, "this property has no dot as its qualifier")
    self.number = number
    high = dot.incarnation.rawValue
    low = dot.sequence
  }

  /// The number that qualifies the property; nil if the qualifier is not a number.
  @inlinable public var index: UInt64? { Self.qualification(of: number) == .number ? high : nil }

  /// The dot that qualifies the property; nil if the qualifier is not a dot.
  @inlinable public var dot: Dot? {
    guard Self.qualification(of: number) == .dot, let incarnation = Incarnation(exactly: high) else { return nil }
    return Dot(incarnation, low)
  }

  /// Compares two properties by number, then by qualifier.
  @inlinable public static func < (lhs: Property, rhs: Property) -> Bool {
    if lhs.number != rhs.number { return lhs.number < rhs.number }
    if lhs.high != rhs.high { return lhs.high < rhs.high }
    return lhs.low < rhs.low
  }
}

extension Property {
  /// The center of an object: a pair in 1/64 of a board unit.
  public static let position = Property(0)
  /// The scale of an object: unsigned, in 1/65536.
  public static let scale = Property(1)
  /// The rotation of an object: unsigned, in 1/4096 of a turn clockwise.
  public static let angle = Property(2)
  /// Whether the object is deleted: unsigned, 0 or 1.
  public static let deleted = Property(3)
  /// The member that has the object selected: 32 bytes, or none.
  public static let selection = Property(4)
  /// The size of an object before scaling: a pair in 1/64 of a board unit.
  public static let size = Property(5)
  /// The z index: bytes that are compared byte by byte.
  public static let zIndex = Property(6)
  /// The kind of object; only the create operation writes it.
  public static let kind = Property(7)
  /// The purge of an object: not a cell, but an operation that removes the object permanently.
  public static let purge = Property(8)
  /// The color of an object: unsigned, `0xRRGGBBAA`.
  public static let color = Property(9)
  /// The line width of a drawing: unsigned, in 1/64 of a board unit.
  public static let lineWidth = Property(10)
  /// The asset of a photo: bytes (see `AssetReference`).
  public static let asset = Property(11)
  /// The number of points of a finished stroke.
  public static let end = Property(12)
  /// The author of a chat line: 32 bytes.
  public static let chatAuthor = Property(13)
  /// The author's display name in a chat line: text.
  public static let chatName = Property(14)
  /// The text of a chat line.
  public static let chatText = Property(15)
  /// The time of a chat line by its author's wall clock: unsigned, milliseconds since 1970.
  public static let chatTime = Property(16)
  /// The group to which an object belongs: a dot, or none (BRD-26).
  public static let group = Property(17)
  /// Whether the object is locked: unsigned, 0 or 1 (BRD-27).
  public static let lock = Property(18)
  /// The name of a game: text.
  public static let game = Property(19)
  /// The setup of a game: bytes whose meaning the game defines.
  public static let setup = Property(20)
  /// The author's icon in a chat line: text, one emoji.
  public static let chatIcon = Property(21)
  /// The purged or deleted object that this object replaces: a dot.
  public static let replaces = Property(22)
  /// The title of a board: text (BRD-28).
  public static let title = Property(23)
  /// The background of a board: unsigned, `0xRRGGBBAA`.
  public static let background = Property(24)
  /// The spacing of a board's grid: unsigned, in 1/64 of a board unit, 0 for none.
  public static let grid = Property(25)
  /// The language of a board's games: text, a BCP 47 tag.
  public static let language = Property(26)
  /// The form of a drawing: unsigned (see `DrawingForm`).
  public static let form = Property(27)
  /// The fill color of a form, or the background of a text: unsigned, `0xRRGGBBAA`.
  public static let fill = Property(28)
  /// How a form's line is drawn: unsigned (see `LineStyle`).
  public static let lineStyle = Property(29)
  /// The opacity of an object: unsigned, 0 to 255.
  public static let opacity = Property(30)
  /// The mark at the first point of a line or arrow: unsigned (see `LineEnd`).
  public static let lineStart = Property(31)
  /// The mark at the last point of a line or arrow: unsigned (see `LineEnd`).
  public static let lineEnd = Property(32)
  /// Whether a line or arrow bends smoothly at its points: unsigned, 0 or 1.
  public static let curve = Property(33)
  /// The height of a row of text: unsigned, in 1/64 of a board unit.
  public static let textSize = Property(34)
  /// The typeface of a text or label: unsigned (see `Typeface`).
  public static let typeface = Property(35)
  /// The alignment of a text or label: unsigned (see `TextAlignment`).
  public static let alignment = Property(36)
  /// Whether a text or label is bold (1), italic (2) or both (3): unsigned.
  public static let emphasis = Property(37)
  /// The color of a form's label: unsigned, `0xRRGGBBAA`.
  public static let textColor = Property(38)
  /// Whether a text is as wide as its longest paragraph, and is not wrapped: unsigned, 0 or 1.
  public static let autoWidth = Property(39)
  /// The binding of the first point of a line or arrow: bytes (see `Binding`), or none.
  public static let startBinding = Property(40)
  /// The binding of the last point of a line or arrow: bytes (see `Binding`), or none.
  public static let endBinding = Property(41)
  /// The link of an object: text, or none (see `ObjectLink`).
  public static let link = Property(42)
  /// The frame to which an object belongs: a dot, or none.
  public static let frame = Property(43)
  /// The part of a photo that is shown: bytes, or none.
  public static let crop = Property(44)
  /// Whether a photo is mirrored: unsigned; bit 0 horizontally, bit 1 vertically.
  public static let flip = Property(45)
  /// The object that a chat line is about: a dot.
  public static let about = Property(46)
  /// Whether a chat line about an object is marked as resolved: unsigned, 0 or 1.
  public static let resolved = Property(47)

  /// Returns the property for a chunk of a stroke's points.
  ///
  /// `first` is the index of the first point of the chunk.
  public static func ink(first: UInt64) -> Property { Property(64, index: first) }
  static let looks: [Property] = [
    .form, .fill, .lineStyle, .opacity, .lineStart, .lineEnd, .curve, .textSize, .typeface, .alignment, .emphasis,
    .textColor, .autoWidth,
  ]

  static let pointNumber: UInt16 = 65
  /// Returns the property for a point of a line or arrow.
  ///
  /// The points are in ascending order of `key`.
  public static func point(key: UInt64) -> Property { Property(65, index: key) }
  /// Returns the property for the run of characters that the operation `dot` inserted.
  public static func run(_ dot: Dot) -> Property { Property(runNumber, dot: dot) }
  /// Returns the property for the deletion of characters by the operation `dot`.
  public static func deletion(_ dot: Dot) -> Property { Property(129, dot: dot) }
  /// Returns the property for the erasure of stroke parts by the operation `dot` (BRD-29).
  public static func erasure(_ dot: Dot) -> Property { Property(130, dot: dot) }
  static let voteNumber: UInt16 = 132
  /// Returns the property for a vote that the operation `dot` gave or withdrew (BRD-56).
  static func vote(_ dot: Dot) -> Property { Property(voteNumber, dot: dot) }
  package static let moveNumber: UInt16 = 131
  /// Returns the property for the move that the operation `dot` made in a game.
  public static func move(_ dot: Dot) -> Property { Property(131, dot: dot) }

  /// The operations that may write a property. The right depends only on the operation, not on the state of the board
  /// (BRD-10).
  package enum Right {
    /// Every operation may write the property, except the operation that creates the object.
    case anyone
    /// Only operations of the incarnation that created the object may write the property.
    case creator
    /// Only the operation whose dot qualifies the property may write it.
    case own
    /// Only the operation whose dot qualifies the property, and later operations of its incarnation, may write the
    /// property. This right allows the author to undo the write.
    case writer
    /// Only the operation that creates the object may write the property.
    case create
  }

  package var right: Right {
    switch number {
    case 7: .create
    case 11...16, 19...22, 46, 64: .creator
    case 128, 131: .own
    case 129, 130, 132: .writer
    default: .anyone
    }
  }

  package func mayBeWritten(by dot: Dot, of object: ObjectID) -> Bool {
    switch right {
    case .anyone: dot != object.dot
    case .create: dot == object.dot
    case .creator: dot.incarnation == object.dot.incarnation && dot != object.dot
    case .own: self.dot == dot && dot != object.dot
    case .writer:
      self.dot.map { $0.incarnation == dot.incarnation && $0.sequence <= dot.sequence } ?? false && dot != object.dot
    }
  }

  /// Whether this is the selection property, which is not part of the digest.
  package var isSelection: Bool { number == 4 }

  package var isKind: Bool { number == 7 }

  package var isMove: Bool { number == Self.moveNumber }

  package var isPurge: Bool { number == 8 }
}

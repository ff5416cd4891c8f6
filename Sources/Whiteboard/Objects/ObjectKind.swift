/// The kind of an object.
///
/// Objects of unknown kinds are stored, forwarded and listed (BRD-3).
public struct ObjectKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The number of the kind in the protocol.
  public let rawValue: UInt64

  /// Creates a kind from its number, even if the number is unknown.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// A text object.
  public static let text = ObjectKind(rawValue: 1)
  /// A drawing: one stroke.
  public static let drawing = ObjectKind(rawValue: 2)
  /// A photo.
  public static let photo = ObjectKind(rawValue: 3)
  /// A game, such as Wordle.
  public static let game = ObjectKind(rawValue: 4)
  /// A chat line, which is not shown on the board.
  public static let chat = ObjectKind(rawValue: 5)
  /// A group of objects, which is not shown on the board (BRD-26).
  public static let group = ObjectKind(rawValue: 6)
  /// The settings of the board, which are not shown as an object (BRD-28).
  public static let settings = ObjectKind(rawValue: 7)

  /// Whether objects of this kind are shown on the board.
  ///
  /// Unknown kinds are shown too.
  public var isShown: Bool { self != .chat && self != .group && self != .settings }

  /// The name of the kind in JSON.
  public var name: String {
    switch self {
    case .text: "text"
    case .drawing: "drawing"
    case .photo: "photo"
    case .game: "game"
    case .chat: "chat"
    case .group: "group"
    case .settings: "settings"
    default: "unknown-\(rawValue)"
    }
  }

  /// The name of the kind in JSON, like `name`.
  public var description: String { name }
}

/// The kind of an object; objects of unknown kinds are stored, forwarded and listed (BRD-3).
public struct ObjectKind: RawRepresentable, Hashable, Sendable {
  /// The kind's number on the wire.
  public let rawValue: UInt64

  /// The kind of this number, known or not.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Words.
  public static let text = ObjectKind(rawValue: 1)
  /// A stroke.
  public static let drawing = ObjectKind(rawValue: 2)
  /// A picture.
  public static let photo = ObjectKind(rawValue: 3)
  /// A game.
  public static let game = ObjectKind(rawValue: 4)
  /// A line of the chat, which is no object to its users.
  public static let chat = ObjectKind(rawValue: 5)
  /// A group of objects; users do not see it as an object (BRD-26).
  public static let group = ObjectKind(rawValue: 6)
  /// The settings of a board; users do not see them as an object (BRD-28).
  public static let settings = ObjectKind(rawValue: 7)

  /// Whether users see objects of this kind on the board: kinds that nobody here knows count too.
  public var isShown: Bool { self != .chat && self != .group && self != .settings }

  /// The kind's name in JSON.
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
}

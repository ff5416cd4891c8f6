import Whiteboard

/// The visible contents of a board: boards with equal readings look the same.
struct Reading: Equatable {
  /// One object, without the time and the author of its last change.
  struct Look: Equatable {
    let id: ObjectID
    let kind: ObjectKind
    let center: Point
    let size: Size
    let scale: Double
    let angle: Double
    let zIndex: [UInt8]
    let color: UInt32?
    let text: String?
    let ink: [InkPoint]?
    let lineWidth: Double?
    let isFinished: Bool?
    let erased: [ClosedRange<Int>]?
    let groups: [ObjectID]
    let isLocked: Bool

    init(_ snapshot: ObjectSnapshot) {
      id = snapshot.id
      kind = snapshot.kind
      center = snapshot.centerPosition
      size = snapshot.size
      scale = snapshot.scale
      angle = snapshot.angle
      zIndex = snapshot.zIndex
      color = snapshot.color
      text = snapshot.text
      ink = snapshot.ink
      lineWidth = snapshot.lineWidth
      isFinished = snapshot.isFinished
      erased = snapshot.erasedSpans
      groups = snapshot.groups
      isLocked = snapshot.isLocked
    }
  }

  private let looks: [Look]
  private let settings: BoardSettings
  private var chat: [ChatLine] = []
  private var games: [GameView] = []

  /// Reads the objects from back to front, and the settings.
  init(_ board: Board) {
    looks = board.snapshots.map { Look($0) }
    settings = board.settings
  }

  /// Also reads the chat, and each member's view of each game. Such readings are equal if the contexts are equal.
  init(wholeOf board: Board, members: [MemberID]) {
    self.init(board)
    chat = board.chat
    for id in board.objectIDs {
      for member in members { if let view = board.gameView(id, for: member) { games.append(view) } }
    }
  }

  /// Describes the first difference from another reading.
  func difference(from other: Reading) -> String {
    for (one, two) in zip(looks, other.looks) where one != two { return "\(one) | \(two)" }
    if looks.count != other.looks.count { return "\(looks.count) objects | \(other.looks.count)" }
    if settings != other.settings { return "\(settings) | \(other.settings)" }
    for (one, two) in zip(games, other.games) where one != two { return "\(one) | \(two)" }
    return "\(chat.count) lines | \(other.chat.count)"
  }
}

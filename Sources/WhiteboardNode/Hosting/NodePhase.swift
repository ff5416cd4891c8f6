/// The phase of a node's life, with the state that only this phase has.
enum NodePhase {
  /// The node hosts a board, or prepares to host or join one; there is no session yet.
  case starting
  /// The node finds a board and asks to be admitted.
  case joining(Joiner)
  /// The node has a session and opens the file of the board.
  case opening(BoardSession)
  /// The board can be used.
  case serving(ActiveBoard)
  /// The node leaves the session and closes the file; the board can still be read.
  case leaving(ActiveBoard)

  /// The session of the board; nil before there is one.
  var boardSession: BoardSession? {
    switch self {
    case .starting, .joining: nil
    case .opening(let session): session
    case .serving(let board), .leaving(let board): board.boardSession
    }
  }

  /// The board; nil before it is open.
  var board: ActiveBoard? {
    switch self {
    case .starting, .joining, .opening: nil
    case .serving(let board), .leaving(let board): board
    }
  }
}

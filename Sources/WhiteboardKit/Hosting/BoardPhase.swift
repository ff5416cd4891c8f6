/// The phase of a node's life, with the state that exists only in this phase.
enum BoardPhase {
  /// The node hosts a board, or prepares to host or join one; there is no session yet.
  case starting
  /// The node finds a board and asks to be admitted.
  case joining(Joiner)
  /// The node has a session and opens the file of the board.
  case opening(BoardSession)
  /// The board can be used.
  case serving(Serving)
  /// The node leaves the session and closes the file; the board can still be read.
  case leaving(Serving)

  /// The board with its session; nil before there is a session.
  var board: BoardSession? {
    switch self {
    case .starting, .joining: nil
    case .opening(let board): board
    case .serving(let serving), .leaving(let serving): serving.board
    }
  }

  /// The state of the board in use; nil before it is open.
  var serving: Serving? {
    switch self {
    case .starting, .joining, .opening: nil
    case .serving(let serving), .leaving(let serving): serving
    }
  }
}

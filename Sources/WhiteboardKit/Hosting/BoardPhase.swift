/// The phase of a running board, with the state that exists only in this phase.
enum BoardPhase {
  /// The board will be hosted or joined; there is no session yet.
  case starting
  /// The program searches for the board and asks to be admitted.
  case joining(Joiner)
  /// There is a session, and the file of the board is being opened.
  case opening(BoardSession)
  /// The board can be used.
  case serving(Serving)
  /// The session and the file are being closed; the board can still be read.
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

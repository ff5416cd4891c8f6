import PeerSession
import WhiteboardNode

/// A board that a relay serves, as the relay sees it.
struct ServedBoard {
  /// How far it is.
  enum State {
    /// It is being opened.
    case opening
    /// People can come.
    case serving
    /// It cannot be served, and this is why; its file is as it was.
    case failed(NodeError)
  }

  /// The name of the board.
  let name: String
  let node: Node
  var state = State.opening
  /// The link to join the board; empty until it is served.
  var link = ""
  /// The display names of the peers on it, by peer id.
  var people: [String: String] = [:]
  /// The time when a member last left, in milliseconds since 1970.
  var visited: Int64?
  /// The problem, if some of the board is not on disk; the board is still served from memory.
  var unsaved: SaveProblem?
  /// How much was refused on it that is counted already, by its reason.
  var refused = (viewer: 0, revoked: 0)
  /// The forwarded amount that is counted already.
  var passed = RelayTally()
  /// The error that ends serving it, if there is one.
  var problem: NodeError?
}

/// A relay's report on a board.
package struct BoardReport: Codable, Equatable, Sendable {
  /// The board's id.
  package let board: String
  /// Its name.
  package let name: String
  /// `opening`, `serving`, `failed` or, once, `deleted`.
  package let state: String
  /// The reason why it cannot be served, or why some of it is not on disk.
  package let problem: String?
  /// Whether it stays however long nobody visits it.
  package let isPinned: Bool
  /// Whether somebody owns it, who says who writes.
  package let isOwned: Bool
  /// The admission policy.
  package let admit: String
  /// The link to join; nil while the board is not served.
  package let link: String?
  /// The peers on it.
  package let people: [String]
  /// When it came, RFC 3339.
  package let since: String
  /// When somebody was on it last, RFC 3339.
  package let visited: String
}

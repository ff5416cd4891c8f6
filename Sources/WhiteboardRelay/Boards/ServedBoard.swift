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

  /// What it is called.
  let name: String
  let node: Node
  var state = State.opening
  /// The link to join the board; empty until it is served.
  var link = ""
  /// Who is on it, by peer id: what they call themselves.
  var people: [String: String] = [:]
  /// The time when a member last left, in milliseconds since 1970.
  var visited: Int64?
  /// Why not all of it is on the disk, where that is so; it is served all the same, from memory.
  var unsaved: SaveProblem?
  /// How much was refused on it that is counted already, by its reason.
  var refused = (viewer: 0, revoked: 0)
  /// What was passed on for its members that is counted already.
  var passed = RelayTally()
  /// Why it ends, where it is not to be served any more.
  var problem: NodeError?
}

/// What a relay tells of a board.
package struct BoardReport: Codable, Equatable, Sendable {
  /// The board's id.
  package let board: String
  /// Its name.
  package let name: String
  /// `opening`, `serving`, `failed` or, once, `deleted`.
  package let state: String
  /// Why it cannot be served, or why not all of it is on the disk.
  package let problem: String?
  /// Whether it stays however long nobody visits it.
  package let isPinned: Bool
  /// Whether somebody owns it, who says who writes.
  package let isOwned: Bool
  /// Who is let in.
  package let admit: String
  /// What lets people join; nil while it is not served.
  package let link: String?
  /// Who is on it.
  package let people: [String]
  /// When it came, RFC 3339.
  package let since: String
  /// When somebody was on it last, RFC 3339.
  package let visited: String
}

import PeerCore
import PeerSession
import WhiteboardKit

struct ServedBoard {
  enum State {
    case opening
    case serving
    /// The board cannot be served, for the given reason. Its file is unchanged.
    case failed(WhiteboardError)
  }

  let name: String
  let sharedBoard: SharedBoard
  var state = State.opening
  var isOpening: Bool { if case .opening = state { true } else { false } }
  /// The link to join the board; empty until it is served.
  var link = ""
  var webLink: String?
  /// The display names of the peers on the board, by peer id.
  var people: [String: UntrustedText] = [:]
  /// The time at which a member last left, in milliseconds since 1970.
  var visited: Int64?
  /// The reason why some changes are not on disk; `nil` if all changes are.
  ///
  /// While there is such a problem, the board is served from memory.
  var unsaved: SaveProblem?
  /// The refused messages that are already included in the metrics, by reason.
  var refused = (viewer: 0, revoked: 0)
  /// The relayed messages that are already included in the metrics.
  var passed = RelayTally()
  var problem: WhiteboardError?
}

package struct BoardReport: Codable, Equatable, Sendable {
  package let board: String
  package let name: UntrustedText
  /// The state: `opening`, `serving`, `failed`, or `deleted` in the answer to `delete`.
  package let state: String
  /// The reason why the board cannot be served, or why some changes are not on disk.
  package let problem: String?
  /// Whether the board is kept even if no peer visits it.
  package let isPinned: Bool
  /// Whether the board has an owner that decides which peers can edit it.
  package let isOwned: Bool
  package let admit: String
  package let link: String?
  package let webLink: String?
  /// The display names of the peers on the board.
  package let people: [UntrustedText]
  /// The time when the relay created or accepted the board, in RFC 3339 format.
  package let since: String
  /// The time when a member was last on the board, in RFC 3339 format.
  package let visited: String
}

extension [SaveProblem.Cause] {
  func sentence(boards count: Int) -> String {
    let words = Set(self).map(\.words).sorted().joined(separator: ", ")
    return "NOT SAVED: \(words) (\(count == 1 ? "1 board" : "\(count) boards"))"
  }
}

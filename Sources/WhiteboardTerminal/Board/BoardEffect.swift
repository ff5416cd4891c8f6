import PeerCore
import Whiteboard
import WhiteboardKit

/// An action that a part of the client requests from ``BoardClient``.
enum BoardEffect: Equatable, Sendable {
  case command(CommandRequest)
  case message(String)
  case problem(String)
  /// Show that the command needs a selection, and how to select.
  case selectionRequired
  /// Show that it is the user's turn in a game of Connect Four.
  case turnBegan
  case chatReceived(author: UntrustedText, text: UntrustedText)
  /// Stop following a member, since the user moved the view.
  case viewMoved
  case stopFollowing
  /// Begin to type in an existing text object.
  case typeIn(ObjectSnapshot)
  case typeText(at: Point)
  case openPrompt(Prompt.Purpose)
  /// Open the menu beside a cell, or in the lower left corner if the cell is nil.
  case openMenu(at: Menu.Cell?)
  /// Close the overlay in front of a question that the user must answer now.
  case questionReceived
  /// End all input, since the local member may no longer edit the board.
  case membershipEnded
}

extension PendingRequests {
  /// Returns the effect that sends a command and awaits its answer.
  ///
  /// If the command is invalid, returns the effect that shows why.
  mutating func issue(_ command: () throws(CommandError) -> Command) -> [BoardEffect] {
    do throws(CommandError) { return [.command(try request(try command()))] } catch { return [.problem(error.message)] }
  }

  mutating func issue(_ command: Command) -> [BoardEffect] { issue { command } }
}

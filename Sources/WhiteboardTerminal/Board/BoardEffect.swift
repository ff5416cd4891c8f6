import Whiteboard
import WhiteboardNode
import WhiteboardRendering

/// What a part of the client asks ``BoardClient`` to do.
enum BoardEffect: Equatable, Sendable {
  /// Send a command to the node.
  case command(CommandRequest)
  /// Show a message.
  case message(String)
  /// Show that something failed.
  case problem(String)
  /// Tell the user to select something first.
  case selectionRequired
  /// Stop following a member.
  case stopFollowing
  /// Show another part of the board.
  case show(Viewport)
  /// Type in an existing text.
  case typeIn(ObjectSnapshot)
  /// Type a new text at a place.
  case typeText(at: Point)
}

extension PendingRequests {
  /// Returns the effect that sends a command and awaits its answer, or that shows why it cannot be
  /// sent.
  mutating func send(_ command: () throws(CommandError) -> Command) -> [BoardEffect] {
    do throws(CommandError) {
      return [.command(try request(try command()))]
    } catch {
      return [.problem(error.message)]
    }
  }

  /// Returns the effect that sends a command and awaits its answer.
  mutating func send(_ command: Command) -> [BoardEffect] { send { command } }
}

import PeerCore
import Whiteboard
import WhiteboardSync

/// Edits of strokes that other members see while they are drawn. All edits of a stroke, from `beginStroke` to its end,
/// are one undo step.
extension PageReplica {
  func editStroke(_ command: EditCommand, _ now: Moment) throws(BoardError) -> (
    ids: [ObjectID], actions: [ReplicaAction]
  )? {
    switch command.name {
    case "beginStroke": return try begin(command, now)
    case "extendStroke":
      let ink = try command.ink()
      return ([], try replica.extendStroke(try command.id(), withInk: ink, now: now))
    case "endStroke":
      let id = try command.id()
      defer { end(id) }
      do throws(BoardError) { return ([id], try replica.endStroke(id, now: now)) } catch {
        guard error == .empty else { throw error }
        return ([], try replica.cancelStroke(id, now: now))
      }
    case "cancelStroke":
      let id = try command.id()
      defer { end(id) }
      return ([], try replica.cancelStroke(id, now: now))
    default: return nil
    }
  }

  private func begin(_ command: EditCommand, _ now: Moment) throws(BoardError) -> (
    ids: [ObjectID], actions: [ReplicaAction]
  ) {
    let (width, color) = (try command.number("lineWidth"), try command.color())
    let board = replica.board
    board.beginStep("drawing")
    do throws(BoardError) {
      let (id, actions) = try replica.beginStroke(lineWidth: width, color: color, now: now)
      strokes.insert(id)
      return ([id], actions)
    } catch {
      board.endStep()
      throw error
    }
  }

  private func end(_ id: ObjectID) { if strokes.remove(id) != nil { replica.board.endStep() } }
}

import Whiteboard
import WhiteboardKit

/// The stroke that the user is drawing.
extension Workspace {
  /// Begins a stroke at a point, and returns the command for it.
  mutating func pressPen(at place: Point) -> [BoardEffect] {
    toolbox.gesture = .stroke(Gesture.Stroke(request: requests.nextID, at: place))
    let pen = toolbox.pen
    return requests.issue { () throws(CommandError) in
      .pen(points: [try BoardPoint(rounding: place)], pen: pen, alias: nil)
    }
  }

  /// Returns the commands that send the points drawn since the last call.
  mutating func sendStroke() -> [BoardEffect] {
    guard case .stroke(var stroke)? = toolbox.gesture else { return [] }
    defer { toolbox.gesture = .stroke(stroke) }
    return stroke.continuation()
  }

  /// Stores the id of the object that a request created, if the request began the stroke.
  mutating func nameStroke(_ id: ObjectID, begunBy request: Int64) {
    guard case .stroke(var stroke)? = toolbox.gesture, stroke.request == request, stroke.id == nil else { return }
    stroke.id = id
    toolbox.gesture = .stroke(stroke)
  }

  /// Shows all points of the stroke immediately, even those that are not on the board yet.
  mutating func previewStroke() {
    guard case .stroke(let stroke)? = toolbox.gesture, let id = stroke.id, let count = scene.snapshot(id)?.ink?.count,
      stroke.points.count > count
    else { return }
    let rest = stroke.points[count...].compactMap { try? InkPoint($0) }
    scene.canvas.preview(rest, from: count, of: id)
  }
}

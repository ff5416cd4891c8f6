import Whiteboard
import WhiteboardKit

/// The chosen tool, color and width, and the gesture in progress.
///
/// ``Workspace`` turns presses, drags and releases of the mouse or the keyboard pen into commands.
struct Toolbox: Sendable {
  var tool = Tool.pen
  /// The color of the pen, `0xRRGGBB`; nil for the color of the terminal's text.
  var ink: UInt32?
  /// The width of the pen in board units.
  var width = 5.0
  /// Whether moved objects snap to others, and rotations to steps of 15°.
  var isSnapping = true
  /// Whether the keyboard pen is on: keys move it and press the tool.
  var isKeyboardPen = false
  /// The point on the board that the mouse or the keyboard pen points at.
  var pointer: Point?
  var gesture: Gesture?
  var transforms = SelectionTransforms()
  private var lastClick: (place: Point, time: Duration)?

  /// The longest time between the clicks of a double click.
  private static let doubleClickTime = Duration.milliseconds(400)
  static let erasePointLimit = 256

  /// The color of the pen, `0xRRGGBBAA`; nil for the default color.
  var color: UInt32? { ink.map { $0 << 8 | 0xFF } }

  var pen: Pen { Pen(color: color, width: width.inHundredths) }

  mutating func changeWidth(_ step: Int) {
    let widths = Pens.widths
    let index = widths.firstIndex { $0 >= width } ?? widths.count - 1
    width = widths[min(max(index + step, 0), widths.count - 1)]
  }

  // MARK: - Gestures

  /// Begins to move the board with the mouse.
  ///
  /// The position of the mouse is in cells.
  mutating func beginPan(x: Double, y: Double) { gesture = .pan(lastX: x, lastY: y) }

  /// Continues to move the board; returns the distance to move the board, in dots; nil if the user is not moving the
  /// board.
  mutating func pan(toX x: Double, y: Double) -> (x: Double, y: Double)? {
    guard case .pan(let lastX, let lastY) = gesture else { return nil }
    gesture = .pan(lastX: x, lastY: y)
    return ((lastX - x) * 2, (lastY - y) * 4)
  }

  /// Records a click, and returns whether it is the second click of a double click.
  mutating func isDoubleClick(at place: Point, tolerance: Double, now: Duration) -> Bool {
    defer { lastClick = (place, now) }
    guard let (before, time) = lastClick, now - time < Self.doubleClickTime else { return false }
    return (before.x - place.x).magnitude < tolerance && (before.y - place.y).magnitude < tolerance
  }
}

/// The commands set the scale and angle of a single object, but scale and rotate several objects relative to their
/// current state.
struct SelectionTransforms: Sendable {
  /// The last requested scale or angle of a single object.
  private struct Target {
    let id: ObjectID
    let request: Int64
    var scale: Double?
    var degrees: Double?
  }

  /// The next key press continues from this target, because keys may arrive faster than answers.
  private var target: Target?

  mutating func scale(by factor: Double, _ scene: BoardScene, _ requests: inout PendingRequests) -> [BoardEffect] {
    guard factor != 1 else { return [] }
    guard !scene.selection.isEmpty else { return [.selectionRequired] }
    var scale = factor
    if let only = scene.onlySelected {
      scale *= pending(\.scale, of: only.id, requests) ?? only.scale
      target = Target(id: only.id, request: requests.nextID, scale: scale)
    }
    return requests.issue(
      .scale(scene.selectedReferences, factor: scale.inHundredths, keepsLineWidth: scene.hasSelectedLines)
    )
  }

  /// Resizes the selection after a handle was dragged, about the point that stays fixed.
  ///
  /// Lines keep their width, unless the drag scales them too.
  mutating func resize(_ resize: SelectionFrame.Resize, _ scene: BoardScene, _ requests: inout PendingRequests)
    -> [BoardEffect]
  {
    var scale = resize.factor
    guard scale != 1 else { return [] }
    guard !scene.selection.isEmpty else { return [.selectionRequired] }
    if let only = scene.onlySelected {
      scale *= only.scale
      target = Target(id: only.id, request: requests.nextID, scale: scale)
    }
    // A factor rounded to hundredths would move the opposite corner of a large object.
    scale = (scale * 1e6).rounded() / 1e6
    return requests.issue { () throws(CommandError) in
      .scale(
        scene.selectedReferences,
        factor: scale,
        about: try BoardPoint(rounding: resize.pivot),
        keepsLineWidth: !resize.scalesLines && scene.hasSelectedLines
      )
    }
  }

  mutating func rotate(by degrees: Double, _ scene: BoardScene, _ requests: inout PendingRequests) -> [BoardEffect] {
    guard degrees != 0 else { return [] }
    guard !scene.selection.isEmpty else { return [.selectionRequired] }
    var angle = degrees
    if let only = scene.onlySelected {
      angle += pending(\.degrees, of: only.id, requests) ?? only.angle * 180 / .pi
      target = Target(id: only.id, request: requests.nextID, degrees: angle)
    }
    return requests.issue(.rotate(scene.selectedReferences, degrees: angle.inHundredths))
  }

  /// Returns the last requested value; nil if the board has answered that request.
  private func pending(_ value: KeyPath<Target, Double?>, of id: ObjectID, _ requests: PendingRequests) -> Double? {
    guard let target, target.id == id, requests.isPending(target.request) else { return nil }
    return target[keyPath: value]
  }
}

extension BoardScene {
  /// Whether a selected object has lines that keep their width when the object is scaled.
  fileprivate var hasSelectedLines: Bool { selectedSnapshots.contains { $0.kind == .drawing } }
}

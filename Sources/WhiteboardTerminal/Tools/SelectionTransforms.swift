import Whiteboard
import WhiteboardKit

/// Scaling and rotation of the selection.
///
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

  /// Scales the selection about its center.
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

  /// Rotates the selection clockwise about its center.
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

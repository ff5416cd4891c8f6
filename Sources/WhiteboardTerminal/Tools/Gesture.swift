import Whiteboard
import WhiteboardKit
import WhiteboardRendering

enum Gesture: Hashable, Sendable {
  /// The other members see the stroke while it is drawn.
  case stroke(Stroke)
  case shape(Tool, from: Point, to: Point)
  /// A drag that moves the view, with the last position of the mouse in cells.
  case pan(lastX: Double, lastY: Double)
  case erase([Point])
  case remove([ObjectID])
  /// A rectangle that selects the objects inside it.
  case band(from: Point, to: Point)
  case move(from: Point, to: Point)
  case resize(SelectionFrame.Resize)
  case rotate(SelectionFrame, to: Point)

  struct Stroke: Hashable, Sendable {
    /// The request id of the command that began the stroke.
    let request: Int64
    var id: ObjectID?
    private(set) var points: [Point]
    private var sentCount = 1

    private static let pointsPerCommand = 64

    init(request: Int64, at place: Point) {
      self.request = request
      points = [place]
    }

    mutating func append(_ place: Point) { if points.last != place { points.append(place) } }

    /// Returns the commands that send the points that were not sent yet.
    mutating func continuation() -> [BoardEffect] {
      var effects: [BoardEffect] = []
      while sentCount < points.count {
        let next = points[sentCount...].prefix(Self.pointsPerCommand)
        sentCount += next.count
        do throws(CommandError) {
          let points = try BoardPoint.rounding(next)
          effects.append(.command(CommandRequest(.pen(points: points, alias: nil))))
        } catch { effects.append(.problem(error.message)) }
      }
      return effects
    }
  }
}

extension Tool {
  func outline(from: Point, to: Point) -> [Point] {
    switch self {
    case .rectangle: return [from, Point(x: to.x, y: from.y), to, Point(x: from.x, y: to.y), from]
    case .ellipse:
      let center = Point(x: (from.x + to.x) / 2, y: (from.y + to.y) / 2)
      let (width, height) = ((to.x - from.x) / 2, (to.y - from.y) / 2)
      return (0...64).map { step in
        let turn = Rotation(steps: UInt64(step * 64))
        return Point(x: center.x + width * turn.cosine, y: center.y + height * turn.sine)
      }
    case .arrow:
      let (x, y) = (to.x - from.x, to.y - from.y)
      let length = (x * x + y * y).squareRoot()
      guard length > 0 else { return [from, to] }
      let head = min(length * 0.4, 24)
      let (ux, uy) = (x / length * head, y / length * head)
      let left = Point(x: to.x - ux - uy * 0.5, y: to.y - uy + ux * 0.5)
      let right = Point(x: to.x - ux + uy * 0.5, y: to.y - uy - ux * 0.5)
      return [from, to, left, to, right]
    default: return [from, to]
    }
  }
}

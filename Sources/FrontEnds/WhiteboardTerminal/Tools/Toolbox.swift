import Whiteboard
import WhiteboardKit
import WhiteboardRendering

/// The chosen tool, color and width, and the gesture in progress. ``Workspace`` turns presses, drags and releases of
/// the mouse or the keyboard pen into commands.
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

  /// The position of the mouse is in cells.
  mutating func beginPan(x: Double, y: Double) { gesture = .pan(lastX: x, lastY: y) }

  /// Returns the distance to move the board, in dots; nil if the user is not moving the board.
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

/// The commands that scale and rotate the selection. For a single object, they set its scale and angle. Several objects
/// are scaled and rotated relative to their current state.
struct SelectionTransforms: Sendable {
  /// The last requested scale or angle of a single object.
  private struct Target {
    let id: ObjectID
    let request: Int64
    var scale: Double?
    var degrees: Double?
  }

  /// The next key press continues from this target, because keys may arrive faster than answers from the board.
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

  /// Resizes the selection around its fixed point after a handle was dragged. Lines keep their width, unless the drag
  /// also scales line widths.
  mutating func resize(_ resize: SelectionFrame.Resize, _ scene: BoardScene, _ requests: inout PendingRequests)
    -> [BoardEffect]
  {
    if resize.isFree, let only = scene.onlySelected {
      let (half, center) = resize.free
      let size = Point(x: half.width * 2 / only.scale, y: half.height * 2 / only.scale)
      guard size.x != only.size.width || size.y != only.size.height else { return [] }
      return requests.issue { () throws(CommandError) in
        .resize(.id(only.id), to: try BoardPoint(rounding: size), center: try BoardPoint(rounding: center))
      }
    }
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

/// The action of the left mouse button, or of the keyboard pen.
package enum Tool: String, Hashable, Sendable, CaseIterable {
  case pen, line, rectangle, ellipse, diamond, note, arrow, text, eraser
  case remover = "object eraser"
  case picker = "color picker"
  case select, hand, laser

  package var key: Character {
    switch self {
    case .pen: "p"
    case .line: "l"
    case .rectangle: "r"
    case .ellipse: "o"
    case .diamond: "D"
    case .note: "n"
    case .arrow: "a"
    case .text: "t"
    case .eraser: "e"
    case .remover: "E"
    case .picker: "i"
    case .select: "v"
    case .hand: "h"
    case .laser: "k"
    }
  }

  var name: String { self == .picker ? "colour-picker" : rawValue.replacing(" ", with: "-") }

  var hint: String {
    switch self {
    case .pen: "drag to draw"
    case .line, .arrow: "drag from one end to the other"
    case .rectangle, .ellipse, .diamond: "drag from corner to corner"
    case .note: "click or drag, and type; Enter finishes"
    case .text: "click and type; Enter finishes, Alt+Enter starts a new line"
    case .eraser: "drag over the parts of lines to erase"
    case .remover: "drag over objects to delete them"
    case .picker: "click an object to use its color and width"
    case .select:
      "click objects or drag around them; drag the frame to resize them (Shift: in proportion; Alt: from the center)"
    case .hand: "drag the board"
    case .laser: "show others where you point"
    }
  }
}

/// The colors and widths that the user can choose with keys. Color-blind users can distinguish the colors on dark and
/// light backgrounds. The hues are those of Okabe and Ito (2008), a little brighter for dark terminals. The first color
/// is the text color of the terminal.
package enum Pens {
  /// The name and the `0xRRGGBB` value of the color for each digit key from 0 on; nil is the text color of the
  /// terminal.
  package static let colors: [(name: String, rgb: UInt32?)] = [
    ("plain", nil), ("orange", 0xE69F00), ("sky", 0x56B4E9), ("green", 0x1FAE84), ("yellow", 0xF0E442),
    ("blue", 0x3B8FD9), ("red", 0xE8601C), ("pink", 0xCC79A7), ("grey", 0x999999), ("violet", 0x9A7BE0),
  ]

  /// The line widths that the keys step through, in board units.
  package static let widths: [Double] = [2, 5, 8, 12, 20, 32]

  static func name(of rgb: UInt32?) -> String {
    if let known = colors.first(where: { $0.rgb == rgb }) { return known.name }
    return text(rgb ?? 0)
  }

  /// Returns a color as `#rrggbb`.
  static func text(_ rgb: UInt32) -> String { String(ColorText.text(rgb << 8 | 0xFF).dropLast(2)) }

  /// Returns the color that a member gets, unless another member already has this color. The result is always the same
  /// for a member, and never the gray of remarks.
  static func color(of member: MemberID) -> UInt32 {
    let sum = member.description.utf8.reduce(UInt32(5381)) { $0 &* 33 &+ UInt32($1) }
    return memberColors[Int(sum % UInt32(memberColors.count))]
  }

  static let memberColors = colors.filter { $0.name != "grey" }.compactMap(\.rgb)
}

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
    private var sentAt = Duration.zero

    private static let pointsPerCommand = 64
    /// The shortest time between two commands, except at the end of the stroke. Other members see new points at most
    /// once in 16 ms (SYN-31).
    private static let interval = Duration.milliseconds(12)

    init(request: Int64, at place: Point) {
      self.request = request
      points = [place]
    }

    mutating func append(_ place: Point) { if points.last != place { points.append(place) } }

    var hasUnsentPoints: Bool { sentCount < points.count }

    /// Returns the commands with the new points. If a time is given, the points may have to wait for a later call.
    mutating func continuation(at now: Duration? = nil) -> [BoardEffect] {
      if let now, hasUnsentPoints {
        guard now - sentAt >= Self.interval else { return [] }
        sentAt = now
      }
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
  func form(from: Point, to: Point, _ pen: Pen) throws(CommandError) -> Command {
    let ends = (try BoardPoint(rounding: from), try BoardPoint(rounding: to))
    switch self {
    case .arrow: return .arrow(from: ends.0, to: ends.1, connects: true, pen: pen)
    case .line: return .line([ends.0, ends.1], pen: pen)
    default:
      let area = Rectangle(from, to)
      if self == .note, from == to { return .shape(.note, at: ends.0, pen: .form) }
      // A form has an area, even if the drag was straight.
      let size = Point(x: max(area.greatest.x - area.least.x, 1), y: max(area.greatest.y - area.least.y, 1))
      return .shape(
        drawnForm ?? .rectangle,
        at: try BoardPoint(rounding: area.center),
        size: try BoardPoint(rounding: size),
        pen: self == .note ? .form : pen
      )
    }
  }
}

extension Tool {
  /// The form that a drag draws; nil for lines and for other tools.
  private var drawnForm: DrawingForm? {
    switch self {
    case .rectangle: .rectangle
    case .ellipse: .ellipse
    case .diamond: .diamond
    case .note: .note
    default: nil
    }
  }

  func outline(from: Point, to: Point) -> [Point] {
    guard let drawnForm else { return [from, to] }
    let area = Rectangle(from, to)
    let size = Size(width: area.greatest.x - area.least.x, height: area.greatest.y - area.least.y)
    return Outline(drawnForm, size).points().map { Point(x: $0.x + area.center.x, y: $0.y + area.center.y) }
  }
}

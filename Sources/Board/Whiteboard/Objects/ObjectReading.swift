import PeerCore

/// If a cell is missing or has a value of the wrong type, the default value is used (BRD-18).
extension ObjectRecord {
  package var kind: ObjectKind? {
    guard case .unsigned(let number)? = self[.kind]?.value else { return nil }
    return ObjectKind(rawValue: number)
  }

  package var isDeleted: Bool { self[.deleted]?.value.isTrue ?? false }

  /// Only the lock and the selection of a locked object can be changed locally (BRD-27).
  package var isLocked: Bool { self[.lock]?.value.isTrue ?? false }

  package var selection: MemberID? {
    guard case .bytes(let bytes)? = self[.selection]?.value else { return nil }
    return MemberID(bytes: bytes)
  }

  package var scale: Double {
    guard case .unsigned(let steps)? = self[.scale]?.value else { return 1 }
    return FixedPoint.scale(of: steps)
  }

  package var angle: Double { FixedPoint.radians(angleSteps) }

  /// The angle in steps of 1/4096 turn, less than a full turn.
  package var angleSteps: UInt64 {
    guard case .unsigned(let steps)? = self[.angle]?.value else { return 0 }
    return steps % 4096
  }

  package var center: Point { frame(points: ink).center }

  package var zIndex: [UInt8] {
    guard case .bytes(let bytes)? = self[.zIndex]?.value else { return [] }
    return bytes
  }

  package var color: UInt32? {
    guard case .unsigned(let number)? = self[.color]?.value else { return nil }
    return UInt32(exactly: number)
  }

  package var lineWidth: Double {
    guard case .unsigned(let steps)? = self[.lineWidth]?.value, steps >= 1 else { return ObjectDefaults.lineWidth }
    return min(Double(steps) / FixedPoint.unit, BoardLimits.lineWidth)
  }

  package var asset: AssetReference? { self[.asset].flatMap { AssetReference($0.value) } }

  package var isFinished: Bool {
    if case .unsigned? = self[.end]?.value { return true }
    return form != nil
  }

  /// The erased parts of the stroke: the union of all erasures within the limits (BRD-29).
  package var erased: StrokeSpans {
    var spans: [ClosedRange<Int>] = []
    var bytes = 0
    for entry in entries(of: 130, upTo: BoardLimits.erasuresPerStroke) {
      bytes += entry.cell.value.length
      guard bytes <= BoardLimits.erasureBytes else { break }
      spans += StrokeSpans.decode(entry.cell.value) ?? []
    }
    return StrokeSpans(spans)
  }

  /// The text of a text object, or the label of a form.
  package var text: String { TextTree.onlyRun(of: self) ?? TextTree(self).text }

  /// The committed points, up to the first gap between chunks.
  package var points: [InkPoint] {
    var points: [InkPoint] = []
    // Look up one chunk at a time, so that chunks after a gap cost nothing.
    while let piece = self[.ink(first: UInt64(points.count))], let more = InkCoding.points(of: piece.value),
      !more.isEmpty, points.count + more.count <= BoardLimits.pointsPerStroke
    { points += more }
    return points
  }

  private var position: Point? {
    guard case .pair(let x, let y)? = self[.position]?.value else { return nil }
    return Point(x: Double(x) / FixedPoint.unit, y: Double(y) / FixedPoint.unit)
  }

  /// The line through the points of a line or arrow, relative to its position.
  private var line: Outline? {
    guard form?.hasPoints == true else { return nil }
    return Outline(through: linePoints, isCurved: self[.curve]?.value.isTrue ?? false)
  }

  package var isAutoWidth: Bool { kind == .text && self[.autoWidth]?.value.isTrue ?? false }

  /// The position on the board of the point (0, 0) in the object's own coordinates. The origin is the center of every
  /// object except lines, arrows and texts with an automatic width. If an object is moved, scaled or rotated, its
  /// origin is transformed in the same way.
  var origin: Point { position ?? (ink.flatMap(InkBounds.init)?.center ?? Point(x: 0, y: 0)) }

  func outline(_ size: Size) -> Outline? {
    guard let form else { return nil }
    guard form.hasPoints else { return Outline(form, size) }
    return line.map { $0.moved(by: Point(x: 0, y: 0) - $0.box.center) }
  }

  /// If the object has no position or no size, the defaults are used.
  package func frame(points: [InkPoint]?) -> (center: Point, size: Size) {
    if form?.hasPoints == true {
      let zero = Point(x: 0, y: 0)
      // If all points of a line were removed, only its width is left.
      let (box, position) = (line?.box ?? Rectangle(zero, zero), position ?? zero)
      let (across, down) = (box.greatest.x - box.least.x, box.greatest.y - box.least.y)
      return (
        position + Rotation(steps: angleSteps).turned(box.center) * scale,
        Size(width: across + lineWidth, height: down + lineWidth)
      )
    }
    if isAutoWidth {
      let style = style
      let size = TextLayout.automaticSize(text, style)
      let offset = Rotation(steps: angleSteps).turned(TextLayout.offset(ofCenter: size, style.alignment)) * scale
      return ((position ?? Point(x: 0, y: 0)) + offset, size)
    }
    var size = form?.defaultSize ?? ObjectDefaults.size(of: kind)
    var center = Point(x: 0, y: 0)
    if let points, let bounds = InkBounds(points) {
      center = bounds.center
      size = bounds.size(lineWidth: lineWidth)
    } else if case .pair(let width, let height)? = self[.size]?.value, width >= 0, height >= 0 {
      size = Size(width: Double(width) / FixedPoint.unit, height: Double(height) / FixedPoint.unit)
    }
    return (position ?? center, size)
  }

  package var chatLine: (author: MemberID, name: String?, icon: String?, text: String, time: UInt64)? {
    guard case .bytes(let bytes)? = self[.chatAuthor]?.value, let author = MemberID(bytes: bytes),
      case .text(let text)? = self[.chatText]?.value, case .unsigned(let time)? = self[.chatTime]?.value
    else { return nil }
    var name: String?
    if case .text(let known)? = self[.chatName]?.value { name = known }
    var icon: String?
    if case .text(let known)? = self[.chatIcon]?.value, !known.isEmpty, known.utf8.count <= BoardLimits.iconBytes {
      icon = known
    }
    return (author, name, icon, text, time)
  }
}

package struct InkBounds {
  private let x: ClosedRange<Int32>
  private let y: ClosedRange<Int32>

  package init?(_ points: [InkPoint]) {
    guard let first = points.first else { return nil }
    var x = first.x...first.x
    var y = first.y...first.y
    for point in points {
      x = min(x.lowerBound, point.x)...max(x.upperBound, point.x)
      y = min(y.lowerBound, point.y)...max(y.upperBound, point.y)
    }
    self.x = x
    self.y = y
  }

  package var center: Point {
    Point(
      x: (Double(x.lowerBound) + Double(x.upperBound)) / 2 / FixedPoint.ink,
      y: (Double(y.lowerBound) + Double(y.upperBound)) / 2 / FixedPoint.ink
    )
  }

  package func size(lineWidth: Double) -> Size {
    Size(
      width: (Double(x.upperBound) - Double(x.lowerBound)) / FixedPoint.ink + lineWidth,
      height: (Double(y.upperBound) - Double(y.lowerBound)) / FixedPoint.ink + lineWidth
    )
  }
}

/// The values of properties that have no cell (BRD-18).
public enum ObjectDefaults {
  /// The line width of a new form, in board units.
  public static let formLineWidth: Double = 2
  /// The line width of a drawing without a line width, in board units.
  package static let lineWidth: Double = 5
  /// The length of the longest side of a new photo, in board units.
  package static let photoSide: Double = 200
  /// The offset of a copy from its original.
  public static let copyOffset = Point(x: 20, y: 20)

  package static func size(of kind: ObjectKind?) -> Size {
    switch kind {
    case .some(.text): Size(width: 200, height: 50)
    case .some(.photo): Size(width: 200, height: 200)
    case .some(.game): Size(width: 120, height: 50)
    default: Size(width: 0, height: 0)
    }
  }
}

extension BoardState {
  /// Returns whether the object is created, not deleted, and of a kind that is shown on the board.
  public func isShown(_ id: ObjectID) -> Bool {
    guard let index = objects.index(of: id) else { return false }
    return objects.records[index].isShown
  }
}

extension ObjectRecord {
  var isShown: Bool { isVisible && kind?.isShown ?? false }

  /// Whether an object with these cells is visible: it is created, not deleted and, if it is a chat line, complete. The
  /// result is computed again after each write that may change it (`Property.decidesVisibility`).
  var cellsAreVisible: Bool {
    guard let kind, !isDeleted else { return false }
    return kind != .chat || chatLine != nil
  }
}

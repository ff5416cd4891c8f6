import PeerCore

/// The rows of a text or label, in the object's own board units relative to its center (BRD-53).
package struct TextLayout: Hashable, Sendable {
  package let letter: Size
  package let center: Point
  /// The middle of a line; for other objects, the center of the text.
  package let middle: Point
  /// The number of columns of the longest row, at least 1.
  package let columns: Int
  private let rows: TextRows
  /// The width to which the rows are aligned.
  private let room: Double
  private let alignment: TextAlignment

  /// The size of a letter at the text size 16.
  package static let letter = Size(width: 8, height: 16)
  /// The distance in board units from the outline to the name of a frame, or to a label beside a short line.
  private static let space = 4.0
  /// The range for the number of columns to which a text object is wrapped.
  private static let columnLimits = 4.0...4_096.0

  package init?(_ snapshot: ObjectSnapshot) {
    guard let text = snapshot.text else { return nil }
    let lineWidth = snapshot.lineWidth ?? ObjectDefaults.lineWidth
    self.init(text, snapshot.style, snapshot.form, snapshot.size, snapshot.outline, lineWidth: lineWidth)
  }

  /// The outline and the line width are used only for lines and arrows.
  init?(
    _ text: String,
    _ style: ObjectStyle,
    _ form: DrawingForm?,
    _ size: Size,
    _ outline: Outline?,
    lineWidth: Double = 0
  ) {
    guard !text.isEmpty else { return nil }
    let factor = style.textSize / ObjectStyle.textSize
    letter = Size(width: Self.letter.width * factor, height: Self.letter.height * factor)
    let inner = FormInset(form)?.width(size.width)
    var limit = Self.columnLimits.upperBound
    if let inner {
      limit = min(max(inner / letter.width, 1), limit)
    } else if form == nil, !style.isAutoWidth {
      limit = min(max(size.width / letter.width, Self.columnLimits.lowerBound), limit)
    }
    rows = TextRows(text, columns: Int(limit))
    columns = max(rows.columns, 1)
    room = max(inner ?? 0, Double(columns) * letter.width)
    alignment = style.alignment
    let (across, down) = (Double(columns) * letter.width, Double(rows.count) * letter.height)
    switch form {
    case .line, .arrow:
      middle = outline?.middle ?? Point(x: 0, y: 0)
      let label = Size(width: across, height: down)
      center = outline?.center(of: label, around: middle, style, lineWidth, space: Self.space) ?? middle
    case .frame:
      // The name of a frame is above the left end of its upper side.
      center = Point(x: (across - size.width) / 2, y: -(size.height + down) / 2 - Self.space)
      middle = center
    default: (center, middle) = (Point(x: 0, y: 0), Point(x: 0, y: 0))
    }
  }

  /// Returns the size of the box in which an object of this size shows the text. For a text object, this is the size of
  /// the letters. For a form, the box is made higher if the label would not fit.
  func shownSize(_ form: DrawingForm?, _ size: Size) -> Size {
    guard form != nil else { return self.size }
    guard let inset = FormInset(form) else { return size }
    return Size(width: size.width, height: max(size.height, inset.height(around: self.size.height)))
  }

  /// The offset of the center of a text with an automatic width from its position. The position is the middle or an end
  /// of the upper side.
  static func offset(ofCenter size: Size, _ alignment: TextAlignment) -> Point {
    let y = size.height / 2
    return switch alignment {
    case .left: Point(x: size.width / 2, y: y)
    case .center: Point(x: 0, y: y)
    case .right: Point(x: -size.width / 2, y: y)
    }
  }

  static func automaticSize(_ text: String, _ style: ObjectStyle) -> Size {
    if let layout = TextLayout(text, style, nil, Size(width: 0, height: 0), nil) { return layout.size }
    let factor = style.textSize / ObjectStyle.textSize
    return Size(width: letter.width * factor, height: letter.height * factor)
  }

  /// Returns the width to which the label of a form is wrapped; nil for lines and for objects that are not forms.
  package static func innerWidth(of form: DrawingForm?, width: Double) -> Double? { FormInset(form)?.width(width) }

  package var lines: [String] { rows.lines }
  package var size: Size { Size(width: Double(columns) * letter.width, height: Double(rows.count) * letter.height) }

  package var box: Rectangle {
    let left = left(ofColumns: columns)
    let top = center.y - size.height / 2
    return Rectangle(Point(x: left, y: top), Point(x: left + size.width, y: top + size.height))
  }

  package func corner(ofRow row: Int) -> Point {
    Point(x: left(ofColumns: rows.widths[row]), y: center.y - size.height / 2 + Double(row) * letter.height)
  }

  package func width(ofRow row: Int) -> Double { Double(rows.widths[row]) * letter.width }

  private func left(ofColumns columns: Int) -> Double {
    let free = room - Double(columns) * letter.width
    return switch alignment {
    case .left: center.x - room / 2
    case .center: center.x - room / 2 + free / 2
    case .right: center.x - room / 2 + free
    }
  }
}

private struct TextRows: Hashable {
  private let text: String
  private var ranges: [Range<String.Index>] = []
  private(set) var widths: [Int] = []

  /// The number of rows that are shown of one text or label.
  private static let limit = 2_000

  /// Breaks a text into rows of at most `columns` columns, at spaces if possible.
  init(_ text: String, columns: Int) {
    self.text = text
    let scalars = text.unicodeScalars
    // The row so far, the last space in it, and the columns before and after that space.
    var (start, width, space, beforeSpace, afterSpace) = (scalars.startIndex, 0, String.Index?.none, 0, 0)
    var counter = ColumnCounter()
    var index = start
    while index < scalars.endIndex, ranges.count <= Self.limit {
      let scalar = scalars[index]
      let next = scalars.index(after: index)
      if scalar == "\n" {
        add(start..<index, width)
        (start, width, space, counter) = (next, 0, nil, ColumnCounter())
        index = next
        continue
      }
      let size = counter.columns(of: scalar, before: next < scalars.endIndex ? scalars[next] : nil)
      var hidesSpace = false
      while size > 0, width + size > columns, start < index {
        if let at = space, scalar != " " {
          add(start..<at, beforeSpace)
          (start, width, space) = (scalars.index(after: at), width - afterSpace, nil)
        } else {
          add(start..<index, width)
          (start, width, space, hidesSpace) = (index, 0, nil, true)
        }
      }
      // If a row is broken before a space, the space is not shown.
      if hidesSpace, scalar == " " {
        (start, index) = (next, next)
        continue
      }
      if scalar == " " { (space, beforeSpace, afterSpace) = (index, width, width + size) }
      width += size
      index = next
    }
    add(start..<index, width)
    guard ranges.count > Self.limit else { return }
    ranges.removeLast(ranges.count - Self.limit)
    widths.removeLast(widths.count - Self.limit)
    isCut = true
    widths[Self.limit - 1] += 1
  }

  private var isCut = false

  private mutating func add(_ range: Range<String.Index>, _ width: Int) {
    ranges.append(range)
    widths.append(width)
  }

  var count: Int { ranges.count }

  var columns: Int { widths.max() ?? 0 }

  var lines: [String] {
    var lines = ranges.map { String(text[$0]) }
    if isCut, let last = lines.popLast() { lines.append(last + "…") }
    return lines
  }
}

/// The part of a form in which its label is shown: `share` tenths of the form's width and height, minus `margin`.
struct FormInset {
  /// The share in tenths, so that the products are exact.
  private let share: Double
  private let margin: Double

  /// Returns nil for lines and arrows, and for objects that are not forms.
  init?(_ form: DrawingForm?) {
    switch form {
    case .rectangle, .roundedRectangle, .note: (share, margin) = (10, 16)
    case .ellipse: (share, margin) = (7, 0)
    case .diamond: (share, margin) = (5, 0)
    case .line, .arrow, .frame, nil: return nil
    }
  }

  func width(_ whole: Double) -> Double { max(whole * share / 10 - margin, 0) }

  /// Returns the height of the form in which a label of this height fits.
  func height(around label: Double) -> Double { (label + margin) * 10 / share }
}

extension Outline {
  /// Returns the center of the label of a line. If a label at the middle of the line would touch an end of the line, or
  /// the mark at an end, the center is beside the line. Otherwise, it is the middle of the line.
  fileprivate func center(
    of label: Size,
    around middle: Point,
    _ style: ObjectStyle,
    _ lineWidth: Double,
    space: Double
  ) -> Point {
    func room(_ end: LineEnd) -> Double { end == .none ? lineWidth : 8 + 4 * lineWidth }
    let ends = [(start, room(style.start)), (pieces.last?.end ?? start, room(style.end))]
    let isCovered = ends.contains { end, room in
      (end.x - middle.x).magnitude < label.width / 2 + room && (end.y - middle.y).magnitude < label.height / 2 + room
    }
    guard isCovered else { return middle }
    let (box, distance) = (box, space + max(ends[0].1, ends[1].1) / 2)
    return box.greatest.x - box.least.x > box.greatest.y - box.least.y
      ? Point(x: middle.x, y: box.least.y - distance - label.height / 2)
      : Point(x: box.greatest.x + distance + label.width / 2, y: middle.y)
  }

  fileprivate var middle: Point? {
    let points = points()
    guard var last = points.first else { return nil }
    func length(_ from: Point, _ to: Point) -> Double {
      let (x, y) = (to.x - from.x, to.y - from.y)
      return (x * x + y * y).squareRoot()
    }
    var rest = zip(points, points.dropFirst()).reduce(0) { $0 + length($1.0, $1.1) } / 2
    for point in points.dropFirst() {
      let step = length(last, point)
      if step >= rest, step > 0 {
        return Point(x: last.x + (point.x - last.x) * rest / step, y: last.y + (point.y - last.y) * rest / step)
      }
      rest -= step
      last = point
    }
    return last
  }
}

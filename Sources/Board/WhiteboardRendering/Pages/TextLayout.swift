import Whiteboard

/// The rows of a text or label, in the object's own board units relative to its center.
package struct TextLayout: Hashable, Sendable {
  package let lines: [String]
  /// The size of a letter.
  package let letter: Size
  /// The middle of the rows.
  package let center: Point
  /// The number of columns of the longest row.
  package let columns: Int
  /// The width to which the rows are aligned.
  private let room: Double
  private let alignment: TextAlignment

  /// The maximum number of lines shown for one text or label.
  private static let lineLimit = 2_000
  /// The numbers of columns to which a text object is wrapped.
  private static let columnLimits = 4.0...4_096.0

  /// Lays out the text of an object; nil if there is none.
  package init?(_ snapshot: ObjectSnapshot) {
    guard let text = snapshot.text, !text.isEmpty else { return nil }
    let style = snapshot.style
    let factor = style.textSize / ObjectStyle.textSize
    letter = Size(width: BoardPicture.letter.width * factor, height: BoardPicture.letter.height * factor)
    let inner = Self.innerWidth(of: snapshot)
    let limit: Double =
      if let inner {
        min(max(inner / letter.width, 1), Self.columnLimits.upperBound)
      } else if snapshot.form != nil
        || style.isAutoWidth
      {
        Self.columnLimits.upperBound
      } else {
        min(max(snapshot.size.width / letter.width, Self.columnLimits.lowerBound), Self.columnLimits.upperBound)
      }
    lines = TextLines.wrapped(text, columns: Int(limit), limit: Self.lineLimit)
    columns = BoardPicture.columns(lines)
    room = max(inner ?? 0, Double(columns) * letter.width)
    alignment = style.alignment
    center = snapshot.middle ?? Point(x: 0, y: 0)
  }

  /// Returns the width to which the label of a form is wrapped; nil for lines and for objects that are no forms.
  static func innerWidth(of snapshot: ObjectSnapshot) -> Double? {
    FormInset(snapshot.form)?.width(snapshot.size.width)
  }

  /// The size of all rows.
  package var size: Size { Size(width: Double(columns) * letter.width, height: Double(lines.count) * letter.height) }

  /// The box of the rows.
  package var box: Rectangle {
    let left = left(ofColumns: columns)
    let top = center.y - size.height / 2
    return Rectangle(Point(x: left, y: top), Point(x: left + size.width, y: top + size.height))
  }

  /// Returns the top left corner of a row.
  func corner(ofRow row: Int) -> Point {
    Point(
      x: left(ofColumns: CharacterWidth.columns(lines[row])),
      y: center.y - size.height / 2 + Double(row) * letter.height
    )
  }

  private func left(ofColumns columns: Int) -> Double {
    let free = room - Double(columns) * letter.width
    return switch alignment {
    case .left: center.x - room / 2
    case .center: center.x - room / 2 + free / 2
    case .right: center.x - room / 2 + free
    }
  }
}

/// The part of a form in which its label is shown: the width and the height are `share` of the form's, without `margin`.
private struct FormInset {
  private let share: Double
  private let margin: Double

  /// Returns nil for lines and arrows, and for objects that are no forms.
  init?(_ form: DrawingForm?) {
    switch form {
    case .rectangle, .roundedRectangle, .note: (share, margin) = (1, 16)
    case .ellipse: (share, margin) = (0.7, 0)
    case .diamond: (share, margin) = (0.5, 0)
    case .line, .arrow, nil: return nil
    }
  }

  func width(_ whole: Double) -> Double { max(whole * share - margin, 0) }

  /// Returns the height of the form in which a label of this height fits.
  func height(around label: Double) -> Double { (label + margin) / share }
}

extension ObjectSnapshot {
  /// The outline of a form as it is shown: higher than the form if its label would not fit.
  package var shownOutline: Outline? {
    guard let form, let inset = FormInset(form), let label = TextLayout(self) else { return outline }
    let height = inset.height(around: label.size.height)
    return height > size.height ? Outline(form, Size(width: size.width, height: height)) : outline
  }

  /// The middle of the length of a line or arrow.
  fileprivate var middle: Point? {
    guard form?.hasPoints == true, let points = outline?.points(), var last = points.first else { return nil }
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

  /// The box of everything that is shown of a form, on the board.
  var formBounds: Rectangle {
    guard let outline = shownOutline else { return bounds }
    let width = form == .note ? 0 : (lineWidth ?? ObjectDefaults.lineWidth) / 2
    var box = endMarks.reduce(outline.box) { $0.union($1.box) }
    box = Rectangle(
      Point(x: box.least.x - width, y: box.least.y - width),
      Point(x: box.greatest.x + width, y: box.greatest.y + width)
    )
    if let label = TextLayout(self) { box = box.union(label.box) }
    return bounds.union(shown(box))
  }

  /// Returns the box on the board around a rectangle in the object's own units.
  package func shown(_ box: Rectangle) -> Rectangle {
    let rotation = rotation
    func corner(_ x: Double, _ y: Double) -> Rectangle {
      let place = shown(Point(x: x, y: y), sine: rotation.sine, cosine: rotation.cosine)
      return Rectangle(place, place)
    }
    return corner(box.least.x, box.least.y).union(corner(box.greatest.x, box.least.y))
      .union(corner(box.least.x, box.greatest.y)).union(corner(box.greatest.x, box.greatest.y))
  }
}

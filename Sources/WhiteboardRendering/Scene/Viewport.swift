import Whiteboard

/// Which part of the board is shown, and how large: board units to dots of a terminal, eight to a cell.
package struct Viewport: Hashable, Sendable {
  /// The place of the board in the middle.
  package var center: Point
  /// Dots for each board unit.
  package var scale: Double
  /// Columns of cells.
  package var columns: Int
  /// Rows of cells.
  package var rows: Int

  /// Dots for each board unit where the board is shown as large as it is: a cell is 8 by 16 units.
  package static let unitScale = 0.25
  /// How much smaller and larger a board may be shown.
  package static let zooms = 0.01...16.0

  package init(center: Point, scale: Double = Self.unitScale, columns: Int, rows: Int) {
    self.center = center
    self.scale = scale
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
  }

  /// Dots across.
  var dotWidth: Int { columns * DotGrid.fine.across }
  /// Dots down.
  var dotHeight: Int { rows * DotGrid.fine.down }

  /// How large the board is shown; 1 is as large as it is.
  package var zoom: Double {
    get { scale / Self.unitScale }
    set {
      scale = min(max(newValue, Self.zooms.lowerBound), Self.zooms.upperBound) * Self.unitScale
    }
  }

  /// The dot, counted from the top left, where a place of the board shows; not rounded.
  package func dot(of place: Point) -> Point {
    Point(
      x: (place.x - center.x) * scale + Double(dotWidth) / 2,
      y: (place.y - center.y) * scale + Double(dotHeight) / 2
    )
  }

  /// The place of the board at a dot.
  package func place(atDot dot: Point) -> Point {
    Point(
      x: center.x + (dot.x - Double(dotWidth) / 2) / scale,
      y: center.y + (dot.y - Double(dotHeight) / 2) / scale
    )
  }

  /// The place of the board so many columns and rows from the top left.
  package func place(atColumn column: Double, row: Double) -> Point {
    place(
      atDot: Point(
        x: column * Double(DotGrid.fine.across),
        y: row * Double(DotGrid.fine.down)
      )
    )
  }

  /// Board units that a cell is broad; it is twice as high.
  package var cellWidth: Double { Double(DotGrid.fine.across) / scale }

  /// The cell in which a place of the board shows, and that may lie outside.
  package func cell(of place: Point) -> (x: Int, y: Int) {
    let dot = dot(of: place)
    return (
      Self.whole(dot.x / Double(DotGrid.fine.across)), Self.whole(dot.y / Double(DotGrid.fine.down))
    )
  }

  /// The cells that a rectangle of the board touches, inside the view.
  package func area(of rectangle: Rectangle) -> CellArea {
    let least = cell(of: rectangle.least)
    let greatest = cell(of: rectangle.greatest)
    return CellArea(columns: least.x..<greatest.x + 1, rows: least.y..<greatest.y + 1)
      .clamped(to: CellArea(x: 0, y: 0, width: columns, height: rows))
  }

  /// The part of the board that is shown.
  package var rectangle: Rectangle {
    Rectangle(
      place(atDot: Point(x: 0, y: 0)),
      place(atDot: Point(x: Double(dotWidth), y: Double(dotHeight)))
    )
  }

  /// Shows the board so much larger that what is at a place stays there.
  package mutating func zoom(by factor: Double, around place: Point) {
    let before = scale
    zoom *= factor
    let ratio = before / scale
    center = Point(
      x: place.x + (center.x - place.x) * ratio,
      y: place.y + (center.y - place.y) * ratio
    )
  }

  /// Moves the view by so many dots.
  package mutating func pan(byDots x: Double, _ y: Double) {
    let limit = BoardLimits.coordinate
    center = Point(
      x: min(max(center.x + x / scale, -limit), limit),
      y: min(max(center.y + y / scale, -limit), limit)
    )
  }

  /// Shows all of a rectangle, with some room around, and nothing larger than twice its size.
  package mutating func fit(_ rectangle: Rectangle) {
    show(rectangle, room: 0.9)
    zoom = min(zoom, 2)
  }

  /// Shows all of a rectangle, as large as it fits into a share of the view.
  package mutating func show(_ rectangle: Rectangle, room: Double = 1) {
    let width = max(rectangle.greatest.x - rectangle.least.x, 1)
    let height = max(rectangle.greatest.y - rectangle.least.y, 1)
    let wanted = room * min(Double(dotWidth) / width, Double(dotHeight) / height)
    zoom = wanted / Self.unitScale
    center = rectangle.center
  }

  /// The next whole number down, kept where numbers of cells make sense.
  private static func whole(_ value: Double) -> Int {
    Int(min(max(value.rounded(.down), -1e6), 1e6))
  }
}

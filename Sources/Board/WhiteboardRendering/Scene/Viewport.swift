import Whiteboard

/// The visible part of the board and its scale: a mapping from board units to dots, eight per cell.
package struct Viewport: Hashable, Sendable {
  package var center: Point
  /// The number of dots per board unit.
  package var scale: Double
  package var columns: Int
  package var rows: Int

  /// The number of dots per board unit at 100 % zoom: a cell is 8 by 16 units.
  package static let unitScale = 0.25
  package static let zooms = 0.01...16.0

  package init(center: Point, scale: Double = Self.unitScale, columns: Int, rows: Int) {
    self.center = center
    self.scale = scale
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
  }

  var dotWidth: Int { columns * DotGrid.fine.across }
  var dotHeight: Int { rows * DotGrid.fine.down }

  /// The zoom factor; 1 means 100 %.
  package var zoom: Double {
    get { scale / Self.unitScale }
    set { scale = min(max(newValue, Self.zooms.lowerBound), Self.zooms.upperBound) * Self.unitScale }
  }

  /// Converts a board position to dots from the top left of the view, without rounding.
  package func dot(of place: Point) -> Point {
    Point(
      x: (place.x - center.x) * scale + Double(dotWidth) / 2,
      y: (place.y - center.y) * scale + Double(dotHeight) / 2
    )
  }

  /// The inverse of ``dot(of:)``.
  package func place(atDot dot: Point) -> Point {
    Point(x: center.x + (dot.x - Double(dotWidth) / 2) / scale, y: center.y + (dot.y - Double(dotHeight) / 2) / scale)
  }

  /// Converts a column and row, counted from the top left, to a board position.
  package func place(atColumn column: Double, row: Double) -> Point {
    place(atDot: Point(x: column * Double(DotGrid.fine.across), y: row * Double(DotGrid.fine.down)))
  }

  /// The width of a cell in board units; its height is twice the width.
  package var cellWidth: Double { Double(DotGrid.fine.across) / scale }

  /// Returns the cell that shows a board position; the cell may be outside the view.
  package func cell(of place: Point) -> (x: Int, y: Int) {
    let dot = dot(of: place)
    return (Self.whole(dot.x / Double(DotGrid.fine.across)), Self.whole(dot.y / Double(DotGrid.fine.down)))
  }

  /// Returns the cells in view that a rectangle of the board touches.
  package func area(of rectangle: Rectangle) -> CellArea {
    let least = cell(of: rectangle.least)
    let greatest = cell(of: rectangle.greatest)
    return CellArea(columns: least.x..<greatest.x + 1, rows: least.y..<greatest.y + 1).clamped(
      to: CellArea(x: 0, y: 0, width: columns, height: rows)
    )
  }

  package var rectangle: Rectangle {
    Rectangle(place(atDot: Point(x: 0, y: 0)), place(atDot: Point(x: Double(dotWidth), y: Double(dotHeight))))
  }

  package mutating func zoom(by factor: Double, around place: Point) {
    let before = scale
    zoom *= factor
    let ratio = before / scale
    center = Point(x: place.x + (center.x - place.x) * ratio, y: place.y + (center.y - place.y) * ratio)
  }

  package mutating func pan(byDots x: Double, _ y: Double) {
    let limit = BoardLimits.coordinate
    center = Point(x: min(max(center.x + x / scale, -limit), limit), y: min(max(center.y + y / scale, -limit), limit))
  }

  package mutating func fit(_ rectangle: Rectangle) {
    show(rectangle, room: 0.9)
    zoom = min(zoom, 2)
  }

  /// Shows a whole rectangle at the largest scale at which it fits in a fraction of the view.
  package mutating func show(_ rectangle: Rectangle, room: Double = 1) {
    let width = max(rectangle.greatest.x - rectangle.least.x, 1)
    let height = max(rectangle.greatest.y - rectangle.least.y, 1)
    let wanted = room * min(Double(dotWidth) / width, Double(dotHeight) / height)
    zoom = wanted / Self.unitScale
    center = rectangle.center
  }

  /// Rounds a number down, and limits the result to ±1,000,000, which is more than any screen needs.
  private static func whole(_ value: Double) -> Int { Int(min(max(value.rounded(.down), -1e6), 1e6)) }
}

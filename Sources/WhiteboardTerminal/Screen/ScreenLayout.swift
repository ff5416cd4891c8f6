import Whiteboard
import WhiteboardRendering

/// The size of the terminal, and the areas of the parts of the screen.
struct ScreenLayout: Hashable, Sendable {
  private(set) var columns: Int
  private(set) var rows: Int
  var isASCII: Bool
  var isSidePanelWanted = true

  static let sidePanelWidth = 26

  init(columns: Int, rows: Int, isASCII: Bool) {
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
    self.isASCII = isASCII
  }

  mutating func resize(columns: Int, rows: Int) {
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
  }

  /// Whether members and chat are shown: the user wants them, and there is room.
  var hasSidePanel: Bool { isSidePanelWanted && columns >= 90 && rows >= 16 }

  /// Whether tools and colors have their own row below the title.
  var hasToolRow: Bool { rows >= 30 && columns >= 80 }

  var screen: CellArea { CellArea(x: 0, y: 0, width: columns, height: rows) }

  var titleRow: CellArea { CellArea(x: 0, y: 0, width: columns, height: 1) }

  var bottomRow: CellArea { CellArea(x: 0, y: rows - 1, width: columns, height: 1) }

  var board: CellArea {
    let isSmall = rows < 4
    let top = isSmall ? 0 : hasToolRow ? 2 : 1
    return CellArea(
      x: 0,
      y: top,
      width: columns - (hasSidePanel ? Self.sidePanelWidth : 0),
      height: isSmall ? rows : rows - top - 1
    )
  }

  var sidePanel: CellArea {
    CellArea(
      x: columns - Self.sidePanelWidth,
      y: board.rows.lowerBound,
      width: Self.sidePanelWidth,
      height: board.height
    )
  }

  /// The cells of a scrolled panel with its frame: all rows except the first and the last, if there is room.
  var panel: CellArea {
    let top = rows >= 8 ? 1 : 0
    let bottom = rows >= 3 ? 1 : 0
    return CellArea(x: 0, y: top, width: columns, height: rows - top - bottom)
  }

  /// Returns the point on the board at a mouse position in cells.
  func place(atColumn column: Double, row: Double, in viewport: Viewport) -> Point {
    viewport.place(atColumn: column - Double(board.columns.lowerBound), row: row - Double(board.rows.lowerBound))
  }

  func cell(of place: Point, in viewport: Viewport) -> (x: Int, y: Int)? {
    let cell = viewport.cell(of: place)
    let (x, y) = (cell.x + board.columns.lowerBound, cell.y + board.rows.lowerBound)
    return board.contains(x: x, y: y) ? (x, y) : nil
  }

  /// Returns a viewport with the size of the board area.
  func fitted(_ viewport: Viewport) -> Viewport {
    var viewport = viewport
    viewport.columns = max(board.width, 1)
    viewport.rows = max(board.height, 1)
    return viewport
  }
}

import Whiteboard
import WhiteboardPictures
import WhiteboardRendering

/// The size of the terminal, and the areas of the parts of the screen.
struct ScreenLayout: Hashable, Sendable {
  private(set) var columns: Int
  private(set) var rows: Int
  var isASCII: Bool
  /// Whether the user wants to see the panels: the tool row above the board, and the members and chat beside the board.
  var arePanelsWanted = true
  /// The minimum number of rows at which tools have their own row.
  var rowsForTools = 24

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

  var hasSidePanel: Bool { arePanelsWanted && columns >= 90 && rows >= 16 }

  var hasToolRow: Bool { arePanelsWanted && rows >= rowsForTools && columns >= 80 }

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

  /// Converts the position of the mouse, in cells, to a point on the board.
  func place(atColumn column: Double, row: Double, in viewport: Viewport) -> Point {
    viewport.place(atColumn: column - Double(board.columns.lowerBound), row: row - Double(board.rows.lowerBound))
  }

  func cell(of place: Point, in viewport: Viewport) -> (x: Int, y: Int)? {
    let cell = viewport.cell(of: place)
    let (x, y) = (cell.x + board.columns.lowerBound, cell.y + board.rows.lowerBound)
    return board.contains(x: x, y: y) ? (x, y) : nil
  }

  func fitted(_ viewport: Viewport) -> Viewport {
    var viewport = viewport
    viewport.columns = max(board.width, 1)
    viewport.rows = max(board.height, 1)
    return viewport
  }
}

/// An encoder that returns the bytes for updating the terminal from the previous frame to the next.
struct FrameWriter {
  private let writer: ScreenWriter
  private let encoding: TerminalEncoding
  /// The frame that the terminal shows; nil if the next frame must be drawn completely.
  private var shown: Screen?
  private var shownCursor: (x: Int, y: Int)?

  init(depth: ColorDepth, encoding: TerminalEncoding) {
    writer = ScreenWriter(depth: depth)
    self.encoding = encoding
  }

  mutating func invalidate() { shown = nil }

  /// Returns the bytes of a synchronized update that shows a frame; nil if nothing changes. Photos are written after
  /// the screen is cleared, and before the cells.
  mutating func encode(
    _ screen: Screen,
    cursor: (x: Int, y: Int)?,
    _ photos: inout PhotoDisplay,
    at placements: [GraphicsPlacement]
  ) -> [UInt8]? {
    let pictures = photos.update(
      to: placements,
      repainted: placements.compactMap { placement in
        guard let shown else { return placement.visible }
        return shown.change(to: screen, in: placement.visible)
      },
      isCleared: shown == nil
    )
    var before = shown ?? Screen(width: screen.width, height: screen.height)
    for area in pictures?.overwritten ?? [] { before.fill(area) }
    var bytes = shown == nil ? Array(ScreenWriter.clearing.utf8) : []
    bytes += (pictures?.bytes ?? []) + encoding.encode(writer.bytes(from: before, to: screen))
    let hasCursorMoved = cursor?.x != shownCursor?.x || cursor?.y != shownCursor?.y
    guard !bytes.isEmpty || hasCursorMoved else { return nil }
    // Terminals that support synchronized output (mode 2026) show the frame in one step. Other terminals ignore the
    // mode.
    let hiding = shownCursor == nil && shown != nil ? "" : "\u{1B}[?25l"
    bytes = Array("\u{1B}[?2026h\(hiding)".utf8) + bytes
    if let cursor { bytes += Array("\u{1B}[\(cursor.y + 1);\(cursor.x + 1)H\u{1B}[?25h".utf8) }
    bytes += Array("\u{1B}[?2026l".utf8)
    (shown, shownCursor) = (screen, cursor)
    return bytes
  }
}

import WhiteboardRendering

/// Where the items of a menu are: in one column, in several if one is too short, else page by page.
struct MenuLayout: Hashable, Sendable {
  /// The frame and what is in it.
  let area: CellArea
  /// How many rows of items there are.
  let rows: Int
  /// The items that are visible, by index.
  let visible: Range<Int>
  private let columnWidth: Int

  /// How many items fit at once.
  var count: Int { rows * max(1, (area.width - 2) / max(columnWidth, 1)) }

  /// Lays out a menu on a screen of a size, whose first row is the title's and whose last is left free.
  init(_ menu: Menu, columns: Int, rows screenRows: Int) {
    let widest = menu.items.map { CharacterWidth.columns($0.words) }.max() ?? 0
    columnWidth = min(widest + 10, max(columns - 2, 1))
    let top = screenRows >= 8 ? 1 : 0
    let room = max(screenRows - top - 3, 1)
    let needed = (menu.items.count + room - 1) / room
    let across = needed * columnWidth + 2 <= columns ? max(needed, 1) : 1
    rows = min(room, (menu.items.count + across - 1) / across)
    let (width, height) = (across * columnWidth + 2, rows + 2)
    let corner = menu.cell ?? Menu.Cell(x: 2, y: screenRows)
    area = CellArea(
      x: max(0, min(corner.x + 1, columns - width)),
      y: max(min(top, screenRows - height), min(corner.y, screenRows - 1 - height)),
      width: min(width, columns),
      height: min(height, screenRows)
    )
    let page = max(rows * across, 1)
    let first = menu.chosen / page * page
    visible = first..<min(first + page, max(menu.items.count, first))
  }

  /// The cells of an item.
  func cells(of index: Int) -> CellArea {
    let place = index - visible.lowerBound
    let inner = area.inset(by: 1)
    return CellArea(
      x: inner.columns.lowerBound + place / max(rows, 1) * columnWidth,
      y: inner.rows.lowerBound + place % max(rows, 1),
      width: columnWidth,
      height: 1
    ).clamped(to: inner)
  }
}

extension BoardClient {
  /// Where the items of a menu are now.
  func layout(of menu: Menu) -> MenuLayout { MenuLayout(menu, columns: columns, rows: rows) }
}

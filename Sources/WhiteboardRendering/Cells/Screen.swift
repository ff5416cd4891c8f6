/// A rectangle of cells: what a terminal is to show.
///
/// Whatever text is put into it, from whomever it comes, what is written to the terminal is never acted on
/// by it: characters that are not for showing stand as `�`.
package struct Screen: Hashable, Sendable {
  /// Columns.
  package let width: Int
  /// Rows.
  package let height: Int
  /// Row by row.
  package private(set) var cells: [Cell]
  /// Characters of more than one code point.
  private(set) var clusters: [String] = []
  private var clusterIndices: [String: Int] = [:]

  /// How many characters of more than one code point are told apart; those beyond stand as `�`.
  private static let clusterLimit = 1 << 16

  /// An empty screen of that size.
  package init(width: Int, height: Int, fill: Cell = Cell()) {
    self.width = max(0, width)
    self.height = max(0, height)
    cells = Array(repeating: fill, count: self.width * self.height)
  }

  /// All of it.
  package var area: CellArea { CellArea(x: 0, y: 0, width: width, height: height) }

  /// The cell at a place of the screen.
  package subscript(x: Int, y: Int) -> Cell {
    get { cells[y * width + x] }
    set { cells[y * width + x] = newValue }
  }

  /// The cells of a row.
  func row(_ y: Int) -> ArraySlice<Cell> { cells[y * width..<(y + 1) * width] }

  /// Returns the text of a glyph; empty for the right half of a wide character.
  package func text(of glyph: Glyph) -> String {
    if let index = glyph.clusterIndex { return clusters[index] }
    guard glyph != .continuation, let scalar = Unicode.Scalar(glyph.bits) else { return "" }
    return String(Character(scalar))
  }

  /// A row as text, without the spaces at its end.
  package func line(_ y: Int) -> String {
    var line = cells[y * width..<(y + 1) * width].map { text(of: $0.glyph) }.joined()
    while line.last == " " { line.removeLast() }
    return line
  }

  /// All rows as text.
  package var lines: [String] { (0..<height).map(line) }

  /// The part of an area in which another screen shows something else; nil if it shows the same.
  package func change(to other: Screen, in area: CellArea) -> CellArea? {
    let area = area.clamped(to: other.area)
    guard width == other.width, height == other.height else { return area }
    var changed: CellArea?
    for y in area.rows {
      let columns = area.columns.filter { self[$0, y] != other[$0, y] }
      guard let first = columns.first, let last = columns.last else { continue }
      let part = CellArea(x: first, y: y, width: last - first + 1, height: 1)
      changed = changed?.union(part) ?? part
    }
    return changed
  }

  /// Fills an area.
  package mutating func fill(_ area: CellArea, with cell: Cell = Cell()) {
    let area = area.clamped(to: self.area)
    for y in area.rows {
      tear(area.columns, y)
      for x in area.columns { self[x, y] = cell }
    }
  }

  /// Writes a text from a position, at most to the end of an area.
  ///
  /// A wide character that does not fit completely is left out. If the style has the terminal's
  /// background, cells keep theirs.
  /// - Returns: The column after the text.
  @discardableResult
  package mutating func put(
    _ text: some StringProtocol,
    x: Int,
    y: Int,
    _ style: CellStyle = .plain,
    in area: CellArea? = nil
  ) -> Int {
    let area = (area ?? self.area).clamped(to: self.area)
    var column = x
    guard area.rows.contains(y) else { return column + CharacterWidth.columns(text) }
    for character in text {
      let width = CharacterWidth.columns(character)
      guard width > 0 || !TerminalText.isShown(character) else { continue }
      let columns = max(width, 1)
      guard column < area.columns.upperBound else { break }
      if column >= area.columns.lowerBound, column + columns <= area.columns.upperBound {
        put(glyph(character), width: columns, x: column, y: y, style)
      }
      column += columns
    }
    return column
  }

  private mutating func put(_ glyph: Glyph, width: Int, x: Int, y: Int, _ style: CellStyle) {
    tear(x..<x + width, y)
    var style = style
    if style.background == .terminal { style.background = self[x, y].style.background }
    self[x, y] = Cell(glyph, style)
    if width == 2 { self[x + 1, y] = Cell(.continuation, style) }
  }

  /// Wide characters of which one half is about to be overwritten are gone.
  private mutating func tear(_ columns: Range<Int>, _ y: Int) {
    guard let first = columns.first else { return }
    if self[first, y].glyph == .continuation, first > 0 { self[first - 1, y].glyph = .space }
    let next = columns.upperBound
    if next < width, self[next, y].glyph == .continuation { self[next, y].glyph = .space }
  }

  /// Returns the glyph for a character.
  private mutating func glyph(_ character: Character) -> Glyph {
    if character == "\t" { return .space }
    guard TerminalText.isShown(character) else { return Glyph("\u{FFFD}") }
    let scalars = character.unicodeScalars
    if let only = scalars.first, scalars.count == 1 { return Glyph(only) }
    let text = String(character)
    if let known = clusterIndices[text] { return Glyph(cluster: known) }
    guard clusters.count < Self.clusterLimit else { return Glyph("\u{FFFD}") }
    clusters.append(text)
    clusterIndices[text] = clusters.count - 1
    return Glyph(cluster: clusters.count - 1)
  }

  /// Copies the cells of another screen to a place; what does not fit is left out.
  package mutating func copy(_ other: Screen, to origin: (x: Int, y: Int)) {
    let target = CellArea(x: origin.x, y: origin.y, width: other.width, height: other.height)
      .clamped(to: area)
    let isPlain = other.clusters.isEmpty
    for y in target.rows {
      tear(target.columns, y)
      if isPlain, let first = target.columns.first {
        let source = (y - origin.y) * other.width + first - origin.x
        cells.replaceSubrange(
          y * width + first..<y * width + target.columns.upperBound,
          with: other.cells[source..<source + target.width]
        )
        continue
      }
      for x in target.columns {
        var cell = other[x - origin.x, y - origin.y]
        if let index = cell.glyph.clusterIndex {
          cell.glyph = glyph(Character(other.clusters[index]))
        }
        self[x, y] = cell
      }
    }
  }

  /// Takes over the characters of more than one code point of the screen that its cells come from.
  mutating func takeClusters(of other: Screen) {
    clusters = other.clusters
    clusterIndices = other.clusterIndices
  }

  /// Draws a frame along the edge of an area, as far as it is in another one.
  package mutating func frame(
    _ area: CellArea,
    _ style: CellStyle,
    isASCII: Bool,
    in clip: CellArea? = nil
  ) {
    guard area.width >= 2, area.height >= 2 else { return }
    let signs: [Character] =
      isASCII ? ["+", "+", "+", "+", "-", "|"] : ["┌", "┐", "└", "┘", "─", "│"]
    let (left, right) = (area.columns.lowerBound, area.columns.upperBound - 1)
    let (top, bottom) = (area.rows.lowerBound, area.rows.upperBound - 1)
    for x in left...right {
      for y in [top, bottom] { put(String(signs[4]), x: x, y: y, style, in: clip) }
    }
    for y in top...bottom {
      for x in [left, right] { put(String(signs[5]), x: x, y: y, style, in: clip) }
    }
    let corners = [(left, top), (right, top), (left, bottom), (right, bottom)]
    for (sign, corner) in zip(signs, corners) {
      put(String(sign), x: corner.0, y: corner.1, style, in: clip)
    }
  }
}

/// A rectangle of cells on a screen.
package struct CellArea: Hashable, Sendable {
  /// Its columns.
  package var columns: Range<Int>
  /// Its rows.
  package var rows: Range<Int>

  package init(x: Int, y: Int, width: Int, height: Int) {
    columns = x..<x + max(0, width)
    rows = y..<y + max(0, height)
  }

  init(columns: Range<Int>, rows: Range<Int>) {
    self.columns = columns
    self.rows = rows
  }

  package var width: Int { columns.count }
  package var height: Int { rows.count }
  package var isEmpty: Bool { columns.isEmpty || rows.isEmpty }

  /// The part of it that is in another one.
  package func clamped(to other: CellArea) -> CellArea {
    CellArea(columns: columns.clamped(to: other.columns), rows: rows.clamped(to: other.rows))
  }

  /// Whether both have a cell in common.
  func touches(_ other: CellArea) -> Bool {
    columns.overlaps(other.columns) && rows.overlaps(other.rows)
  }

  /// The least area that holds both.
  package func union(_ other: CellArea) -> CellArea {
    if isEmpty { return other }
    if other.isEmpty { return self }
    return CellArea(
      columns: min(
        columns.lowerBound,
        other.columns.lowerBound
      )..<max(columns.upperBound, other.columns.upperBound),
      rows: min(
        rows.lowerBound,
        other.rows.lowerBound
      )..<max(rows.upperBound, other.rows.upperBound)
    )
  }

  /// Whether a cell is in it.
  package func contains(x: Int, y: Int) -> Bool { columns.contains(x) && rows.contains(y) }

  /// It without as many cells on every side.
  package func inset(by count: Int) -> CellArea {
    CellArea(
      x: columns.lowerBound + count,
      y: rows.lowerBound + count,
      width: width - 2 * count,
      height: height - 2 * count
    )
  }
}

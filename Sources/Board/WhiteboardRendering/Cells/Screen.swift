/// A rectangle of cells, which is the content of a terminal. Any text may be written to the screen. The terminal never
/// interprets the text as commands, because a character that is not printable becomes `�`.
package struct Screen: Hashable, Sendable {
  package let width: Int
  package let height: Int
  package private(set) var cells: [ScreenCell]
  /// The characters with more than one code point that the cells use.
  private(set) var clusters: [String] = []
  private var clusterIndices: [String: Int] = [:]
  private(set) var links: [String] = []

  /// The maximum number of different characters with more than one code point; further characters become `�`.
  private static let clusterLimit = 1 << 16
  /// The maximum number of bytes of a link, which all terminals with links accept.
  private static let addressLimit = 2_048

  package init(width: Int, height: Int, fill: ScreenCell = ScreenCell()) {
    self.width = max(0, width)
    self.height = max(0, height)
    cells = Array(repeating: fill, count: self.width * self.height)
  }

  package var area: CellArea { CellArea(x: 0, y: 0, width: width, height: height) }

  package subscript(x: Int, y: Int) -> ScreenCell {
    get { cells[y * width + x] }
    set { cells[y * width + x] = newValue }
  }

  func row(_ y: Int) -> ArraySlice<ScreenCell> { cells[y * width..<(y + 1) * width] }

  package func text(of glyph: Glyph) -> String {
    if let index = glyph.clusterIndex { return clusters[index] }
    guard glyph != .continuation, let scalar = Unicode.Scalar(glyph.bits) else { return "" }
    return String(Character(scalar))
  }

  package func line(_ y: Int) -> String {
    var line = cells[y * width..<(y + 1) * width].map { text(of: $0.glyph) }.joined()
    while line.last == " " { line.removeLast() }
    return line
  }

  package var lines: [String] { (0..<height).map(line) }

  /// Returns the smallest area that contains all differences from another screen within `area`; nil if there are none.
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

  package mutating func fill(_ area: CellArea, with cell: ScreenCell = ScreenCell()) {
    let area = area.clamped(to: self.area)
    for y in area.rows {
      tear(area.columns, y)
      for x in area.columns { self[x, y] = cell }
    }
  }

  /// Replaces one cell; a wide character that covers this cell and another becomes a space.
  mutating func replace(_ x: Int, _ y: Int, with cell: ScreenCell) {
    tear(x..<x + 1, y)
    self[x, y] = cell
  }

  /// Links the cells of an area to an address, for terminals that can open it (OSC 8). Only an `https` address without
  /// control characters and spaces becomes a link.
  package mutating func link(_ area: CellArea, to address: String) {
    guard address.hasPrefix("https://"), address.utf8.count <= Self.addressLimit, links.count < Int(UInt16.max),
      address.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return }
    if links.last != address { links.append(address) }
    let area = area.clamped(to: self.area)
    for y in area.rows { for x in area.columns { self[x, y].link = UInt16(links.count) } }
  }

  func address(of cell: ScreenCell) -> String? { cell.link == 0 ? nil : links[Int(cell.link) - 1] }

  /// Writes text at a position, clipped to an area; returns the column after the text. A wide character that does not
  /// fit completely is omitted. If the style has the terminal's background, the cells keep their background.
  @discardableResult package mutating func put(
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
      guard width > 0 || !character.isShown else { continue }
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
    self[x, y] = ScreenCell(glyph, style)
    if width == 2 { self[x + 1, y] = ScreenCell(.continuation, style) }
  }

  /// Replaces each wide character by spaces if one of its halves is about to be overwritten.
  private mutating func tear(_ columns: Range<Int>, _ y: Int) {
    guard let first = columns.first else { return }
    if self[first, y].glyph == .continuation, first > 0 { self[first - 1, y].glyph = .space }
    let next = columns.upperBound
    if next < width, self[next, y].glyph == .continuation { self[next, y].glyph = .space }
  }

  private mutating func glyph(_ character: Character) -> Glyph {
    if character == "\t" { return .space }
    guard character.isShown else { return Glyph("\u{FFFD}") }
    let scalars = character.unicodeScalars
    if let only = scalars.first, scalars.count == 1 { return Glyph(only) }
    let text = String(character)
    if let known = clusterIndices[text] { return Glyph(cluster: known) }
    guard clusters.count < Self.clusterLimit else { return Glyph("\u{FFFD}") }
    clusters.append(text)
    clusterIndices[text] = clusters.count - 1
    return Glyph(cluster: clusters.count - 1)
  }

  package mutating func copy(_ other: Screen, to origin: (x: Int, y: Int)) {
    let target = CellArea(x: origin.x, y: origin.y, width: other.width, height: other.height).clamped(to: area)
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
        if let index = cell.glyph.clusterIndex { cell.glyph = glyph(Character(other.clusters[index])) }
        self[x, y] = cell
      }
    }
  }

  /// Returns the cells of an area, without their links, as a screen of their own.
  package func part(_ area: CellArea) -> Screen {
    let area = area.clamped(to: self.area)
    var part = Screen(width: area.width, height: area.height)
    part.takeClusters(of: self)
    for (row, y) in area.rows.enumerated() {
      for (column, x) in area.columns.enumerated() {
        part[column, row] = self[x, y]
        part[column, row].link = 0
      }
    }
    return part
  }

  mutating func takeClusters(of other: Screen) {
    clusters = other.clusters
    clusterIndices = other.clusterIndices
  }

  package mutating func frame(_ area: CellArea, _ style: CellStyle, isASCII: Bool, in clip: CellArea? = nil) {
    guard area.width >= 2, area.height >= 2 else { return }
    let signs: [Character] = isASCII ? ["+", "+", "+", "+", "-", "|"] : ["┌", "┐", "└", "┘", "─", "│"]
    let (left, right) = (area.columns.lowerBound, area.columns.upperBound - 1)
    let (top, bottom) = (area.rows.lowerBound, area.rows.upperBound - 1)
    for x in left...right { for y in [top, bottom] { put(String(signs[4]), x: x, y: y, style, in: clip) } }
    for y in top...bottom { for x in [left, right] { put(String(signs[5]), x: x, y: y, style, in: clip) } }
    let corners = [(left, top), (right, top), (left, bottom), (right, bottom)]
    for (sign, corner) in zip(signs, corners) { put(String(sign), x: corner.0, y: corner.1, style, in: clip) }
  }
}

package struct CellArea: Hashable, Sendable {
  package var columns: Range<Int>
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

  package func clamped(to other: CellArea) -> CellArea {
    CellArea(columns: columns.clamped(to: other.columns), rows: rows.clamped(to: other.rows))
  }

  func touches(_ other: CellArea) -> Bool { columns.overlaps(other.columns) && rows.overlaps(other.rows) }

  package func union(_ other: CellArea) -> CellArea {
    if isEmpty { return other }
    if other.isEmpty { return self }
    return CellArea(
      columns: min(columns.lowerBound, other.columns.lowerBound)..<max(columns.upperBound, other.columns.upperBound),
      rows: min(rows.lowerBound, other.rows.lowerBound)..<max(rows.upperBound, other.rows.upperBound)
    )
  }

  func widened(by count: Int) -> CellArea {
    CellArea(columns: columns.lowerBound - count..<columns.upperBound + count, rows: rows)
  }

  package func contains(x: Int, y: Int) -> Bool { columns.contains(x) && rows.contains(y) }

  package func inset(by count: Int) -> CellArea {
    CellArea(
      x: columns.lowerBound + count,
      y: rows.lowerBound + count,
      width: width - 2 * count,
      height: height - 2 * count
    )
  }
}

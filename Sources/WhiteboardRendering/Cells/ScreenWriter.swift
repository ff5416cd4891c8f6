/// Turns what a terminal shows into what it is to show: only what changed is written.
///
/// A pure function of two screens and the terminal's colours; it remembers nothing.
package struct ScreenWriter: Sendable {
  /// The colours of the terminal.
  package let depth: ColorDepth

  package init(depth: ColorDepth) { self.depth = depth }

  /// The bytes that make a terminal that shows `old` show `new`.
  ///
  /// The cursor is left wherever the last change was; colours are reset at the end.
  /// - Parameters:
  ///   - old: What it shows; nil where that is not known, and then everything is written.
  ///   - new: What it is to show; of the same size as `old`, else everything is written.
  /// - Returns: Nothing where nothing changed.
  package func bytes(from old: Screen?, to new: Screen) -> [UInt8] {
    let old = old.flatMap { $0.width == new.width && $0.height == new.height ? $0 : nil }
    var output = Output(depth: depth)
    if old == nil { output.text("\u{1B}[0m\u{1B}[2J") }
    let isOneTable = old.map { $0.clusters == new.clusters } ?? false
    for y in 0..<new.height {
      if isOneTable, let old, old.row(y) == new.row(y) { continue }
      row(y, old, new, &output)
    }
    output.reset()
    return output.bytes
  }

  /// How many unchanged cells in between are written again rather than jumped over.
  private static let gap = 4

  private func row(_ y: Int, _ old: Screen?, _ new: Screen, _ output: inout Output) {
    var x = 0
    while x < new.width {
      guard differs(x, y, old, new) else {
        x += 1
        continue
      }
      // Both halves of a wide character are written together.
      if new[x, y].glyph == .continuation, x > 0 { x -= 1 }
      var end = x + 1
      var last = end
      while end < new.width, end - last < Self.gap {
        end += 1
        if differs(end - 1, y, old, new) { last = end }
      }
      while last < new.width, new[last, y].glyph == .continuation { last += 1 }
      write(x..<last, y, new, &output)
      x = last
    }
  }

  private func differs(_ x: Int, _ y: Int, _ old: Screen?, _ new: Screen) -> Bool {
    guard let old else { return new[x, y] != Cell() }
    let (before, after) = (old[x, y], new[x, y])
    guard before == after else { return true }
    // An index of one screen's table is not another's.
    return after.glyph.clusterIndex != nil
      && old.text(of: before.glyph) != new.text(of: after.glyph)
  }

  private func write(_ columns: Range<Int>, _ y: Int, _ screen: Screen, _ output: inout Output) {
    output.move(to: columns.lowerBound, y)
    for x in columns {
      let cell = screen[x, y]
      guard cell.glyph != .continuation else { continue }
      output.move(to: x, y)
      output.style(cell.style)
      output.glyph(cell.glyph, screen)
    }
  }

  /// What has been written, and where the cursor and the colours are after it.
  private struct Output {
    let depth: ColorDepth
    private(set) var bytes: [UInt8] = []
    private var column: Int?
    private var row: Int?
    private var style: CellStyle?

    init(depth: ColorDepth) { self.depth = depth }

    mutating func text(_ text: String) { bytes.append(contentsOf: text.utf8) }

    mutating func move(to x: Int, _ y: Int) {
      if row == y, let column {
        if column == x { return }
        if x > column {
          number(x - column, then: "C")
          self.column = x
          return
        }
      }
      text("\u{1B}[")
      digits(y + 1)
      text(";")
      digits(x + 1)
      text("H")
      (column, row) = (x, y)
    }

    private mutating func number(_ count: Int, then end: String) {
      text("\u{1B}[")
      if count != 1 { digits(count) }
      text(end)
    }

    private mutating func digits(_ value: Int) {
      if value >= 10 { digits(value / 10) }
      bytes.append(UInt8(0x30 + value % 10))
    }

    mutating func glyph(_ glyph: Glyph, _ screen: Screen) {
      if glyph.bits < 0x80 {
        bytes.append(UInt8(glyph.bits))
        column = column.map { $0 + 1 }
        return
      }
      // Braille and frames have one column everywhere; of others the terminal may think otherwise.
      guard (0x2500...0x28FF).contains(glyph.bits) else {
        text(screen.text(of: glyph))
        column = nil
        return
      }
      bytes.append(0xE2)
      bytes.append(UInt8(0x80 | glyph.bits >> 6 & 0x3F))
      bytes.append(UInt8(0x80 | glyph.bits & 0x3F))
      column = column.map { $0 + 1 }
    }

    mutating func style(_ next: CellStyle) {
      guard next != style else { return }
      var before = style ?? .plain
      let start = bytes.count
      bytes.append(0x1B)
      bytes.append(UInt8(ascii: "["))
      let first = bytes.count
      if style == nil || !before.attributes.subtracting(next.attributes).isEmpty {
        code(0)
        before = .plain
      }
      let added = next.attributes.subtracting(before.attributes)
      if added.contains(.bold) { code(1) }
      if added.contains(.dim) { code(2) }
      if added.contains(.underlined) { code(4) }
      if added.contains(.reversed) { code(7) }
      if next.foreground != before.foreground { color(next.foreground, 30) }
      if next.background != before.background { color(next.background, 40) }
      style = next
      guard bytes.count > first else {
        bytes.removeLast(bytes.count - start)
        return
      }
      bytes[bytes.count - 1] = UInt8(ascii: "m")
    }

    /// One number of a style, with what parts it from the next.
    private mutating func code(_ number: Int) {
      digits(number)
      bytes.append(UInt8(ascii: ";"))
    }

    private mutating func color(_ color: CellColor, _ base: Int) {
      guard depth != .none else { return }
      guard let rgb = color.rgb else { return code(base + 9) }
      switch depth {
      case .none: break
      case .sixteen:
        let index = Int(PaletteColor.index16(rgb))
        code(index < 8 ? base + index : base + 52 + index)
      case .palette:
        code(base + 8)
        code(5)
        code(Int(PaletteColor.index256(rgb)))
      case .full:
        code(base + 8)
        code(2)
        code(Int(rgb >> 16))
        code(Int(rgb >> 8 & 0xFF))
        code(Int(rgb & 0xFF))
      }
    }

    mutating func reset() {
      if let style, style != .plain { text("\u{1B}[0m") }
    }
  }
}

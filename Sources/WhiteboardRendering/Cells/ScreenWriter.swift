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
    var output = WriterOutput(depth: depth, width: new.width)
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

  private func row(_ y: Int, _ old: Screen?, _ new: Screen, _ output: inout WriterOutput) {
    var x = 0
    while x < new.width {
      guard differs(x, y, old, new) else {
        x += 1
        continue
      }
      // Both halves of a wide character are written together.
      if new[x, y].glyph == .continuation, x > 0 { x -= 1 }
      var end = x
      var last = x
      while end < new.width, end - last < Self.gap || end < last {
        if end < last || differs(end, y, old, new) {
          last = max(last, end + 1)
          // A terminal that takes the parts of a cluster one by one writes over what follows.
          if let index = new[end, y].glyph.clusterIndex {
            last = max(last, end + reach(new.clusters[index]))
          }
        }
        end += 1
      }
      last = min(last, new.width)
      while last < new.width, new[last, y].glyph == .continuation { last += 1 }
      write(x..<last, y, new, &output)
      x = last
    }
  }

  /// How many columns a terminal may use for a cluster of which it knows the parts alone.
  private func reach(_ cluster: String) -> Int {
    cluster.unicodeScalars.reduce(0) { $0 + CharacterWidth.columns(Character($1)) }
  }

  private func differs(_ x: Int, _ y: Int, _ old: Screen?, _ new: Screen) -> Bool {
    guard let old else { return new[x, y] != Cell() }
    let (before, after) = (old[x, y], new[x, y])
    guard before == after else { return true }
    // An index of one screen's table is not another's.
    return after.glyph.clusterIndex != nil
      && old.text(of: before.glyph) != new.text(of: after.glyph)
  }

  private func write(
    _ columns: Range<Int>,
    _ y: Int,
    _ screen: Screen,
    _ output: inout WriterOutput
  ) {
    for x in columns {
      let cell = screen[x, y]
      guard cell.glyph != .continuation else { continue }
      output.move(to: x, y, before: cell.glyph)
      output.style(cell.style)
      let isWide = x + 1 < screen.width && screen[x + 1, y].glyph == .continuation
      output.glyph(cell.glyph, screen, columns: isWide ? 2 : 1)
    }
  }
}

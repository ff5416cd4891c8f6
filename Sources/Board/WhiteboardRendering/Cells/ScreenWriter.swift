/// A writer that encodes the difference between two screens as bytes for a terminal. The result depends only on the two
/// screens and the color depth.
package struct ScreenWriter: Sendable {
  package let depth: ColorDepth

  package init(depth: ColorDepth) { self.depth = depth }

  package static let clearing = "\u{1B}[0m\u{1B}[2J"

  /// Returns the bytes that change a terminal from `old` to `new`, empty if nothing changed; the cursor stays after the
  /// last change. If `old` is nil or has another size, the whole screen is written.
  package func bytes(from old: Screen?, to new: Screen) -> [UInt8] {
    let old = old.flatMap { $0.width == new.width && $0.height == new.height ? $0 : nil }
    var output = WriterOutput(depth: depth, width: new.width)
    if old == nil { output.text(Self.clearing) }
    let isOneTable = old.map { $0.clusters == new.clusters && $0.links == new.links } ?? false
    var runs: [Run] = []
    for y in 0..<new.height {
      if isOneTable, let old, old.row(y) == new.row(y) { continue }
      row(y, old, new, &runs)
    }
    for run in sortedByStyle(runs, new) ?? runs { write(run, new, &output) }
    output.reset()
    return output.bytes
  }

  private struct Run {
    let y: Int
    let columns: Range<Int>
  }

  /// The maximum number of runs to sort by style; a larger number of runs is written in screen order.
  private static let sortLimit = 32

  /// Returns the runs, split and sorted so that the style rarely changes; nil if they must be written in screen order.
  /// Runs must be written in screen order if there are too many of them, or if terminals disagree about the cursor
  /// position after a glyph. The cells that such a glyph may overwrite must be written after it. Styles with fewer
  /// attributes come first, because adding an attribute needs fewer bytes than removing an attribute.
  private func sortedByStyle(_ runs: [Run], _ screen: Screen) -> [Run]? {
    guard runs.count <= Self.sortLimit else { return nil }
    var groups: [(style: CellStyle, runs: [Run])] = []
    for run in runs {
      var first = run.columns.lowerBound
      while first < run.columns.upperBound {
        let style = screen[first, run.y].style
        let rest = first..<run.columns.upperBound
        let end = rest.first { screen[$0, run.y].style != style } ?? run.columns.upperBound
        for x in first..<end where !WriterOutput.isSure(screen[x, run.y].glyph) { return nil }
        let part = Run(y: run.y, columns: first..<end)
        if let index = groups.firstIndex(where: { $0.style == style }) {
          groups[index].runs.append(part)
        } else {
          guard groups.count < Self.sortLimit else { return nil }
          groups.append((style, [part]))
        }
        first = end
      }
    }
    let indices = groups.indices.sorted { one, other in
      let attributes = (groups[one].style.attributes.rawValue, groups[other].style.attributes.rawValue)
      return attributes.0 == attributes.1 ? one < other : attributes.0 < attributes.1
    }
    return indices.flatMap { groups[$0].runs }
  }

  /// The minimum number of adjacent unchanged cells that are skipped. Fewer unchanged cells are written again.
  private static let gap = 4

  private func row(_ y: Int, _ old: Screen?, _ new: Screen, _ runs: inout [Run]) {
    var x = 0
    while x < new.width {
      guard differs(x, y, old, new) else {
        x += 1
        continue
      }
      // Write both halves of a wide character together.
      if new[x, y].glyph == .continuation, x > 0 { x -= 1 }
      var end = x
      var last = x
      while end < new.width, end - last < Self.gap || end < last {
        if end < last || differs(end, y, old, new) {
          last = max(last, end + 1)
          // A terminal that draws the parts of a cluster separately overwrites the cells after it, so write these cells
          // again.
          if let index = new[end, y].glyph.clusterIndex { last = max(last, end + reach(new.clusters[index])) }
        }
        end += 1
      }
      last = min(last, new.width)
      while last < new.width, new[last, y].glyph == .continuation { last += 1 }
      runs.append(Run(y: y, columns: x..<last))
      x = last
    }
  }

  /// Returns the number of columns of a cluster on a terminal that draws its parts separately.
  private func reach(_ cluster: String) -> Int {
    cluster.unicodeScalars.reduce(0) { $0 + CharacterWidth.columns(Character($1)) }
  }

  private func differs(_ x: Int, _ y: Int, _ old: Screen?, _ new: Screen) -> Bool {
    guard let old else { return new[x, y] != ScreenCell() }
    let (before, after) = (old[x, y], new[x, y])
    guard before == after else { return true }
    // The screens have different tables, so compare the text of the glyphs, and the addresses.
    return after.glyph.clusterIndex != nil && old.text(of: before.glyph) != new.text(of: after.glyph)
      || after.link != 0 && old.address(of: before) != new.address(of: after)
  }

  private func write(_ run: Run, _ screen: Screen, _ output: inout WriterOutput) {
    let y = run.y
    for x in run.columns {
      let cell = screen[x, y]
      guard cell.glyph != .continuation else { continue }
      output.move(to: x, y, before: cell.glyph)
      output.link(screen.address(of: cell))
      output.style(cell.style)
      let isWide = x + 1 < screen.width && screen[x + 1, y].glyph == .continuation
      output.glyph(cell.glyph, screen, columns: isWide ? 2 : 1)
    }
  }
}

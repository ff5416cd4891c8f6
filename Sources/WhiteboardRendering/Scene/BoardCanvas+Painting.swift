import Whiteboard

/// Painting objects as cells.
extension BoardCanvas {
  /// Returns an area extended by all labels that overlap it, so that no wide character is cut.
  func withLabels(_ area: CellArea) -> CellArea {
    var whole = area
    var isGrowing = true
    while isGrowing {
      isGrowing = false
      for place in order where place.label != nil && place.area.touches(whole) {
        let next = whole.union(place.area)
        isGrowing = isGrowing || next != whole
        whole = next
      }
    }
    return whole
  }

  /// Repaints an area, from back to front.
  mutating func paint(_ area: CellArea) {
    dots.clear(area)
    ground.fill(area)
    for place in order where place.area.touches(area) {
      if let item = items[place.id] { draw(item, place, in: area) }
    }
    for y in area.rows {
      for x in area.columns {
        let under = ground[x, y]
        // A cell with text shows no lines, so that the text stays readable.
        screen[x, y] =
          Self.isBare(under.glyph)
          ? dotStyle.cell(dots, x, y, on: under.style.background) ?? under : under
      }
    }
    // The cells come from `ground`, so copy its cluster table too.
    screen.takeClusters(of: ground)
  }

  /// Returns whether a line may replace the glyph of a cell.
  ///
  /// This applies to spaces and parts of photos.
  private static func isBare(_ glyph: Glyph) -> Bool {
    glyph == .space || glyph == .upperHalf || glyph == .lowerHalf
  }

  private mutating func draw(_ item: Item, _ place: Place, in area: CellArea) {
    let snapshot = item.snapshot
    switch snapshot.kind {
    case .drawing: drawStroke(item, place, DotArea(area, dots.grid))
    case .photo: drawPhoto(snapshot, in: area)
    default: break
    }
    guard let label = place.label else { return }
    let covered = place.area.clamped(to: area)
    if snapshot.kind != .text { ground.fill(covered) }
    dots.clear(covered)
    label.draw(on: &ground, in: area)
  }

  private mutating func drawStroke(_ item: Item, _ place: Place, _ area: DotArea) {
    let snapshot = item.snapshot
    guard let ink = snapshot.ink else { return }
    let scale = snapshot.scale * viewport.scale
    let pen = DotPen(
      breadths: PenBreadth(dots: (snapshot.lineWidth ?? 1) * scale, style: dotStyle),
      color: DotLayer.dot(place.color),
      stretch: InkCurve.stretch * scale * dots.grid.factor,
      dashes: place.dashes
    )
    if let erased = snapshot.erased, !erased.ranges.isEmpty, item.preview.isEmpty {
      drawRest(of: snapshot, pen, area)
      return
    }
    let placement = InkPlacement(item, viewport, dots.grid)
    dots.draw(
      placement.path(item.preview.isEmpty ? ink : ink + item.preview),
      pen,
      within: area
    )
  }

  /// Draws the parts of a stroke that are not erased.
  private mutating func drawRest(of snapshot: ObjectSnapshot, _ pen: DotPen, _ area: DotArea) {
    let rotation = snapshot.rotation
    let factor = dots.grid.factor
    for line in snapshot.inkLines {
      let path = zip(line.points, line.pressures).lazy.map { [viewport] offset, pressure in
        let place = snapshot.shown(offset, sine: rotation.sine, cosine: rotation.cosine)
        let dot = viewport.dot(of: place)
        return DotPoint(x: dot.x * factor, y: dot.y * factor, pressure: pressure)
      }
      dots.draw(path, pen, within: area)
    }
  }
}

extension Glyph {
  /// The upper half of a cell in the foreground color.
  static let upperHalf = Glyph("▀")
  /// The lower half of a cell in the foreground color.
  static let lowerHalf = Glyph("▄")
}

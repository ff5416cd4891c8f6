import Whiteboard

/// How objects become cells.
extension BoardCanvas {
  /// An area with all of the words that reach into it: what is cut could be half a wide character.
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

  /// Paints an area anew, back to front.
  mutating func paint(_ area: CellArea) {
    dots.clear(area)
    ground.fill(area)
    for place in order where place.area.touches(area) {
      if let item = items[place.id] { draw(item, place, in: area) }
    }
    for y in area.rows {
      for x in area.columns {
        let under = ground[x, y]
        // Words stay readable under lines.
        screen[x, y] =
          Self.isBare(under.glyph)
          ? dotStyle.cell(dots, x, y, on: under.style.background) ?? under : under
      }
    }
    // The cells come from the ground, and so do their characters.
    screen.takeClusters(of: ground)
  }

  /// Whether lines show in place of what stands in a cell: nothing, or a bit of a photo.
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

  /// Draws what an eraser left of a stroke.
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
  /// The upper half of a cell in the colour of letters.
  static let upperHalf = Glyph("▀")
  /// The lower half of a cell in the colour of letters.
  static let lowerHalf = Glyph("▄")
}

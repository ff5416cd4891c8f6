import Whiteboard

extension BoardCanvas {
  /// Returns the cells closest to a photo's box, at least one; they may be outside the view.
  func wholeArea(_ snapshot: ObjectSnapshot) -> CellArea {
    let (least, greatest) = (viewport.dot(of: snapshot.bounds.least), viewport.dot(of: snapshot.bounds.greatest))
    func cells(_ from: Double, _ to: Double, _ dots: Int) -> Range<Int> {
      func whole(_ value: Double) -> Int { Int(min(max(value, -1e6), 1e6)) }
      let first = whole((from / Double(dots)).rounded())
      let end = whole((to / Double(dots)).rounded())
      if first < end { return first..<end }
      let only = whole((from / Double(dots)).rounded(.down))
      return only..<only + 1
    }
    return CellArea(
      columns: cells(least.x, greatest.x, DotGrid.fine.across),
      rows: cells(least.y, greatest.y, DotGrid.fine.down)
    )
  }

  // MARK: - Cells

  mutating func drawPhoto(_ snapshot: ObjectSnapshot, in area: CellArea) {
    if let asset = snapshot.asset, shownAsPixels.contains(asset.id) {
      let box = wholeArea(snapshot).clamped(to: area)
      dots.clear(box)
      ground.fill(box)
    } else if let pixels = snapshot.asset.flatMap({ photos[$0.id] }) {
      draw(pixels, of: snapshot, in: area)
    } else {
      drawFrame(snapshot, in: area)
    }
  }

  /// Draws two pixels per cell, one above the other.
  private mutating func draw(_ pixels: PhotoPixels, of snapshot: ObjectSnapshot, in area: CellArea) {
    let box = viewport.area(of: snapshot.bounds).clamped(to: area)
    let rotation = snapshot.rotation
    let width = max(snapshot.size.width * snapshot.scale, 1)
    let height = max(snapshot.size.height * snapshot.scale, 1)
    func color(_ x: Int, _ y: Int, _ dotsDown: Double) -> CellColor? {
      let (across, down) = (Double(DotGrid.fine.across), Double(DotGrid.fine.down))
      let place = viewport.place(atDot: Point(x: (Double(x) + 0.5) * across, y: Double(y) * down + dotsDown))
      let (dx, dy) = (place.x - snapshot.centerPosition.x, place.y - snapshot.centerPosition.y)
      let right = (dx * rotation.cosine + dy * rotation.sine) / width + 0.5
      let below = (dy * rotation.cosine - dx * rotation.sine) / height + 0.5
      guard (0..<1).contains(right), (0..<1).contains(below) else { return nil }
      return pixels.color(right, below)
    }
    for y in box.rows {
      for x in box.columns {
        let cell: ScreenCell
        switch (color(x, y, 1), color(x, y, 3)) {
        case (let upper?, let lower?):
          cell =
            dotStyle == .ascii
            ? ScreenCell(.space, CellStyle(.terminal, on: upper)) : ScreenCell(.upperHalf, CellStyle(upper, on: lower))
        case (let upper?, nil):
          guard dotStyle != .ascii else { continue }
          cell = ScreenCell(.upperHalf, CellStyle(upper))
        case (nil, let lower?):
          guard dotStyle != .ascii else { continue }
          cell = ScreenCell(.lowerHalf, CellStyle(lower))
        case (nil, nil): continue
        }
        let place = CellArea(x: x, y: y, width: 1, height: 1)
        dots.clear(place)
        ground.fill(place, with: cell)
      }
    }
  }

  private mutating func drawFrame(_ snapshot: ObjectSnapshot, in area: CellArea) {
    let whole = wholeArea(snapshot)
    let box = whole.clamped(to: area)
    guard !box.isEmpty else { return }
    dots.clear(box)
    ground.fill(box)
    let style = CellStyle(.terminal, on: .terminal, .dim)
    ground.frame(whole, style, isASCII: dotStyle == .ascii, in: box)
    let inner = whole.inset(by: whole.width > 4 && whole.height > 2 ? 1 : 0)
    let words = TextLines.wrapped(caption(snapshot), columns: inner.width, limit: max(inner.height, 1))
    let top = inner.rows.lowerBound + (inner.height - words.count) / 2
    for (row, line) in words.enumerated() {
      let left = inner.columns.lowerBound + (inner.width - CharacterWidth.columns(line)) / 2
      ground.put(line, x: left, y: top + row, style, in: box)
    }
  }

  /// Returns the caption of a photo whose pixels are missing.
  private func caption(_ snapshot: ObjectSnapshot) -> String {
    guard let asset = snapshot.asset else { return "photo" }
    let amount = ByteCount.text(asset.byteCount)
    let state = snapshot.isAssetAvailable == true ? "photo" : "photo on its way"
    return "\(state)\n\(asset.width)x\(asset.height) \(asset.format.name)\n\(amount)"
  }
}

/// The labels of objects.
///
/// A terminal has letters of one size and one direction. Therefore text is wrapped to the width of its box, bold if it
/// is large, and dim if it is small. Rotated text is shown upright around its center, followed by its angle.
extension BoardCanvas {
  func label(_ item: Item) -> Label? {
    let snapshot = item.snapshot
    switch snapshot.kind {
    case .text: return textLabel(snapshot)
    case .game:
      return item.game.map { game in GamePanel.label(game, isASCII: dotStyle == .ascii) { names[$0] ?? $0.shortText } }
    case .drawing, .photo: return nil
    default: return Label(lines: [[.init("[?]")]])
    }
  }

  /// `dimScale` is the largest scale at which text is dim.
  private static let boldScale = 1.5
  private static let dimScale = 0.67

  /// Returns the label of a text object, wrapped to the columns of its box.
  private func textLabel(_ snapshot: ObjectSnapshot) -> Label? {
    guard let text = snapshot.text, !text.isEmpty else { return nil }
    let cell = Double(DotGrid.fine.across) / viewport.scale
    let columns = Int(min(snapshot.size.width * snapshot.scale / cell, 400))
    var style = CellStyle(InkColor.shown(snapshot.color, on: surface))
    if snapshot.scale >= Self.boldScale { style.attributes.insert(.bold) }
    if snapshot.scale <= Self.dimScale { style.attributes.insert(.dim) }
    let lines = TextLines.wrapped(text, columns: max(columns, 4), limit: 200)
    // If the board is zoomed out, truncate the text, so that it does not cover everything.
    let rows = max(1, Int(400 * snapshot.scale * viewport.scale / Double(DotGrid.fine.down)))
    var label = Label(lines: lines.prefix(rows).map { [.init($0, style)] })
    if let angle = angle(snapshot), let last = label.lines.indices.last {
      label.lines[last].append(.init(angle, CellStyle(style.foreground, on: .terminal, .dim)))
    }
    return label
  }

  /// Returns a text object's angle as a string; nil if the rotation is too small to see.
  private func angle(_ snapshot: ObjectSnapshot) -> String? {
    let degrees = Int((snapshot.angle * 180 / .pi).rounded()) % 360
    guard degrees > 2, degrees < 358 else { return nil }
    return dotStyle == .ascii ? " (\(degrees))" : " ↻\(degrees)°"
  }
}

import Whiteboard

extension BoardCanvas {
  /// Returns the cells closest to a photo's box, at least one cell; the cells may be outside the view.
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
    let view = PhotoView(snapshot)
    func color(_ x: Int, _ y: Int, _ dotsDown: Double) -> CellColor? {
      let (across, down) = (Double(DotGrid.fine.across), Double(DotGrid.fine.down))
      let place = viewport.place(atDot: Point(x: (Double(x) + 0.5) * across, y: Double(y) * down + dotsDown))
      let (dx, dy) = (place.x - snapshot.centerPosition.x, place.y - snapshot.centerPosition.y)
      let right = (dx * rotation.cosine + dy * rotation.sine) / width + 0.5
      let below = (dy * rotation.cosine - dx * rotation.sine) / height + 0.5
      guard (0..<1).contains(right), (0..<1).contains(below) else { return nil }
      let spot = view.place(inBox: Point(x: right, y: below))
      return pixels.color(spot.x, spot.y)
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

  private func caption(_ snapshot: ObjectSnapshot) -> String {
    guard let asset = snapshot.asset else { return "photo" }
    let amount = ByteCount.text(asset.byteCount)
    let state = snapshot.isAssetAvailable == true ? "photo" : "photo on its way"
    return "\(state)\n\(asset.width)x\(asset.height) \(asset.format.name)\n\(amount)"
  }
}

/// The labels of objects. A terminal has letters of one size and one direction. Therefore text is wrapped to the width
/// of its box, bold if it is large, and dim if it is small. Rotated text is shown upright around its center, followed
/// by its angle.
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

  private func textLabel(_ snapshot: ObjectSnapshot) -> Label? {
    guard let text = snapshot.text, !text.isEmpty else { return nil }
    let cell = Double(DotGrid.fine.across) / viewport.scale
    let own = snapshot.style
    // Below 100 % zoom, break lines as at 100 %, and cut them to the cells that the text covers on the board.
    let isSmall = viewport.zoom < 1
    let lineCell = isSmall ? cell * viewport.zoom : cell
    let columns = own.isAutoWidth ? 400 : Int(min(snapshot.size.width * snapshot.scale / lineCell, 400))
    let scale = snapshot.scale * own.textSize / ObjectStyle.textSize
    var style = CellStyle(color(snapshot.color, on: CellFill(own)))
    if scale >= Self.boldScale || own.isBold { style.attributes.insert(.bold) }
    if scale <= Self.dimScale { style.attributes.insert(.dim) }
    let lines = TextLines.wrapped(text, columns: max(columns, 4), limit: 200)
    // If the board is zoomed out, truncate the text, so that it does not cover everything.
    let rows = max(1, Int(400 * snapshot.scale * viewport.scale / Double(DotGrid.fine.down)))
    let shown = isSmall ? cut(lines, snapshot, cell) : Array(lines.prefix(rows))
    var label = Label(lines: shown.map { [.init($0, style)] }, alignment: own.alignment)
    if let angle = angle(snapshot), let last = label.lines.indices.last {
      label.lines[last].append(.init(angle, CellStyle(style.foreground, on: .terminal, .dim)))
    }
    return label
  }

  /// Returns the part of the lines that fits in the box of a text. The box has room for at least one row. `cell` is the
  /// width of a cell.
  private func cut(_ lines: [String], _ snapshot: ObjectSnapshot, _ cell: Double) -> [String] {
    let box = snapshot.style.isAutoWidth ? snapshot.shownSize : snapshot.size
    func cells(_ length: Double, _ size: Double) -> Int {
      max((length * snapshot.scale / size + 1e-6).wholeCells(.down), 1)
    }
    let columns = cells(box.width, cell)
    let rows = cells(snapshot.shownSize.height, Double(DotGrid.fine.down) / viewport.scale)
    var shown = lines.prefix(rows).map { TextLines.cut($0, columns: columns) }
    if lines.count > rows, let last = shown.popLast() { shown.append(TextLines.cut(last + "…", columns: columns)) }
    return shown
  }

  private func angle(_ snapshot: ObjectSnapshot) -> String? {
    let degrees = Int((snapshot.angle * 180 / .pi).rounded()) % 360
    guard degrees > 2, degrees < 358 else { return nil }
    return dotStyle == .ascii ? " (\(degrees))" : " ↻\(degrees)°"
  }
}

/// The part of a photo that is shown, and how it is mirrored (BRD-57).
package struct PhotoView: Hashable, Sendable {
  /// The shown part, as fractions of the width and height of the upright picture.
  package let part: Rectangle
  private let isFlippedHorizontally: Bool
  private let isFlippedVertically: Bool

  private static let whole = Rectangle(Point(x: 0, y: 0), Point(x: 1, y: 1))

  package init(_ snapshot: ObjectSnapshot) {
    part = snapshot.crop ?? Self.whole
    (isFlippedHorizontally, isFlippedVertically) = (snapshot.isFlippedHorizontally, snapshot.isFlippedVertically)
  }

  package init() { (part, isFlippedHorizontally, isFlippedVertically) = (Self.whole, false, false) }

  package var isCropped: Bool { part != Self.whole }
  package var isPlain: Bool { self == Self() }

  /// Returns the position in the picture that is shown at a position in the box, both as fractions of the size.
  package func place(inBox place: Point) -> Point {
    let right = isFlippedHorizontally ? 1 - place.x : place.x
    let below = isFlippedVertically ? 1 - place.y : place.y
    return Point(
      x: part.least.x + right * (part.greatest.x - part.least.x),
      y: part.least.y + below * (part.greatest.y - part.least.y)
    )
  }
}

/// A photo reduced to the few pixels needed for cells.
package struct PhotoPixels: Hashable, Sendable {
  package let width: Int
  package let height: Int
  /// The pixels `0xRRGGBB`, row by row.
  package let pixels: [UInt32]

  package init(width: Int, height: Int, pixels: [UInt32]) {
    precondition(width > 0 && height > 0 && pixels.count == width * height)
    self.width = width
    self.height = height
    self.pixels = pixels
  }

  /// Returns the pixel at a fraction of the width and of the height.
  func color(_ x: Double, _ y: Double) -> CellColor {
    let column = min(max(Int(x * Double(width)), 0), width - 1)
    let row = min(max(Int(y * Double(height)), 0), height - 1)
    return CellColor(rgb: pixels[row * width + column])
  }
}

/// Each pixel of the result is the average of the pixels that it replaces.
package enum BoxFilter {
  /// Returns the picture scaled to `across` by `down` pixels, row by row, without gaps. The four bytes of a pixel are
  /// averaged separately, so the colors of a picture with transparency must be premultiplied. If a picture is enlarged,
  /// pixels are repeated. `stride` is the number of elements of `pixels` per row, at least `width`. All numbers must be
  /// positive, and `pixels` must contain `height` rows.
  package static func averaged(_ pixels: Span<UInt32>, stride: Int, width: Int, height: Int, across: Int, down: Int)
    -> [UInt32]
  {
    precondition(width > 0 && height > 0 && across > 0 && down > 0 && stride >= width)
    precondition((height - 1) * stride + width <= pixels.count)
    let columns = (0..<across).map { range($0, of: across, in: width) }
    var result: [UInt32] = []
    result.reserveCapacity(across * down)
    for y in 0..<down {
      let rows = range(y, of: down, in: height)
      for column in columns {
        var sums: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        for row in rows {
          var index = row * stride + column.lowerBound
          let end = row * stride + column.upperBound
          while index < end {
            let pixel = UInt64(pixels[index])
            sums.0 += pixel >> 24
            sums.1 += pixel >> 16 & 0xFF
            sums.2 += pixel >> 8 & 0xFF
            sums.3 += pixel & 0xFF
            index += 1
          }
        }
        let count = UInt64(rows.count * column.count)
        let half = count / 2
        result.append(
          UInt32((sums.0 + half) / count) << 24 | UInt32((sums.1 + half) / count) << 16 | UInt32(
            (sums.2 + half) / count
          ) << 8 | UInt32((sums.3 + half) / count)
        )
      }
    }
    return result
  }

  /// Returns the pixels of a row or column that become pixel `index` of the result; at least one.
  private static func range(_ index: Int, of count: Int, in size: Int) -> Range<Int> {
    let first = index * size / count
    return first..<max(first + 1, (index + 1) * size / count)
  }
}

extension PhotoPixels {
  /// Returns the photo reduced to at most this size with the same aspect ratio; the photo is never enlarged.
  package func averaged(within width: Int, _ height: Int) -> PhotoPixels {
    let size = Self.size(of: (self.width, self.height), within: (width, height))
    guard size != (self.width, self.height) else { return self }
    return averaged(to: size.width, size.height)
  }

  /// Returns the photo scaled to exactly this size, ignoring its aspect ratio.
  package func averaged(to width: Int, _ height: Int) -> PhotoPixels {
    PhotoPixels(
      width: max(width, 1),
      height: max(height, 1),
      pixels: BoxFilter.averaged(
        pixels.span,
        stride: self.width,
        width: self.width,
        height: self.height,
        across: max(width, 1),
        down: max(height, 1)
      )
    )
  }

  /// Returns the largest size with the picture's aspect ratio that fits into `limit` and does not enlarge the picture.
  package static func size(of picture: (width: Int, height: Int), within limit: (width: Int, height: Int)) -> (
    width: Int, height: Int
  ) {
    let (width, height) = (max(picture.width, 1), max(picture.height, 1))
    let share = min(Double(limit.width) / Double(width), Double(limit.height) / Double(height), 1)
    return (
      min(max(Int((Double(width) * share).rounded()), 1), width),
      min(max(Int((Double(height) * share).rounded()), 1), height)
    )
  }
}

package enum ByteCount {
  /// Returns a size in the largest suitable decimal unit, such as `2.1 MB`, rounded down to a tenth.
  package static func text(_ size: Int) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB"]
    guard size >= 1_000 else { return size == 1 ? "1 byte" : "\(size) bytes" }
    var (value, unit) = (size / 100, 0)
    while value >= 10_000, unit < units.count - 1 {
      value /= 1_000
      unit += 1
    }
    return "\(value / 10).\(value % 10) \(units[unit])"
  }
}

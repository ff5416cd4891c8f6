import Whiteboard

extension BoardCanvas {
  func place(_ item: Item) -> Place {
    let snapshot = item.snapshot
    var place = Place(
      id: snapshot.id,
      area: CellArea(x: 0, y: 0, width: 0, height: 0),
      label: label(item).map { PlacedLabel($0) },
      color: item.shape.map { color(snapshot.color, on: $0.fill) } ?? InkColor.shown(snapshot.color, on: surface),
      dashes: isMonochrome && item.shape == nil ? InkColor.dashes(snapshot.color) : .none,
      shape: item.shape
    )
    move(&place, item)
    return place
  }

  func move(_ place: inout Place, _ item: Item) {
    let snapshot = item.snapshot
    if let shape = item.shape {
      place.area = viewport.area(of: widened(shape.bounds))
      (place.label, place.wholeLabel, place.isLabelWhole) = (nil, nil, false)
      if isInView(shape.bounds) { placeLabel(of: snapshot, shape, &place) }
      place.area = place.area.union(place.labelArea.clamped(to: screen.area))
    } else if place.label != nil {
      if snapshot.kind == .text, snapshot.style.isAutoWidth {
        place.label?.move(from: viewport.cell(of: snapshot.start(of: snapshot.shownSize)))
      } else {
        place.label?.move(to: viewport.cell(of: snapshot.centerPosition))
      }
      place.area = place.label?.area.clamped(to: screen.area) ?? place.area
    } else if snapshot.kind == .drawing {
      place.area = viewport.area(of: widened(item.bounds))
      if let preview = area(ofPreview: item) { place.area = place.area.union(preview) }
    } else {
      place.area = viewport.area(of: item.bounds)
    }
  }

  /// Returns whether a form with these bounds can cover cells in view. The bounds are the bounds on a page. In cells,
  /// the label can extend up to two cells beyond these bounds.
  private func isInView(_ bounds: Rectangle) -> Bool {
    let (least, greatest) = (viewport.cell(of: bounds.least), viewport.cell(of: bounds.greatest))
    return least.x < viewport.columns + 2 && greatest.x >= -2 && least.y < viewport.rows + 2 && greatest.y >= -2
  }

  /// Returns the part of the board that the text of an object covers; nil if the object has no text, or is a form. The
  /// rectangle connects the centers of the outermost cells.
  package func words(of id: ObjectID) -> Rectangle? {
    guard items[id]?.shape == nil, let area = place(of: id)?.label?.area, !area.isEmpty else { return nil }
    let (columns, rows) = (area.columns, area.rows)
    return Rectangle(
      viewport.place(atColumn: Double(columns.lowerBound) + 0.5, row: Double(rows.lowerBound) + 0.5),
      viewport.place(atColumn: Double(columns.upperBound) - 0.5, row: Double(rows.upperBound) - 0.5)
    )
  }

  package func hasWords(of id: ObjectID, at place: Point) -> Bool {
    let cell = viewport.cell(of: place)
    return self.place(of: id)?.shownLabel?.area.contains(x: cell.x, y: cell.y) ?? false
  }

  /// Returns the area of the uncommitted points and of the last committed points, because new points change how the
  /// last committed points are drawn.
  func area(ofPreview item: Item) -> CellArea? {
    guard !item.preview.isEmpty else { return nil }
    return area(of: (item.snapshot.ink?.suffix(Self.reach) ?? []) + item.preview, item)
  }

  /// The number of points at the end of a stroke whose appearance can change when a point is added. The last point then
  /// becomes a turn, which can change how earlier turns are drawn (``InkTurn``). The curve at a turn starts halfway to
  /// the previous point.
  private static let reach = InkTurn.window + 2

  private func area(of points: some Sequence<InkPoint>, _ item: Item) -> CellArea? {
    let placement = InkPlacement(item, viewport, .fine)
    let breadth = (item.snapshot.lineWidth ?? 1) * item.snapshot.scale * viewport.scale
    let margin = breadth / 2 + Self.margin
    var (x, y) = (ClosedRange<Double>?.none, 0.0...0.0)
    for point in points {
      let dot = placement.dot(point)
      y = x == nil ? dot.y...dot.y : min(y.lowerBound, dot.y)...max(y.upperBound, dot.y)
      x = x.map { min($0.lowerBound, dot.x)...max($0.upperBound, dot.x) } ?? dot.x...dot.x
    }
    guard let x else { return nil }
    return viewport.area(
      of: Rectangle(
        viewport.place(atDot: Point(x: x.lowerBound - margin, y: y.lowerBound - margin)),
        viewport.place(atDot: Point(x: x.upperBound + margin, y: y.upperBound + margin))
      )
    )
  }

  /// The distance by which the dots of a line may extend beyond its outline, in dots.
  private static let margin = 3.0

  private func widened(_ rectangle: Rectangle) -> Rectangle {
    let margin = Self.margin / viewport.scale
    return rectangle.widened(by: margin)
  }

  /// Returns whether a stroke only got more points, or got other points at its end.
  func onlyGrew(from old: Item, to new: Item) -> Bool {
    let (before, after) = (old.snapshot, new.snapshot)
    guard let first = before.ink, let last = after.ink, !first.isEmpty, last.count >= first.count else { return false }
    return old.parts == nil && new.parts == nil && before.scale == 1 && before.angle == 0 && after.scale == 1
      && after.angle == 0 && before.erased == after.erased && before.zIndex == after.zIndex
      && before.color == after.color && before.lineWidth == after.lineWidth && before.style == after.style
      && old.inkCenter == before.centerPosition && new.inkCenter == after.centerPosition
  }

  /// Returns the areas in which a stroke with more points, committed or not, looks different: one area for each part of
  /// the stroke. The first `known` points are the same.
  func growth(from old: Item, to new: Item, known: Int = 0) -> [CellArea] {
    let (before, after) = (LiveLine(old), LiveLine(new))
    let same = before.commonPrefix(with: after, known: known)
    guard same < max(before.count, after.count) else { return [] }
    func area(_ line: LiveLine, _ item: Item, from start: Int) -> CellArea? {
      guard start < line.count else { return nil }
      let end = min(start + InkPlacement.runLength, line.count - 1)
      return self.area(of: (start...end).lazy.map { line[$0] }, item)
    }
    let parts = stride(from: max(same - Self.reach, 0), to: max(before.count, after.count), by: InkPlacement.runLength)
    return parts.compactMap { start in
      let areas = [area(before, old, from: start), area(after, new, from: start)].compactMap(\.self)
      return areas.dropFirst().reduce(areas.first) { $0?.union($1) }
    }
  }

  /// The committed points of a stroke, followed by the uncommitted points.
  private struct LiveLine {
    private let ink: [InkPoint]
    private let preview: [InkPoint]

    init(_ item: Item) { (ink, preview) = (item.snapshot.ink ?? [], item.preview) }

    var count: Int { ink.count + preview.count }

    subscript(index: Int) -> InkPoint { index < ink.count ? ink[index] : preview[index - ink.count] }

    func commonPrefix(with other: LiveLine, known: Int) -> Int {
      var index = known
      while index < min(count, other.count), self[index] == other[index] { index += 1 }
      return index
    }
  }
}

/// The lines of a board's grid, which are multiples of the spacing from the origin of the board.
package struct BoardGrid: Hashable, Sendable {
  /// The distance between lines, in board units.
  package let spacing: Double

  /// The minimum distance between lines on a page, in pixels.
  private static let leastPixels = 8.0
  private static let lineLimit = 1_000.0

  /// Creates the lines to show; nil if there is no grid. If lines would be too close, every second, fourth, eighth and
  /// so on line is shown.
  init?(_ grid: Double?, least: Double) {
    guard var spacing = grid, spacing > 0, least.isFinite else { return nil }
    while spacing < least { spacing *= 2 }
    self.spacing = spacing
  }

  package init?(_ picture: BoardPicture, pixelsPerUnit: Double) {
    let region = picture.region
    let size = max(region.greatest.x - region.least.x, region.greatest.y - region.least.y)
    self.init(picture.grid, least: max(Self.leastPixels / pixelsPerUnit, size / Self.lineLimit))
  }

  /// Returns the positions of the lines in a range, in board units.
  package func positions(from start: Double, to end: Double) -> [Double] {
    let (first, last) = ((start / spacing).rounded(.up), (end / spacing).rounded(.down))
    guard first <= last else { return [] }
    return (0...Int(last - first)).map { (first + Double($0)) * spacing }
  }

  /// The opacity of the lines on a page; their color is ``PageInk/plain``, and they are one pixel wide.
  package static let opacity = 0.15
}

extension ObjectSnapshot {
  /// The position on the board of the letter from which a text of this size grows.
  fileprivate func start(of size: Size) -> Point {
    let factor = style.textSize / ObjectStyle.textSize
    let (x, y) = (
      (size.width - TextLayout.letter.width * factor) / 2, (size.height - TextLayout.letter.height * factor) / 2
    )
    let rotation = rotation
    let side: Double =
      switch style.alignment {
      case .left: -x
      case .center: 0
      case .right: x
      }
    return shown(Point(x: side, y: -y), sine: rotation.sine, cosine: rotation.cosine)
  }
}

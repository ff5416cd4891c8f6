import Whiteboard

/// Where objects show.
extension BoardCanvas {
  /// How an object shows.
  func place(_ item: Item) -> Place {
    let snapshot = item.snapshot
    var place = Place(
      id: snapshot.id,
      area: CellArea(x: 0, y: 0, width: 0, height: 0),
      label: label(item).map { PlacedLabel($0) },
      color: InkColor.shown(snapshot.color, on: paper),
      dashes: isMonochrome ? InkColor.dashes(snapshot.color) : .none
    )
    move(&place, item)
    return place
  }

  /// Puts what is laid out where it is now.
  func move(_ place: inout Place, _ item: Item) {
    let snapshot = item.snapshot
    if place.label != nil {
      place.label?.move(to: viewport.cell(of: snapshot.centerPosition))
      place.area = place.label?.area.clamped(to: screen.area) ?? place.area
    } else if snapshot.kind == .drawing {
      place.area = viewport.area(of: widened(snapshot.bounds))
      if let preview = area(ofPreview: item) { place.area = place.area.union(preview) }
    } else {
      place.area = viewport.area(of: snapshot.bounds)
    }
  }

  /// The part of the board that the words of an object cover, between the middles of its outermost
  /// cells; nil if it has none.
  package func words(of id: ObjectID) -> Rectangle? {
    guard let area = place(of: id)?.label?.area, !area.isEmpty else { return nil }
    let (columns, rows) = (area.columns, area.rows)
    return Rectangle(
      viewport.place(
        atColumn: Double(columns.lowerBound) + 0.5,
        row: Double(rows.lowerBound) + 0.5
      ),
      viewport.place(
        atColumn: Double(columns.upperBound) - 0.5,
        row: Double(rows.upperBound) - 0.5
      )
    )
  }

  /// Whether the words of an object cover a place.
  package func hasWords(of id: ObjectID, at place: Point) -> Bool {
    let cell = viewport.cell(of: place)
    return self.place(of: id)?.label?.area.contains(x: cell.x, y: cell.y) ?? false
  }

  /// Where the points show that are not committed, with the end of those that are.
  func area(ofPreview item: Item) -> CellArea? {
    guard !item.preview.isEmpty else { return nil }
    return area(of: (item.snapshot.ink?.suffix(Self.reach) ?? []) + item.preview, item)
  }

  /// How many of the last points of a stroke may show in another way once one more follows: a curve
  /// that goes round the last one begins in the middle of the way to it.
  private static let reach = 2

  /// Where some points of a stroke show.
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

  /// How many dots beside itself a line may show.
  private static let margin = 3.0

  private func widened(_ rectangle: Rectangle) -> Rectangle {
    let margin = Self.margin / viewport.scale
    return Rectangle(
      Point(x: rectangle.least.x - margin, y: rectangle.least.y - margin),
      Point(x: rectangle.greatest.x + margin, y: rectangle.greatest.y + margin)
    )
  }

  /// Where a stroke grew, when that is all that happened to it.
  func growth(from old: Item, to new: Item) -> CellArea? {
    guard let before = old.snapshot.ink, let after = new.snapshot.ink, !before.isEmpty,
      after.count >= before.count, new.snapshot.scale == 1, new.snapshot.angle == 0,
      old.snapshot.scale == 1, old.snapshot.angle == 0,
      old.snapshot.erased == new.snapshot.erased, old.snapshot.zIndex == new.snapshot.zIndex,
      old.snapshot.color == new.snapshot.color, old.snapshot.lineWidth == new.snapshot.lineWidth,
      old.inkCenter == old.snapshot.centerPosition, new.inkCenter == new.snapshot.centerPosition,
      after.starts(with: before)
    else { return nil }
    let drawn = after[max(before.count - Self.reach, 0)...]
    let previews = [area(ofPreview: old), area(ofPreview: new)].compactMap(\.self)
    let grown = area(of: drawn, new)
    return previews.reduce(grown ?? CellArea(x: 0, y: 0, width: 0, height: 0)) { $0.union($1) }
  }
}

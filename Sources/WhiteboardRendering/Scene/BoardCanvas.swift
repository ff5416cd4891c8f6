import Whiteboard

/// The board as cells: what of it is in view, painted again only where something changed.
///
/// Objects go in as they change, ``paint()`` brings ``screen`` up to date. Costs follow what changed, not
/// what there is: a stroke that grew is painted where it grew.
package struct BoardCanvas: Sendable {
  /// One object as it is shown.
  package struct Item: Sendable {
    /// The object.
    package let snapshot: ObjectSnapshot
    /// The game that it is.
    package var game: GameView?
    /// Points that were drawn and are not committed yet, where they were drawn.
    package var preview: [InkPoint] = []

    /// The middle of a stroke's points, where they were drawn.
    let inkCenter: Point?

    package init(_ snapshot: ObjectSnapshot, game: GameView? = nil) {
      self.snapshot = snapshot
      self.game = game
      inkCenter = snapshot.ink.flatMap { InkBounds($0)?.center }
    }
  }

  /// What is shown, and how large.
  package private(set) var viewport: Viewport
  /// What lines become.
  package private(set) var dotStyle: DotStyle
  /// The cells as of the last ``paint()``.
  package private(set) var screen: Screen
  /// What members are called.
  package var names: [MemberID: String] = [:]

  private var dots: DotLayer
  /// Texts, games and photos, on which lines lie.
  private var ground: Screen
  /// Back to front, with where each object shows: what is looked through for every change.
  private var order: [Place] = []
  private var items: [ObjectID: Item] = [:]
  private var photos: [AssetID: PhotoPixels] = [:]
  private var damage: [CellArea] = []

  /// Where an object shows.
  private struct Place: Sendable {
    let id: ObjectID
    /// Empty out of view.
    var area: CellArea
    /// Whether it has words, which are painted whole.
    var hasLabel: Bool
  }

  /// How many places are painted one by one.
  private static let damageLimit = 12

  package init(_ viewport: Viewport, dotStyle: DotStyle = .braille) {
    self.viewport = viewport
    self.dotStyle = dotStyle
    screen = Screen(width: viewport.columns, height: viewport.rows)
    ground = screen
    dots = DotLayer(columns: viewport.columns, rows: viewport.rows)
    damage = [screen.area]
  }

  // MARK: - What there is

  /// The objects, from back to front.
  package var objects: [ObjectID] { order.map(\.id) }

  /// An object as it is shown.
  package func item(_ id: ObjectID) -> Item? { items[id] }

  /// How many objects there are.
  package var count: Int { order.count }

  /// The rectangle around all objects; nil where there are none.
  package var bounds: Rectangle? {
    items.values.reduce(nil) { whole, item in
      let bounds = item.snapshot.bounds
      return whole?.union(bounds) ?? bounds
    }
  }

  /// Shows an object, or shows it as it is now.
  package mutating func set(_ item: Item) {
    let id = item.snapshot.id
    var item = item
    if let old = items[id] {
      item.preview = Self.rest(of: old.preview, committed: item.snapshot.ink?.count ?? 0, old)
      let index = index(of: id)
      if let grown = growth(from: old, to: item) {
        items[id] = item
        order[index] = place(item)
        spoil(grown)
        return
      }
      spoil(order[index].area)
      if old.snapshot.zIndex != item.snapshot.zIndex {
        order.remove(at: index)
        items[id] = item
        order.insert(place(item), at: self.index(of: id))
      } else {
        items[id] = item
        order[index] = place(item)
      }
    } else {
      items[id] = item
      order.insert(place(item), at: index(of: id))
    }
    spoil(order[index(of: id)].area)
  }

  /// Shows a stroke as far as it is drawn, though that is not committed.
  ///
  /// The points are where they were drawn; `start` is the index of the first of them in the stroke.
  package mutating func preview(_ points: [InkPoint], from start: Int, of id: ObjectID) {
    guard var item = items[id], let ink = item.snapshot.ink, start <= ink.count + item.preview.count
    else { return }
    let old = item
    var drawn = Array(item.preview.prefix(max(0, start - ink.count)))
    drawn += points.dropFirst(max(0, ink.count - start))
    // What shows never shrinks (SYN-32).
    guard drawn.count >= item.preview.count else { return }
    item.preview = drawn
    items[id] = item
    let index = index(of: id)
    order[index] = place(item)
    spoil(area(ofPreview: old))
    spoil(area(ofPreview: item))
  }

  /// Takes an object away.
  package mutating func remove(_ id: ObjectID) {
    guard items[id] != nil else { return }
    let index = index(of: id)
    spoil(order[index].area)
    order.remove(at: index)
    items[id] = nil
  }

  /// Takes everything away.
  package mutating func removeAll() {
    (order, items) = ([], [:])
    damage = [screen.area]
  }

  /// Shows a photo by its pixels from now on.
  package mutating func setPhoto(_ pixels: PhotoPixels, of asset: AssetID) {
    photos[asset] = pixels
    for place in order where items[place.id]?.snapshot.asset?.id == asset { spoil(place.area) }
  }

  /// Shows another part of the board, or at another size.
  package mutating func show(_ viewport: Viewport) {
    guard viewport != self.viewport else { return }
    if viewport.columns != self.viewport.columns || viewport.rows != self.viewport.rows {
      screen = Screen(width: viewport.columns, height: viewport.rows)
      ground = screen
      dots = DotLayer(columns: viewport.columns, rows: viewport.rows)
    }
    self.viewport = viewport
    order = order.map { items[$0.id].map(place) ?? $0 }
    damage = [screen.area]
  }

  /// Shows lines in another way.
  package mutating func show(_ style: DotStyle) {
    dotStyle = style
    damage = [screen.area]
  }

  /// Where an object is in the order, or belongs.
  private func index(of id: ObjectID) -> Int {
    var (low, high) = (0, order.count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(order[middle].id, id) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func isBehind(_ one: ObjectID, _ other: ObjectID) -> Bool {
    guard let first = items[one]?.snapshot.zIndex, let second = items[other]?.snapshot.zIndex
    else { return one < other }
    return first == second ? one < other : first.lexicographicallyPrecedes(second)
  }

  // MARK: - Where things are

  private mutating func spoil(_ area: CellArea?) {
    guard let area, !area.isEmpty else { return }
    damage.append(area)
    guard damage.count > Self.damageLimit else { return }
    damage = [damage.reduce(CellArea(x: 0, y: 0, width: 0, height: 0)) { $0.union($1) }]
  }

  private func place(_ item: Item) -> Place {
    var area = area(of: item)
    if let preview = self.area(ofPreview: item) { area = area.union(preview) }
    return Place(id: item.snapshot.id, area: area, hasLabel: item.snapshot.kind != .drawing)
  }

  /// Where an object shows.
  private func area(of item: Item) -> CellArea {
    let snapshot = item.snapshot
    let bounds = viewport.area(
      of: snapshot.kind == .drawing
        ? widened(snapshot.bounds) : snapshot.bounds
    )
    guard let label = label(item) else { return bounds }
    let origin = origin(of: label, snapshot)
    return CellArea(x: origin.x, y: origin.y, width: label.width, height: label.height)
      .clamped(to: screen.area)
  }

  private func area(ofPreview item: Item) -> CellArea? {
    guard !item.preview.isEmpty else { return nil }
    let last = item.snapshot.ink?.last.map { [$0] } ?? []
    return area(of: last + item.preview, lineWidth: item.snapshot.lineWidth ?? 1)
  }

  /// Where points show that are shown where they were drawn.
  private func area(of points: some Sequence<InkPoint>, lineWidth: Double) -> CellArea? {
    guard let bounds = InkBounds(Array(points)) else { return nil }
    let size = bounds.size(lineWidth: lineWidth)
    let center = bounds.center
    return viewport.area(
      of: widened(
        Rectangle(
          Point(x: center.x - size.width / 2, y: center.y - size.height / 2),
          Point(x: center.x + size.width / 2, y: center.y + size.height / 2)
        )
      )
    )
  }

  /// A line may be shown up to two dots broader than it is.
  private func widened(_ rectangle: Rectangle) -> Rectangle {
    let margin = 2 / viewport.scale
    return Rectangle(
      Point(x: rectangle.least.x - margin, y: rectangle.least.y - margin),
      Point(x: rectangle.greatest.x + margin, y: rectangle.greatest.y + margin)
    )
  }

  /// Where a stroke grew, when that is all that happened to it.
  private func growth(from old: Item, to new: Item) -> CellArea? {
    guard let before = old.snapshot.ink, let after = new.snapshot.ink, !before.isEmpty,
      after.count >= before.count, new.snapshot.scale == 1, new.snapshot.angle == 0,
      old.snapshot.scale == 1, old.snapshot.angle == 0,
      old.snapshot.erased == new.snapshot.erased, old.snapshot.zIndex == new.snapshot.zIndex,
      old.snapshot.color == new.snapshot.color, old.snapshot.lineWidth == new.snapshot.lineWidth,
      old.inkCenter == old.snapshot.centerPosition, new.inkCenter == new.snapshot.centerPosition,
      after.starts(with: before)
    else { return nil }
    let drawn = after[(before.count - 1)...]
    let previews = [area(ofPreview: old), area(ofPreview: new)].compactMap(\.self)
    let grown = area(of: drawn, lineWidth: new.snapshot.lineWidth ?? 1)
    return previews.reduce(grown ?? CellArea(x: 0, y: 0, width: 0, height: 0)) { $0.union($1) }
  }

  /// What is left of a preview once so many points are committed.
  private static func rest(of preview: [InkPoint], committed: Int, _ old: Item) -> [InkPoint] {
    let before = old.snapshot.ink?.count ?? 0
    return Array(preview.dropFirst(max(0, committed - before)))
  }

  // MARK: - Painting

  /// Brings the screen up to date.
  /// - Returns: Where it was painted.
  @discardableResult
  package mutating func paint() -> [CellArea] {
    let painted = damage.map { $0.clamped(to: screen.area) }
    damage = []
    for area in painted where !area.isEmpty { paint(widened(area)) }
    return painted
  }

  /// An area with all of the words that reach into it: what is cut could be half a wide character.
  private func widened(_ area: CellArea) -> CellArea {
    var whole = area
    var isGrowing = true
    while isGrowing {
      isGrowing = false
      for place in order where place.hasLabel {
        guard !place.area.clamped(to: whole).isEmpty else { continue }
        let next = whole.union(place.area)
        isGrowing = isGrowing || next != whole
        whole = next
      }
    }
    return whole
  }

  private mutating func paint(_ area: CellArea) {
    dots.clear(area)
    ground.fill(area)
    for place in order where place.area.touches(area) {
      if let item = items[place.id] { draw(item, in: area) }
    }
    for y in area.rows {
      for x in area.columns {
        let under = ground[x, y]
        // Words stay readable under lines.
        let isBare = under.glyph == .space || under.glyph.bits == Self.upperHalf
        screen[x, y] =
          isBare
          ? dotStyle.cell(dots, x, y, on: under.style.background) ?? under : under
      }
    }
    takeClusters()
  }

  private static let upperHalf: UInt32 = 0x2580

  /// The screen's table of clusters is the ground's, from which its cells come.
  private mutating func takeClusters() { screen.takeClusters(of: ground) }

  private mutating func draw(_ item: Item, in area: CellArea) {
    let snapshot = item.snapshot
    switch snapshot.kind {
    case .drawing:
      drawStroke(item, in: DotArea(area))
    case .photo:
      drawPhoto(snapshot, in: area)
    default:
      break
    }
    guard let label = label(item) else { return }
    let origin = origin(of: label, snapshot)
    let covered = CellArea(x: origin.x, y: origin.y, width: label.width, height: label.height)
      .clamped(to: area)
    if snapshot.kind != .text { ground.fill(covered) }
    dots.clear(covered)
    label.draw(on: &ground, at: origin, in: area)
  }

  private mutating func drawStroke(_ item: Item, in area: DotArea) {
    let snapshot = item.snapshot
    guard let ink = snapshot.ink, let first = ink.first else { return }
    let color = DotLayer.dot(Self.color(snapshot.color))
    let width = thickness((snapshot.lineWidth ?? 1) * snapshot.scale)
    if let lines = snapshot.erased.flatMap({ $0.ranges.isEmpty ? nil : snapshot.visibleLines }) {
      let rotation = snapshot.rotation
      for line in lines {
        let shown = line.map { (offset) -> (x: Double, y: Double) in
          let place = snapshot.shown(offset, sine: rotation.sine, cosine: rotation.cosine)
          let dot = viewport.dot(of: place)
          return (dot.x, dot.y)
        }
        drawLine(shown, width, color, area)
      }
    } else {
      let place = InkPlacement(item, viewport)
      var last = place.dot(first)
      if ink.count == 1, item.preview.isEmpty {
        dots.line(from: last, to: last, width: width, color, within: area)
      }
      for point in ink.dropFirst() {
        let next = place.dot(point)
        dots.line(from: last, to: next, width: width, color, within: area)
        last = next
      }
      for point in item.preview {
        let next = place.dot(point)
        dots.line(from: last, to: next, width: width, color, within: area)
        last = next
      }
    }
  }

  private mutating func drawLine(
    _ line: [(x: Double, y: Double)],
    _ width: Int,
    _ color: UInt32,
    _ area: DotArea
  ) {
    guard var last = line.first else { return }
    if line.count == 1 { dots.line(from: last, to: last, width: width, color, within: area) }
    for next in line.dropFirst() {
      dots.line(from: last, to: next, width: width, color, within: area)
      last = next
    }
  }

  /// How many dots broad a line shows.
  private func thickness(_ width: Double) -> Int {
    Int(min(max((width * viewport.scale).rounded(), 1), 64))
  }

  private mutating func drawPhoto(_ snapshot: ObjectSnapshot, in area: CellArea) {
    let box = viewport.area(of: snapshot.bounds).clamped(to: area)
    let rotation = snapshot.rotation
    let pixels = snapshot.asset.flatMap { photos[$0.id] }
    let width = max(snapshot.size.width * snapshot.scale, 1)
    let height = max(snapshot.size.height * snapshot.scale, 1)
    dots.clear(box)
    for y in box.rows {
      for x in box.columns {
        let halves = [1.0, 3.0].map { down -> CellColor? in
          let dot = Point(x: Double(x * 2) + 1, y: Double(y * 4) + down)
          let place = viewport.place(atDot: dot)
          let offset = Point(
            x: place.x - snapshot.centerPosition.x,
            y: place.y - snapshot.centerPosition.y
          )
          let right = (offset.x * rotation.cosine + offset.y * rotation.sine) / width + 0.5
          let down = (offset.y * rotation.cosine - offset.x * rotation.sine) / height + 0.5
          guard (0..<1).contains(right), (0..<1).contains(down) else { return nil }
          return pixels?.color(right, down) ?? CellColor(rgb: 0x444444)
        }
        switch (halves[0], halves[1]) {
        case (let upper?, let lower?):
          ground[x, y] = Cell(Glyph(bits: Self.upperHalf), CellStyle(upper, on: lower))
        case (let upper?, nil):
          ground[x, y] = Cell(Glyph(bits: Self.upperHalf), CellStyle(upper))
        case (nil, let lower?):
          ground[x, y] = Cell(Glyph("▄"), CellStyle(lower))
        case (nil, nil): break
        }
      }
    }
    guard pixels == nil else { return }
    let words = snapshot.isAssetAvailable == true ? "photo" : "photo: on its way"
    let shown = TextLines.cut(words, columns: box.width)
    let center = viewport.cell(of: snapshot.centerPosition)
    ground.put(
      shown,
      x: center.x - CharacterWidth.columns(shown) / 2,
      y: center.y,
      CellStyle(CellColor(rgb: 0xFFFFFF), on: CellColor(rgb: 0x444444)),
      in: area
    )
  }

  // MARK: - Labels

  private func label(_ item: Item) -> Label? {
    let snapshot = item.snapshot
    switch snapshot.kind {
    case .text: return textLabel(snapshot)
    case .game:
      return item.game.map { game in
        GamePanel.label(game, isASCII: dotStyle == .ascii) {
          names[$0] ?? String($0.description.prefix(8))
        }
      }
    case .drawing, .photo: return nil
    default: return Label(lines: [[.init("[?]")]])
    }
  }

  /// The words of a text: as many columns as its box has, since letters are as large as cells.
  private func textLabel(_ snapshot: ObjectSnapshot) -> Label? {
    guard let text = snapshot.text, !text.isEmpty else { return nil }
    let cell = Double(DotLayer.across) / viewport.scale
    let columns = Int(min(snapshot.size.width * snapshot.scale / cell, 400))
    let style = CellStyle(Self.color(snapshot.color))
    let lines = TextLines.wrapped(text, columns: max(columns, 4), limit: 200)
    // From afar, words are cut rather than laid over everything.
    let rows = max(
      1,
      Int(400 * snapshot.scale * viewport.scale / Double(DotLayer.down))
    )
    return Label(lines: lines.prefix(rows).map { [.init($0, style)] })
  }

  private func origin(of label: Label, _ snapshot: ObjectSnapshot) -> (x: Int, y: Int) {
    let center = viewport.cell(of: snapshot.centerPosition)
    return (center.x - label.width / 2, center.y - label.height / 2)
  }

  /// A colour of the board; what has none of its own, and black, is as the terminal writes.
  package static func color(_ rgba: UInt32?) -> CellColor {
    guard let rgba, rgba >> 8 != 0 else { return .terminal }
    return CellColor(rgb: rgba >> 8)
  }
}

/// From the points of a stroke to dots.
private struct InkPlacement {
  private let x: (Double, Double, Double)
  private let y: (Double, Double, Double)

  init(_ item: BoardCanvas.Item, _ viewport: Viewport) {
    let snapshot = item.snapshot
    let center = item.inkCenter ?? snapshot.centerPosition
    let rotation = snapshot.rotation
    let factor = snapshot.scale * viewport.scale
    let (cosine, sine) = (rotation.cosine * factor, rotation.sine * factor)
    let origin = viewport.dot(of: snapshot.centerPosition)
    let unit = 1.0 / 16
    x = (
      cosine * unit, -sine * unit, origin.x - cosine * center.x + sine * center.y
    )
    y = (
      sine * unit, cosine * unit, origin.y - sine * center.x - cosine * center.y
    )
  }

  func dot(_ point: InkPoint) -> (x: Double, y: Double) {
    let (right, down) = (Double(point.x), Double(point.y))
    return (x.0 * right + x.1 * down + x.2, y.0 * right + y.1 * down + y.2)
  }
}

extension BoardCanvas {
  /// The cell in which the next letter of a text goes, after so many of its Unicode scalars; nil where it
  /// shows no words.
  package func caret(in id: ObjectID, after scalars: Int) -> (x: Int, y: Int)? {
    guard let item = items[id], item.snapshot.kind == .text, let label = label(item),
      let text = item.snapshot.text
    else { return nil }
    let origin = origin(of: label, item.snapshot)
    // Lines are cut out of the words in their order; what is left out between them is blank.
    var rest = text.unicodeScalars[...]
    var count = 0
    for (row, line) in label.lines.enumerated() {
      let words = line.reduce("") { $0 + $1.text }.unicodeScalars
      while let first = rest.first, first != words.first, count < scalars {
        (rest, count) = (rest.dropFirst(), count + 1)
        // A blank or the end of a line, behind which the caret is.
        if first == "\n" { break }
      }
      let isLast = row == label.lines.count - 1
      let inLine = scalars - count
      if inLine <= words.count || isLast {
        let before = String(String.UnicodeScalarView(words.prefix(max(0, inLine))))
        let blanks = isLast ? max(0, inLine - words.count) : 0
        return (origin.x + CharacterWidth.columns(before) + blanks, origin.y + row)
      }
      rest = rest.dropFirst(words.count)
      count += words.count
    }
    return nil
  }
}

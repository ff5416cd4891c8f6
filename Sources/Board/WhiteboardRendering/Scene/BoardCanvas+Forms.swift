import Whiteboard

extension BoardCanvas {
  // MARK: - Colors

  /// The color `0xRRGGBB` on which a fill is seen if nothing else is behind it.
  private var plainGround: UInt32 { shownBackground ?? (paper == .light ? 0xFFFFFF : 0x000000) }

  func color(_ rgba: UInt32?, on fill: CellFill?) -> CellColor {
    guard !isMonochrome, let fill, fill.isHiding else { return InkColor.shown(rgba, on: surface) }
    let paper = Paper(fill.seen(on: plainGround))
    let color = InkColor.shown(rgba, on: paper)
    return color == .terminal ? CellColor(rgb: paper == .light ? 0x000000 : 0xFFFFFF) : color
  }

  /// Whether a form has an outline; a note has an outline only if its fill cannot be seen.
  private func hasLine(_ form: DrawingForm?) -> Bool { form != .note || isMonochrome }

  // MARK: - Labels

  /// Places the label of a form in cells that its outline does not touch, if there is room.
  func placeLabel(of snapshot: ObjectSnapshot, _ shape: FormShape, _ place: inout Place) {
    guard let layout = shape.label, let text = snapshot.text else { return }
    switch snapshot.form {
    case .line, .arrow:
      let rooms = lineRooms(snapshot, shape, layout)
      place.label = label(text, layout, of: snapshot, shape, in: rooms.cut)
      if rooms.whole != rooms.cut { place.wholeLabel = label(text, layout, of: snapshot, shape, in: rooms.whole) }
    case .frame: place.label = label(text, layout, of: snapshot, shape, in: nameRoom(snapshot, layout))
    default:
      guard let room = self.room(snapshot, shape), room.touches(place.area) else { return }
      place.label = label(text, layout, of: snapshot, shape, in: room)
    }
  }

  private func label(
    _ text: String,
    _ layout: TextLayout,
    of snapshot: ObjectSnapshot,
    _ shape: FormShape,
    in room: CellArea
  ) -> PlacedLabel {
    let isOutside = snapshot.form?.hasLabelOutside == true
    let own = snapshot.style
    var style = CellStyle(color(own.textColor, on: isOutside ? nil : shape.fill))
    if own.isBold { style.attributes.insert(.bold) }
    // If letters are larger than on a page, words can be too long for a form in which they fit on a page.
    let isTight = layout.letter.width * factor(snapshot) < Double(DotGrid.fine.across)
    let columns = isTight ? room.width : columns(snapshot, room)
    let lines = TextLines.wrapped(text, columns: columns, limit: room.height, cutsWords: isTight)
    var label = PlacedLabel(Label(lines: lines.map { [.init($0, style)] }, alignment: own.alignment))
    label.move(into: room)
    return label
  }

  /// The number of dots per unit of a form's own coordinates.
  private func factor(_ snapshot: ObjectSnapshot) -> Double { snapshot.scale * viewport.scale }

  /// Returns the maximum number of columns of a label's rows. If letters on the screen are as large as on a page, the
  /// number is the same as on a page.
  private func columns(_ snapshot: ObjectSnapshot, _ room: CellArea) -> Int {
    guard let inner = TextLayout.innerWidth(of: snapshot.form, width: snapshot.size.width),
      snapshot.rotation.sine == 0
    else { return room.width }
    let cells: Double = inner * factor(snapshot) / Double(DotGrid.fine.across)
    return min(room.width, max((cells + 1e-6).wholeCells(.down), 1))
  }

  /// Returns the cells for the name of a frame, above the left end of its upper side; the name is cut to the width of
  /// the frame.
  private func nameRoom(_ snapshot: ObjectSnapshot, _ layout: TextLayout) -> CellArea {
    let rotation = snapshot.rotation
    let letter = Point(
      x: layout.box.least.x + layout.letter.width / 2,
      y: layout.box.greatest.y - layout.letter.height / 2
    )
    let cell = viewport.cell(of: snapshot.shown(letter, sine: rotation.sine, cosine: rotation.cosine))
    let across: Double = snapshot.size.width * factor(snapshot) / Double(DotGrid.fine.across)
    return CellArea(x: cell.x, y: cell.y, width: max(min(across.wholeCells(.down), layout.columns), 1), height: 1)
  }

  /// Returns the cells for the label of a line, and the cells for the complete label. The second area contains the
  /// first area.
  ///
  /// Both areas are around the middle of the line, or beside the line if it is so short that the complete label would
  /// cover an end of the line.
  private func lineRooms(_ snapshot: ObjectSnapshot, _ shape: FormShape, _ layout: TextLayout)
    -> (cut: CellArea, whole: CellArea)
  {
    let rotation = snapshot.rotation
    let middle = viewport.cell(of: snapshot.shown(layout.middle, sine: rotation.sine, cosine: rotation.cosine))
    let points = shape.dots(of: shape.line, in: viewport, .fine)
    let ends = [points.first, points.last].compactMap(\.self).map { cells(of: [$0]) }
    let marks = shape.ends.map { cells(of: shape.dots(of: $0, in: viewport, .fine)) }
    let line = marks.reduce(cells(of: points)) { $0.union($1) }
    let factor = factor(snapshot)
    // The label may be as wide as the line is long, because letters are larger than on a page if the zoom is below 100
    // %. A cell is twice as high as wide. Large letters need no more cells than the label has columns.
    let across: Double = layout.size.width * factor / Double(DotGrid.fine.across)
    let down: Double = layout.size.height * factor / Double(DotGrid.fine.down)
    let width = max(min(max(across.wholeCells(.down), line.width, 2 * line.height), layout.columns), 1)
    let height = max(min(down.wholeCells(.down), layout.lines.count), 1)
    func around(_ width: Int, _ height: Int) -> CellArea {
      CellArea(x: middle.x - width / 2, y: middle.y - height / 2, width: width, height: height)
    }
    func beside(_ width: Int, _ height: Int) -> CellArea {
      line.width > 2 * line.height
        ? CellArea(x: middle.x - width / 2, y: line.rows.lowerBound - height, width: width, height: height)
        : CellArea(x: line.columns.upperBound, y: middle.y - height / 2, width: width, height: height)
    }
    let whole = around(layout.columns, layout.lines.count)
    guard (ends + marks).contains(where: { $0.touches(whole) }) else { return (around(width, height), whole) }
    return (beside(width, height), beside(layout.columns, layout.lines.count))
  }

  /// Returns the cells around some points, in fine dots.
  private func cells(of points: [Point]) -> CellArea {
    points.reduce(CellArea(x: 0, y: 0, width: 0, height: 0)) { area, dot in
      let column = (dot.x / Double(DotGrid.fine.across)).wholeCells(.down)
      let row = (dot.y / Double(DotGrid.fine.down)).wholeCells(.down)
      return area.union(CellArea(x: column, y: row, width: 1, height: 1))
    }
  }

  private func room(_ snapshot: ObjectSnapshot, _ shape: FormShape) -> CellArea? {
    let factor = factor(snapshot)
    let line = hasLine(shape.form) ? shape.lineWidth * factor / 2 : 0
    guard shape.isUpright else {
      let share: Double = snapshot.form == .diamond ? 1 : 1.4
      let side: Double = min(shape.box.greatest.x, shape.box.greatest.y) * factor * share
      return room(around: snapshot, Size(width: side * 0.9, height: side * 0.4))
    }
    let (least, greatest) = (viewport.dot(of: shape.corners.least), viewport.dot(of: shape.corners.greatest))
    let size = Size(width: greatest.x - least.x, height: greatest.y - least.y)
    switch snapshot.form {
    case .ellipse:
      return room(around: snapshot, Size(width: size.width * 0.7, height: size.height * 0.7))
        ?? middleRow(of: snapshot, size, line) { (1 - $0 * $0).squareRoot() }
    case .diamond:
      return room(around: snapshot, Size(width: size.width * 0.5, height: size.height * 0.5))
        ?? middleRow(of: snapshot, size, line) { 1 - $0 }
    case .note where !hasLine(shape.form): return room(around: snapshot, size)
    default:
      func inside(_ from: Double, _ to: Double, _ dots: Int) -> Range<Int>? {
        let (start, stop): (Double, Double) = ((from + line) / Double(dots), (to - line) / Double(dots))
        let (first, end) = (start.wholeCells(.down) + 1, stop.wholeCells(.down))
        return first < end ? first..<end : nil
      }
      guard let columns = inside(least.x, greatest.x, DotGrid.fine.across),
        let rows = inside(least.y, greatest.y, DotGrid.fine.down)
      else { return nil }
      return CellArea(columns: columns, rows: rows)
    }
  }

  /// Returns the cells that are completely inside a box around an object's center, in dots; nil if there are none.
  private func room(around snapshot: ObjectSnapshot, _ size: Size) -> CellArea? {
    let center = viewport.dot(of: snapshot.centerPosition)
    func inside(_ middle: Double, _ size: Double, _ dots: Int) -> Range<Int>? {
      let start: Double = (middle - size / 2) / Double(dots)
      let stop: Double = (middle + size / 2) / Double(dots)
      let (first, end) = ((start - 1e-6).wholeCells(.up), (stop + 1e-6).wholeCells(.down))
      return first < end ? first..<end : nil
    }
    guard let columns = inside(center.x, size.width, DotGrid.fine.across),
      let rows = inside(center.y, size.height, DotGrid.fine.down)
    else { return nil }
    return CellArea(columns: columns, rows: rows)
  }

  /// Returns the cells inside a low form that are in the row of its center; nil if there are none.
  ///
  /// `size` is the size of the form's box, and `line` half the width of its line, in dots. `width` returns the width of
  /// the form at a distance above or below the center. The result of `width` is a fraction of the full width, and the
  /// distance is a fraction of half the height.
  private func middleRow(
    of snapshot: ObjectSnapshot,
    _ size: Size,
    _ line: Double,
    width: (Double) -> Double
  ) -> CellArea? {
    let center = viewport.dot(of: snapshot.centerPosition)
    let row = (center.y / Double(DotGrid.fine.down)).wholeCells(.down)
    let top = Double(row * DotGrid.fine.down)
    let distance: Double = max(center.y - top, top + Double(DotGrid.fine.down) - center.y)
    // The line of a diamond is higher than wide where it slopes.
    let half: Double = size.height / 2 - 2 * line
    guard distance < half else { return nil }
    let across: Double = (size.width - 4 * line) * width(distance / half)
    let (start, stop): (Double, Double) = ((center.x - across / 2) / 2, (center.x + across / 2) / 2)
    let (first, end) = ((start - 1e-6).wholeCells(.up), (stop + 1e-6).wholeCells(.down))
    return first < end ? CellArea(columns: first..<end, rows: row..<row + 1) : nil
  }

  // MARK: - Painting

  /// Draws a form: its fill, its line and its label; returns the work, in dots.
  mutating func draw(_ shape: FormShape, _ place: Place, in area: CellArea) -> Int {
    let covered = place.area.clamped(to: area)
    var work = 1 + Self.cellWork * covered.width * covered.height
    guard shape.isVisible else { return work }
    work += shape.line.points.count + Self.letterWork * shape.letterCount
    if let fill = shape.fill {
      work += shape.line.points.count * covered.height
      var polygon = DotPolygon(shape.dots(of: shape.line, in: viewport, .fine))
      paint(fill, &polygon, covered, isWhole: hasLine(shape.form))
    }
    if hasLine(shape.form) { work += drawLine(shape, place, in: area) }
    guard let label = place.label else { return work }
    let letters = label.area.clamped(to: area)
    if shape.form?.hasPoints == true { ground.fill(letters) }
    dots.clear(letters)
    label.draw(on: &ground, in: area)
    return work
  }

  /// Replaces truncated labels of lines with complete labels if the cells are free. Call this method after all objects
  /// in an area were drawn.
  ///
  /// Returns whether any label changed from truncated to complete, or back.
  mutating func completeLabels(in area: CellArea) -> Bool {
    var isChanged = false
    for index in order.wholeLabels(in: area) {
      var place = order[index]
      let cells = place.labelArea.clamped(to: screen.area)
      guard let cut = place.label, let whole = place.wholeLabel, cells == cells.clamped(to: area) else { continue }
      let isWhole = isVisible(cut) && isFree(for: whole, replacing: cut)
      if isWhole != place.isLabelWhole { isChanged = true }
      place.isLabelWhole = isWhole
      order[index] = place
      guard isWhole else { continue }
      ground.fill(cut.area)
      whole.draw(on: &ground, in: area)
    }
    return isChanged
  }

  /// Returns whether the first and the last letter of a label's first line are visible.
  private func isVisible(_ label: PlacedLabel) -> Bool {
    guard let text = label.label.lines.first?.first?.text, let first = text.first, let last = text.last else {
      return false
    }
    let (x, y) = (label.area.columns.lowerBound + label.label.indent(ofRow: 0), label.area.rows.lowerBound)
    let end = x + CharacterWidth.columns(text) - CharacterWidth.columns(last)
    return [(x, first), (end, last)].allSatisfy { column, letter in
      screen.area.contains(x: column, y: y) && ground.text(of: ground[column, y].glyph) == String(letter)
    }
  }

  /// Returns whether a complete label would hide nothing except the truncated label, and would not join other words.
  private func isFree(for whole: PlacedLabel, replacing cut: PlacedLabel) -> Bool {
    whole.area.rows.allSatisfy { y in
      whole.area.widened(by: 1).columns.allSatisfy { x in
        if cut.area.contains(x: x, y: y) { return true }
        let isBeside = !whole.area.columns.contains(x)
        guard screen.area.contains(x: x, y: y) else { return isBeside }
        let cell = ground[x, y]
        if isBeside { return isBare(cell) }
        return (cell.glyph == .space || cell == gridCell) && cell.style.background == .terminal
          && dotStyle.cell(dots, x, y, on: .terminal) == nil
      }
    }
  }

  /// Paints the cells of a polygon. If `isWhole` is true, partly covered cells are painted too, so that a line around
  /// the polygon has the same background everywhere.
  private mutating func paint(_ fill: CellFill, _ polygon: inout DotPolygon, _ area: CellArea, isWhole: Bool) {
    let grid = DotGrid.fine
    let columns = area.columns.lowerBound * grid.across..<area.columns.upperBound * grid.across
    var spans: [Range<Int>] = []
    for y in area.rows {
      spans.removeAll(keepingCapacity: true)
      let top = Double(y * grid.down)
      if isWhole {
        for row in 0..<grid.down { polygon.addSpans(atRow: top + Double(row) + 0.5, within: columns, to: &spans) }
      } else {
        polygon.addSpans(atRow: top + Double(grid.down) / 2, within: columns, to: &spans)
      }
      spans.sort { $0.lowerBound < $1.lowerBound }
      var next = area.columns.lowerBound
      // Each cell is painted once, because a fill can be translucent.
      for span in spans {
        let first = isWhole ? span.lowerBound / grid.across : (span.lowerBound + 1) / grid.across
        let end = isWhole ? (span.upperBound - 1) / grid.across + 1 : (span.upperBound + 1) / grid.across
        let cells = max(first, next)..<max(min(end, area.columns.upperBound), first, next)
        paint(fill, CellArea(columns: cells, rows: y..<y + 1))
        next = cells.upperBound
      }
    }
  }

  /// Gives cells the background of a fill. If the fill is opaque enough, it also hides the content of the cells.
  mutating func paint(_ fill: CellFill, _ area: CellArea) {
    if fill.isHiding { dots.clear(area) } else if isMonochrome { return }
    // Most cells under a fill have the same background.
    var known: (under: UInt32, color: CellColor)?
    for y in area.rows {
      for x in area.columns {
        let under = ground[x, y].style.background.rgb ?? plainGround
        if known?.under != under { known = (under, isMonochrome ? .terminal : CellColor(rgb: fill.seen(on: under))) }
        guard let color = known?.color else { continue }
        if fill.isHiding {
          ground.replace(x, y, with: ScreenCell(.space, CellStyle(on: color)))
        } else {
          ground[x, y].style.background = color
        }
      }
    }
  }

  private mutating func drawLine(_ shape: FormShape, _ place: Place, in area: CellArea) -> Int {
    let breadths = PenBreadth(dots: shape.lineWidth * shape.scale * viewport.scale, style: dotStyle)
    if let frame = frame(shape, breadths[0]) {
      drawFrame(frame, shape, place.color, in: area)
      return 0
    }
    let color = DotLayer.dot(place.color)
    let unit = max(breadths[0], dotStyle == .ascii ? DotGrid.fine.across : 1)
    let area = DotArea(area, dots.grid)
    var pen = DotPen(breadths: breadths, color: color, dashes: Dashes.of(shape.lineStyle, unit: unit))
    var work = draw(shape.dots(of: shape.line, in: viewport, dots.grid), pen, area)
    pen.dashes = .none
    for part in shape.ends {
      let points = shape.dots(of: part, in: viewport, dots.grid)
      if part.isClosed { dots.fill(DotPolygon(points), color, within: area) }
      work += draw(points, pen, area)
    }
    return work
  }

  private mutating func draw(_ points: [Point], _ pen: DotPen, _ area: DotArea) -> Int {
    dots.draw(points.lazy.map { DotPoint(x: $0.x, y: $0.y) }, isBend: { _ in false }, pen, within: area)
  }

  /// Returns the cells of a rectangle that is drawn with characters; nil if the form is drawn with dots. Characters are
  /// used where dots are too coarse for a thin line.
  private func frame(_ shape: FormShape, _ breadth: Int) -> CellArea? {
    // In all styles, a frame is less prominent than a rectangle: a thin, dim line that hides nothing.
    let isBox = shape.form.map { [.rectangle, .roundedRectangle, .note].contains($0) } ?? false
    guard shape.isUpright, shape.form == .frame || isBox && dotStyle != .braille && breadth == 1 else { return nil }
    let corners = shape.corners
    let (least, greatest) = (viewport.cell(of: corners.least), viewport.cell(of: corners.greatest))
    guard greatest.x > least.x, greatest.y > least.y else { return nil }
    return CellArea(columns: least.x..<greatest.x + 1, rows: least.y..<greatest.y + 1)
  }

  private mutating func drawFrame(_ frame: CellArea, _ shape: FormShape, _ color: CellColor, in area: CellArea) {
    let signs = FrameSigns(shape, isASCII: dotStyle == .ascii)
    let (left, right) = (frame.columns.lowerBound, frame.columns.upperBound - 1)
    let (top, bottom) = (frame.rows.lowerBound, frame.rows.upperBound - 1)
    let isFrame = shape.form == .frame
    let style = CellStyle(color, on: .terminal, isFrame ? .dim : [])
    func put(_ sign: Unicode.Scalar, _ x: Int, _ y: Int) {
      if isFrame {
        guard isBare(ground[x, y]) else { return }
      } else {
        dots.clear(CellArea(x: x, y: y, width: 1, height: 1))
      }
      ground.put(String(Character(sign)), x: x, y: y, style, in: area)
    }
    for y in [top, bottom] where area.rows.contains(y) {
      for x in (left + 1..<max(right, left + 1)).clamped(to: area.columns) where signs.isDrawn(x - left) {
        put(signs.across, x, y)
      }
    }
    for x in [left, right] where area.columns.contains(x) {
      for y in (top + 1..<max(bottom, top + 1)).clamped(to: area.rows) where signs.isDrawn(y - top) {
        put(signs.down, x, y)
      }
    }
    for (sign, (x, y)) in zip(signs.corners, [(left, top), (right, top), (left, bottom), (right, bottom)])
    where area.contains(x: x, y: y) { put(sign, x, y) }
  }
}

struct FrameSigns {
  let across: Unicode.Scalar
  let down: Unicode.Scalar
  /// The corners at the top left, top right, bottom left and bottom right.
  let corners: [Unicode.Scalar]
  /// The number of cells in which a dash and its gap repeat.
  private let period: Int

  init(_ shape: FormShape, isASCII: Bool) {
    let isRound = shape.form == .roundedRectangle
    let style = shape.lineStyle
    period = isASCII && style != .solid ? style == .dashed ? 3 : 2 : .max
    if isASCII {
      (across, down) = ("-", "|")
      corners = isRound ? [".", ".", "'", "'"] : ["+", "+", "+", "+"]
      return
    }
    corners = isRound ? ["╭", "╮", "╰", "╯"] : ["┌", "┐", "└", "┘"]
    switch style {
    case .solid: (across, down) = ("─", "│")
    case .dashed: (across, down) = ("╌", "╎")
    case .dotted: (across, down) = ("┈", "┊")
    }
  }

  /// The characters of frames. A line that crosses a frame replaces these characters.
  static let ofFrames = Set("┌┐└┘─│╌╎┈┊+-|".unicodeScalars.map { Glyph($0) })

  func isDrawn(_ distance: Int) -> Bool { period == .max || distance % period != 0 }
}

extension Double {
  /// The rounded number, limited to ±1,000,000, which is more cells than any screen has.
  func wholeCells(_ rule: FloatingPointRoundingRule) -> Int { isNaN ? 0 : Int(min(max(rounded(rule), -1e6), 1e6)) }
}

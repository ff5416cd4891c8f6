import Whiteboard

/// The visible part of a board, painted in cells. Only the areas that changed are repainted. The caller passes changed
/// objects to ``set(_:)``, and ``paint()`` updates ``screen``. The cost depends on the changes and not on the size of
/// the board. For example, only the new part of a growing stroke is painted, and the objects behind the stroke are not
/// drawn again (``DotBase``).
package struct BoardCanvas: Sendable {
  package struct Item: Sendable {
    private let content: Content
    package var game: GameView?
    package var preview: [InkPoint] = []

    /// An object and its computed values; the copies of an item share them, because a snapshot is large.
    private final class Content: Sendable {
      let snapshot: ObjectSnapshot
      let bounds: Rectangle
      let inkCenter: Point?
      let parts: [ObjectSnapshot.InkLine]?
      let shape: FormShape?

      init(_ snapshot: ObjectSnapshot) {
        self.snapshot = snapshot
        bounds = snapshot.bounds
        inkCenter = snapshot.ink.flatMap { InkBounds($0)?.center }
        parts = snapshot.isInkComplete ? nil : snapshot.inkLines
        shape = FormShape(snapshot)
      }
    }

    package init(_ snapshot: ObjectSnapshot, game: GameView? = nil) {
      content = Content(snapshot)
      self.game = game
    }

    package var snapshot: ObjectSnapshot { content.snapshot }
    package var bounds: Rectangle { content.bounds }
    /// The center of a stroke's points in their original position.
    var inkCenter: Point? { content.inkCenter }
    /// The lines to draw if the stroke is not drawn completely, because parts were erased or add nothing visible.
    var parts: [ObjectSnapshot.InkLine]? { content.parts }
    /// How a form is drawn; nil for all other objects.
    var shape: FormShape? { content.shape }
  }

  package private(set) var viewport: Viewport
  package private(set) var dotStyle: DotStyle
  /// The cells as of the last ``paint()``.
  package internal(set) var screen: Screen
  package var names: [MemberID: String] = [:] {
    didSet {
      guard names != oldValue else { return }
      // Game panels contain display names, so update them.
      layOut { $0.game != nil }
    }
  }
  /// The background of the terminal. If the board has no background, line colors are made visible on this background.
  package var paper = Paper.unknown { didSet { if paper != oldValue { placeAll() } } }
  /// The background `0xRRGGBB` of the board; nil for the background of the terminal.
  package var background: UInt32? { didSet { if background != oldValue { placeAll() } } }
  /// The spacing of the board's grid, in board units; nil without a grid.
  package var grid: Double? { didSet { if grid != oldValue { spoilAll() } } }
  /// Whether the terminal has no colors, so that gaps distinguish the lines.
  package var isMonochrome = false { didSet { if isMonochrome != oldValue { placeAll() } } }
  /// The photos that the terminal shows as pixels. Their cells are left blank so that the pixels are visible. Objects
  /// drawn above a photo still cover it.
  package var shownAsPixels: Set<AssetID> = [] {
    didSet { for asset in shownAsPixels.symmetricDifference(oldValue) { spoil(photo: asset) } }
  }

  var dots: DotLayer
  /// The layer with text, games and photos, below the lines.
  var ground: Screen
  /// The objects from back to front, with their layout.
  var order = PlaceList()
  var items: [ObjectID: Item] = [:]
  var photos: [AssetID: PhotoPixels] = [:]
  private var photoIDs: Set<ObjectID> = []
  private var damage: [CellArea] = []
  /// The areas in which only strokes in front of ``base`` have more points than painted.
  private var growths: [CellArea] = []
  /// The dots of the objects behind the strokes that are being drawn; nil if no stroke is being drawn.
  private var base: DotBase?
  /// The unfinished strokes that have grown at least once.
  private var growing: Set<ObjectID> = []
  /// The area that is being painted; nil between two areas.
  private var job: PaintJob?
  /// The objects whose layout is not up to date. The last object is laid out next.
  private var unplaced: [ObjectID] = []

  /// An area that is painted in several steps, because its objects take a long time to paint.
  private struct PaintJob: Sendable {
    /// The area without the labels that overlap it.
    let damage: CellArea
    let area: CellArea
    let places: [Place]
    /// The number of `places` that are behind the first object in front of ``base``.
    let countInBase: Int
    var next = 0
  }

  /// The dots of the objects behind a stroke that grows, so that its new part is painted without drawing these objects
  /// again.
  ///
  /// Outside the areas that must be painted, the dots are the dots of all objects behind `first`.
  private struct DotBase: Sendable {
    /// The rearmost object that is not in the base.
    let first: ObjectID
    var dots: DotLayer

    static let frontLimit = 64
  }

  struct Place: Sendable {
    let id: ObjectID
    /// The cells of the object; empty if it is not in view.
    var area: CellArea
    /// A label is always painted completely.
    var label: PlacedLabel?
    /// The complete label of a line, if ``label`` is cut.
    var wholeLabel: PlacedLabel?
    /// Whether the complete label is shown, because the cells that it needs are free.
    var isLabelWhole = false
    let color: CellColor
    let dashes: Dashes
    let shape: FormShape?

    var shownLabel: PlacedLabel? { isLabelWhole ? wholeLabel : label }

    /// The cells of the label. A complete label also needs a free cell on either side, so that it does not join words.
    var labelArea: CellArea {
      let area = label?.area ?? CellArea(x: 0, y: 0, width: 0, height: 0)
      return wholeLabel.map { area.union($0.area.widened(by: 1)) } ?? area
    }
  }

  /// The layout of all objects, from back to front. The areas are stored separately, so that a search for the objects
  /// in an area reads little memory.
  struct PlaceList: Sendable {
    private var places: [Place] = []
    private var areas: [CellArea] = []
    /// The cells of the labels; empty for objects without a label.
    private var labels: [CellArea] = []

    var count: Int { places.count }
    var ids: [ObjectID] { places.map(\.id) }

    func id(at index: Int) -> ObjectID { places[index].id }

    subscript(index: Int) -> Place {
      get { places[index] }
      set {
        places[index] = newValue
        areas[index] = newValue.area
        labels[index] = newValue.labelArea
      }
    }

    mutating func insert(_ place: Place, at index: Int) {
      places.insert(place, at: index)
      areas.insert(place.area, at: index)
      labels.insert(place.labelArea, at: index)
    }

    mutating func remove(at index: Int) {
      places.remove(at: index)
      areas.remove(at: index)
      labels.remove(at: index)
    }

    func places(touching area: CellArea, in range: Range<Int>) -> [Place] {
      range.lazy.filter { areas[$0].touches(area) }.map { places[$0] }
    }

    /// Returns the indices of the lines whose complete labels need cells in an area.
    func wholeLabels(in area: CellArea) -> [Int] {
      labels.indices.filter { labels[$0].touches(area) && places[$0].wholeLabel != nil }
    }

    func withLabels(_ area: CellArea, within limit: CellArea) -> CellArea {
      labels.reduce(area) { whole, label in label.touches(whole) ? whole.union(label.clamped(to: limit)) : whole }
    }
  }

  /// The maximum number of areas that are painted separately; more areas are merged into one.
  private static let damageLimit = 24
  /// The maximum amount of work for one frame, as a number of painted dots. This work takes a few milliseconds.
  package static let frameWork = 1_000_000

  package init(_ viewport: Viewport, dotStyle: DotStyle = .braille) {
    self.viewport = viewport
    self.dotStyle = dotStyle
    screen = Screen(width: viewport.columns, height: viewport.rows)
    ground = screen
    dots = DotLayer(columns: viewport.columns, rows: viewport.rows, grid: dotStyle.grid)
    damage = [screen.area]
  }

  // MARK: - Objects

  package var objects: [ObjectID] { order.ids }

  /// The objects from back to front.
  package var itemsInOrder: some BidirectionalCollection<Item> { order.ids.lazy.compactMap { [items] in items[$0] } }

  /// Returns objects in order from back to front.
  package func inOrder(_ ids: Set<ObjectID>) -> [ObjectID] { ids.sorted { isBehind($0, $1) } }

  package func item(_ id: ObjectID) -> Item? { items[id] }

  func place(of id: ObjectID) -> Place? { items[id] == nil ? nil : order[index(of: id)] }

  package var count: Int { order.count }

  package var bounds: Rectangle? {
    items.values.reduce(nil) { whole, item in whole?.union(item.bounds) ?? item.bounds }
  }

  package mutating func set(_ item: Item) {
    let id = item.snapshot.id
    if item.snapshot.kind == .photo { photoIDs.insert(id) }
    var item = item
    if let old = items[id] {
      item.preview = Self.rest(of: old.preview, committed: item.snapshot.ink?.count ?? 0, old)
      let index = index(of: id)
      if onlyGrew(from: old, to: item) {
        items[id] = item
        order[index] = place(item)
        grew(id, in: growth(from: old, to: item))
        if item.snapshot.isFinished == true { stoppedGrowing(id) }
        return
      }
      stoppedGrowing(id)
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
      if item.snapshot.isFinished == false {
        // The stroke is not painted yet, so a base behind it needs no work.
        growing.insert(id)
        updateBase(behind: id)
      }
    }
    spoil(order[index(of: id)].area)
  }

  /// Shows points of a stroke that were drawn but are not committed yet. The points are in their original position.
  /// `start` is the index of the first of these points in the stroke.
  package mutating func preview(_ points: [InkPoint], from start: Int, of id: ObjectID) {
    guard var item = items[id], let ink = item.snapshot.ink, start <= ink.count + item.preview.count else { return }
    let old = item
    var drawn = Array(item.preview.prefix(max(0, start - ink.count)))
    drawn += points.dropFirst(max(0, ink.count - start))
    // The visible part of a stroke never shrinks (SYN-32).
    guard drawn.count >= item.preview.count else { return }
    item.preview = drawn
    items[id] = item
    let index = index(of: id)
    order[index] = place(item)
    grew(id, in: growth(from: old, to: item, known: ink.count))
  }

  package mutating func remove(_ id: ObjectID) {
    guard items[id] != nil else { return }
    stoppedGrowing(id)
    let index = index(of: id)
    spoil(order[index].area)
    order.remove(at: index)
    items[id] = nil
    photoIDs.remove(id)
  }

  package mutating func removeAll() {
    (order, items, photoIDs, unplaced, growing) = (PlaceList(), [:], [], [], [])
    spoilAll()
  }

  package mutating func setPhoto(_ pixels: PhotoPixels, of asset: AssetID) {
    photos[asset] = pixels
    spoil(photo: asset)
  }

  package mutating func show(_ viewport: Viewport) {
    guard viewport != self.viewport else { return }
    let old = self.viewport
    self.viewport = viewport
    if viewport.columns != old.columns || viewport.rows != old.rows { makeLayers() }
    guard viewport.scale == old.scale, unplaced.isEmpty else { return placeAll() }
    spoilAll()
    for index in 0..<order.count {
      guard let item = items[order.id(at: index)] else { continue }
      // Labels keep their layout when the board is only moved.
      var place = order[index]
      // With `&order[index]`, each call would copy the whole list, because `move` reads the canvas.
      move(&place, item)
      order[index] = place
    }
  }

  /// Computes the layout of all objects again. If that takes too much work, ``paint(_:)`` does the rest.
  private mutating func placeAll() {
    spoilAll()
    unplaced = order.ids.reversed()
    var work = Self.frameWork
    placeRest(&work)
  }

  private mutating func placeRest(_ work: inout Int) {
    while work > 0, let id = unplaced.popLast() {
      guard let item = items[id] else { continue }
      order[index(of: id)] = place(item)
      work -= Self.placingWork + Self.letterWork * (item.snapshot.text?.utf8.count ?? 0)
    }
  }

  /// The work for a byte of text, in dots: a letter can have thousands of accents.
  static let letterWork = 20

  /// The work for the layout of an object without its letters, in dots.
  private static let placingWork = 100

  package mutating func show(_ style: DotStyle) {
    defer { spoilAll() }
    guard style != dotStyle else { return }
    let hadSigns = dotStyle == .ascii
    dotStyle = style
    if dots.grid != style.grid { makeLayers() }
    if hadSigns != (style == .ascii) { layOut { $0.snapshot.kind != .drawing || $0.shape != nil } }
  }

  private mutating func makeLayers() {
    screen = Screen(width: viewport.columns, height: viewport.rows)
    ground = screen
    dots = DotLayer(columns: viewport.columns, rows: viewport.rows, grid: dotStyle.grid)
  }

  private mutating func layOut(_ isMeant: (Item) -> Bool) {
    for index in 0..<order.count {
      guard let item = items[order.id(at: index)], isMeant(item) else { continue }
      spoil(order[index].area)
      order[index] = place(item)
      spoil(order[index].area)
    }
  }

  /// Returns the index of an object in ``order``, or the index at which to insert it.
  private func index(of id: ObjectID) -> Int {
    var (low, high) = (0, order.count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(order.id(at: middle), id) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func isBehind(_ one: ObjectID, _ other: ObjectID) -> Bool {
    guard one != other, let first = items[one]?.snapshot.zIndex, let second = items[other]?.snapshot.zIndex else {
      return one < other
    }
    return first == second ? one < other : first.lexicographicallyPrecedes(second)
  }

  private static func rest(of preview: [InkPoint], committed: Int, _ old: Item) -> [InkPoint] {
    let before = old.snapshot.ink?.count ?? 0
    return Array(preview.dropFirst(max(0, committed - before)))
  }

  // MARK: - Painting changed areas

  private mutating func spoil(_ area: CellArea) {
    guard !area.isEmpty, damage.last.map({ $0.union(area) != $0 }) ?? true else { return }
    damage.append(area)
    guard damage.count > Self.damageLimit else { return }
    damage = [damage.reduce(CellArea(x: 0, y: 0, width: 0, height: 0)) { $0.union($1) }]
  }

  private mutating func spoilAll() {
    damage = [screen.area]
    (growths, base, job) = ([], nil, nil)
  }

  // MARK: - Strokes that grow

  /// Records the areas in which a stroke has more points than before.
  private mutating func grew(_ id: ObjectID, in areas: [CellArea]) {
    guard !areas.isEmpty else { return }
    updateBase(behind: id)
    guard isInFrontOfBase(id) else {
      for area in areas { spoil(area) }
      return
    }
    growths += areas
    guard growths.count > Self.damageLimit else { return }
    growths = [growths.reduce(CellArea(x: 0, y: 0, width: 0, height: 0)) { $0.union($1) }]
  }

  private func isInFrontOfBase(_ id: ObjectID) -> Bool { base.map { !isBehind(id, $0.first) } ?? false }

  /// Makes a base behind a stroke when the stroke grows for the second time, unless the present base is already behind
  /// the stroke. Removes a base that has too many objects in front of it.
  private mutating func updateBase(behind id: ObjectID) {
    if let base, order.count - index(of: base.first) > DotBase.frontLimit { removeBase(before: base.first) }
    guard !isInFrontOfBase(id) else { return }
    let index = index(of: id)
    // Make a base only when a stroke grows for the second time, because the whole area of the stroke must then be
    // painted.
    guard !growing.insert(id).inserted, order.count - index <= DotBase.frontLimit else { return }
    removeBase(before: base?.first)
    if let job { damage.append(job.damage) }
    (job, base) = (nil, DotBase(first: id, dots: dots))
    // The dots of the new base still contain the objects in front of the base, so paint the areas of these objects
    // again.
    for front in index..<order.count { spoil(order[front].area) }
  }

  private mutating func stoppedGrowing(_ id: ObjectID) {
    growing.remove(id)
    removeBase(before: id)
  }

  private mutating func removeBase(before id: ObjectID?) {
    guard let base, base.first == id else { return }
    for area in growths { spoil(area) }
    (growths, self.base) = ([], nil)
  }

  /// The index in ``order`` of the first object in front of the base; the number of objects if there is no base.
  private var frontIndex: Int { base.map { index(of: $0.first) } ?? order.count }

  /// Paints an area in which only strokes in front of the base have changed. Returns the work, in dots; nil if other
  /// objects are in front of the base too.
  private mutating func paintGrowth(in area: CellArea) -> Int? {
    let places = order.places(touching: area, in: frontIndex..<order.count)
    let strokes = places.compactMap { place in items[place.id].map { (place, $0) } }
    guard let base, strokes.allSatisfy({ $0.0.shape == nil && $0.1.snapshot.kind == .drawing }),
      order.wholeLabels(in: area).isEmpty
    else { return nil }
    dots.copy(area, of: base.dots)
    let work = strokes.reduce(0) { $0 + draw($1.1, $1.0, in: area) }
    finish(area)
    return work + Self.cellWork * area.width * area.height
  }

  private var photosInOrder: [(index: Int, item: Item)] {
    photoIDs.compactMap { id in items[id].map { (index(of: id), $0) } }.sorted { $0.index < $1.index }
  }

  package var photoItems: [Item] { photosInOrder.map(\.item) }

  private mutating func spoil(photo asset: AssetID) {
    for (index, item) in photosInOrder where item.snapshot.asset?.id == asset { spoil(order[index].area) }
  }

  package var isPainted: Bool { damage.isEmpty && growths.isEmpty && job == nil && unplaced.isEmpty }

  /// Updates the screen until `work`, a number of dots, is used up; returns the painted areas. An area of the screen
  /// changes only when it is complete. Painting a single object can exceed `work`.
  @discardableResult package mutating func paint(_ work: Int = .max) -> [CellArea] {
    var work = work
    placeRest(&work)
    var painted: [CellArea] = []
    while work > 0, unplaced.isEmpty {
      guard var current = job ?? nextJob() else {
        guard let area = growths.popLast()?.clamped(to: screen.area) else { break }
        if area.isEmpty { continue }
        if let growth = paintGrowth(in: area) {
          work -= growth
          painted.append(area)
        } else {
          damage.append(area)
        }
        continue
      }
      while work > 0, current.next < current.places.count {
        if current.next == current.countInBase { base?.dots.copy(current.area, of: dots) }
        let place = current.places[current.next]
        current.next += 1
        if let shape = place.shape {
          work -= draw(shape, place, in: current.area)
        } else if let item = items[place.id] {
          work -= draw(item, place, in: current.area)
        }
      }
      guard current.next == current.places.count else {
        job = current
        break
      }
      if current.places.count == current.countInBase { base?.dots.copy(current.area, of: dots) }
      job = nil
      let hasOtherLabels = completeLabels(in: current.area)
      finish(current.area)
      painted.append(hasOtherLabels ? current.area : current.damage)
    }
    return painted
  }

  private mutating func nextJob() -> PaintJob? {
    while !damage.isEmpty {
      let damaged = damage.removeFirst().clamped(to: screen.area)
      guard !damaged.isEmpty else { continue }
      let area = withLabels(damaged)
      clear(area)
      let behind = order.places(touching: area, in: 0..<frontIndex)
      let front = order.places(touching: area, in: frontIndex..<order.count)
      return PaintJob(damage: damaged, area: area, places: behind + front, countInBase: behind.count)
    }
    return nil
  }
}

extension BoardCanvas {
  package func caret(in id: ObjectID, after scalars: Int) -> (x: Int, y: Int)? {
    guard let item = items[id], let text = item.snapshot.text, let placed = place(of: id)?.shownLabel else {
      return nil
    }
    let lines = placed.label.lines
    // Lines are consecutive parts of the text. Only spaces and line feeds between them, and the rest of a word that is
    // cut, are left out.
    var rest = text.unicodeScalars[...]
    var count = 0
    for (row, line) in lines.enumerated() {
      var words = line.first?.text.unicodeScalars ?? "".unicodeScalars
      while let first = rest.first, first != words.first, count < scalars {
        (rest, count) = (rest.dropFirst(), count + 1)
        if first == "\n" { break }
      }
      let isCut = words.last == "…" && rest.dropFirst(words.count - 1).first != "…"
      if isCut { words.removeLast() }
      let hidden = isCut ? TextLines.restOfWord(in: text, from: rest.dropFirst(words.count).startIndex) : ""
      let inLine = scalars - count
      if inLine <= words.count + hidden.unicodeScalars.count || row == lines.count - 1 {
        let before = String(String.UnicodeScalarView(words.prefix(max(0, inLine))))
        // Trailing spaces are not shown, but a caret after them must be at the right column.
        let blanks = min(max(0, inLine - words.count), isCut ? 1 : .max)
        return (
          placed.area.columns.lowerBound + placed.label.indent(ofRow: row) + CharacterWidth.columns(before) + blanks,
          placed.area.rows.lowerBound + row
        )
      }
      count += words.count + hidden.unicodeScalars.count
      rest = rest.dropFirst(words.count + hidden.unicodeScalars.count)
    }
    return nil
  }
}

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
  package internal(set) var screen: Screen
  /// What members are called.
  package var names: [MemberID: String] = [:] {
    didSet {
      guard names != oldValue else { return }
      // Games say names.
      layOut { $0.game != nil }
    }
  }
  /// What the terminal draws on, so that colours are chosen that are seen on it.
  package var paper = Paper.unknown {
    didSet { if paper != oldValue { layOut { _ in true } } }
  }
  /// Whether the terminal has no colors; then gaps distinguish the lines.
  package var isMonochrome = false {
    didSet { if isMonochrome != oldValue { layOut { _ in true } } }
  }
  /// The photos that the terminal shows by their pixels: their cells are left blank, so that what is
  /// behind or beside letters is seen there, and only what is drawn over them shows.
  package var shownAsPixels: Set<AssetID> = [] {
    didSet {
      for asset in shownAsPixels.symmetricDifference(oldValue) { spoil(photo: asset) }
    }
  }

  var dots: DotLayer
  /// Texts, games and photos, on which lines lie.
  var ground: Screen
  /// Back to front, with where each object shows: what is looked through for every change.
  var order: [Place] = []
  var items: [ObjectID: Item] = [:]
  var photos: [AssetID: PhotoPixels] = [:]
  private var damage: [CellArea] = []

  /// Where an object shows, and what was worked out to show it.
  struct Place: Sendable {
    let id: ObjectID
    /// Empty out of view.
    var area: CellArea
    /// Its words, which are painted whole.
    var label: PlacedLabel?
    /// The colour of its lines.
    let color: CellColor
    /// The gaps in its lines.
    let dashes: Dashes
  }

  /// How many places are painted one by one.
  private static let damageLimit = 12

  package init(_ viewport: Viewport, dotStyle: DotStyle = .braille) {
    self.viewport = viewport
    self.dotStyle = dotStyle
    screen = Screen(width: viewport.columns, height: viewport.rows)
    ground = screen
    dots = DotLayer(columns: viewport.columns, rows: viewport.rows, grid: dotStyle.grid)
    damage = [screen.area]
  }

  // MARK: - What there is

  /// The objects, from back to front.
  package var objects: [ObjectID] { order.map(\.id) }

  /// An object as it is shown.
  package func item(_ id: ObjectID) -> Item? { items[id] }

  /// Where an object shows; nil if it is not on the board.
  func place(of id: ObjectID) -> Place? { items[id] == nil ? nil : order[index(of: id)] }

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
    spoil(photo: asset)
  }

  /// Shows another part of the board, or at another size.
  package mutating func show(_ viewport: Viewport) {
    guard viewport != self.viewport else { return }
    let old = self.viewport
    self.viewport = viewport
    if viewport.columns != old.columns || viewport.rows != old.rows { makeLayers() }
    for index in order.indices {
      guard let item = items[order[index].id] else { continue }
      if viewport.scale != old.scale {
        order[index] = place(item)
      } else {
        // Words stay as they are laid out when the board is moved.
        move(&order[index], item)
      }
    }
    damage = [screen.area]
  }

  /// Shows lines in another way.
  package mutating func show(_ style: DotStyle) {
    defer { damage = [screen.area] }
    guard style != dotStyle else { return }
    let hadSigns = dotStyle == .ascii
    dotStyle = style
    if dots.grid != style.grid { makeLayers() }
    if hadSigns != (style == .ascii) { layOut { $0.snapshot.kind != .drawing } }
  }

  private mutating func makeLayers() {
    screen = Screen(width: viewport.columns, height: viewport.rows)
    ground = screen
    dots = DotLayer(columns: viewport.columns, rows: viewport.rows, grid: dotStyle.grid)
  }

  /// Works out anew how some objects show.
  private mutating func layOut(_ isMeant: (Item) -> Bool) {
    for index in order.indices {
      guard let item = items[order[index].id], isMeant(item) else { continue }
      spoil(order[index].area)
      order[index] = place(item)
      spoil(order[index].area)
    }
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

  /// What is left of a preview once so many points are committed.
  private static func rest(of preview: [InkPoint], committed: Int, _ old: Item) -> [InkPoint] {
    let before = old.snapshot.ink?.count ?? 0
    return Array(preview.dropFirst(max(0, committed - before)))
  }

  // MARK: - What must be painted

  private mutating func spoil(_ area: CellArea?) {
    guard let area, !area.isEmpty else { return }
    damage.append(area)
    guard damage.count > Self.damageLimit else { return }
    damage = [damage.reduce(CellArea(x: 0, y: 0, width: 0, height: 0)) { $0.union($1) }]
  }

  private mutating func spoil(photo asset: AssetID) {
    for place in order where items[place.id]?.snapshot.asset?.id == asset { spoil(place.area) }
  }

  /// Brings the screen up to date.
  /// - Returns: Where it was painted.
  @discardableResult
  package mutating func paint() -> [CellArea] {
    let painted = damage.map { $0.clamped(to: screen.area) }
    damage = []
    for area in painted where !area.isEmpty { paint(withLabels(area)) }
    return painted
  }
}

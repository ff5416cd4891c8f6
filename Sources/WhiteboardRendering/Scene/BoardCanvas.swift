import Whiteboard

/// The visible part of a board, painted in cells.
///
/// Only the areas that changed are repainted.
///
/// The caller passes changed objects to ``set(_:)``, and ``paint()`` updates ``screen``. The cost
/// depends on the changes and not on the size of the board: for example, only the new part of a
/// growing stroke is painted.
package struct BoardCanvas: Sendable {
  /// An object as the canvas shows it.
  package struct Item: Sendable {
    /// The object.
    package let snapshot: ObjectSnapshot
    /// The state of the game; nil if the object is not a game.
    package var game: GameView?
    /// Points that were drawn but are not committed yet, in their original position.
    package var preview: [InkPoint] = []

    /// The center of a stroke's points in their original position.
    let inkCenter: Point?

    package init(_ snapshot: ObjectSnapshot, game: GameView? = nil) {
      self.snapshot = snapshot
      self.game = game
      inkCenter = snapshot.ink.flatMap { InkBounds($0)?.center }
    }
  }

  /// The visible part of the board and its scale.
  package private(set) var viewport: Viewport
  /// The characters that show lines.
  package private(set) var dotStyle: DotStyle
  /// The cells as of the last ``paint()``.
  package internal(set) var screen: Screen
  /// The display names of members.
  package var names: [MemberID: String] = [:] {
    didSet {
      guard names != oldValue else { return }
      // Game panels contain display names, so update them.
      layOut { $0.game != nil }
    }
  }
  /// The background of the terminal.
  ///
  /// Line colors are adapted to be visible on it.
  package var paper = Paper.unknown {
    didSet { if paper != oldValue { layOut { _ in true } } }
  }
  /// Whether the terminal has no colors.
  ///
  /// Without colors, gaps distinguish the lines.
  package var isMonochrome = false {
    didSet { if isMonochrome != oldValue { layOut { _ in true } } }
  }
  /// The photos that the terminal shows as pixels.
  ///
  /// Their cells are left blank so that the pixels are visible. Objects drawn above a photo still
  /// cover it.
  package var shownAsPixels: Set<AssetID> = [] {
    didSet {
      for asset in shownAsPixels.symmetricDifference(oldValue) { spoil(photo: asset) }
    }
  }

  var dots: DotLayer
  /// The layer with text, games and photos, below the lines.
  var ground: Screen
  /// The objects from back to front, with their layout.
  ///
  /// Every change searches this list.
  var order: [Place] = []
  var items: [ObjectID: Item] = [:]
  var photos: [AssetID: PhotoPixels] = [:]
  private var damage: [CellArea] = []

  /// The layout of an object on the screen.
  struct Place: Sendable {
    let id: ObjectID
    /// The cells of the object; empty if it is not in view.
    var area: CellArea
    /// The label of the object.
    ///
    /// A label is always painted completely.
    var label: PlacedLabel?
    /// The color of the object's lines.
    let color: CellColor
    /// The gaps in the object's lines.
    let dashes: Dashes
  }

  /// The maximum number of areas that are painted separately.
  ///
  /// If there are more areas, they are merged into one.
  private static let damageLimit = 12

  package init(_ viewport: Viewport, dotStyle: DotStyle = .braille) {
    self.viewport = viewport
    self.dotStyle = dotStyle
    screen = Screen(width: viewport.columns, height: viewport.rows)
    ground = screen
    dots = DotLayer(columns: viewport.columns, rows: viewport.rows, grid: dotStyle.grid)
    damage = [screen.area]
  }

  // MARK: - Objects

  /// The objects from back to front.
  package var objects: [ObjectID] { order.map(\.id) }

  /// Returns an object as the canvas shows it; nil if it is not on the board.
  package func item(_ id: ObjectID) -> Item? { items[id] }

  /// Returns the layout of an object; nil if it is not on the board.
  func place(of id: ObjectID) -> Place? { items[id] == nil ? nil : order[index(of: id)] }

  /// The number of objects.
  package var count: Int { order.count }

  /// The rectangle around all objects; nil if there are none.
  package var bounds: Rectangle? {
    items.values.reduce(nil) { whole, item in
      let bounds = item.snapshot.bounds
      return whole?.union(bounds) ?? bounds
    }
  }

  /// Adds or updates an object.
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

  /// Shows points of a stroke that were drawn but are not committed yet.
  ///
  /// The points are in their original position. `start` is the index of the first of these points in the stroke.
  package mutating func preview(_ points: [InkPoint], from start: Int, of id: ObjectID) {
    guard var item = items[id], let ink = item.snapshot.ink, start <= ink.count + item.preview.count
    else { return }
    let old = item
    var drawn = Array(item.preview.prefix(max(0, start - ink.count)))
    drawn += points.dropFirst(max(0, ink.count - start))
    // The visible part of a stroke never shrinks (SYN-32).
    guard drawn.count >= item.preview.count else { return }
    item.preview = drawn
    items[id] = item
    let index = index(of: id)
    order[index] = place(item)
    spoil(area(ofPreview: old))
    spoil(area(ofPreview: item))
  }

  /// Removes an object.
  package mutating func remove(_ id: ObjectID) {
    guard items[id] != nil else { return }
    let index = index(of: id)
    spoil(order[index].area)
    order.remove(at: index)
    items[id] = nil
  }

  /// Removes all objects.
  package mutating func removeAll() {
    (order, items) = ([], [:])
    damage = [screen.area]
  }

  /// Sets the pixels of a photo.
  package mutating func setPhoto(_ pixels: PhotoPixels, of asset: AssetID) {
    photos[asset] = pixels
    spoil(photo: asset)
  }

  /// Shows another part of the board, or another scale.
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
        // Labels keep their layout when the board is only moved.
        move(&order[index], item)
      }
    }
    damage = [screen.area]
  }

  /// Shows lines in another style and repaints everything.
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

  /// Computes the layout of some objects again.
  private mutating func layOut(_ isMeant: (Item) -> Bool) {
    for index in order.indices {
      guard let item = items[order[index].id], isMeant(item) else { continue }
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
      if isBehind(order[middle].id, id) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func isBehind(_ one: ObjectID, _ other: ObjectID) -> Bool {
    guard let first = items[one]?.snapshot.zIndex, let second = items[other]?.snapshot.zIndex
    else { return one < other }
    return first == second ? one < other : first.lexicographicallyPrecedes(second)
  }

  /// Returns the part of a preview that is not yet committed.
  private static func rest(of preview: [InkPoint], committed: Int, _ old: Item) -> [InkPoint] {
    let before = old.snapshot.ink?.count ?? 0
    return Array(preview.dropFirst(max(0, committed - before)))
  }

  // MARK: - Painting changed areas

  private mutating func spoil(_ area: CellArea?) {
    guard let area, !area.isEmpty else { return }
    damage.append(area)
    guard damage.count > Self.damageLimit else { return }
    damage = [damage.reduce(CellArea(x: 0, y: 0, width: 0, height: 0)) { $0.union($1) }]
  }

  private mutating func spoil(photo asset: AssetID) {
    for place in order where items[place.id]?.snapshot.asset?.id == asset { spoil(place.area) }
  }

  /// Updates the screen.
  ///
  /// - Returns: The painted areas.
  @discardableResult
  package mutating func paint() -> [CellArea] {
    let painted = damage.map { $0.clamped(to: screen.area) }
    damage = []
    for area in painted where !area.isEmpty { paint(withLabels(area)) }
    return painted
  }
}

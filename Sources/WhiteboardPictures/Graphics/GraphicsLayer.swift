import Whiteboard
import WhiteboardRendering

/// The photos that a terminal shows by pixels: what it is to show goes in, the bytes that change it come out.
///
/// Photos lie under the cells, which are to be blank where a photo is to be seen. It decides and remembers, and
/// does nothing else. The screen's last row is to stay free of sixels: below it a terminal scrolls.
package struct GraphicsLayer: Sendable {
  /// The bytes to write, and the contents of the terminal's cells after that.
  package struct Update: Hashable, Sendable {
    /// The bytes to write before the cells in the same frame; afterwards the cursor may be
    /// anywhere.
    package var bytes: [UInt8] = []
    /// Cells that are blank on the terminal now, or show nothing but a picture: what the screen has in
    /// them is to be written again, and nothing where it has nothing.
    package var overwritten: [CellArea] = []
  }

  /// By what the terminal shows pixels.
  package let graphics: TerminalGraphics
  /// Pixels of a cell, across and down.
  package let cellWidth: Int
  package let cellHeight: Int

  /// How many photos that are out of view a terminal keeps.
  static let keptImages = 16
  /// The most pixels of one photo that are sent as sixels; larger ones are for cells.
  static let sixelPixels = 1_500_000
  /// How far behind words photos lie: behind cells that have a background too (kitty's graphics protocol, below
  /// a quarter of the least number), and so that there is room for many on each other.
  private static let lowestLayer = -1_073_751_824
  private static let highestLayer = -1_073_741_825

  private var images: [AssetID: Image] = [:]
  private var shown: [ObjectID: Shown] = [:]
  private var imageCount = 0
  private var placementCount = 0
  private var updates = 0

  /// A photo that a terminal was sent.
  private struct Image: Sendable {
    let number: Int
    let photo: Version
    var lastShown: Int
  }

  /// The version of a photo, which changes with its resolution.
  private struct Version: Hashable, Sendable {
    let width: Int
    let height: Int

    init(_ photo: TerminalPhoto) { (width, height) = (photo.pixels.width, photo.pixels.height) }
  }

  /// A place where a photo is shown.
  private struct Shown: Sendable {
    var placement: GraphicsPlacement
    var photo: Version
    var number: Int
    var layer: Int
  }

  /// A terminal that shows no photo yet.
  ///
  /// - Parameters:
  ///   - graphics: By what it shows pixels.
  ///   - cellWidth: Pixels of a cell across.
  ///   - cellHeight: Pixels of a cell down.
  package init(_ graphics: TerminalGraphics, cellWidth: Int, cellHeight: Int) {
    self.graphics = graphics
    self.cellWidth = min(max(cellWidth, 1), 256)
    self.cellHeight = min(max(cellHeight, 1), 256)
  }

  /// In how many pixels a photo is shown: what ``TerminalPhoto`` is to be made for.
  package func pixels(of placement: GraphicsPlacement) -> (width: Int, height: Int) {
    (
      min(placement.box.width, 1 << 15) * cellWidth, min(placement.box.height, 1 << 15) * cellHeight
    )
  }

  /// Whether a photo can be shown by pixels; where not, it is for cells.
  package func canShow(_ placement: GraphicsPlacement, _ photo: TerminalPhoto?) -> Bool {
    guard let photo else { return false }
    switch graphics {
    case .kitty: return !photo.png.isEmpty
    case .sixel:
      let height = placement.visible.height * cellHeight
      return height >= 6 && placement.visible.width * cellWidth * height <= Self.sixelPixels
    }
  }

  /// Shows these photos, from back to front, and no others.
  ///
  /// - Parameters:
  ///   - placements: Where; those that ``canShow(_:_:)`` refuses are left out.
  ///   - photo: A photo as it is here by now; one of another size than before is sent anew.
  ///   - repainted: Cells that were written since the last time, or will be in this frame: sixels under
  ///     them are sent again. kitty needs none of it.
  /// - Returns: What changes. Nothing where nothing does.
  package mutating func update(
    to placements: [GraphicsPlacement],
    photo: (AssetID) -> TerminalPhoto?,
    repainted: [CellArea] = []
  ) -> Update {
    updates += 1
    let wanted = placements.compactMap { placement in
      photo(placement.asset).flatMap { canShow(placement, $0) ? (placement, $0) : nil }
    }
    switch graphics {
    case .kitty: return Update(bytes: updateKitty(to: wanted))
    case .sixel: return updateSixel(to: wanted, repainted)
    }
  }

  /// Begins anew: the terminal was cleared, or is another one.
  package mutating func reset() {
    (images, shown) = ([:], [:])
    (imageCount, placementCount) = (0, 0)
  }

  // MARK: - kitty

  private mutating func updateKitty(to wanted: [(GraphicsPlacement, TerminalPhoto)]) -> [UInt8] {
    var bytes: [UInt8] = []
    let objects = Set(wanted.map(\.0.object))
    for (id, old) in shown.sorted(by: { $0.value.number < $1.value.number })
    where !objects.contains(id) {
      if let image = images[old.placement.asset] {
        bytes += KittyCommands.remove(image.number, old.number)
      }
      shown[id] = nil
    }
    let layers = layers(of: wanted.map(\.0.object))
    for ((placement, photo), layer) in zip(wanted, layers) {
      let image = image(placement.asset, photo, &bytes)
      let old = shown[placement.object].flatMap { $0.placement.asset == placement.asset ? $0 : nil }
      if old?.placement == placement, old?.layer == layer { continue }
      let number = old?.number ?? nextPlacement()
      bytes += KittyCommands.place(
        image,
        number,
        part: PixelArea(
          of: (photo.pixels.width, photo.pixels.height),
          showing: placement.visible,
          in: placement.box
        ),
        in: placement.visible,
        z: layer
      )
      shown[placement.object] = Shown(
        placement: placement,
        photo: Version(photo),
        number: number,
        layer: layer
      )
    }
    forgetOldImages(&bytes)
    return bytes
  }

  private mutating func nextPlacement() -> Int {
    placementCount += 1
    return placementCount
  }

  /// The number of a photo, which is sent where the terminal has it not, or in fewer pixels.
  private mutating func image(
    _ asset: AssetID,
    _ photo: TerminalPhoto,
    _ bytes: inout [UInt8]
  ) -> Int {
    if var known = images[asset], known.photo == Version(photo) {
      known.lastShown = updates
      images[asset] = known
      return known.number
    }
    let number = images[asset]?.number ?? imageCount + 1
    imageCount = max(imageCount, number)
    // A photo that comes anew under its number takes the old one from wherever it is shown.
    for (id, old) in shown where old.placement.asset == asset { shown[id] = nil }
    bytes += KittyCommands.transmit(photo, as: number)
    images[asset] = Image(number: number, photo: Version(photo), lastShown: updates)
    return number
  }

  /// How far in front each object is: as before wherever that is still in order.
  private func layers(of objects: [ObjectID]) -> [Int] {
    var last = Self.lowestLayer
    let layers = objects.map { id in
      last = max(last + 1, shown[id]?.layer ?? Self.lowestLayer)
      return last
    }
    return last <= Self.highestLayer
      ? layers : objects.indices.map { min(Self.lowestLayer + $0, Self.highestLayer) }
  }

  private mutating func forgetOldImages(_ bytes: inout [UInt8]) {
    let inView = Set(shown.values.map(\.placement.asset))
    let hidden = images.filter { !inView.contains($0.key) }
      .sorted { ($0.value.lastShown, $0.value.number) < ($1.value.lastShown, $1.value.number) }
    for (asset, image) in hidden.dropLast(Self.keptImages) {
      bytes += KittyCommands.forget(image.number)
      images[asset] = nil
    }
  }

  // MARK: - Sixel

  private mutating func updateSixel(
    to wanted: [(GraphicsPlacement, TerminalPhoto)],
    _ repainted: [CellArea]
  ) -> Update {
    var update = Update()
    let kept = Dictionary(
      wanted.map { ($0.0.object, $0) },
      uniquingKeysWith: { first, _ in first }
    )
    var dirty = repainted.filter { !$0.isEmpty }
    for (id, old) in shown.sorted(by: { $0.value.number < $1.value.number })
    where kept[id]?.0 != old.placement {
      update.bytes += TerminalPlace.erased(old.placement.visible)
      update.overwritten.append(old.placement.visible)
      dirty.append(old.placement.visible)
      shown[id] = nil
    }
    let layers = layers(of: wanted.map(\.0.object))
    for ((placement, photo), layer) in zip(wanted, layers) {
      let old = shown[placement.object]
      let isNew = old == nil || old?.photo != Version(photo) || old?.layer != layer
      let areas = isNew ? [placement.visible] : Self.parts(of: placement.visible, dirty)
      for area in areas {
        guard let drawn = draw(placement, photo, area, &update.bytes) else { continue }
        update.overwritten.append(drawn)
        dirty.append(drawn)
      }
      shown[placement.object] = Shown(
        placement: placement,
        photo: Version(photo),
        number: old?.number ?? nextPlacement(),
        layer: layer
      )
    }
    return update
  }

  /// The parts of a photo that have to be drawn again; all of it in one where there are many.
  private static func parts(of visible: CellArea, _ dirty: [CellArea]) -> [CellArea] {
    let parts = dirty.map { $0.clamped(to: visible) }.filter { !$0.isEmpty }
    guard parts.count > 4 else { return parts }
    return [parts.dropFirst().reduce(parts[0]) { $0.union($1) }]
  }

  /// Draws the part of a photo that is in some cells.
  ///
  /// Sixels come in rows of six pixels: they reach into the next row of cells where the photo goes on there,
  /// and leave up to five pixels of the photo's last row blank.
  /// - Returns: The cells that were drawn on.
  private func draw(
    _ placement: GraphicsPlacement,
    _ photo: TerminalPhoto,
    _ area: CellArea,
    _ bytes: inout [UInt8]
  ) -> CellArea? {
    let rest = placement.visible.rows.upperBound - area.rows.upperBound
    var rows = area.height
    while rows * cellHeight % 6 != 0, rows < area.height + min(rest, 6) { rows += 1 }
    let drawn = CellArea(
      x: area.columns.lowerBound,
      y: area.rows.lowerBound,
      width: area.width,
      height: rows
    )
    let part = PixelArea(
      of: (photo.pixels.width, photo.pixels.height),
      showing: drawn,
      in: placement.box
    )
    guard
      let sixels = SixelPicture.encode(
        photo.pixels,
        part: part,
        across: drawn.width * cellWidth,
        down: rows * cellHeight / 6 * 6
      )
    else { return nil }
    bytes += TerminalPlace.moved(to: drawn.columns.lowerBound, drawn.rows.lowerBound) + sixels
    return drawn
  }
}

/// The position of a photo shown by pixels, in cells of the screen.
package struct GraphicsPlacement: Hashable, Sendable {
  /// The photo's object.
  package let object: ObjectID
  /// Its file.
  package let asset: AssetID
  /// The cells that all of it fills, in view or not.
  package let box: CellArea
  /// The visible cells.
  package let visible: CellArea

  /// The place of a photo; nil if nothing of it is in view.
  package init?(object: ObjectID, asset: AssetID, box: CellArea, within view: CellArea) {
    let visible = box.clamped(to: view)
    guard !visible.isEmpty else { return nil }
    self.object = object
    self.asset = asset
    self.box = box
    self.visible = visible
  }

  /// The place of an object of the board; nil if nothing of it is in view, where it is no photo, and where it
  /// is turned: terminals show pictures upright, so that a turned photo is shown by cells.
  ///
  /// - Parameters:
  ///   - snapshot: The object.
  ///   - viewport: The part of the board that is shown.
  ///   - origin: The cell of the screen at which the viewport's first one is.
  package init?(
    _ snapshot: ObjectSnapshot,
    in viewport: Viewport,
    at origin: (x: Int, y: Int) = (0, 0)
  ) {
    guard snapshot.kind == .photo, snapshot.angle == 0, let asset = snapshot.asset?.id else {
      return nil
    }
    // The nearest edges of cells, not all cells that are touched.
    let whole = viewport.rectangle
    let half = Point(
      x: (whole.greatest.x - whole.least.x) / Double(viewport.columns) / 2,
      y: (whole.greatest.y - whole.least.y) / Double(viewport.rows) / 2
    )
    func edge(_ place: Point) -> (x: Int, y: Int) {
      viewport.cell(of: Point(x: place.x + half.x, y: place.y + half.y))
    }
    let (least, greatest) = (edge(snapshot.bounds.least), edge(snapshot.bounds.greatest))
    self.init(
      object: snapshot.id,
      asset: asset,
      box: CellArea(
        x: origin.x + least.x,
        y: origin.y + least.y,
        width: max(greatest.x - least.x, 1),
        height: max(greatest.y - least.y, 1)
      ),
      within: CellArea(
        x: origin.x,
        y: origin.y,
        width: viewport.columns,
        height: viewport.rows
      )
    )
  }
}

import CChafa
import Glibc
import Whiteboard
import WhiteboardRendering

/// A layer that shows photos as pixels on a terminal, and encodes their changes as bytes. Photos are drawn below text,
/// so the cells over a visible photo must be blank. The layer returns the bytes to write, and the caller writes them to
/// the terminal. Do not place sixels in the last row of the screen, since a terminal scrolls if sixels reach below that
/// row.
package struct GraphicsLayer: Sendable {
  package struct Update: Hashable, Sendable {
    /// The bytes to write before the cells of the same frame. The bytes leave the cursor at an unspecified position.
    package var bytes: [UInt8] = []
    /// The cells that the update clears or covers with a photo. After the update, write the text of these cells again.
    package var overwritten: [CellArea] = []
  }

  package let graphics: TerminalGraphics
  package let cellWidth: Int
  package let cellHeight: Int

  /// The number of photos outside the view that the terminal keeps.
  static let keptImages = 16
  /// The maximum size in pixels at which a photo is sent as sixels; larger photos are drawn in cells.
  static let sixelPixels = 1_500_000
  /// The z-index of the lowest photo. All z-indexes are below -1,073,741,824, so that photos are also under cells with
  /// a background color.
  private static let lowestLayer = -1_073_751_824
  private static let highestLayer = -1_073_741_825

  private var images: [AssetID: Image] = [:]
  private var shown: [ObjectID: Shown] = [:]
  private var imageCount = 0
  private var placementCount = 0
  private var updates = 0

  private struct Image: Sendable {
    let number: Int
    let photo: Version
    var lastShown: Int
  }

  private struct Version: Hashable, Sendable {
    let width: Int
    let height: Int

    init(_ photo: TerminalPhoto) { (width, height) = (photo.pixels.width, photo.pixels.height) }
  }

  private struct Shown: Sendable {
    var placement: GraphicsPlacement
    var photo: Version
    var number: Int
    var layer: Int
  }

  package init(_ graphics: TerminalGraphics, cellWidth: Int, cellHeight: Int) {
    self.graphics = graphics
    self.cellWidth = min(max(cellWidth, 1), 256)
    self.cellHeight = min(max(cellHeight, 1), 256)
  }

  /// Returns the size in pixels at which a photo is shown. The ``TerminalPhoto`` must be created for this size.
  package func pixels(of placement: GraphicsPlacement) -> (width: Int, height: Int) {
    (min(placement.box.width, 1 << 15) * cellWidth, min(placement.box.height, 1 << 15) * cellHeight)
  }

  /// Returns whether a photo can be shown as pixels. Otherwise it must be drawn in cells.
  package func canShow(_ placement: GraphicsPlacement, _ photo: TerminalPhoto?) -> Bool {
    guard let photo else { return false }
    switch graphics {
    case .kitty: return !photo.png.isEmpty
    case .sixel:
      let height = placement.visible.height * cellHeight
      return height >= 6 && placement.visible.width * cellWidth * height <= Self.sixelPixels
    }
  }

  /// Shows only the given photos, from back to front, except photos that ``canShow(_:_:)`` refuses; returns the
  /// changes. `repainted` are the cells that were written since the last update or will be written in this frame:
  /// sixels under them are sent again. `repainted` has no effect on kitty graphics.
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

  /// Forgets all photos, because the terminal was cleared or replaced.
  package mutating func reset() {
    (images, shown) = ([:], [:])
    (imageCount, placementCount) = (0, 0)
  }

  // MARK: - kitty

  private mutating func updateKitty(to wanted: [(GraphicsPlacement, TerminalPhoto)]) -> [UInt8] {
    var bytes: [UInt8] = []
    let objects = Set(wanted.map(\.0.object))
    for (id, old) in shown.sorted(by: { $0.value.number < $1.value.number }) where !objects.contains(id) {
      if let image = images[old.placement.asset] { bytes += KittyCommands.remove(image.number, old.number) }
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
        part: PixelArea(of: (photo.pixels.width, photo.pixels.height), showing: placement.visible, in: placement.box),
        in: placement.visible,
        z: layer
      )
      shown[placement.object] = Shown(placement: placement, photo: Version(photo), number: number, layer: layer)
    }
    forgetOldImages(&bytes)
    return bytes
  }

  private mutating func nextPlacement() -> Int {
    placementCount += 1
    return placementCount
  }

  /// Returns the number of a photo in the terminal. If the terminal does not have the photo in this size, sends the
  /// photo first.
  private mutating func image(_ asset: AssetID, _ photo: TerminalPhoto, _ bytes: inout [UInt8]) -> Int {
    if var known = images[asset], known.photo == Version(photo) {
      known.lastShown = updates
      images[asset] = known
      return known.number
    }
    let number = images[asset]?.number ?? imageCount + 1
    imageCount = max(imageCount, number)
    // If a photo is sent again under its number, the terminal removes it from all its positions.
    for (id, old) in shown where old.placement.asset == asset { shown[id] = nil }
    bytes += KittyCommands.transmit(photo, as: number)
    images[asset] = Image(number: number, photo: Version(photo), lastShown: updates)
    return number
  }

  /// Returns the z-indexes of objects. Current z-indexes that are already in order do not change.
  private func layers(of objects: [ObjectID]) -> [Int] {
    var last = Self.lowestLayer
    let layers = objects.map { id in
      last = max(last + 1, shown[id]?.layer ?? Self.lowestLayer)
      return last
    }
    return last <= Self.highestLayer ? layers : objects.indices.map { min(Self.lowestLayer + $0, Self.highestLayer) }
  }

  private mutating func forgetOldImages(_ bytes: inout [UInt8]) {
    let inView = Set(shown.values.map(\.placement.asset))
    let hidden = images.filter { !inView.contains($0.key) }.sorted {
      ($0.value.lastShown, $0.value.number) < ($1.value.lastShown, $1.value.number)
    }
    for (asset, image) in hidden.dropLast(Self.keptImages) {
      bytes += KittyCommands.forget(image.number)
      images[asset] = nil
    }
  }

  // MARK: - Sixel

  private mutating func updateSixel(to wanted: [(GraphicsPlacement, TerminalPhoto)], _ repainted: [CellArea]) -> Update
  {
    var update = Update()
    let kept = Dictionary(wanted.map { ($0.0.object, $0) }, uniquingKeysWith: { first, _ in first })
    var dirty = repainted.filter { !$0.isEmpty }
    for (id, old) in shown.sorted(by: { $0.value.number < $1.value.number }) where kept[id]?.0 != old.placement {
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

  /// Returns the parts of a photo that must be drawn again; if there are many, one part that covers all of them.
  private static func parts(of visible: CellArea, _ dirty: [CellArea]) -> [CellArea] {
    let parts = dirty.map { $0.clamped(to: visible) }.filter { !$0.isEmpty }
    guard parts.count > 4 else { return parts }
    return [parts.dropFirst().reduce(parts[0]) { $0.union($1) }]
  }

  /// Draws a part of a photo in some cells, and returns these cells; nil if no sixels could be encoded. Sixels come in
  /// rows of six pixels. If the photo continues in the next row of cells, the sixels extend into that row. In the last
  /// row of the photo, up to five pixels stay blank.
  private func draw(_ placement: GraphicsPlacement, _ photo: TerminalPhoto, _ area: CellArea, _ bytes: inout [UInt8])
    -> CellArea?
  {
    let rest = placement.visible.rows.upperBound - area.rows.upperBound
    var rows = area.height
    while rows * cellHeight % 6 != 0, rows < area.height + min(rest, 6) { rows += 1 }
    let drawn = CellArea(x: area.columns.lowerBound, y: area.rows.lowerBound, width: area.width, height: rows)
    let part = PixelArea(of: (photo.pixels.width, photo.pixels.height), showing: drawn, in: placement.box)
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

/// The position of a photo that is shown as pixels, in cells of the screen.
package struct GraphicsPlacement: Hashable, Sendable {
  package let object: ObjectID
  package let asset: AssetID
  /// The cells that the whole photo fills, including the cells out of view.
  package let box: CellArea
  package let visible: CellArea

  package init?(object: ObjectID, asset: AssetID, box: CellArea, within view: CellArea) {
    let visible = box.clamped(to: view)
    guard !visible.isEmpty else { return nil }
    self.object = object
    self.asset = asset
    self.box = box
    self.visible = visible
  }

  /// Creates the position of an object; nil if the object is not a photo, is rotated, cropped or mirrored, or is not in
  /// view. Terminals show pictures only upright and whole, so other photos are drawn in cells.
  package init?(_ snapshot: ObjectSnapshot, in viewport: Viewport, at origin: (x: Int, y: Int) = (0, 0)) {
    guard snapshot.kind == .photo, snapshot.angle == 0, PhotoView(snapshot).isPlain, let asset = snapshot.asset?.id
    else { return nil }
    // Round to the nearest edges of cells, instead of covering all cells that the photo touches.
    let whole = viewport.rectangle
    let half = Point(
      x: (whole.greatest.x - whole.least.x) / Double(viewport.columns) / 2,
      y: (whole.greatest.y - whole.least.y) / Double(viewport.rows) / 2
    )
    func edge(_ place: Point) -> (x: Int, y: Int) { viewport.cell(of: Point(x: place.x + half.x, y: place.y + half.y)) }
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
      within: CellArea(x: origin.x, y: origin.y, width: viewport.columns, height: viewport.rows)
    )
  }
}

enum SixelPicture {
  /// The size in bytes above which a picture is encoded again with only sixteen colors.
  static let byteBudget = 512 << 10

  /// Encodes a part of a photo, scaled to a size in screen pixels; nil if there is not enough memory. The height `down`
  /// must be at least 6, and is cut to a multiple of 6, the height of a sixel.
  static func encode(_ photo: PhotoPixels, part: PixelArea, across: Int, down: Int) -> [UInt8]? {
    guard across > 0, down >= 6 else { return nil }
    // Set the opacity. Without it, the library would treat all pixels as transparent.
    var pixels: [UInt32] = []
    pixels.reserveCapacity(part.width * part.height)
    for row in part.y..<part.y + part.height {
      let start = row * photo.width + part.x
      pixels += photo.pixels[start..<start + part.width].lazy.map { $0 | 0xFF00_0000 }
    }
    let fine = encode(pixels, part, across, down, hasFewColors: false)
    guard let fine, fine.count > byteBudget else { return fine }
    return encode(pixels, part, across, down, hasFewColors: true)
  }

  private static func encode(_ pixels: [UInt32], _ part: PixelArea, _ across: Int, _ down: Int, hasFewColors: Bool)
    -> [UInt8]?
  {
    var count = 0
    let text = whiteboard_sixels(
      pixels,
      Int32(part.width),
      Int32(part.height),
      Int32(part.width * 4),
      Int32(across),
      Int32(down / 6 * 6),
      hasFewColors ? 1 : 0,
      &count
    )
    guard let text else { return nil }
    defer { free(text) }
    return text.withMemoryRebound(to: UInt8.self, capacity: count) {
      Array(UnsafeBufferPointer(start: $0, count: count))
    }
  }
}

/// All commands contain `q=2`, so that the terminal sends no reply, which the program would read as typed text.
package enum KittyCommands {
  /// The maximum number of bytes in one chunk of a photo.
  static let chunk = 4096

  static func transmit(_ photo: TerminalPhoto, as image: Int) -> [UInt8] { chunks(of: photo, "a=t,f=100,i=\(image)") }

  /// Returns the commands that send a photo and show it at the cursor.
  static func show(_ photo: TerminalPhoto) -> [UInt8] { chunks(of: photo, "a=T,f=100") }

  private static func chunks(of photo: TerminalPhoto, _ keys: String) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(photo.png.count + photo.png.count / chunk * 12 + 64)
    var start = 0
    repeat {
      let end = min(start + chunk, photo.png.count)
      let more = end < photo.png.count ? 1 : 0
      let head = start == 0 ? "\(keys),q=2,m=\(more)" : "m=\(more)"
      bytes += Array("\u{1B}_G\(head);".utf8) + photo.png[start..<end] + Array("\u{1B}\\".utf8)
      start = end
    } while start < photo.png.count
    return bytes
  }

  /// Returns the command that shows a part of a photo in some cells, or moves it to these cells. The cursor stays at
  /// the first of these cells.
  static func place(_ image: Int, _ placement: Int, part: PixelArea, in area: CellArea, z: Int) -> [UInt8] {
    let keys =
      "a=p,i=\(image),p=\(placement),x=\(part.x),y=\(part.y),w=\(part.width),h=\(part.height),"
      + "c=\(area.width),r=\(area.height),z=\(z),C=1,q=2"
    return TerminalPlace.moved(to: area.columns.lowerBound, area.rows.lowerBound)
      + Array("\u{1B}_G\(keys)\u{1B}\\".utf8)
  }

  static func remove(_ image: Int, _ placement: Int) -> [UInt8] {
    Array("\u{1B}_Ga=d,d=i,i=\(image),p=\(placement),q=2\u{1B}\\".utf8)
  }

  static func forget(_ image: Int) -> [UInt8] { Array("\u{1B}_Ga=d,d=I,i=\(image),q=2\u{1B}\\".utf8) }
}

enum TerminalPlace {
  static func moved(to x: Int, _ y: Int) -> [UInt8] { Array("\u{1B}[\(y + 1);\(x + 1)H".utf8) }

  static func erased(_ area: CellArea) -> [UInt8] {
    guard !area.isEmpty else { return [] }
    return Array("\u{1B}[0m".utf8)
      + area.rows.flatMap { row in moved(to: area.columns.lowerBound, row) + Array("\u{1B}[\(area.width)X".utf8) }
  }
}

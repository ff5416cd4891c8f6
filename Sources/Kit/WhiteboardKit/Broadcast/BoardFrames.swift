import Whiteboard
import WhiteboardRendering
import WhiteboardSync

/// A type that paints boards as pixels. It requires libraries that some programs do not contain.
package protocol FramePainter: FrameCoder {
  /// Paints a part of a picture of a board.
  ///
  /// - Parameters:
  ///   - picture: The objects to paint, and the region of the whole picture.
  ///   - scale: The number of pixels for each board unit.
  ///   - part: The part of the picture to return, in pixels.
  /// - Returns: The colors `0xRRGGBB` of the part, in rows from the top.
  /// - Throws: An error if there is not enough memory, or the picture cannot be drawn.
  func paint(_ picture: BoardPicture, scale: Double, part: PixelRect) throws -> [UInt32]
}

/// A source of pictures of a board. It has its own copy of the objects and updates this copy when the board changes, so
/// that drawing does not delay the board. Only the parts of the picture with changed objects are painted.
actor BoardFrames: FrameSource {
  private struct Entry {
    let item: BoardCanvas.Item
    /// The bounds on the page, with half the width of a line.
    let bounds: Rectangle
  }

  /// The content of a board when the source begins to follow it.
  struct Content: Sendable {
    var items: [BoardCanvas.Item] = []
    var settings = BoardSettings()
    var names: [MemberID: String] = [:]
  }

  /// The maximum number of separately painted parts of a picture.
  private static let partLimit = 8
  /// The maximum number of pixels by which letters and thin lines extend beyond their object.
  private static let overhang = 8
  /// The maximum number of bytes of photos that are kept in memory for later pictures.
  private static let photoLimit = 64 << 20
  /// The maximum number of bytes of photos in one picture; further photos are not shown.
  private static let photoLimitOfPicture = 256 << 20

  private weak var board: SharedBoard?
  private let changes: SharedBoard.Changes
  private let painter: any FramePainter
  private let area: BroadcastArea
  private var content = Content()
  private var entries: [ObjectID: Entry] = [:]
  private var games: [ObjectID: GameView] = [:]
  private var photos: [AssetID: [UInt8]] = [:]
  private var hasLoaded = false
  private var damage: [Rectangle] = []
  private var isAllDamaged = true
  private var view: Rectangle?
  /// The view of the followed member, or the frame of the latest change.
  private var target: Rectangle?
  private var targetFrame: ObjectID?

  /// `changes` are the changes of the board, including those of its local member.
  init(_ board: SharedBoard, _ painter: any FramePainter, _ area: BroadcastArea, _ changes: SharedBoard.Changes) {
    self.board = board
    self.changes = changes
    self.painter = painter
    self.area = area
  }

  var isAvailable: Bool { board != nil }

  func waitForChange() async -> Bool {
    guard hasLoaded else { return await load() }
    for await change in changes {
      if case .missed = change { return await load() }
      if apply(change) { return true }
    }
    return false
  }

  private func load() async -> Bool {
    guard let content = await board?.broadcastContent() else { return false }
    (self.content, entries, games, damage) = (content, [:], [:], [])
    for item in content.items {
      games[item.snapshot.id] = item.game
      set(item)
    }
    self.content.items = []
    (hasLoaded, isAllDamaged) = (true, true)
    return true
  }

  // MARK: - Following the board

  /// Returns whether the picture may have changed.
  func apply(_ change: SharedBoard.Change) -> Bool {
    switch change {
    case .added(let snapshot, _), .changed(let snapshot, _):
      set(item(snapshot))
      followFrame(around: snapshot)
    case .preview(let preview):
      guard var item = entries[preview.stroke]?.item, let ink = item.snapshot.ink, preview.first <= ink.count else {
        return false
      }
      item.preview = Array(preview.points.dropFirst(ink.count - preview.first))
      set(item)
    case .removed(let id, _):
      guard let old = entries.removeValue(forKey: id) else { return false }
      games[id] = nil
      damage.append(old.bounds)
    case .game(let game): games[game.id] = game
    case .photo(let asset):
      for entry in entries.values where entry.item.snapshot.asset?.id == asset { damage.append(entry.bounds) }
    case .settings(let settings):
      content.settings = settings
      isAllDamaged = true
    case .joined(let member): content.names[MemberID(member.id)] = member.name.displayed(width: 32)
    case .presence(let presence, let member):
      guard case .member(let name) = area, Self.isMeant(member, by: name), let shown = presence.view else {
        return false
      }
      let (width, height) = (Double(shown.width) / 2, Double(shown.height) / 2)
      let next = Rectangle(
        Point(x: shown.center.x - width, y: shown.center.y - height),
        Point(x: shown.center.x + width, y: shown.center.y + height)
      )
      guard next != target else { return false }
      target = next
      return true
    default: return false
    }
    return !damage.isEmpty || isAllDamaged
  }

  /// Returns the object with those previewed points that are not committed yet.
  private func item(_ snapshot: ObjectSnapshot) -> BoardCanvas.Item {
    var item = BoardCanvas.Item(snapshot, game: games[snapshot.id])
    if snapshot.isFinished == false, let old = entries[snapshot.id]?.item, let ink = snapshot.ink {
      item.preview = Array(old.preview.dropFirst(ink.count - min(old.snapshot.ink?.count ?? 0, ink.count)))
    }
    return item
  }

  private static func isMeant(_ member: SharedBoard.Member, by name: String) -> Bool {
    member.name.raw.lowercased() == name.lowercased()
      || (name.utf8.count >= 4 && member.id.text.hasPrefix(name.lowercased()))
  }

  private func set(_ item: BoardCanvas.Item) {
    let snapshot = item.snapshot
    let reach = (snapshot.lineWidth ?? 0) * snapshot.scale / 2 + 1
    let box = item.pageBounds
    let bounds = box.widened(by: reach)
    if let old = entries.updateValue(Entry(item: item, bounds: bounds), forKey: snapshot.id) {
      damage.append(old.bounds)
    }
    damage.append(bounds)
    if damage.count > 1_024 { (damage, isAllDamaged) = ([], true) }
  }

  private func followFrame(around snapshot: ObjectSnapshot) {
    guard area == .latestFrame else { return }
    if snapshot.id == targetFrame { target = snapshot.bounds }
    let center = snapshot.centerPosition
    let frames = entries.values.map(\.item.snapshot).filter { $0.form == .frame && $0.id != snapshot.id }
    guard let frame = frames.first(where: { $0.bounds.contains(Rectangle(center, center)) }) else { return }
    (target, targetFrame) = (frame.bounds, frame.id)
  }

  // MARK: - Drawing

  func draw(_ size: FrameSize, isWhole: Bool) async throws -> FrameDrawing {
    guard hasLoaded else { return FrameDrawing(patches: []) }
    let view = newView(size)
    let scale = Double(size.width) / (view.greatest.x - view.least.x)
    let areas = isWhole || isAllDamaged || view != self.view ? [size.area] : damagedAreas(view, scale, size)
    self.view = view
    (damage, isAllDamaged) = ([], false)
    var patches: [FramePatch] = []
    for area in areas {
      let items = items(in: area, of: view, scale)
      await loadPhotos(of: items)
      let photos = photos
      var picture = BoardPicture(
        items: items,
        region: view,
        background: content.settings.shownBackground ?? 0xFFFFFF,
        grid: content.settings.grid,
        names: content.names
      )
      picture.photo = { photos[$0] }
      patches.append(FramePatch(area: area, pixels: try painter.paint(picture, scale: scale, part: area)))
    }
    return FrameDrawing(patches: patches, region: [view.least.x, view.least.y, view.greatest.x, view.greatest.y])
  }

  private func newView(_ size: FrameSize) -> Rectangle {
    switch area {
    case .region(let region): return region.filling(size)
    case .member, .latestFrame: if let target { return target.filling(size) }
    case .wholeBoard: break
    }
    let bounds = entries.values.reduce(Rectangle?.none) { $0?.union($1.bounds) ?? $1.bounds }
    guard let bounds else { return Rectangle(Point(x: -480, y: -270), Point(x: 480, y: 270)).filling(size) }
    // The view moves only if objects are outside it, or if it is much too large, so that the picture seldom jumps.
    if let view, view.contains(bounds), bounds.width * 3 > view.width || bounds.height * 3 > view.height { return view }
    let margin = max(20, 0.1 * max(bounds.width, bounds.height))
    return bounds.widened(by: margin).filling(size)
  }

  private func damagedAreas(_ view: Rectangle, _ scale: Double, _ size: FrameSize) -> [PixelRect] {
    var areas: [PixelRect] = []
    // The color of a text depends on the objects behind its center.
    let texts = damage.isEmpty ? [] : entries.values.filter { $0.item.snapshot.kind == .text }.map(\.bounds)
    for changed in damage {
      let box = texts.reduce(changed) { changed.contains(Rectangle($1.center, $1.center)) ? $0.union($1) : $0 }
      guard box.touches(view) else { continue }
      func pixel(_ value: Double) -> Int { Int(min(max(value, -1e6), 1e6)) }
      let left = pixel(((box.least.x - view.least.x) * scale).rounded(.down)) - Self.overhang
      let top = pixel(((box.least.y - view.least.y) * scale).rounded(.down)) - Self.overhang
      let right = pixel(((box.greatest.x - view.least.x) * scale).rounded(.up)) + Self.overhang
      let bottom = pixel(((box.greatest.y - view.least.y) * scale).rounded(.up)) + Self.overhang
      var area = PixelRect(x: left, y: top, width: right - left, height: bottom - top).intersection(size.area)
      guard !area.isEmpty else { continue }
      while let index = areas.firstIndex(where: { !$0.intersection(area).isEmpty }) {
        area = area.union(areas.remove(at: index))
      }
      areas.append(area)
      if areas.count > Self.partLimit { areas = [areas.reduce(area) { $0.union($1) }] }
    }
    return areas
  }

  /// Returns the objects that affect a part of the picture, from back to front. The color of ink depends on the objects
  /// behind it, so these are included even if they touch only another part of the ink.
  private func items(in area: PixelRect, of view: Rectangle, _ scale: Double) -> [BoardCanvas.Item] {
    let margin = Self.overhang
    let part = Rectangle(
      Point(
        x: view.least.x + Double(area.x - margin) / scale,
        y: view.least.y + Double(area.y - margin) / scale
      ),
      Point(
        x: view.least.x + Double(area.x + area.width + margin) / scale,
        y: view.least.y + Double(area.y + area.height + margin) / scale
      )
    )
    let hull = entries.values.reduce(part) { $1.bounds.touches(part) ? $0.union($1.bounds) : $0 }
    return entries.values.filter { $0.bounds.touches(hull) }.map(\.item).sorted { one, other in
      let (first, second) = (one.snapshot, other.snapshot)
      return first.zIndex == second.zIndex
        ? first.id < second.id : first.zIndex.lexicographicallyPrecedes(second.zIndex)
    }
  }

  private func size(with photo: [UInt8]) -> Int { photos.values.reduce(photo.count) { $0 + $1.count } }

  private func loadPhotos(of items: [BoardCanvas.Item]) async {
    let needed = Set(items.compactMap { $0.snapshot.asset?.id })
    for asset in needed where photos[asset] == nil {
      guard let bytes = await board?.broadcastPhoto(asset) else { continue }
      if size(with: bytes) > Self.photoLimit { photos = photos.filter { needed.contains($0.key) } }
      guard size(with: bytes) <= Self.photoLimitOfPicture else { return }
      photos[asset] = bytes
    }
  }
}

extension Rectangle {
  fileprivate var width: Double { greatest.x - least.x }
  fileprivate var height: Double { greatest.y - least.y }

  /// Returns the smallest rectangle with the same center that has the proportions of a picture and contains this one.
  fileprivate func filling(_ size: FrameSize) -> Rectangle {
    let scale = min(Double(size.width) / max(width, 1), Double(size.height) / max(height, 1))
    let (x, y) = (Double(size.width) / scale / 2, Double(size.height) / scale / 2)
    return Rectangle(Point(x: center.x - x, y: center.y - y), Point(x: center.x + x, y: center.y + y))
  }
}

extension SharedBoard {
  func broadcastContent() -> BoardFrames.Content? {
    guard let active = board else { return nil }
    let export = BoardExport(of: active.replica.board, id: "", name: "", names: active.authors.displayNames)
    return BoardFrames.Content(items: export.picture.items, settings: export.settings, names: export.picture.names)
  }

  func broadcastPhoto(_ asset: AssetID) async -> [UInt8]? {
    defer { photos.close(asset) }
    guard let path = await photos.open(asset) else { return nil }
    return await FileQueue.run { try? FileReading.whole(path, limit: BoardLimits.photoBytes) }
  }
}

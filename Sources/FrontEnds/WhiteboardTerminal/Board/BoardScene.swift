import Whiteboard
import WhiteboardKit
import WhiteboardPictures
import WhiteboardRendering

/// The board as it is shown: its objects, the visible part, and the selections.
struct BoardScene: Sendable {
  var canvas: BoardCanvas
  /// The local member's id; nil until the session is connected.
  var ownID: MemberID?
  private(set) var selection: Set<ObjectID> = []
  private(set) var held: Set<ObjectID> = []
  private var games: [ObjectID: GameView] = [:]
  /// The objects with votes or a link, stored so that the client does not search all objects for each drawn frame.
  private(set) var marked: Set<ObjectID> = []
  /// The ids of the frames, so that a presentation does not search all objects for them.
  private var frameIDs: Set<ObjectID> = []
  private(set) var ourTurns: Set<ObjectID> = []

  init(_ canvas: BoardCanvas) { self.canvas = canvas }

  var viewport: Viewport { canvas.viewport }

  /// The tolerance of a click, in board units: the width of a cell.
  var tolerance: Double { viewport.cellWidth }

  // MARK: - Changes of the board

  /// Returns whether the local user has selected the object.
  mutating func setObject(_ snapshot: ObjectSnapshot) -> Bool {
    let id = snapshot.id
    canvas.set(BoardCanvas.Item(snapshot, game: games[id]))
    let isSelected = snapshot.selectedBy.map { $0 == ownID } ?? false
    if isSelected { selection.insert(id) } else { selection.remove(id) }
    if snapshot.selectedBy != nil { held.insert(id) } else { held.remove(id) }
    if snapshot.form == .frame { frameIDs.insert(id) } else { frameIDs.remove(id) }
    if snapshot.votes.isEmpty, snapshot.link == nil { marked.remove(id) } else { marked.insert(id) }
    return isSelected
  }

  /// Sets the view of a game, which arrives before the game's object. Returns whether the local user's turn has just
  /// begun.
  mutating func setGame(_ game: GameView) -> Bool {
    games[game.id] = game
    guard isOurTurn(in: game) else {
      ourTurns.remove(game.id)
      return false
    }
    return ourTurns.insert(game.id).inserted
  }

  mutating func remove(_ id: ObjectID) {
    canvas.remove(id)
    games[id] = nil
    marked.remove(id)
    frameIDs.remove(id)
    ourTurns.remove(id)
    selection.remove(id)
    held.remove(id)
  }

  private func isOurTurn(in game: GameView) -> Bool {
    guard case .connectFour(let view) = game.detail else { return false }
    return view.outcome == .playing && view.turn == view.member
  }

  // MARK: - Objects

  /// The frames from back to front, which is also the order of the presentation.
  var frames: [ObjectID] { canvas.inOrder(frameIDs) }

  func snapshot(_ id: ObjectID) -> ObjectSnapshot? { canvas.item(id)?.snapshot }

  func object(at place: Point) -> ObjectID? {
    canvas.itemsInOrder.last { item in
      // The cells in which a game is drawn can extend beyond its bounds.
      if item.snapshot.kind == .game, canvas.hasWords(of: item.snapshot.id, at: place) { return true }
      return item.snapshot.isNear(place, within: tolerance)
    }?.snapshot.id
  }

  func objects(inside rectangle: Rectangle) -> [ObjectID] {
    canvas.itemsInOrder.filter { rectangle.contains($0.bounds) }.map(\.snapshot.id)
  }

  var objectsInView: [ObjectID] {
    let view = viewport.rectangle
    return canvas.itemsInOrder.filter { view.touches($0.bounds) }.map(\.snapshot.id)
  }

  /// Returns the object with an id or id prefix, or otherwise an object whose text contains the words.
  func object(matching words: String) -> ObjectID? {
    if let id = ObjectID(words) ?? canvas.objects.first(where: { "\($0)".hasPrefix(words + "-") }),
      canvas.item(id) != nil
    {
      return id
    }
    let text = words.lowercased()
    return canvas.itemsInOrder.first { $0.snapshot.text?.lowercased().contains(text) == true }?.snapshot.id
  }

  /// Returns the object before or after the selection in the order of creation.
  func neighbor(_ step: Int) -> ObjectID? {
    let ids = canvas.objects.sorted()
    guard !ids.isEmpty else { return nil }
    var index = step > 0 ? 0 : ids.count - 1
    if let last = selection.max(), let before = ids.firstIndex(of: last) {
      index = (before + step + ids.count) % ids.count
    }
    return ids[index]
  }

  /// If a game is selected, the key acts in that game. If nothing is selected, the key acts in the only game of its
  /// kind in which it is the local user's turn. If there is no such game, the key acts in the only game of its kind.
  func game(_ game: GameName) -> ObjectID? {
    if let selected = selection.first(where: { snapshot($0)?.kind == .game }) { return selected }
    guard selection.isEmpty else { return nil }
    let open = games.keys.filter { snapshot($0)?.game == game.rawValue }
    let ours = open.filter { ourTurns.contains($0) }
    return ours.count == 1 ? ours.first : open.count == 1 ? open.first : nil
  }

  static let photoSize = Size(width: 200, height: 200)

  /// The size of the box in which the cells of a new game fit at the present zoom.
  var gameSize: Size { Size(width: 18 * viewport.cellWidth, height: 24 * viewport.cellWidth) }

  /// Returns the center for a new photo, game or note with a box of this size. The result is the given place, unless
  /// the box would cover another photo, game or note there. Otherwise it is the nearest free place, in view if
  /// possible.
  func freePlace(for size: Size, near place: Point) -> Point {
    let taken = canvas.itemsInOrder.compactMap { item -> Rectangle? in
      let snapshot = item.snapshot
      guard [.photo, .game].contains(snapshot.kind) || snapshot.form == .note else { return nil }
      return canvas.words(of: snapshot.id).map { $0.union(item.bounds) } ?? item.bounds
    }
    let (width, height) = (size.width / 2, size.height / 2)
    func box(_ center: Point) -> Rectangle {
      Rectangle(
        Point(x: center.x - width, y: center.y - height),
        Point(x: center.x + width, y: center.y + height)
      )
    }
    func cover(of center: Point) -> Rectangle? {
      let box = box(center)
      return taken.first { $0.touches(box) }
    }
    guard cover(of: place) != nil else { return place }
    func distance(_ other: Point) -> Double { max((other.x - place.x).magnitude, (other.y - place.y).magnitude) }
    let beside = taken.flatMap { other in
      [
        Point(x: other.greatest.x + width + tolerance, y: place.y),
        Point(x: place.x, y: other.greatest.y + height + tolerance),
        Point(x: other.least.x - width - tolerance, y: place.y),
        Point(x: place.x, y: other.least.y - height - tolerance),
      ]
    }.sorted { distance($0) < distance($1) }
    let view = viewport.rectangle
    if let free = beside.first(where: { view.contains(box($0)) && cover(of: $0) == nil }) { return free }
    var free = place
    while let next = cover(of: free) { free.x = next.greatest.x + width + tolerance }
    return free
  }

  // MARK: - Selection

  var selectedReferences: [ObjectReference] { selection.sorted().map { .id($0) } }

  var selectedSnapshots: [ObjectSnapshot] { selection.sorted().compactMap { snapshot($0) } }

  var onlySelected: ObjectSnapshot? { selection.count == 1 ? selectedSnapshots.first : nil }

  var selectionFrame: SelectionFrame? { frame(of: selectedSnapshots) }

  func frame(of id: ObjectID) -> SelectionFrame? { snapshot(id).flatMap { frame(of: [$0]) } }

  private func frame(of snapshots: [ObjectSnapshot]) -> SelectionFrame? {
    SelectionFrame(snapshots, in: viewport) { canvas.words(of: $0) }
  }

  func snapping(from: Point, to: Point, isSnapping: Bool) -> Snapping {
    let offset = Point(x: to.x - from.x, y: to.y - from.y)
    let bounds = selectedSnapshots.map(\.bounds)
    guard let first = bounds.first, from != to, isSnapping else {
      return Snapping(Rectangle(from, from), by: offset, to: [], grid: nil, reach: 0)
    }
    let view = viewport.rectangle
    let others = canvas.itemsInOrder.compactMap { item in
      view.touches(item.bounds) && !selection.contains(item.snapshot.id) ? item.bounds : nil
    }
    return Snapping(
      bounds.dropFirst().reduce(first) { $0.union($1) },
      by: offset,
      to: Array(others),
      grid: canvas.grid,
      reach: tolerance / 2
    )
  }

  /// Returns the clockwise rotation, in degrees, that results from dragging the knob of a frame to a point.
  func degrees(_ frame: SelectionFrame, to place: Point, isSnapping: Bool) -> Double {
    let by = frame.degrees(to: place)
    guard isSnapping else { return by }
    // The angle of a single object becomes a multiple of 15°; several objects are rotated by a multiple of 15°.
    let before = (onlySelected?.angle ?? 0) * 180 / .pi
    return ((before + by) / 15).rounded() * 15 - before
  }

  // MARK: - Photos

  /// Returns the photos in view, and which of them must be drawn in cells: on some terminals, a box does not cover the
  /// pixels of a photo. Only the part of a photo in `part` is shown as pixels.
  func photosInView(_ area: CellArea, within part: CellArea? = nil, covered: CellArea?) -> PhotosInView {
    var inView = PhotosInView()
    let origin = (x: area.columns.lowerBound, y: area.rows.lowerBound)
    let view = viewport.rectangle
    for item in canvas.photoItems {
      let snapshot = item.snapshot
      guard let asset = snapshot.asset, view.touches(item.bounds) else { continue }
      guard let placement = GraphicsPlacement(snapshot, in: viewport, at: origin) else {
        inView.byCells.insert(asset.id)
        continue
      }
      // The pixels must not cover the rows and columns around the board.
      guard
        let inside = GraphicsPlacement(
          object: snapshot.id,
          asset: asset.id,
          box: placement.box,
          within: part ?? area
        )
      else { continue }
      inView.upright.append(inside)
      if let covered, !covered.clamped(to: inside.visible).isEmpty { inView.byCells.insert(asset.id) }
    }
    return inView
  }
}

/// The position of a moved object when it snaps to the edges and centers of other objects.
struct Snapping: Hashable, Sendable {
  let offset: Point
  /// The vertical line to which the object snaps, if any.
  let x: Double?
  /// The horizontal line to which the object snaps, if any.
  let y: Double?

  /// Moves a box by an offset and snaps it to the edges and centers of other boxes. If no box is within reach, the
  /// center of the box snaps to the board's grid.
  init(_ box: Rectangle, by offset: Point, to others: [Rectangle], grid: Double?, reach: Double) {
    let horizontal = Self.nearest(
      [box.least.x, box.center.x, box.greatest.x].map { $0 + offset.x },
      others.flatMap { [$0.least.x, $0.center.x, $0.greatest.x] },
      grid: grid.map { (box.center.x + offset.x, $0) },
      reach
    )
    let vertical = Self.nearest(
      [box.least.y, box.center.y, box.greatest.y].map { $0 + offset.y },
      others.flatMap { [$0.least.y, $0.center.y, $0.greatest.y] },
      grid: grid.map { (box.center.y + offset.y, $0) },
      reach * 2
    )
    self.offset = Point(x: offset.x + (horizontal?.by ?? 0), y: offset.y + (vertical?.by ?? 0))
    (x, y) = (horizontal?.line, vertical?.line)
  }

  private static func nearest(
    _ own: [Double],
    _ lines: [Double],
    grid: (middle: Double, distance: Double)?,
    _ reach: Double
  ) -> (by: Double, line: Double)? {
    var best: (by: Double, line: Double)?
    func consider(_ place: Double, _ line: Double) {
      let by = line - place
      guard by.magnitude <= reach, by.magnitude < best?.by.magnitude ?? .infinity else { return }
      best = (by, line)
    }
    for line in lines { for place in own { consider(place, line) } }
    if best == nil, let grid, grid.distance > 0 {
      consider(grid.middle, (grid.middle / grid.distance).rounded() * grid.distance)
    }
    return best
  }
}

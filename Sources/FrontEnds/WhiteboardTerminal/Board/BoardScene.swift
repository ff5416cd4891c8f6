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
  /// The photos among the objects; a frame must not look at all objects to find them.
  private var photos: Set<ObjectID> = []
  /// The objects with votes or a link; a frame must not look at all objects to find them.
  private(set) var marked: Set<ObjectID> = []
  /// The games in which it is the local user's turn.
  private(set) var ourTurns: Set<ObjectID> = []

  init(_ canvas: BoardCanvas) { self.canvas = canvas }

  var viewport: Viewport { canvas.viewport }

  /// The tolerance of a click, in board units: the width of a cell.
  var tolerance: Double { viewport.cellWidth }

  // MARK: - Changes of the board

  /// Shows an object in its new state; returns whether the local user has selected it.
  mutating func setObject(_ snapshot: ObjectSnapshot) -> Bool {
    let id = snapshot.id
    canvas.set(BoardCanvas.Item(snapshot, game: games[id]))
    let isSelected = snapshot.selectedBy.map { $0 == ownID } ?? false
    if isSelected { selection.insert(id) } else { selection.remove(id) }
    if snapshot.selectedBy != nil { held.insert(id) } else { held.remove(id) }
    if snapshot.kind == .photo { photos.insert(id) } else { photos.remove(id) }
    if snapshot.votes.isEmpty, snapshot.link == nil { marked.remove(id) } else { marked.insert(id) }
    return isSelected
  }

  /// Sets the view of a game, whose object follows; returns whether it has just become the local user's turn.
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
    photos.remove(id)
    marked.remove(id)
    ourTurns.remove(id)
    selection.remove(id)
    held.remove(id)
  }

  private func isOurTurn(in game: GameView) -> Bool {
    guard case .connectFour(let view) = game.detail else { return false }
    return view.outcome == .playing && view.turn == view.member
  }

  // MARK: - Objects

  func snapshot(_ id: ObjectID) -> ObjectSnapshot? { canvas.item(id)?.snapshot }

  /// Returns the frontmost object at a point, with a tolerance of one cell.
  func object(at place: Point) -> ObjectID? {
    canvas.objects.last { id in
      guard let snapshot = snapshot(id) else { return false }
      // The cells in which a game is drawn can extend beyond its bounds.
      if snapshot.kind == .game, canvas.hasWords(of: id, at: place) { return true }
      return snapshot.isNear(place, within: tolerance)
    }
  }

  var snapshots: [ObjectSnapshot] { canvas.objects.compactMap { snapshot($0) } }

  func objects(inside rectangle: Rectangle) -> [ObjectID] {
    canvas.objects.filter { id in snapshot(id).map { rectangle.contains($0.bounds) } ?? false }
  }

  /// The objects that are at least partly in view.
  var objectsInView: [ObjectID] {
    let view = viewport.rectangle
    return canvas.objects.filter { id in snapshot(id).map { view.touches($0.bounds) } ?? false }
  }

  /// Returns the object with an id or id prefix, or otherwise an object whose text contains the words.
  func object(matching words: String) -> ObjectID? {
    if let id = ObjectID(words) ?? canvas.objects.first(where: { "\($0)".hasPrefix(words + "-") }),
      canvas.item(id) != nil
    {
      return id
    }
    let text = words.lowercased()
    return canvas.objects.first { snapshot($0)?.text?.lowercased().contains(text) == true }
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

  /// Returns the game in which a key asks for a move.
  ///
  /// This is a selected game of any kind. If nothing is selected, it is the only game of the key's kind in which it is
  /// the local user's turn, or otherwise the only game of that kind.
  func game(_ game: GameName) -> ObjectID? {
    if let selected = selection.first(where: { snapshot($0)?.kind == .game }) { return selected }
    guard selection.isEmpty else { return nil }
    let open = canvas.objects.filter { snapshot($0)?.game == game.rawValue }
    let ours = open.filter { ourTurns.contains($0) }
    return ours.count == 1 ? ours.first : open.count == 1 ? open.first : nil
  }

  /// Returns the place for a new photo or game: the given one, or if a photo or a game is there, one beside it.
  func freePlace(near place: Point) -> Point {
    let taken = canvas.objects.compactMap { id -> Rectangle? in
      guard let snapshot = snapshot(id), snapshot.kind == .photo || snapshot.kind == .game else { return nil }
      return canvas.words(of: id).map { $0.union(snapshot.bounds) } ?? snapshot.bounds
    }
    func cover(of place: Point) -> Rectangle? { taken.first { $0.contains(Rectangle(place, place)) } }
    guard let first = cover(of: place) else { return place }
    let (wide, high) = (
      first.greatest.x - first.least.x + 2 * tolerance, first.greatest.y - first.least.y + 2 * tolerance
    )
    let ring = [(1.0, 0.0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)]
    for (x, y) in ring {
      let beside = Point(x: place.x + x * wide, y: place.y + y * high)
      if cover(of: beside) == nil, viewport.rectangle.contains(Rectangle(beside, beside)) { return beside }
    }
    var beside = place
    while let next = cover(of: beside) { beside = Point(x: next.greatest.x + wide / 2 + tolerance, y: beside.y) }
    return beside
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

  /// Returns the movement of the selection when it is dragged from one point to another.
  func snapping(from: Point, to: Point, isSnapping: Bool) -> Snapping {
    let offset = Point(x: to.x - from.x, y: to.y - from.y)
    let bounds = selectedSnapshots.map(\.bounds)
    guard let first = bounds.first, from != to, isSnapping else {
      return Snapping(Rectangle(from, from), by: offset, to: [], grid: nil, reach: 0)
    }
    let view = viewport.rectangle
    let others = canvas.objects.compactMap { id -> Rectangle? in
      guard !selection.contains(id), let bounds = snapshot(id)?.bounds, view.touches(bounds) else { return nil }
      return bounds
    }
    return Snapping(
      bounds.dropFirst().reduce(first) { $0.union($1) },
      by: offset,
      to: others,
      grid: canvas.grid,
      reach: tolerance / 2
    )
  }

  /// Returns the rotation in degrees if the knob of a frame is dragged to a point.
  ///
  /// With snapping, the rotation is in steps of 15°.
  func degrees(_ frame: SelectionFrame, to place: Point, isSnapping: Bool) -> Double {
    let by = frame.degrees(to: place)
    guard isSnapping else { return by }
    // The angle of a single object becomes a multiple of 15°; several objects are rotated by a multiple of 15°.
    let before = (onlySelected?.angle ?? 0) * 180 / .pi
    return ((before + by) / 15).rounded() * 15 - before
  }

  // MARK: - Photos

  /// Returns the photos in view, and which of them must be drawn in cells: on some terminals, a box does not cover the
  /// pixels of a photo.
  func photosInView(_ area: CellArea, covered: CellArea?) -> PhotosInView {
    var inView = PhotosInView()
    if photos.isEmpty { return inView }
    let origin = (x: area.columns.lowerBound, y: area.rows.lowerBound)
    let view = viewport.rectangle
    for id in canvas.objects where photos.contains(id) {
      guard let snapshot = snapshot(id), let asset = snapshot.asset,
        view.touches(snapshot.bounds)
      else { continue }
      guard let placement = GraphicsPlacement(snapshot, in: viewport, at: origin) else {
        inView.byCells.insert(asset.id)
        continue
      }
      // The pixels must not cover the rows and columns around the board.
      guard let inside = GraphicsPlacement(object: id, asset: asset.id, box: placement.box, within: area) else {
        continue
      }
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

  /// Moves a box by an offset and snaps it to the edges and centers of other boxes.
  ///
  /// If no box is within reach, the center of the box snaps to the board's grid.
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

import Whiteboard
import WhiteboardNode
import WhiteboardRendering

/// What the tool takes hold of, and where it goes.
extension BoardClient {
  /// What is at a place is selected, or what is selected is taken hold of.
  mutating func pick(_ place: Point, _ modifiers: InputEvent.Modifiers) -> [Action] {
    if let frame = selectionFrame, let handle = frame.handle(at: place) {
      switch handle {
      case .resize(let grip):
        gesture = .resize(.init(frame: frame, grip: grip, from: place, to: place))
        drag(place, modifiers)
      case .knob: gesture = .turn(frame, to: place)
      }
      return []
    }
    let isMore = modifiers.contains(.control) || modifiers.contains(.alt)
    guard let id = object(at: place) else {
      gesture = .band(from: place, to: place)
      return selection.isEmpty || isMore ? [] : request(.deselect)
    }
    if isTwice(at: place), let snapshot = canvas.item(id)?.snapshot, snapshot.kind == .text {
      return typeIn(snapshot)
    }
    gesture = .drag(from: place, to: place)
    if isMore { return select(selection.symmetricDifference([id]).sorted()) }
    return selection.contains(id) ? [] : select([id])
  }

  /// Whether a place was clicked a moment ago as well.
  private mutating func isTwice(at place: Point) -> Bool {
    defer { lastClick = (place, now) }
    guard let (before, time) = lastClick, now - time < .milliseconds(400) else { return false }
    return (before.x - place.x).magnitude < reach && (before.y - place.y).magnitude < reach
  }

  /// The frame around what is selected.
  var selectionFrame: SelectionFrame? { frame(of: selectedSnapshots) }

  /// The frame around some objects.
  func frame(of snapshots: [ObjectSnapshot]) -> SelectionFrame? {
    SelectionFrame(snapshots, in: canvas.viewport) { canvas.words(of: $0) }
  }

  /// The frontmost object at a place, with a cell's tolerance.
  func object(at place: Point) -> ObjectID? {
    canvas.objects.last { id in
      guard let snapshot = canvas.item(id)?.snapshot else { return false }
      // A game may be drawn larger than it is.
      if snapshot.kind == .game, canvas.hasWords(of: id, at: place) { return true }
      return snapshot.isNear(place, within: reach)
    }
  }

  mutating func select(inside band: Rectangle) -> [Action] {
    select(
      canvas.objects.filter { id in
        canvas.item(id).map { band.contains($0.snapshot.bounds) } ?? false
      }
    )
  }

  /// Picks the color and width of the object at a point, and selects the pen.
  mutating func pickInk(at place: Point) {
    guard let id = object(at: place), let snapshot = canvas.item(id)?.snapshot else {
      say("there is nothing to take a colour from")
      return
    }
    // Black is what things have by themselves.
    ink = snapshot.color.flatMap { $0 >> 8 == 0 ? nil : $0 >> 8 }
    width = snapshot.lineWidth ?? width
    tool = snapshot.kind == .text ? .text : .pen
  }

  // MARK: - Moving

  /// Where what is dragged from one place to another comes to lie.
  func moving(_ from: Point, _ to: Point) -> Snapping {
    let offset = Point(x: to.x - from.x, y: to.y - from.y)
    let bounds = selectedSnapshots.map(\.bounds)
    guard let first = bounds.first, from != to, isSnapping else {
      return Snapping(
        Rectangle(from, from),
        by: offset,
        to: [],
        grid: nil,
        reach: 0
      )
    }
    let view = canvas.viewport.rectangle
    let others = canvas.objects.compactMap { id -> Rectangle? in
      guard !selection.contains(id), let bounds = canvas.item(id)?.snapshot.bounds,
        view.touches(bounds)
      else { return nil }
      return bounds
    }
    return Snapping(
      bounds.dropFirst().reduce(first) { $0.union($1) },
      by: offset,
      to: others,
      grid: grid,
      reach: reach / 2
    )
  }

  /// By how much the frame is turned whose knob is dragged to a place: in steps of 15°, where things snap.
  func degrees(_ frame: SelectionFrame, _ place: Point) -> Double {
    let by = frame.degrees(to: place)
    guard isSnapping else { return by }
    // One thing comes to stand at such an angle, several are turned by one.
    let before = selection.count == 1 ? (selectedSnapshots.first?.angle ?? 0) * 180 / .pi : 0
    return ((before + by) / 15).rounded() * 15 - before
  }

  /// What is selected becomes larger; one thing's scale is set, several are scaled.
  mutating func scaled(by factor: Double) -> [Action] {
    guard factor != 1 else { return [] }
    let keepsLineWidth = hasLines
    guard let only = selectedSnapshots.first, selection.count == 1 else {
      return onSelection {
        .scale($0, factor: factor.inHundredths, keepsLineWidth: keepsLineWidth)
      }
    }
    let scale = (underway(\.scale, of: only.id) ?? only.scale) * factor
    wanted = Wanted(id: only.id, mark: requests.nextID, scale: scale)
    return onSelection { .scale($0, factor: scale.inHundredths, keepsLineWidth: keepsLineWidth) }
  }

  /// Whether a selected object has lines, which keep their width when it is scaled.
  private var hasLines: Bool { selectedSnapshots.contains { $0.kind == .drawing } }

  /// Resizes what is selected about the place that stays where it is.
  ///
  /// Lines stay as wide as they are, unless they should grow too.
  mutating func resized(_ resize: SelectionFrame.Resize) -> [Action] {
    let factor = resize.factor
    guard factor != 1 else { return [] }
    let keepsLineWidth = !resize.scalesLines && hasLines
    var scale = factor
    if let only = selectedSnapshots.first, selection.count == 1 {
      scale = only.scale * factor
      wanted = Wanted(id: only.id, mark: requests.nextID, scale: scale)
    }
    // Hundredths would move the opposite corner of a large object.
    scale = (scale * 1e6).rounded() / 1e6
    return onSelection { (selected) throws(CommandError) in
      .scale(
        selected,
        factor: scale,
        about: try BoardPoint(rounding: resize.pivot),
        keepsLineWidth: keepsLineWidth
      )
    }
  }

  /// What is selected is turned; one thing's angle is set, several are turned.
  mutating func turned(by degrees: Double) -> [Action] {
    guard degrees != 0 else { return [] }
    guard let only = selectedSnapshots.first, selection.count == 1 else {
      return onSelection { .rotate($0, degrees: degrees.inHundredths) }
    }
    let angle = (underway(\.degrees, of: only.id) ?? only.angle * 180 / .pi) + degrees
    wanted = Wanted(id: only.id, mark: requests.nextID, degrees: angle)
    return onSelection { .rotate($0, degrees: angle.inHundredths) }
  }

  /// What was asked for last and the node has not answered: keys may come faster than its answers.
  private func underway(_ value: KeyPath<Wanted, Double?>, of id: ObjectID) -> Double? {
    guard let wanted, wanted.id == id, requests.isPending(wanted.mark) else { return nil }
    return wanted[keyPath: value]
  }
}

import Whiteboard

/// The content of a page: the objects of a board, and the part of the board that is shown.
package struct BoardPicture: Sendable {
  /// The objects from back to front.
  package var items: [BoardCanvas.Item] { didSet { bounds = items.map(\.pageBounds) } }
  /// The bounds of each object on the page; stored, because texts must be laid out to compute them.
  package private(set) var bounds: [Rectangle]
  package var region: Rectangle
  /// Whether the region contains all objects, because the user did not choose a region.
  package var isWhole = false
  /// The frame whose area is the region; only its fill is shown, because its line and its name are around the region.
  package private(set) var frame: ObjectID?
  /// The background color `0xRRGGBB`; nil means transparent.
  package var background: UInt32?
  /// The spacing of the board's grid, in board units; nil without a grid.
  package var grid: Double?
  package var names: [MemberID: String]
  package var photo: @Sendable (AssetID) -> [UInt8]?

  /// The area of a page without objects.
  private static let emptyRegion = Rectangle(Point(x: -200, y: -150), Point(x: 200, y: 150))

  /// Creates the content of a page; `items` are in order from back to front. If `region` is nil, the page shows all
  /// objects.
  package init(
    items: [BoardCanvas.Item],
    region: Rectangle? = nil,
    background: UInt32? = 0xFFFFFF,
    grid: Double? = nil,
    names: [MemberID: String] = [:],
    photo: @escaping @Sendable (AssetID) -> [UInt8]? = { _ in nil }
  ) {
    self.items = items
    bounds = items.map(\.pageBounds)
    self.region = region ?? Self.region(around: bounds) ?? Self.emptyRegion
    self.background = background
    self.grid = grid
    self.names = names
    self.photo = photo
  }

  /// Returns the region that contains all objects and a margin in board units; nil if there are no objects.
  package static func region(around items: [BoardCanvas.Item], margin: Double = 20) -> Rectangle? {
    region(around: items.map(\.pageBounds), margin: margin)
  }

  private static func region(around bounds: [Rectangle], margin: Double = 20) -> Rectangle? {
    bounds.reduce(Rectangle?.none) { whole, box in whole?.union(box) ?? box }.map { whole in
      whole.widened(by: margin)
    }
  }
}

extension BoardPicture {
  package func alone(_ frame: ObjectSnapshot) -> BoardPicture {
    var picture = self
    (picture.region, picture.isWhole, picture.frame) = (frame.bounds, false, frame.id)
    return picture
  }

  package var frames: [BoardPicture] { items.filter { $0.snapshot.form == .frame }.map { alone($0.snapshot) } }

  var shownIndexes: [Int] { items.indices.filter { bounds[$0].touches(region) } }

  /// The objects on the page to which other objects link.
  package var linkTargets: Set<ObjectID> {
    let targets = Set(items.compactMap { $0.snapshot.link.flatMap(ObjectLink.target) })
    guard !targets.isEmpty else { return [] }
    return Set(shownIndexes.map { items[$0].snapshot.id }).intersection(targets)
  }

  /// Objects beyond a gap of this size, in board units, are far from the others.
  private static let farDistance = 10_000.0

  /// Returns the picture without the objects that are far from the others, together with a list of the omitted objects.
  /// Returns nil if the user chose the region, if no objects are far away, or if most objects are far from each other.
  package func withoutStrays() -> (picture: BoardPicture, strays: [BoardCanvas.Item])? {
    guard isWhole else { return nil }
    var near = zip(items, bounds).map { ($0.snapshot.id, $1) }
    var last = 0
    while near.count != last {
      last = near.count
      near = Self.largestGroup(near) { ($0.least.x, $0.greatest.x) }
      near = Self.largestGroup(near) { ($0.least.y, $0.greatest.y) }
    }
    let ids = Set(near.map(\.0))
    guard ids.count < items.count, ids.count * 2 >= items.count else { return nil }
    var picture = self
    picture.items = items.filter { ids.contains($0.snapshot.id) }
    guard let region = Self.region(around: picture.bounds) else { return nil }
    picture.region = region
    return (picture, items.filter { !ids.contains($0.snapshot.id) })
  }

  /// Splits the objects into groups at large gaps along one axis, and returns the group with the most objects. If
  /// several groups are equally large, returns the first of them.
  private static func largestGroup(
    _ objects: [(ObjectID, Rectangle)],
    _ side: (Rectangle) -> (Double, Double)
  ) -> [(ObjectID, Rectangle)] {
    var (largest, group, end) = ([(ObjectID, Rectangle)](), [(ObjectID, Rectangle)](), -Double.infinity)
    for object in objects.sorted(by: { side($0.1).0 < side($1.1).0 }) {
      let (start, stop) = side(object.1)
      if start - end > farDistance { group = [] }
      group.append(object)
      end = max(end, stop)
      if group.count > largest.count { largest = group }
    }
    return largest
  }

  /// The size of a letter in board units.
  package static let letter = TextLayout.letter
  /// The font size in board units at which a letter is as wide as ``letter``.
  package static let fontSize = 13.3
  /// The margin around a game's panel in board units.
  package static let panelMargin = 6.0

  package static func lines(of snapshot: ObjectSnapshot) -> [String] { TextLayout(snapshot)?.lines ?? [] }

  package static func columns(_ lines: [String]) -> Int { lines.reduce(0) { max($0, CharacterWidth.columns($1)) } }

  static func size(columns: Int, rows: Int) -> Size {
    Size(width: Double(columns) * letter.width, height: Double(rows) * letter.height)
  }
}

extension BoardCanvas.Item {
  /// The bounds of the object on a page, including text or a game panel that extends beyond its box.
  package var pageBounds: Rectangle {
    let label: Size?
    switch snapshot.kind {
    case .drawing where snapshot.form != nil: return snapshot.formBounds
    case .drawing where !preview.isEmpty:
      let reach = (snapshot.lineWidth ?? ObjectDefaults.lineWidth) / 2
      let boxes = preview.map { ink in
        let (x, y) = (ink.point.x, ink.point.y)
        return Rectangle(Point(x: x - reach, y: y - reach), Point(x: x + reach, y: y + reach))
      }
      return boxes.dropFirst().reduce(inkCenter == nil ? boxes[0] : snapshot.bounds.union(boxes[0])) { $0.union($1) }
    case .game:
      label = game.map { game in
        // Measure the widest possible panel: names are truncated to 12 columns.
        let panel = GamePanel.label(game, isASCII: false) { _ in String(repeating: "n", count: 12) }
        let size = BoardPicture.size(columns: panel.width, rows: panel.height)
        let margin = 2 * BoardPicture.panelMargin
        return Size(width: size.width + margin, height: size.height + margin)
      }
    default: label = nil
    }
    guard let label else { return snapshot.bounds }
    let rotation = snapshot.rotation
    let (width, height) = (label.width * snapshot.scale / 2, label.height * snapshot.scale / 2)
    let x = rotation.cosine.magnitude * width + rotation.sine.magnitude * height
    let y = rotation.sine.magnitude * width + rotation.cosine.magnitude * height
    let center = snapshot.centerPosition
    return snapshot.bounds.union(
      Rectangle(Point(x: center.x - x, y: center.y - y), Point(x: center.x + x, y: center.y + y))
    )
  }
}

extension Rectangle {
  package func widened(by margin: Double) -> Rectangle {
    Rectangle(Point(x: least.x - margin, y: least.y - margin), Point(x: greatest.x + margin, y: greatest.y + margin))
  }
}

extension ObjectSnapshot {
  var formBounds: Rectangle {
    guard let outline else { return bounds }
    // The line of a frame is outside its area.
    let width = form == .note ? 0 : (lineWidth ?? ObjectDefaults.lineWidth) / (form == .frame ? 1 : 2)
    var box = endMarks.reduce(outline.box) { $0.union($1.box) }
    box = box.widened(by: width)
    if let label = TextLayout(self) { box = box.union(label.box) }
    return bounds.union(shown(box))
  }

  /// Returns the box on the board around a rectangle in the object's own units.
  package func shown(_ box: Rectangle) -> Rectangle {
    let rotation = rotation
    func corner(_ x: Double, _ y: Double) -> Rectangle {
      let place = shown(Point(x: x, y: y), sine: rotation.sine, cosine: rotation.cosine)
      return Rectangle(place, place)
    }
    return corner(box.least.x, box.least.y).union(corner(box.greatest.x, box.least.y))
      .union(corner(box.least.x, box.greatest.y)).union(corner(box.greatest.x, box.greatest.y))
  }
}

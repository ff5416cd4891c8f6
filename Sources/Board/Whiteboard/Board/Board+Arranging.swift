/// An edge or a middle line on which `align` places objects.
public enum AlignmentEdge: String, Hashable, Sendable, CaseIterable {
  case left, center, right, top, middle, bottom

  fileprivate var isHorizontal: Bool { self == .left || self == .center || self == .right }

  /// The fraction of the free space that is to the left of an object or above it.
  fileprivate var share: Double {
    switch self {
    case .left, .top: 0
    case .center, .middle: 0.5
    case .right, .bottom: 1
    }
  }
}

/// The direction in which objects are distributed or mirrored.
public enum BoardAxis: String, Hashable, Sendable, CaseIterable {
  case horizontally, vertically
}

/// Aligning and distributing objects. If all objects of a group are given, the group moves as one object. A line that
/// is bound at both ends follows its objects, and is otherwise ignored.
extension Board {
  /// Moves objects so that their edges or middle lines are on one line, within the box around all of them.
  /// - Throws: `tooFew` if there are fewer than two objects to align, and the errors of `move(_:by:)`.
  public func align(_ ids: [ObjectID], _ edge: AlignmentEdge) throws(BoardError) {
    try gesture("align") { () throws(BoardError) in
      let pieces = try pieces(ids)
      guard pieces.count > 1 else { throw .tooFew(2) }
      let spans = pieces.map { $0.span(isHorizontal: edge.isHorizontal) }
      let least = spans.reduce(spans[0].least) { min($0, $1.least) }
      let greatest = spans.reduce(spans[0].greatest) { max($0, $1.greatest) }
      var moved: [ObjectID] = []
      for (piece, span) in zip(pieces, spans) {
        let free = greatest - least - (span.greatest - span.least)
        moved += try shift(piece, by: least + free * edge.share - span.least, isHorizontal: edge.isHorizontal)
      }
      try settle(moved)
    }
  }

  /// Moves objects so that the distances between neighbors are equal, within the box around all of them.
  /// - Throws: `tooFew` if there are fewer than three objects to distribute, and the errors of `move(_:by:)`.
  public func distribute(_ ids: [ObjectID], _ axis: BoardAxis) throws(BoardError) {
    let isHorizontal = axis == .horizontally
    try gesture("distribute") { () throws(BoardError) in
      let pieces = try pieces(ids).map { (piece: $0, span: $0.span(isHorizontal: isHorizontal)) }
      guard pieces.count > 2 else { throw .tooFew(3) }
      let sorted = pieces.sorted { $0.span.least + $0.span.greatest < $1.span.least + $1.span.greatest }
      var place = sorted.reduce(sorted[0].span.least) { min($0, $1.span.least) }
      let end = sorted.reduce(sorted[0].span.greatest) { max($0, $1.span.greatest) }
      let total = sorted.reduce(0) { $0 + ($1.span.greatest - $1.span.least) }
      let gap = (end - place - total) / Double(sorted.count - 1)
      var moved: [ObjectID] = []
      for (piece, span) in sorted {
        moved += try shift(piece, by: place - span.least, isHorizontal: isHorizontal)
        place += span.greatest - span.least + gap
      }
      try settle(moved)
    }
  }

  private func shift(_ piece: ArrangedPiece, by distance: Double, isHorizontal: Bool) throws(BoardError) -> [ObjectID] {
    try shift(piece.ids, by: isHorizontal ? Point(x: distance, y: 0) : Point(x: 0, y: distance))
  }

  private func pieces(_ ids: [ObjectID]) throws(BoardError) -> [ArrangedPiece] {
    let targets = try state.targets(ids)
    let whole = state.wholeGroups(of: Set(targets))
    var pieces: [ArrangedPiece] = []
    var indices: [ObjectID: Int] = [:]
    let named = Set(targets)
    // Objects move together with their frame.
    for id in targets where state.frame(of: id).map(named.contains) != true {
      guard let record = state.shown(id), record.binding(.start) == nil || record.binding(.end) == nil else { continue }
      let unit = state.groups(of: id).last { whole.contains($0) } ?? id
      if let index = indices[unit] {
        pieces[index].ids.append(id)
        pieces[index].bounds = pieces[index].bounds.union(record.bounds)
      } else {
        indices[unit] = pieces.count
        pieces.append(ArrangedPiece(ids: [id], bounds: record.bounds))
      }
    }
    return pieces
  }
}

/// An object, or a group that moves as one object.
private struct ArrangedPiece {
  var ids: [ObjectID]
  var bounds: Rectangle

  func span(isHorizontal: Bool) -> (least: Double, greatest: Double) {
    isHorizontal ? (bounds.least.x, bounds.greatest.x) : (bounds.least.y, bounds.greatest.y)
  }
}

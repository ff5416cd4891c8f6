/// The effect of erasing parts of a stroke.
enum Erasure: Equatable {
  /// The eraser removes no visible part.
  case nothing
  /// The eraser leaves no visible part.
  case wholeStroke
  /// The eraser removes visible parts; the caller must write the given erasures.
  case parts([Value])

  /// Computes the effect of an erasure.
  /// - Parameters:
  ///   - spans: The parts to erase.
  ///   - record: The cells of the stroke.
  ///   - isBeingDrawn: Whether this replica is still drawing the stroke, so that it will get more points.
  /// - Throws: `tooLong` if the stroke has too many erasures.
  init(_ spans: StrokeSpans, of record: ObjectRecord, isBeingDrawn: Bool) throws(BoardError) {
    let before = record.erased
    let count = record.points.count
    let rest = before.union(spans).rest(ofPoints: count)
    // Delete a stroke without visible parts, because users can neither see nor select it. Such a stroke can exist if
    // two members each erased one half.
    guard !rest.isEmpty || spans.ranges.isEmpty || isBeingDrawn else {
      self = .wholeStroke
      return
    }
    guard rest != before.rest(ofPoints: count) else {
      self = .nothing
      return
    }
    let cells = record.entries(of: Property.erasureNumber, upTo: BoardLimits.erasuresPerStroke)
    let values = spans.values
    let bytes = cells.reduce(0) { $0 + $1.cell.value.length }
    guard cells.count + values.count <= BoardLimits.erasuresPerStroke,
      values.reduce(bytes, { $0 + $1.length }) <= BoardLimits.erasureBytes
    else { throw .tooLong("erasures") }
    self = .parts(values)
  }
}

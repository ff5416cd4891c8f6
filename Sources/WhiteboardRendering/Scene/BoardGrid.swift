import Whiteboard

/// The lines of a board's grid, which are multiples of the spacing from the origin of the board.
package struct BoardGrid: Hashable, Sendable {
  /// The distance between lines, in board units.
  package let spacing: Double

  /// The minimum distance between lines on a page, in pixels.
  private static let leastPixels = 8.0
  /// The maximum number of lines in each direction.
  private static let lineLimit = 1_000.0

  /// Creates the lines to show; nil if there is no grid.
  ///
  /// If lines would be too close, every second, fourth, eighth and so on line is shown.
  init?(_ grid: Double?, least: Double) {
    guard var spacing = grid, spacing > 0, least.isFinite else { return nil }
    while spacing < least { spacing *= 2 }
    self.spacing = spacing
  }

  /// Creates the lines to show on a page; nil if there is no grid.
  package init?(_ picture: BoardPicture, pixelsPerUnit: Double) {
    let region = picture.region
    let size = max(region.greatest.x - region.least.x, region.greatest.y - region.least.y)
    self.init(picture.grid, least: max(Self.leastPixels / pixelsPerUnit, size / Self.lineLimit))
  }

  /// Returns the positions of the lines in a range, in board units.
  package func positions(from start: Double, to end: Double) -> [Double] {
    let (first, last) = ((start / spacing).rounded(.up), (end / spacing).rounded(.down))
    guard first <= last else { return [] }
    return (0...Int(last - first)).map { (first + Double($0)) * spacing }
  }

  /// The opacity of the lines on a page; their color is ``PageInk/plain``, and they are one pixel wide.
  package static let opacity = 0.15
}

import Whiteboard

/// The content of a page: the objects of a board, and the part of the board that is shown.
package struct BoardPicture: Sendable {
  /// The objects from back to front.
  package var items: [BoardCanvas.Item]
  package var region: Rectangle
  /// The background color `0xRRGGBB`; nil means transparent.
  package var background: UInt32?
  /// The spacing of the board's grid, in board units; nil without a grid.
  package var grid: Double?
  package var names: [MemberID: String]
  /// A function that returns the original file of a photo; nil if the photo is not available.
  package var photo: @Sendable (AssetID) -> [UInt8]?

  /// Creates the content of a page; `items` are in order from back to front.
  package init(
    items: [BoardCanvas.Item],
    region: Rectangle,
    background: UInt32? = 0xFFFFFF,
    grid: Double? = nil,
    names: [MemberID: String] = [:],
    photo: @escaping @Sendable (AssetID) -> [UInt8]? = { _ in nil }
  ) {
    self.items = items
    self.region = region
    self.background = background
    self.grid = grid
    self.names = names
    self.photo = photo
  }

  /// Returns the region that contains all objects and a margin in board units.
  ///
  /// Returns nil if there are no objects.
  package static func region(around items: [BoardCanvas.Item], margin: Double = 20) -> Rectangle? {
    let whole = items.reduce(Rectangle?.none) { whole, item in whole?.union(item.pageBounds) ?? item.pageBounds }
    return whole.map { whole in
      Rectangle(
        Point(x: whole.least.x - margin, y: whole.least.y - margin),
        Point(x: whole.greatest.x + margin, y: whole.greatest.y + margin)
      )
    }
  }
}

import Whiteboard
import WhiteboardKit
import WhiteboardPictures
import WhiteboardRendering

struct PhotosInView {
  var upright: [GraphicsPlacement] = []
  /// The photos that must be drawn in cells, because they are rotated or under a box.
  var byCells: Set<AssetID> = []
}

/// The state of a board's photos on the terminal: which photos are read, at which size, and how they are shown. This
/// type reads no files. It returns requests, and the caller passes the results back.
struct PhotoDisplay {
  struct Request: Sendable {
    let asset: AssetID
    let size: Size
    /// The protocol with which the terminal shows the photo; nil for cells.
    let graphics: TerminalGraphics?
  }

  struct Size: Hashable, Sendable {
    let width: Int
    let height: Int

    /// Returns whether a photo decoded at this size is sharp enough to be shown at another size.
    func suffices(for other: Size) -> Bool { width * 3 / 2 >= other.width && height * 3 / 2 >= other.height }
  }

  /// The value of a case is nil if the file cannot be shown.
  enum Reading: Sendable {
    case cells(PhotoPixels?)
    case pixels(TerminalPhoto?)
  }

  private static let cellPixels = Size(width: 400, height: 400)

  private var available: Set<AssetID> = []
  private var requestedForCells: Set<AssetID> = []
  private var requestedSizes: [AssetID: Size] = [:]
  private var photos: [AssetID: TerminalPhoto] = [:]
  private var layer: GraphicsLayer?

  mutating func configure(_ graphics: TerminalGraphics?, _ cell: TerminalFeatures.CellSize?) {
    guard let graphics, let cell else {
      layer = nil
      return
    }
    let next = GraphicsLayer(graphics, cellWidth: Int(cell.width), cellHeight: Int(cell.height))
    if let layer, layer.graphics == graphics, layer.cellWidth == next.cellWidth,
      layer.cellHeight == next.cellHeight
    {
      return
    }
    layer = next
    (photos, requestedSizes) = ([:], [:])
  }

  /// Records that a photo is available, and returns a request to read it if it is drawn in cells.
  mutating func found(_ asset: AssetID, byCells: Bool) -> Request? {
    available.insert(asset)
    guard byCells, requestedForCells.insert(asset).inserted else { return nil }
    return Request(asset: asset, size: Self.cellPixels, graphics: nil)
  }

  mutating func requests(for placements: [GraphicsPlacement]) -> [Request] {
    guard let layer else { return [] }
    return placements.compactMap { placement in
      let pixels = layer.pixels(of: placement)
      let size = Size(width: pixels.width, height: pixels.height)
      guard available.contains(placement.asset), !(requestedSizes[placement.asset]?.suffices(for: size) ?? false) else {
        return nil
      }
      requestedSizes[placement.asset] = size
      return Request(asset: placement.asset, size: size, graphics: layer.graphics)
    }
  }

  /// The photo is read again when the board reports it again.
  mutating func fail(_ asset: AssetID) {
    available.remove(asset)
    requestedForCells.remove(asset)
    requestedSizes[asset] = nil
  }

  mutating func receive(_ photo: TerminalPhoto, of asset: AssetID) { photos[asset] = photo }

  /// Returns the photos whose visible copies are all shown as pixels. The cells of these photos stay blank.
  func assetsShownAsPixels(_ inView: PhotosInView) -> Set<AssetID> {
    guard let layer else { return [] }
    let notShown = inView.upright.filter { !layer.canShow($0, photos[$0.asset]) }.map(\.asset)
    return Set(inView.upright.map(\.asset)).subtracting(notShown).subtracting(inView.byCells)
  }

  /// Returns the bytes that show photos at their places, and the cells that must be written again.
  mutating func update(to placements: [GraphicsPlacement], repainted: [CellArea], isCleared: Bool) -> GraphicsLayer
    .Update?
  {
    // When the terminal clears the screen, it removes the photos.
    if isCleared { layer?.reset() }
    let photos = photos
    return layer?.update(to: placements, photo: { photos[$0] }, repainted: repainted)
  }
}

extension PhotoDisplay.Request {
  /// Reads and decodes the file of the photo, which can take a second.
  func decode(_ path: String, on background: UInt32) -> PhotoDisplay.Reading {
    guard let bytes = try? FileReading.whole(path, limit: BoardLimits.photoBytes) else {
      return graphics == nil ? .cells(nil) : .pixels(nil)
    }
    guard let graphics else {
      return .cells(try? PhotoDecoder.pixels(of: bytes, within: size.width, size.height, on: background))
    }
    return .pixels(try? TerminalPhoto(of: bytes, within: size.width, size.height, on: background, for: graphics))
  }
}

import Whiteboard
import WhiteboardPictures
import WhiteboardRendering

/// Photos, as far as the client knows of them: where they are, and what their cells show.
extension BoardClient {
  /// The photos in view.
  func photosInView() -> PhotosInView {
    let origin = (x: boardArea.columns.lowerBound, y: boardArea.rows.lowerBound)
    let view = canvas.viewport.rectangle
    var upright: [GraphicsPlacement] = []
    var byCells: Set<AssetID> = []
    let covered = covered
    for id in canvas.objects {
      guard let snapshot = canvas.item(id)?.snapshot, snapshot.kind == .photo,
        let asset = snapshot.asset, view.touches(snapshot.bounds)
      else { continue }
      if let placement = GraphicsPlacement(snapshot, in: canvas.viewport, at: origin) {
        // What lies below the board is not overdrawn.
        if let inside = GraphicsPlacement(
          object: id,
          asset: asset.id,
          box: placement.box,
          within: boardArea
        ) {
          upright.append(inside)
          if let covered, !covered.clamped(to: inside.visible).isEmpty { byCells.insert(asset.id) }
        }
      } else {
        byCells.insert(asset.id)
      }
    }
    return PhotosInView(upright: upright, byCells: byCells)
  }

  /// Where a box lies over the board: on some terminals its ground would not cover a photo's pixels.
  private var covered: CellArea? {
    let everything = CellArea(x: 0, y: 0, width: columns, height: rows)
    guard invitations.isEmpty, fileOffers.isEmpty else { return everything }
    let boxed: CellArea? =
      switch box {
      case .menu(let menu): layout(of: menu).area
      case .panel: panelArea
      case .invite, .unsaved: everything
      case nil: nil
      }
    guard let boxed, let noticed = noticeArea else { return boxed ?? noticeArea }
    return boxed.union(noticed)
  }

  /// A photo's cells show it from now on.
  package mutating func show(_ pixels: PhotoPixels, of asset: AssetID) {
    canvas.setPhoto(pixels, of: asset)
  }

  /// The photos that the terminal shows by pixels: their cells are blank.
  package mutating func leaveBlank(_ assets: Set<AssetID>) {
    if canvas.shownAsPixels != assets { canvas.shownAsPixels = assets }
  }

  /// What the terminal draws on, as it told.
  package mutating func draw(on background: UInt32?) {
    canvas.paper = Paper(background)
  }
}

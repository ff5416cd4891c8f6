import Whiteboard

/// The content of a board, or of a part of it, for export to a file.
package struct BoardExport: Sendable {
  /// The visible content of the board.
  package var picture: BoardPicture
  /// The board's id; empty if it has none.
  package let board: String
  /// The name of the board, which may come from another peer.
  package let name: String
  /// The settings of the board.
  package let settings: BoardSettings
  /// The setup data of the exported games, by object id.
  package let setups: [ObjectID: [UInt8]]
  /// The lines of the chat.
  package let chat: [ChatLine]

  /// The area of a page without objects.
  private static let empty = Rectangle(Point(x: -200, y: -150), Point(x: 200, y: 150))

  /// Creates an export of a board, or of a part of it.
  ///
  /// - Parameters:
  ///   - board: The board.
  ///   - id: The board's id.
  ///   - name: The name of the board.
  ///   - region: The part of the board to export, with all objects that touch it; nil for the whole board.
  ///   - objects: The objects of the region to export; nil for all of them.
  ///   - names: The display names of members.
  ///   - photo: A function that returns the file of a photo; nil if the file is not available.
  package init(
    of board: Board,
    id: String,
    name: String,
    region: Rectangle? = nil,
    objects: Set<ObjectID>? = nil,
    names: [MemberID: String] = [:],
    photo: @escaping @Sendable (AssetID) -> [UInt8]? = { _ in nil }
  ) {
    let touching = region.map { Set(board.objects(in: $0, mode: .touching)) }
    let items = board.objectIDs.compactMap { id -> BoardCanvas.Item? in
      guard objects?.contains(id) ?? true, let snapshot = board.snapshot(id) else { return nil }
      let item = BoardCanvas.Item(snapshot, game: board.gameView(id, for: board.member))
      guard let region, let touching, !touching.contains(id) else { return item }
      // Text and game panels can extend beyond the boxes of their objects, so compare their bounds on the page.
      let hasWords = snapshot.kind == .text || snapshot.kind == .game
      return hasWords && item.pageBounds.touches(region) ? item : nil
    }
    // A fully transparent background is shown as white paper.
    picture = BoardPicture(
      items: items,
      region: region ?? BoardPicture.region(around: items) ?? Self.empty,
      background: board.settings.shownBackground ?? 0xFFFFFF,
      grid: board.settings.grid,
      names: names,
      photo: photo
    )
    self.board = id
    self.name = name
    settings = board.settings
    var setups: [ObjectID: [UInt8]] = [:]
    for id in items.map(\.snapshot.id) { setups[id] = board.state.record(id)?.setup }
    self.setups = setups
    chat = board.chat
  }

  /// The exported objects, from back to front.
  package var snapshots: [ObjectSnapshot] { picture.items.map(\.snapshot) }

  /// Returns the board as a file.
  ///
  /// - Parameters:
  ///   - format: The format of the file.
  ///   - scale: The number of pixels for each board unit; used only for PNG.
  ///   - pages: The writer for PNG and PDF; nil if the program has none.
  /// - Returns: The bytes of the file.
  /// - Throws: ``ExportError``.
  package func file(as format: ExportFormat, scale: Double = 1, pages: (any PageWriter)?) throws(ExportError) -> [UInt8]
  {
    switch format {
    case .svg: return Array(SVGPage.svg(picture).utf8)
    case .json: return Array(BoardJSON.text(self).utf8)
    case .excalidraw: return Array(ExcalidrawFile.text(self).utf8)
    case .text: return Array(TextPage.text(picture).utf8)
    case .png, .pdf:
      guard let pages else { throw .noPages(format) }
      return format == .png ? try pages.png(picture, scale: scale) : try pages.pdf(picture)
    }
  }
}

/// The file formats to which a board can be exported.
package enum ExportFormat: String, CaseIterable, Sendable {
  /// An SVG page for browsers. Words stay text.
  case svg
  /// A page as pixels (PNG).
  case png
  /// A page for printers (PDF).
  case pdf
  /// All data of the board as JSON, for programs and for `import`.
  case json
  /// A drawing for Excalidraw.
  case excalidraw
  /// The board in characters, as a terminal shows it.
  case text = "txt"

  /// Creates the format for the extension of a file name; nil for unknown extensions.
  package init?(fileName: String) {
    guard let dot = fileName.lastIndex(of: "."),
      let format = Self(rawValue: fileName[fileName.index(after: dot)...].lowercased())
    else { return nil }
    self = format
  }

  /// The file name extensions of all formats, for messages to the user.
  package static let endings = allCases.map { ".\($0.rawValue)" }.joined(separator: " ")
}

/// A writer that renders pages as PNG and PDF files.
///
/// It needs libraries that only some of the programs link.
package protocol PageWriter: Sendable {
  /// Returns the picture as a PNG with `scale` pixels for each board unit.
  /// - Throws: ``ExportError/page(_:)``.
  func png(_ picture: BoardPicture, scale: Double) throws(ExportError) -> [UInt8]

  /// Returns the picture as a PDF.
  /// - Throws: ``ExportError/page(_:)``.
  func pdf(_ picture: BoardPicture) throws(ExportError) -> [UInt8]
}

/// The reason why a board could not be exported.
package enum ExportError: Error, Hashable, Sendable {
  /// This program cannot write files of that format.
  case noPages(ExportFormat)
  /// The page could not be written; the value is the reason.
  case page(String)

  /// The problem and what to do about it, for the user.
  package var message: String {
    switch self {
    case .noPages(let format): "this program cannot write .\(format.rawValue) files; use .svg instead"
    case .page(let why): why
    }
  }
}

/// A page in characters, as a terminal that is large enough would show it.
package enum TextPage {
  /// The maximum number of columns; a wider board is scaled down.
  package static let columnLimit = 160
  /// The maximum number of rows; a taller board is scaled down.
  package static let rowLimit = 400

  /// Returns the page as lines that end with line feeds.
  package static func text(_ picture: BoardPicture) -> String {
    let region = picture.region
    let columns = (region.greatest.x - region.least.x) / BoardPicture.letter.width
    let rows = (region.greatest.y - region.least.y) / BoardPicture.letter.height
    let shrink = min(1, Double(columnLimit) / max(columns, 1), Double(rowLimit) / max(rows, 1))
    var viewport = Viewport(
      center: region.center,
      scale: Viewport.unitScale * shrink,
      columns: Int((columns * shrink).rounded(.up)),
      rows: Int((rows * shrink).rounded(.up))
    )
    viewport.columns = min(viewport.columns, columnLimit)
    viewport.rows = min(viewport.rows, rowLimit)
    var canvas = BoardCanvas(viewport)
    canvas.names = picture.names
    canvas.grid = picture.grid
    for item in picture.items { canvas.set(item) }
    canvas.paint()
    return canvas.screen.lines.map { $0 + "\n" }.joined()
  }
}

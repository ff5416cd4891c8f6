import Whiteboard
import WhiteboardRendering

/// A board, or a part of it, as it is written to files of every kind.
package struct BoardExport: Sendable {
  /// The visible content of the board.
  package var picture: BoardPicture
  /// The board's id; empty if it has none.
  package let board: String
  /// The name of the board, which may come from another peer.
  package let name: String
  /// The settings of the board.
  package let settings: BoardSettings
  /// How the games among the objects began.
  package let setups: [ObjectID: [UInt8]]
  /// The chat.
  package let chat: [ChatLine]

  /// The area of a page without objects.
  private static let empty = Rectangle(Point(x: -200, y: -150), Point(x: 200, y: 150))

  /// What of a board is to be written.
  ///
  /// - Parameters:
  ///   - board: The board.
  ///   - id: Its id.
  ///   - name: What people call it.
  ///   - region: The part of it that is meant, with all objects that it touches; nil for all of it.
  ///   - objects: The objects that are meant, of those; nil for all.
  ///   - names: What members are called.
  ///   - photo: A photo's file; nil if it is not here.
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
      // Words and panels reach out of their boxes, where the others are as the board finds them.
      let hasWords = snapshot.kind == .text || snapshot.kind == .game
      return hasWords && item.pageBounds.touches(region) ? item : nil
    }
    // What nothing can be seen of is white paper.
    let background = board.background.flatMap { $0 & 0xFF == 0 ? nil : $0 >> 8 }
    picture = BoardPicture(
      items: items,
      region: region ?? BoardPicture.region(around: items) ?? Self.empty,
      background: background ?? 0xFFFFFF,
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

  /// The objects from back to front.
  package var snapshots: [ObjectSnapshot] { picture.items.map(\.snapshot) }

  /// The file of a kind.
  ///
  /// - Parameters:
  ///   - format: Which kind.
  ///   - scale: Pixels for each board unit, of PNG alone.
  ///   - pages: What makes PNG and PDF; nil if this program cannot.
  /// - Returns: The bytes of the file.
  /// - Throws: ``ExportError``.
  package func file(
    as format: ExportFormat,
    scale: Double = 1,
    pages: (any PageWriter)?
  ) throws(ExportError) -> [UInt8] {
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

/// The kinds of files that a board is written to.
package enum ExportFormat: String, CaseIterable, Sendable {
  /// A page for browsers, in which words are words.
  case svg
  /// A page of pixels.
  case png
  /// A page for printers.
  case pdf
  /// The board for programs, and for `import`.
  case json
  /// A drawing of Excalidraw.
  case excalidraw
  /// The board in characters, as a terminal shows it.
  case text = "txt"

  /// The kind that a file is by the ending of its name; nil if it has none of these.
  package init?(fileName: String) {
    guard let dot = fileName.lastIndex(of: "."),
      let format = Self(rawValue: fileName[fileName.index(after: dot)...].lowercased())
    else { return nil }
    self = format
  }

  /// The endings of names, for people.
  package static let endings = allCases.map { ".\($0.rawValue)" }.joined(separator: " ")
}

/// Makes pages of pixels and for printers, which takes libraries that not every program has.
package protocol PageWriter: Sendable {
  /// The picture as PNG, so many pixels for each board unit.
  /// - Throws: `page` with the reason.
  func png(_ picture: BoardPicture, scale: Double) throws(ExportError) -> [UInt8]

  /// The picture as PDF.
  /// - Throws: `page` with the reason.
  func pdf(_ picture: BoardPicture) throws(ExportError) -> [UInt8]
}

/// The reason why a board could not be exported.
package enum ExportError: Error, Hashable, Sendable {
  /// This program makes no pages of that kind.
  case noPages(ExportFormat)
  /// The page could not be made, and why.
  case page(String)

  /// The problem and the remedy, for the user.
  package var message: String {
    switch self {
    case .noPages(let format): "this program cannot make .\(format.rawValue); .svg can be made"
    case .page(let why): why
    }
  }
}

import PeerCore
import Whiteboard

package struct BoardExport: Sendable {
  package var picture: BoardPicture
  /// The board's id; empty if the board has no id.
  package let board: String
  package let name: String
  package let settings: BoardSettings
  package let setups: [ObjectID: [UInt8]]
  package let chat: [ChatLine]

  /// Exports the whole board, only `objects`, only the objects that touch `region`, or a frame and the objects that
  /// touch the frame.
  package init(
    of board: Board,
    id: String,
    name: String,
    region: Rectangle? = nil,
    frame: ObjectID? = nil,
    objects: Set<ObjectID>? = nil,
    names: [MemberID: String] = [:],
    photo: @escaping @Sendable (AssetID) -> [UInt8]? = { _ in nil }
  ) {
    let frame = frame.flatMap { board.snapshot($0) }
    let region = frame?.bounds ?? region
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
      region: region,
      background: board.settings.shownBackground ?? 0xFFFFFF,
      grid: board.settings.grid,
      names: names,
      photo: photo
    )
    picture.isWhole = region == nil
    if let frame { picture = picture.alone(frame) }
    self.board = id
    self.name = name
    settings = board.settings
    var setups: [ObjectID: [UInt8]] = [:]
    for id in items.map(\.snapshot.id) { setups[id] = board.state.record(id)?.setup }
    self.setups = setups
    chat = board.chat
  }

  package var snapshots: [ObjectSnapshot] { picture.items.map(\.snapshot) }

  /// Returns the file in a format. `scale`, in pixels per board unit, is used only for PNG; if it is nil, the writer
  /// chooses a scale. `pages` writes PNG and PDF; nil if the program cannot write these formats. Only a PDF can have a
  /// paper size and a page for each frame.
  package func file(
    as format: ExportFormat,
    scale: Double? = nil,
    paper: PaperSize? = nil,
    hasFramePages: Bool = false,
    pages: (any PageWriter)?
  ) throws(ExportError) -> ExportedFile {
    guard paper == nil || format == .pdf else { throw .noPaper(format) }
    guard !hasFramePages || format == .pdf else { throw .noFramePages(format) }
    switch format {
    case .svg: return ExportedFile(SVGPage.svg(picture))
    case .json: return ExportedFile(BoardJSON.text(self))
    case .excalidraw: return ExportedFile(ExcalidrawFile.text(self))
    case .text: return ExportedFile(TextPage.text(picture))
    case .png, .pdf:
      guard let pages else { throw .noPages(format) }
      guard format == .pdf else { return try pages.png(picture, scale: scale) }
      guard hasFramePages else { return try pages.pdf([picture], on: paper) }
      let frames = picture.frames
      guard !frames.isEmpty else { throw .noFrames }
      var file = try pages.pdf(frames, on: paper)
      let others = picture.bounds.count { box in !frames.contains { $0.region.touches(box) } }
      if others > 0 {
        file.warnings.append(
          others == 1
            ? "1 object is in no frame and not in the file" : "\(others) objects are in no frame and not in the file"
        )
      }
      return file
    }
  }
}

package struct ExportedFile: Hashable, Sendable {
  package var bytes: [UInt8]
  /// The parts that are missing in the file, with remedies.
  package var warnings: [String]

  package init(bytes: [UInt8], warnings: [String] = []) {
    self.bytes = bytes
    self.warnings = warnings
  }

  init(_ text: String) { self.init(bytes: Array(text.utf8)) }
}

package enum ExportFormat: String, CaseIterable, Sendable {
  /// An SVG page for browsers; words stay text.
  case svg
  case png, pdf, json, excalidraw
  /// The board in characters, as a terminal shows it.
  case text = "txt"

  package init?(fileName: String) {
    guard let dot = fileName.lastIndex(of: "."),
      let format = Self(rawValue: fileName[fileName.index(after: dot)...].lowercased())
    else { return nil }
    self = format
  }

  package static let endings = allCases.map { ".\($0.rawValue)" }.joined(separator: " ")
}

/// The sizes of paper on which a PDF can be printed.
public enum PaperSize: String, CaseIterable, Sendable {
  case a4, letter

  /// The shorter and the longer side, in points.
  package var sides: (Double, Double) {
    switch self {
    case .a4: (595.28, 841.89)
    case .letter: (612, 792)
    }
  }
}

/// A writer that renders pages as PNG and PDF files. The writer needs libraries that only some of the programs link.
package protocol PageWriter: Sendable {
  /// Returns the picture as a PNG with `scale` pixels for each board unit, nil for the default.
  func png(_ picture: BoardPicture, scale: Double?) throws(ExportError) -> ExportedFile

  /// Returns a PDF with a page for each picture. If `paper` is nil, each page has the size of its picture.
  func pdf(_ pictures: [BoardPicture], on paper: PaperSize?) throws(ExportError) -> ExportedFile
}

package enum ExportError: Error, Hashable, Sendable {
  case noPages(ExportFormat)
  case noDrawing(ExportFormat)
  case noPaper(ExportFormat)
  case noFramePages(ExportFormat)
  case noFrames
  /// The page could not be written; the value is the reason.
  case page(String)

  package var message: String {
    switch self {
    case .noPages(let format): "this program cannot write .\(format.rawValue) files; use .svg instead"
    case .noDrawing(let format): "a .\(format.rawValue) file cannot contain a drawing; use .png or .svg"
    case .noPaper(let format): "a .\(format.rawValue) file has no paper size; use .pdf"
    case .noFramePages(let format): "a .\(format.rawValue) file has no pages; use .pdf, or export one frame"
    case .noFrames: "the board has no frames; add some, or export the whole board"
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

package enum ImportError: Error, Hashable, Sendable {
  case tooLong(limit: Int)
  /// The file is not valid JSON; the value is the offset of the first invalid byte.
  case malformed(at: Int)
  /// Lists and objects in the file are nested too deeply; the value is the offset where the limit is exceeded.
  case tooDeep(at: Int)
  case tooManyValues, unknownFormat, newerVersion
  /// A value is missing or not valid. The error contains the path of the value, and a description of a valid value.
  case wrongValue(String, expected: String)
  case tooManyObjects

  /// `length` is the number of bytes in the file.
  init(_ error: JSONError, length: Int) {
    self =
      switch error {
      case .truncated: .malformed(at: length)
      case .notAnObject: .malformed(at: 0)
      case .malformed(let offset), .malformedString(let offset), .invalidUTF8(let offset), .duplicateKey(let offset),
        .trailingBytes(let offset):
        .malformed(at: offset)
      case .tooDeep(let offset): .tooDeep(at: offset)
      case .tooManyValues: .tooManyValues
      }
  }

  package var message: String {
    switch self {
    case .tooLong(let limit): "it has more than \(limit / 1_000_000) MB, which is the limit"
    case .malformed(let offset): "it is not valid JSON: there is an error at byte \(offset + 1)"
    case .tooDeep(let offset): "it is nested too deeply at byte \(offset + 1)"
    case .tooManyValues: "it has more values than can be read"
    case .unknownFormat:
      "it is neither a picture, a PDF, a board as JSON, an Excalidraw drawing nor a Mermaid flowchart"
    case .newerVersion: "it was written by a newer version of this program"
    case .wrongValue(let path, let expected): "\(path) is not \(expected)"
    case .tooManyObjects: "it has more objects than fit on a board"
    }
  }
}

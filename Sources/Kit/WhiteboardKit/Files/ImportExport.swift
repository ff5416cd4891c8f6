import Crypto
import PeerCore
import PeerSession
import Whiteboard
import WhiteboardRendering
import WhiteboardSync

/// Exports the board to files, and imports files. Confined to the actor of its board, but reads and writes files
/// without blocking this actor.
final class ImportExport {
  private static let warningLimit = 20
  private let runtime: BoardRuntime
  private let configuration: BoardConfiguration
  private let board: BoardSession
  private let authors: Authors
  private let photos: PhotoFiles
  private let editor: BoardEditor

  init(
    _ runtime: BoardRuntime,
    _ configuration: BoardConfiguration,
    _ board: BoardSession,
    authors: Authors,
    photos: PhotoFiles,
    editor: BoardEditor
  ) {
    self.runtime = runtime
    self.configuration = configuration
    self.board = board
    self.authors = authors
    self.photos = photos
    self.editor = editor
  }

  // MARK: - Export

  nonisolated(nonsending) func export(
    to file: String,
    of area: ExportArea,
    scale: Double?,
    paper: PaperSize?,
    embedsDrawing: Bool,
    isReplacing: Bool
  ) async throws(CommandError) -> CommandOutcome {
    defer { checkIsolation(#isolation) }
    guard let format = ExportFormat(fileName: file) else {
      throw CommandError(
        .badArgument,
        "the ending of the file name sets the format: use one of \(ExportFormat.endings)"
      )
    }
    let frame = try area.frame.map { (name) throws(CommandError) in try editor.board.frame(named: name) }
    let count = try await withExport(region: area.region, frame: frame) { (export) async throws(CommandError) in
      let warnings = try await write(
        export,
        as: format,
        scale: scale,
        paper: paper,
        hasFramePages: area == .eachFrame,
        embedsDrawing: embedsDrawing,
        to: file,
        isReplacing: isReplacing
      )
      report(warnings, as: "export", about: file)
      return export.snapshots.count
    }
    return CommandOutcome(file: file, count: count)
  }

  private nonisolated(nonsending) func withExport<Result>(
    region: Rectangle? = nil,
    frame: ObjectID? = nil,
    objects: Set<ObjectID>? = nil,
    _ body: nonisolated(nonsending) (BoardExport) async throws(CommandError) -> Result
  ) async throws(CommandError) -> Result {
    defer { checkIsolation(#isolation) }
    var export = BoardExport(
      of: editor.board,
      id: board.session.id.text,
      name: board.name,
      region: region,
      frame: frame,
      objects: objects,
      names: authors.displayNames
    )
    let ids = Set(export.snapshots.compactMap { $0.asset?.id })
    defer { for id in ids { photos.close(id) } }
    var opened: [AssetID: String] = [:]
    for id in ids { opened[id] = await photos.open(id) }
    let paths = opened
    export.picture.photo = { id in paths[id].flatMap { try? FileReading.whole($0, limit: BoardLimits.photoBytes) } }
    return try await body(export)
  }

  /// Writes an export to a file without blocking the board, and returns warnings. If the board closes before the
  /// contents of the file are complete, no file is written.
  private nonisolated(nonsending) func write(
    _ export: BoardExport,
    as format: ExportFormat,
    scale: Double? = nil,
    paper: PaperSize? = nil,
    hasFramePages: Bool = false,
    embedsDrawing: Bool = false,
    to file: String,
    isReplacing: Bool
  ) async throws(CommandError) -> [String] {
    defer { checkIsolation(#isolation) }
    let pages = configuration.pages
    let written: ExportedFile = try await FileQueue.run(untilEndOf: runtime) { () throws(CommandError) in
      try Self.withCommandErrors { () throws(OutputFile.WriteError) in
        try OutputFile.check(file, isReplacing: isReplacing)
      }
      do throws(ExportError) {
        return try export.file(
          as: format,
          scale: scale,
          paper: paper,
          hasFramePages: hasFramePages,
          pages: pages,
          embedsDrawing: embedsDrawing
        )
      } catch { throw CommandError(.refused, UntrustedText(error.message).escaped()) }
    }
    try await FileQueue.run { () throws(CommandError) in
      try Self.withCommandErrors { () throws(OutputFile.WriteError) in
        try OutputFile.write(written.bytes, to: file, isReplacing: isReplacing)
      }
    }
    return written.warnings
  }

  private static func withCommandErrors(_ body: () throws(OutputFile.WriteError) -> Void) throws(CommandError) {
    do throws(OutputFile.WriteError) { try body() } catch {
      guard case .exists = error else { throw CommandError(.fileUnwritable, error.message) }
      throw CommandError(.fileUnwritable, "\(error.message); add `force` after the name to overwrite it")
    }
  }

  // MARK: - Copies

  /// The file of copied objects, which all boards in the data directory share.
  private var copies: String { "\(configuration.dataDirectory)/copies.json" }

  nonisolated(nonsending) func copy(_ references: [ObjectReference]) async throws(CommandError) -> CommandOutcome {
    let ids = try editor.resolve(references)
    return try await withExport(objects: Set(editor.board.state.withContents(of: ids))) {
      (export) async throws(CommandError) in
      _ = try await write(export, as: .json, to: copies, isReplacing: true)
      let text = ExcalidrawFile.clipboard(export)
      return CommandOutcome(ids: ids, clipboard: text.utf8.count <= Self.clipboardLimit ? text : nil)
    }
  }

  /// The maximum size of the text for the system clipboard, in bytes. Terminals accept a paste of this size.
  private static let clipboardLimit = 1_000_000

  /// Stores a drawing from the system clipboard; returns the problem if storing fails.
  nonisolated(nonsending) func storeCopies(_ drawing: String) async -> String? {
    defer { checkIsolation(#isolation) }
    let path = copies
    do throws(OutputFile.WriteError) {
      try await FileQueue.run { () throws(OutputFile.WriteError) in
        try OutputFile.write(Array(drawing.utf8), to: path, isReplacing: true)
      }
      return nil
    } catch { return error.message }
  }

  /// Adds the objects that were copied last, as one undo step. Does not change the board's settings.
  nonisolated(nonsending) func paste(at place: BoardPoint?) async throws(CommandError) -> CommandOutcome {
    defer { checkIsolation(#isolation) }
    guard FileReading.size(copies) != nil else {
      throw CommandError(.refused, "no objects were copied yet; use `copy ID …` first")
    }
    guard var imported = try await read(copies, nil) else { return CommandOutcome(ids: []) }
    imported.settings = BoardSettings()
    return try await add(imported, at: place, from: copies, isCopy: true)
  }

  // MARK: - Import

  nonisolated(nonsending) func importFile(_ file: String, at place: BoardPoint?) async throws(CommandError)
    -> CommandOutcome
  {
    defer { checkIsolation(#isolation) }
    guard let imported = try await read(file, configuration.photos) else {
      return try await editor.importPhoto(file, at: place.map { Point($0) } ?? Point(x: 0, y: 0))
    }
    var outcome = try await add(imported, at: place, from: file)
    (outcome.file, outcome.count) = (file, outcome.ids?.count)
    return outcome
  }

  private nonisolated(nonsending) func add(
    _ imported: ImportedBoard,
    at place: BoardPoint?,
    from file: String,
    isCopy: Bool = false
  ) async throws(CommandError) -> CommandOutcome {
    defer { checkIsolation(#isolation) }
    var imported = imported
    if let place { imported.center(at: Point(place)) }
    report(imported.warnings, as: "import", about: file)
    for remark in imported.remarks {
      runtime.emit(.note(.init(code: "import", message: "\(UntrustedText(file).quoted(limit: 256)): \(remark)")))
    }
    return try await editor.add(imported, isCopy: isCopy)
  }

  /// Reads a file to import, without blocking the board. Returns nil for a picture that contains no drawing. If a
  /// converter is given, pictures in the file are checked and converted.
  private nonisolated(nonsending) func read(_ file: String, _ converter: (any PhotoConverter)?)
    async
    throws(CommandError) -> ImportedBoard?
  {
    defer { checkIsolation(#isolation) }
    return try await FileQueue.run(untilEndOf: runtime) { () throws(CommandError) in
      var bytes = try FileReading.whole(file, limit: ImportedBoard.byteLimit)
      let shown = UntrustedText(file).quoted(limit: 256)
      do throws(EmbeddedDrawing.Damaged) { bytes = try EmbeddedDrawing.document(in: bytes) ?? bytes } catch {
        throw CommandError(.fileUnreadable, "the drawing in \(shown) is damaged; use `photo` to add only the picture")
      }
      if PDFPages.isPDF(bytes) {
        let name = file.split(separator: "/").last.map(String.init) ?? file
        do throws(ConversionError) {
          return try PDFPages.read(bytes, named: NamedFile.cleaned(UntrustedText(name)), converter)
        } catch {
          throw CommandError(.fileUnreadable, "\(shown): \(UntrustedText(error.message).escaped())")
        }
      }
      guard !PhotoHeader.isPhoto(bytes), !PhotoHeader.isWebP(bytes), OtherPicture(of: bytes) == nil else { return nil }
      var problems: [String: Int] = [:]
      do throws(ImportError) {
        var imported = try ImportedBoard(reading: bytes) { picture in
          do throws(ConversionError) { return try PhotoFiles.photo(of: picture, converter) } catch {
            problems["pictures in the file are left out: \(error.message)", default: 0] += 1
            return nil
          }
        } hash: {
          AssetID(Array(SHA256.hash(data: $0)))
        }
        imported.warnings += problems.map { "\($0): \($1)" }.sorted()
        return imported
      } catch {
        throw CommandError(.fileUnreadable, "\(shown): \(UntrustedText(error.message).escaped())")
      }
    }
  }

  private func report(_ warnings: [String], as code: String, about file: String) {
    let name = UntrustedText(file).quoted(limit: 256)
    var lines = warnings.prefix(Self.warningLimit).map { "\(name): \($0)" }
    if warnings.count > Self.warningLimit {
      lines.append("\(name): \(warnings.count - Self.warningLimit) more warnings")
    }
    for line in lines { runtime.emit(.warning(.init(code: code, message: line))) }
  }
}

/// The part of a board that is exported.
public enum ExportArea: Hashable, Sendable {
  case wholeBoard
  /// The objects that touch a rectangle.
  case region(Rectangle)
  /// The frame with an id or a name, and the objects that touch the frame.
  case frame(String)
  /// Every frame, on a page of its own.
  case eachFrame

  package init(region: Rectangle?, frame: String?, isEachFrame: Bool) throws(CommandError) {
    let areas = [region.map(Self.region), frame.map(Self.frame), isEachFrame ? .eachFrame : nil].compactMap { $0 }
    guard areas.count < 2 else {
      throw CommandError(.badArgument, "give only one of a region, a frame and all frames")
    }
    self = areas.first ?? .wholeBoard
  }

  package var region: Rectangle? { if case .region(let region) = self { region } else { nil } }

  package var frame: String? { if case .frame(let frame) = self { frame } else { nil } }
}

extension Board {
  func frame(named word: String) throws(CommandError) -> ObjectID {
    var resolver = ReferenceResolver<ObjectID>()
    for id in frames {
      let name = snapshot(id)?.text ?? ""
      resolver.add(id: id.description, names: name.isEmpty ? [] : [UntrustedText(name)], value: id)
    }
    return try resolver.find(word, what: "frame", missing: .noSuchObject)
  }
}

struct Authors {
  let board: Board
  let members: Members
  let persistence: Persistence

  /// Finds present and former members. Members in `others` are found even if they wrote nothing on this board.
  func find(_ word: String, or others: Set<MemberID> = []) throws(CommandError) -> MemberID {
    var resolver = ReferenceResolver<MemberID>()
    // Members that wrote nothing are included, so that a name shared by two members is ambiguous.
    let present = members.ids.map { MemberID($0) }
    for member in Set(board.authors.values).union(others).union(present) {
      let name = members.name(of: member) ?? persistence.names[member.description]
      resolver.add(id: member.description, names: name.map { [$0] } ?? [], value: member)
    }
    return try resolver.find(word, what: "author", missing: .noSuchPeer)
  }

  /// The display names of the authors, for board lists; an id prefix if no name is known.
  var listed: [String] {
    // The chat can be long, so it is read only if a name is missing.
    lazy var names = Dictionary(board.chat.compactMap { line in line.name.map { (line.author, $0) } }) { $1 }
    return Set(board.authors.values).sorted().map { member in
      (members.name(of: member) ?? persistence.names[member.description])?.raw ?? names[member] ?? member.shortText
    }
  }

  var displayNames: [MemberID: String] {
    var names: [MemberID: String] = [:]
    for member in Set(board.authors.values) {
      let look = members.looks[PeerID(member)]
      names[member] = (look?.name ?? members.name(of: member))?.raw
    }
    return names
  }
}

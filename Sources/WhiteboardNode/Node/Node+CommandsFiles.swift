import Crypto
import PeerSession
import Whiteboard
import WhiteboardExport
import WhiteboardRendering
import WhiteboardSync

/// The verbs that write the board to files of other kinds, and take such files in.
extension Node {
  /// Writes the board, or what a part of it touches, to a file.
  func export(
    to file: String,
    region: Rectangle?,
    scale: Double,
    isReplacing: Bool
  ) async throws(CommandError) -> CommandOutcome {
    guard let format = ExportFormat(fileName: file) else {
      throw CommandError(
        .badArgument,
        "the name of the file says what to write: end it in one of \(ExportFormat.endings)"
      )
    }
    let count = try await withExport(region: region) { (export) async throws(CommandError) in
      try await Self.write(
        export,
        as: format,
        scale: scale,
        to: file,
        isReplacing: isReplacing,
        pages: configuration.pages
      )
      return export.snapshots.count
    }
    return CommandOutcome(file: file, count: count)
  }

  /// Calls `body` with an export.
  ///
  /// The files of its photos exist until `body` returns.
  private func withExport<Result>(
    region: Rectangle? = nil,
    objects: Set<ObjectID>? = nil,
    _ body: (BoardExport) async throws(CommandError) -> Result
  ) async throws(CommandError) -> Result {
    guard let replica, let session else { throw CommandError(.ending, "the board is closed") }
    var export = BoardExport(
      of: replica.board,
      id: session.id.text,
      name: boardName,
      region: region,
      objects: objects,
      names: try servedBoard().authors.displayNames
    )
    let ids = Set(export.snapshots.compactMap { $0.asset?.id })
    defer { for id in ids { photos.close(id) } }
    var opened: [AssetID: String] = [:]
    for id in ids { opened[id] = await photos.open(id) }
    let paths = opened
    export.picture.photo = { id in
      paths[id].flatMap { try? FileReading.whole($0, limit: BoardLimits.photoBytes) }
    }
    return try await body(export)
  }

  // MARK: - Copies

  /// The directory of copied objects, shared by all boards of this data directory.
  private var copies: String { "\(configuration.dataDirectory)/copies.json" }

  /// Keeps copies of objects.
  func copy(_ references: [ObjectReference]) async throws(CommandError) -> CommandOutcome {
    let ids = try openEditor().resolve(references)
    try await withExport(objects: Set(ids)) { (export) async throws(CommandError) in
      try await Self.write(
        export,
        as: .json,
        scale: 1,
        to: copies,
        isReplacing: true,
        pages: nil
      )
    }
    return CommandOutcome(ids: ids)
  }

  /// Puts what was copied last on the board, as one step; the board stays what it is otherwise.
  func paste(at place: BoardPoint?) async throws(CommandError) -> CommandOutcome {
    guard FileReading.size(copies) != nil else {
      throw CommandError(.refused, "nothing was copied yet: `copy ID …` does that, on any board")
    }
    guard var imported = try await Self.read(copies) else { return CommandOutcome(ids: []) }
    imported.settings = BoardSettings()
    return try put(imported, at: place, from: copies)
  }

  /// Makes the file beside the node, which goes on meanwhile.
  private static func write(
    _ export: BoardExport,
    as format: ExportFormat,
    scale: Double,
    to file: String,
    isReplacing: Bool,
    pages: (any PageWriter)?
  ) async throws(CommandError) {
    try writing { () throws(OutputFile.WriteError) in
      try OutputFile.check(file, isReplacing: isReplacing)
    }
    let bytes: [UInt8]
    do throws(ExportError) {
      bytes = try export.file(as: format, scale: scale, pages: pages)
    } catch {
      throw CommandError(.refused, TerminalText.cleaned(error.message))
    }
    try writing { () throws(OutputFile.WriteError) in
      try OutputFile.write(bytes, to: file, isReplacing: isReplacing)
    }
  }

  private static func writing(
    _ body: () throws(OutputFile.WriteError) -> Void
  ) throws(CommandError) {
    do throws(OutputFile.WriteError) {
      try body()
    } catch {
      guard case .exists = error else { throw CommandError(.fileUnwritable, error.message) }
      throw CommandError(.fileUnwritable, "\(error.message); `force` writes over it")
    }
  }

  // MARK: - Taking in

  /// Puts what is in a file on the board, as one step.
  func takeIn(_ file: String, at place: BoardPoint?) async throws(CommandError) -> CommandOutcome {
    guard let imported = try await Self.read(file) else {
      return try await openEditor().importPhoto(
        file,
        at: place.map { Point($0) } ?? Point(x: 0, y: 0)
      )
    }
    var outcome = try put(imported, at: place, from: file)
    (outcome.file, outcome.count) = (file, outcome.ids?.count)
    return outcome
  }

  /// Adds the contents of a file to the board, as one undo step.
  private func put(
    _ imported: ImportedBoard,
    at place: BoardPoint?,
    from file: String
  ) throws(CommandError) -> CommandOutcome {
    var imported = imported
    if let place { imported.center(at: Point(place)) }
    tellLeftOut(imported.warnings, of: file)
    return try openEditor().add(imported)
  }

  /// Reads a file beside the node, which goes on meanwhile; nil if it is a picture.
  private static func read(_ file: String) async throws(CommandError) -> ImportedBoard? {
    let bytes = try FileReading.whole(file, limit: ImportedBoard.byteLimit)
    guard !PhotoHeader.isPhoto(bytes), !PhotoHeader.isWebP(bytes) else { return nil }
    do throws(ImportError) {
      return try ImportedBoard(reading: bytes) { AssetID(Array(SHA256.hash(data: $0))) }
    } catch {
      throw CommandError(
        .fileUnreadable,
        "\(TerminalText.quoted(file, limit: 256)): \(TerminalText.cleaned(error.message))"
      )
    }
  }

  /// The most that is said of what was left out of one file.
  private static let remarkLimit = 20

  private func tellLeftOut(_ warnings: [String], of file: String) {
    let shown = TerminalText.quoted(file, limit: 256)
    var lines = warnings.prefix(Self.remarkLimit).map { "\(shown): \($0)" }
    if warnings.count > Self.remarkLimit {
      lines.append("\(shown): and \(warnings.count - Self.remarkLimit) more like that")
    }
    for line in lines { emit(.warning(.init(code: "import", message: line))) }
  }
}

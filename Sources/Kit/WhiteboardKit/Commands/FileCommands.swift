import Whiteboard
import WhiteboardRendering

enum FileCommands {
  static let checkpoint = CommandSpec(
    .checkpoint,
    rules: CommandRules(requires: .board, .changesOtherData),
    "save the current board as a named version",
    .checkpoint("name")
  ) { (runner, _, name) async throws(CommandError) in
    .done(try await runner.board.versions.checkpoint(name))
  }

  static let checkpoints = CommandSpec(.checkpoints, rules: .reading, "list the checkpoints") {
    (runner, request) async throws(CommandError) in
    runner.answer(try await runner.board.versions.checkpoints(), to: request)
  }

  static let diff = CommandSpec(
    .diff,
    rules: .reading,
    "show the changes from one checkpoint to another, or to the current board",
    .checkpoint("from"),
    .laterCheckpoint
  ) { (runner, request, from, to) async throws(CommandError) in
    runner.answer(try await runner.board.versions.difference(from: from, to: to), to: request)
  }

  static let restore = CommandSpec(
    .restore,
    "restore the board as it was at a checkpoint; `undo` takes this back",
    .checkpoint("name")
  ) { (runner, _, name) async throws(CommandError) in
    try await runner.withEditor { (_) async throws(CommandError) in try await runner.board.versions.restore(name) }
  }

  static let saveAs = CommandSpec(.saveAs, rules: .reading, "write the board to another file", .file) {
    (runner, _, file) async throws(CommandError) in
    .done(try await runner.persistence.saveCopy(to: BoardFile.absolute(file), photos: runner.board.photos))
  }

  static let save = CommandSpec(
    .save,
    rules: CommandRules(requires: .nothing, .changesNothing),
    "save unsaved work now, and report whether everything is on disk"
  ) { (runner, request) async throws(CommandError) in
    .done(try await runner.persistence.save(request: request.request))
  }

  static let export = CommandSpec(
    .export,
    rules: .reading,
    "write the board, or a part of it, as .svg, .png, .pdf, .json, .excalidraw or .txt",
    notes: [
      "A region has its upper left corner at X,Y, the width W and the height H. All objects that touch it are written.",
      "frame is the id or the name of a frame: its area is written. With frames, a .pdf has a page for each frame, in their order.",
      "scale is the number of pixels per board unit in a .png file, at most 64; by default 2, or fewer on a large board.",
      "page is the paper of a .pdf, a4 or letter: the drawing is scaled to fit. By default, the page is as large as the drawing.",
      "With embed, a .png or .svg also contains the drawing, so that `import` and Excalidraw can open it again.",
      "An existing file is replaced only with force.",
    ],
    .file,
    .exportArea,
    .pixels,
    .paper,
    .flag("embed"),
    .flag("force")
  ) { (runner, _, file, area, scale, paper, embedsDrawing, isReplacing) async throws(CommandError) in
    try await runner.board.files.export(
      to: file,
      of: area,
      scale: scale,
      paper: paper,
      embedsDrawing: embedsDrawing,
      isReplacing: isReplacing
    )
  }

  static let `import` = CommandSpec(
    .import,
    "add a picture, the pages of a PDF, a board from .json, an Excalidraw drawing or a Mermaid flowchart from .mmd, with its center at X,Y",
    notes: [
      "If a picture contains a drawing of Excalidraw, its objects are added; `photo` adds only the picture.",
      "Each page of a PDF becomes a picture of 150 pixels per inch in a frame; at most 100 pages are added.",
      "A flowchart becomes boxes, lines that are bound to them, and a frame for each subgraph. Lines of text that are not understood are reported.",
      "Without at=, objects keep the positions that they have in the file, and pictures are placed at 0,0.",
      "`undo` removes all imported objects in one step. Imported games start without their moves.",
      "If a board cannot show parts of the file as they are, the command reports their kinds and numbers.",
    ],
    .file,
    .pointOption("at")
  ) { (runner, _, file, point) async throws(CommandError) in
    try await runner.withEditor { (_) async throws(CommandError) in
      try await runner.board.files.importFile(file, at: point)
    }
  }

  static let copy = CommandSpec(
    .copy,
    rules: .reading,
    "copy objects, to paste them on this board or another",
    notes: ["The copies are stored in the data directory until the next `copy`."],
    .objects
  ) { (runner, _, objects) async throws(CommandError) in
    try await runner.board.files.copy(objects)
  }

  static let paste = CommandSpec(
    .paste,
    "paste the objects that were copied last, with their center at X,Y",
    .optionalPoint
  ) { (runner, _, point) async throws(CommandError) in
    try await runner.withEditor { (_) async throws(CommandError) in try await runner.board.files.paste(at: point) }
  }
}

extension Command {
  /// Saves the current board as a named version.
  public static func checkpoint(name: String) -> Command { FileCommands.checkpoint(name) }

  /// Lists the checkpoints.
  public static let checkpoints = FileCommands.checkpoints()

  /// Reports the differences between a checkpoint and a later checkpoint, or the current board if `to` is nil.
  public static func diff(from: String, to: String?) -> Command { FileCommands.diff(from, to) }

  /// Restores the board to its state at a checkpoint, as one undo step.
  public static func restore(name: String) -> Command { FileCommands.restore(name) }

  /// Writes the board to another file.
  public static func saveAs(file: String) -> Command { FileCommands.saveAs(file) }

  /// Saves unsaved work, and reports whether everything is saved.
  public static let save = FileCommands.save()

  /// Writes the board, or a part of it, to a file.
  ///
  /// The file extension selects the format. `scale` is the number of pixels per board unit in raster formats; nil means
  /// 2 pixels, or fewer for a large board. A PDF is scaled to fit on `paper`, or has a page of the size of the board if
  /// `paper` is nil. If `embedsDrawing` is true, a PNG or SVG also contains the objects, so that it can be imported
  /// again.
  public static func export(
    file: String,
    of area: ExportArea = .wholeBoard,
    scale: Double? = nil,
    paper: PaperSize? = nil,
    embedsDrawing: Bool = false,
    isReplacing: Bool
  ) -> Command {
    FileCommands.export(file, area, scale, paper, embedsDrawing, isReplacing)
  }

  /// Adds the contents of a file, centered at a point; nil keeps the positions in the file.
  public static func `import`(file: String, at point: BoardPoint?) -> Command { FileCommands.import(file, point) }

  /// Stores copies of objects, which `paste` can add to any board.
  public static func copy(_ objects: [ObjectReference]) -> Command { FileCommands.copy(objects) }

  /// Adds the objects that were copied last, centered at a point; nil keeps the original positions.
  public static func paste(at point: BoardPoint?) -> Command { FileCommands.paste(point) }
}

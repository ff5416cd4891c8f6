enum FileCommands {
  static let checkpoint = CommandEntry(
    .checkpoint,
    arguments: "NAME",
    summary: "save the current board as a named version",
    keys: ["name"],
    words: { arguments throws(CommandError) in .checkpoint(name: try arguments.checkpoint()) },
    json: { fields throws(CommandError) in .checkpoint(name: try fields.checkpoint("name")) }
  )

  static let checkpoints = CommandEntry(.checkpoints, summary: "list the checkpoints")

  static let diff = CommandEntry(
    .diff,
    arguments: "NAME [NAME]",
    summary: "show the changes from one checkpoint to another, or to the current board",
    keys: ["from", "to"],
    words: { arguments throws(CommandError) in
      let from = try arguments.checkpoint()
      guard let other = arguments.nextIfAny() else { return .diff(from: from, to: nil) }
      return .diff(from: from, to: try CommandLimits.checkedCheckpoint(other.text))
    },
    json: { fields throws(CommandError) in
      .diff(from: try fields.checkpoint("from"), to: fields.has("to") ? try fields.checkpoint("to") : nil)
    }
  )

  static let restore = CommandEntry(
    .restore,
    arguments: "NAME",
    summary: "restore the board as it was at a checkpoint; `undo` takes this back",
    keys: ["name"],
    words: { arguments throws(CommandError) in .restore(name: try arguments.checkpoint()) },
    json: { fields throws(CommandError) in .restore(name: try fields.checkpoint("name")) }
  )

  static let saveAs = CommandEntry(
    .saveAs,
    arguments: "FILE",
    summary: "write the board to another file",
    keys: ["file"],
    words: { arguments throws(CommandError) in .saveAs(file: try arguments.file()) },
    json: { fields throws(CommandError) in .saveAs(file: try fields.file()) }
  )

  static let save = CommandEntry(.save, summary: "save unsaved work now, and report whether everything is on disk")

  static let export = CommandEntry(
    .export,
    arguments: "FILE [region=X,Y,W,H] [scale=N] [force]",
    summary: "write the board, or a part of it, as .svg, .png, .pdf, .json, .excalidraw or .txt",
    notes: [
      "A region has its upper left corner at X,Y, the width W and the height H. All objects that touch it are written.",
      "scale is the number of pixels per board unit in a .png file, at most 64.",
      "An existing file is replaced only with force.",
    ],
    keys: ["file", "region", "scale", "force"],
    words: { arguments throws(CommandError) in
      let region = try arguments.removeRegion("region")
      let scale = try arguments.removeNumber("scale") ?? 1
      let isReplacing = arguments.removeFlag("force")
      return .export(
        file: try arguments.file(),
        region: region,
        scale: try CommandLimits.checkedPixels(scale),
        isReplacing: isReplacing
      )
    },
    json: { fields throws(CommandError) in
      .export(
        file: try fields.file(),
        region: try fields.regionIfAny(),
        scale: try CommandLimits.checkedPixels(fields.numberIfAny("scale") ?? 1),
        isReplacing: fields.flag("force")
      )
    }
  )

  static let `import` = CommandEntry(
    .import,
    arguments: "FILE [at=X,Y]",
    summary: "add a picture, a board from .json or an Excalidraw drawing, with its center at X,Y",
    notes: [
      "Without at=, objects keep the positions that they have in the file, and a picture is placed at 0,0.",
      "`undo` removes all imported objects in one step. Imported games start without their moves.",
      "Excalidraw shapes are imported without their fill.",
    ],
    keys: ["file", "at"],
    words: { arguments throws(CommandError) in
      let at = try arguments.removePoint("at")
      return .import(file: try arguments.file(), at: at)
    },
    json: { fields throws(CommandError) in .import(file: try fields.file(), at: try fields.pointIfAny("at")) }
  )

  static let copy = CommandEntry(
    .copy,
    summary: "copy objects, to paste them on this board or another",
    notes: ["The copies are stored in the data directory until the next `copy`."],
    objects: { .copy($0) }
  )

  static let paste = CommandEntry(
    .paste,
    arguments: "[X,Y]",
    summary: "paste the objects that were copied last, with their center at X,Y",
    keys: ["at"],
    words: { arguments throws(CommandError) in .paste(at: try arguments.pointIfAny()) },
    json: { fields throws(CommandError) in .paste(at: try fields.pointIfAny("at")) }
  )
}

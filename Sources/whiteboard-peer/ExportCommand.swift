import ArgumentParser
import Whiteboard
import WhiteboardCommands
import WhiteboardExport
import WhiteboardNode
import WhiteboardPictures
import WhiteboardRendering

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// `whiteboard-peer export`.
struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Export a saved board as SVG, PNG, PDF, JSON, Excalidraw or text.",
    discussion: """
      BOARD is its name, the start of its id, or a file; it may be open elsewhere, and is only read.
      The ending of FILE says what is written: \(ExportFormat.endings).
      """
  )

  @Argument(help: "Which board.") var board: String

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("The file to write; - is standard output.", valueName: "FILE")
  )
  var output: String

  @Option(
    help: ArgumentHelp(
      "What to write, whatever the name of the file: "
        + ExportFormat.allCases.map(\.rawValue).joined(separator: ", ") + ".",
      valueName: "KIND"
    )
  )
  var format: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("All objects that touch this part of the board.", valueName: "X,Y,W,H")
  )
  var region: String?

  @Option(help: ArgumentHelp("Pixels of a PNG for each board unit.", valueName: "N"))
  var scale = 1.0

  @Option(
    name: .customLong("at"),
    help: ArgumentHelp("As it was at this checkpoint.", valueName: "CHECKPOINT")
  )
  var version: String?

  @Flag(help: "Overwrite an existing file.")
  var force = false

  @OptionGroup var common: CommonOptions

  mutating func run() async throws {
    let format = try chosenFormat()
    let region = try chosenRegion()
    let isPiped = output == "-"
    guard !isPiped || (format != .png && format != .pdf) || isatty(STDOUT_FILENO) == 0 else {
      throw NodeError(.usage, "a terminal cannot show .\(format.rawValue); give a file with -o")
    }
    let target = BoardFile.absolute(output)
    if !isPiped { try writing { () throws(OutputFile.WriteError) in try check(target) } }
    let path = try await common.path(of: board)
    let export = try await BoardFile.export(path, version: version, region: region)
    let bytes: [UInt8]
    do throws(ExportError) {
      bytes = try export.file(as: format, scale: scale, pages: CairoPages())
    } catch {
      throw NodeError(.usage, TerminalText.cleaned(error.message))
    }
    guard !isPiped else {
      try Console.tell(bytes)
      return
    }
    let isReplacing = force
    try writing { () throws(OutputFile.WriteError) in
      try OutputFile.write(bytes, to: target, isReplacing: isReplacing)
    }
    let count = export.snapshots.count
    try common.say(
      "board-exported",
      "\(count == 1 ? "1 object is" : "\(count) objects are") in \(output).",
      path: target
    )
  }

  private func check(_ target: String) throws(OutputFile.WriteError) {
    try OutputFile.check(target, isReplacing: force)
  }

  private func chosenFormat() throws(NodeError) -> ExportFormat {
    guard let name = format else {
      if let format = ExportFormat(fileName: output) { return format }
      throw NodeError(
        .usage,
        output == "-"
          ? "say what to write to standard output, like --format svg"
          : "the name of the file says what to write: end it in one of \(ExportFormat.endings), "
            + "or give --format"
      )
    }
    guard let format = ExportFormat(rawValue: name) else {
      throw NodeError(
        .usage,
        "--format is one of " + ExportFormat.allCases.map(\.rawValue).joined(separator: ", ")
      )
    }
    return format
  }

  private func chosenRegion() throws(NodeError) -> Rectangle? {
    do throws(CommandError) {
      _ = try CommandParser.checkedPixels(scale)
      return try region.map { (text) throws(CommandError) in try CommandParser.region(text) }
    } catch {
      throw NodeError(.usage, error.message)
    }
  }
}

/// Writes a file; what stands in its way is an end with its exit status.
private func writing(_ body: () throws(OutputFile.WriteError) -> Void) throws(NodeError) {
  do throws(OutputFile.WriteError) {
    try body()
  } catch {
    if case .exists = error {
      throw NodeError(.cannotCreate, "\(error.message); --force writes over it")
    }
    throw NodeError(.cannotCreate, error.message)
  }
}

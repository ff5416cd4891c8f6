import ArgumentParser
import CommandLines
import PeerCore
import Whiteboard
import WhiteboardKit
import WhiteboardPictures
import WhiteboardPrograms
import WhiteboardRendering

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Export a saved board as SVG, PNG, PDF, JSON, Excalidraw or text.",
    discussion: """
      BOARD is the name of a board, the start of its id, or a file. The board may be open elsewhere; it is not \
      changed. The extension of FILE sets the format: \(ExportFormat.endings).
      """
  )

  @Argument(help: "The board to export.", completion: .board) var board: String

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("The file to write; - is standard output.", valueName: "FILE"),
    completion: .file()
  ) var output: String

  @Option(
    help: ArgumentHelp(
      "The format; by default, the extension of FILE sets it. The formats are "
        + ExportFormat.allCases.map(\.rawValue).joined(separator: ", ") + ".",
      valueName: "KIND"
    ),
    completion: .list(ExportFormat.allCases.map(\.rawValue))
  ) var format: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Export only the objects that touch this region.", valueName: "X,Y,W,H")
  ) var region: String?

  @Option(
    help: ArgumentHelp("Export only the frame with this id or name, and the objects that touch it.", valueName: "FRAME")
  ) var frame: String?

  @Flag(help: "Write a PDF with a page for each frame, in their order.") var frames = false

  @Option(
    help: ArgumentHelp(
      "The number of PNG pixels for each board unit; by default 2, or fewer for a large board.",
      valueName: "N"
    )
  )
  var scale: Double?

  @Option(
    help: ArgumentHelp(
      "Reduce the scale of a PNG so that each side has at most this number of pixels.",
      valueName: "PIXELS"
    )
  )
  var fit: Int?

  @Option(
    name: .customLong("page"),
    help: ArgumentHelp(
      "The paper of a PDF, a4 or letter; the drawing is scaled to fit. By default, the page is as large as the drawing.",
      valueName: "PAPER"
    ),
    completion: .list(["a4", "letter"])
  ) var paper: String?

  @Option(
    name: .customLong("at"),
    help: ArgumentHelp("Export the board as it was at this checkpoint.", valueName: "CHECKPOINT")
  ) var version: String?

  @Flag(
    help: "Add the drawing to a PNG or SVG, so that `whiteboard-peer import` and Excalidraw can open it again."
  ) var embed = false

  @Flag(help: "Overwrite an existing file.") var force = false

  @OptionGroup var common: CommonOptions

  mutating func run() async throws {
    let format = try chosenFormat()
    let area = try chosenArea()
    let page = try paper.map { (name) throws(WhiteboardError) in
      guard let size = PaperSize(rawValue: name.lowercased()) else {
        throw WhiteboardError(.usage, "--page must be a4 or letter")
      }
      return size
    }
    if let fit, !(1...PicturePage.sideLimit).contains(fit) {
      throw WhiteboardError(.usage, "--fit must be from 1 to \(PicturePage.sideLimit)")
    }
    guard fit == nil || format == .png else { throw WhiteboardError(.usage, "--fit applies only to .png files") }
    let isPiped = output == "-"
    guard !isPiped || (format != .png && format != .pdf) || isatty(STDOUT_FILENO) == 0 else {
      throw WhiteboardError(.usage, "a terminal cannot show .\(format.rawValue); give a file with -o")
    }
    let target = BoardFile.absolute(output)
    if !isPiped { try writing { () throws(OutputFile.WriteError) in try check(target) } }
    let path = try await common.path(of: board)
    let export = try await BoardFile.export(path, version: version, of: area)
    let written: ExportedFile
    do throws(ExportError) {
      written = try export.file(
        as: format,
        scale: scale,
        paper: page,
        hasFramePages: frames,
        pages: CairoPages(longestSide: fit),
        embedsDrawing: embed
      )
    } catch {
      throw WhiteboardError(.usage, UntrustedText(error.message).escaped())
    }
    Console.warn(written.warnings)
    guard !isPiped else {
      try Console.tell(written.bytes)
      return
    }
    let isReplacing = force
    try writing { () throws(OutputFile.WriteError) in
      try OutputFile.write(written.bytes, to: target, isReplacing: isReplacing)
    }
    let count = export.snapshots.count
    try common.say(
      "board-exported",
      "Exported \(count == 1 ? "1 object" : "\(count) objects") to \(output).",
      path: target
    )
  }

  private func check(_ target: String) throws(OutputFile.WriteError) {
    try OutputFile.check(target, isReplacing: force)
  }

  private func chosenFormat() throws(WhiteboardError) -> ExportFormat {
    guard let name = format else {
      if let format = ExportFormat(fileName: output) { return format }
      throw WhiteboardError(
        .usage,
        output == "-"
          ? "give the format for standard output, for example --format svg"
          : "the ending of the file does not set a format; use one of \(ExportFormat.endings), " + "or give --format"
      )
    }
    guard let format = ExportFormat(rawValue: name) else {
      throw WhiteboardError(
        .usage,
        "--format must be one of " + ExportFormat.allCases.map(\.rawValue).joined(separator: ", ")
      )
    }
    return format
  }

  private func chosenArea() throws(WhiteboardError) -> ExportArea {
    do throws(CommandError) {
      _ = try scale.map(CommandLimits.checkedPixels)
      let region = try region.map { (text) throws(CommandError) in try CommandParser.region(text) }
      return try ExportArea(region: region, frame: frame, isEachFrame: frames)
    } catch { throw WhiteboardError(.usage, error.message) }
  }
}

private func writing(_ body: () throws(OutputFile.WriteError) -> Void) throws(WhiteboardError) {
  do throws(OutputFile.WriteError) { try body() } catch {
    if case .exists = error { throw WhiteboardError(.cannotCreate, "\(error.message); use --force to overwrite it") }
    throw WhiteboardError(.cannotCreate, error.message)
  }
}

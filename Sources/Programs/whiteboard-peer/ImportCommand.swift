import ArgumentParser
import CommandLines
import PeerCore
import PeerSession
import Whiteboard
import WhiteboardKit
import WhiteboardPrograms

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract:
      "Import photos, PDF pages, boards as JSON, Excalidraw drawings and Mermaid flowcharts into a saved board.",
    discussion: """
      BOARD is the name of a board, the start of its id, or a file. If the board is open elsewhere, type \
      `import FILE` there instead. If there is no such board, the program offers to create it; with --new, it creates \
      the board without a question. To convert a drawing, import it into a new board, and export the board.
      """
  )

  @Argument(help: "The board to import into.", completion: .board) var board: String

  @Argument(
    help: ArgumentHelp("The files: pictures, .pdf, .json, .excalidraw, .mmd.", valueName: "FILE"),
    completion: .file()
  ) var files: [String]

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The center of the first file's content; the other files are placed beside it.",
      valueName: "X,Y"
    )
  ) var at: String?

  @Flag(name: .customLong("new"), help: "Create the board if it does not exist.") var isNew = false

  @OptionGroup var common: CommonOptions

  /// The distance between the contents of imported files on the board, in board units.
  private static let distance = 240.0

  mutating func run() async throws {
    let place = try chosenPlace()
    var options = try BoardOptions.parse(["--admit", "known"])
    options.common = common
    let settings = try options.settings()
    let hosted = try await hostedBoard(settings)
    // The board stays offline, because it only has to sign and save the imported objects.
    var configuration = try await options.configuration(.host(boardName: hosted.name), isInteractive: false, settings)
    configuration.boardFile = hosted.file
    configuration.isListening = false
    configuration.discovery = nil
    configuration.isAnnounced = false
    configuration.code = nil
    configuration.script = .run(keepsGoing: false)
    let feed = CommandFeed()
    for (index, file) in files.enumerated() { feed.push(line(file, place, index)) }
    feed.finish()
    let writer = LineWriter(descriptor: STDOUT_FILENO)
    let sink = ImportSink(lines: LineSink(writer, isJSON: common.json), isJSON: common.json)
    let sharedBoard = SharedBoard(configuration, input: feed, sink: sink)
    let termination = Termination {
      await sharedBoard.requestEnd()
      await writer.giveUp(ifStalledFor: .seconds(2))
    }
    defer { withExtendedLifetime(termination) {} }
    do throws(WhiteboardError) { try await sharedBoard.run() } catch {
      try? await writer.flush()
      if hosted.isCreated, !sink.hasImported.withLock({ $0 }), let path = try? await common.path(of: board) {
        unlink(path)
      }
      guard error.code == .timedOut else { throw error }
      throw WhiteboardError(
        error.code,
        "\(UntrustedText(board).quoted(limit: 256)) is open elsewhere: " + "type `import FILE` on it there, or close it"
      )
    }
    do throws(OutputError) { try await writer.flush() } catch {
      guard error.isReaderGone else { throw WhiteboardError.unwritable }
    }
  }

  private func hostedBoard(_ settings: Settings) async throws(WhiteboardError) -> (
    name: String, file: String?, isCreated: Bool
  ) {
    do throws(WhiteboardError) { return ("", try await common.path(of: board), false) } catch {
      guard error.code == .noInput else { throw error }
      // A mistyped file name must not create a board.
      for file in files { try Self.check(file) }
      let isWanted =
        if isNew { true } else if Console.isTerminal { try Console.asks("\(error.message). Create it?") } else { false }
      guard isWanted else {
        throw WhiteboardError(.noInput, "\(error.message); to create it, add --new")
      }
      let hosted = try HostedBoard(board, isKept: true, settings)
      return (hosted.name, hosted.file, true)
    }
  }

  private static func check(_ file: String) throws(WhiteboardError) {
    guard access(file, R_OK) != 0 else { return }
    throw WhiteboardError(
      .noInput,
      "\(UntrustedText(file).quoted(limit: 256)) cannot be read: \(SystemError.words(for: errno))"
    )
  }

  private func chosenPlace() throws(WhiteboardError) -> Point? {
    do throws(CommandError) { return try at.map { (text) throws(CommandError) in try CommandParser.point(text) } } catch
    { throw WhiteboardError(.usage, error.message) }
  }

  private func line(_ file: String, _ place: Point?, _ index: Int) -> String {
    var json = JSONObject()
    json.add("verb", string: "import")
    json.add("file", string: BoardFile.absolute(file))
    if place != nil || index > 0 {
      let place = place ?? Point(x: 0, y: 0)
      json.add("at", [place.x + Double(index) * Self.distance, place.y])
    }
    return json.text
  }
}

/// A sink that prints the results of the import commands, and no other events of the board.
private struct ImportSink: EventSink {
  let lines: LineSink
  /// Whether failures are printed as lines of JSON; otherwise the program reports them when it exits.
  let isJSON: Bool
  let hasImported = Locked(false)

  var contents: EventContents { .unmarkedAnswers }

  func write(_ events: [SharedBoard.Output]) async throws(OutputError) {
    for case .answer(.done, _) in events { hasImported.withLock { $0 = true } }
    try await lines.write(
      events.filter { event in
        switch event {
        case .answer(.done, _), .news(.warning): true
        case .news(.note(let remark)): remark.code == "import"
        case .answer(.error, _): isJSON
        default: false
        }
      }
    )
  }
}

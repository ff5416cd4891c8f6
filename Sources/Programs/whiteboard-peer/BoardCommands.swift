import ArgumentParser
import CommandLines
import PeerCore
import Whiteboard
import WhiteboardDocument
import WhiteboardKit
import WhiteboardPrograms
import WhiteboardTerminal

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

struct HostCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "host",
    abstract: "Open a board for others to join.",
    discussion: """
      If a board with this name is saved, it is opened again with the same id, code and contents. \
      An argument that contains / or ends in .\(BoardFile.fileExtension) is the path of a board file.

      \(Program.inputHelp)
      """
  )

  @Argument(
    help: ArgumentHelp("The name of the board, or the path of its file.", valueName: "NAME|FILE"),
    completion: .board
  ) var board: String?

  @OptionGroup var owned: OwnedOption

  @OptionGroup var options: BoardOptions

  mutating func run() async throws {
    let settings = try options.settings()
    let hosted = try HostedBoard(board, isKept: !options.ephemeral, settings)
    var configuration = try await options.configuration(
      .host(boardName: hosted.name),
      isInteractive: Console.isTerminal,
      settings
    )
    configuration.boardFile = hosted.file
    configuration.isOwned = owned.owned
    if !configuration.trustsFile, Console.isTerminal, !options.common.json {
      configuration.trustsFile = try await Self.asksToTrust(hosted, configuration)
    }
    try await Program.run(configuration, options, settings, input: STDIN_FILENO)
  }

  /// If the board's file is from another computer, asks the user whether it is a copy of the user's own board (REC-20).
  /// Returns true only if the user says yes.
  private static func asksToTrust(_ hosted: HostedBoard, _ configuration: BoardConfiguration)
    async throws(WhiteboardError) -> Bool
  {
    let directory = configuration.dataDirectory
    let library = BoardLibrary(inDataDirectory: directory)
    var path = hosted.file
    if path == nil { path = (try? await library.file(named: hosted.name)) ?? nil }
    guard let path, await BoardFile.hasForeignFacts(path, dataDirectory: directory) else { return false }
    return try Console.asks(
      """
      \(UntrustedText(path).escaped(limit: 4096)) was written on another computer or by another person.
      It names members, addresses or a join code. If another person sent you the file, do not use them.
      Did you copy this board from a computer of your own?
      """
    )
  }
}

struct OwnedOption: ParsableArguments {
  @Flag(
    help:
      "Make yourself the owner of a new board: you decide which members can edit it (`role`), and `kick` is permanent."
  ) var owned = false
}

struct JoinCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Join a board: the only one nearby, or one by name, link or address.",
    discussion: """
      If several boards nearby have the same name, use the start of the id that `nearby` lists, or an address.

      \(Program.inputHelp)
      """
  )

  @Argument(help: ArgumentHelp("The board to join.", valueName: "NAME|LINK|HOST:PORT")) var target: String?

  @Option(help: ArgumentHelp("How long to search for the board.", valueName: "SECONDS")) var wait = 30.0

  @OptionGroup var catchingUp: CatchUpOptions

  @OptionGroup var options: BoardOptions

  mutating func run() async throws {
    let settings = try options.settings()
    var configuration = try await options.configuration(
      try Program.joining(target, wait: wait),
      isInteractive: Console.isTerminal,
      settings
    )
    try await catchingUp.apply(to: &configuration, isKept: !options.ephemeral)
    try await Program.run(configuration, options, settings, input: STDIN_FILENO)
  }
}

struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run commands from a file or standard input on a board, then quit.",
    discussion: """
      With --join, commands wait until the board has arrived from at least one member. At the end, the program \
      waits until every member has all changes. With --host and --relay, it also waits until a relay has the board. \
      If a command fails, the program ends immediately with a nonzero exit status, unless --keep-going is set.
      """
  )

  @Argument(
    help: ArgumentHelp("The commands, one per line; - is standard input.", valueName: "FILE|-"),
    completion: .file()
  ) var file: String?

  @Option(help: ArgumentHelp("Host the board with this name or file.", valueName: "NAME|FILE"), completion: .board)
  var host: String?

  @Option(help: ArgumentHelp("Join this board.", valueName: "NAME|LINK|HOST:PORT")) var join: String?

  @Flag(name: .customLong("keep-going"), help: "Continue after a command that fails.") var keepsGoing = false

  @Option(help: ArgumentHelp("How long to search for the board.", valueName: "SECONDS")) var wait = 30.0

  @OptionGroup var catchingUp: CatchUpOptions

  @OptionGroup var owned: OwnedOption

  @OptionGroup var options: BoardOptions

  mutating func validate() throws {
    guard !catchingUp.offline || join != nil else { throw ValidationError("--offline requires --join TARGET.") }
    guard !owned.owned || host != nil else { throw ValidationError("--owned requires --host NAME.") }
    guard (host == nil) != (join == nil) else { throw ValidationError("Give either --host NAME or --join TARGET.") }
    guard file != nil || isatty(STDIN_FILENO) == 0 else {
      throw ValidationError("Give a FILE with commands, - to type them, or use a pipe.")
    }
  }

  mutating func run() async throws {
    // Open the script file first, so that a mistyped file name does not create a board.
    let descriptor = try Self.opened(file)
    let settings = try options.settings()
    let hosted = try host.map { (host) throws(WhiteboardError) in
      try HostedBoard(host, isKept: !options.ephemeral, settings)
    }
    let part: BoardConfiguration.Part =
      if let hosted { .host(boardName: hosted.name) } else { try Program.joining(join, wait: wait) }
    var configuration = try await options.configuration(part, isInteractive: false, settings)
    configuration.boardFile = hosted?.file
    configuration.isOwned = owned.owned
    configuration.script = .run(keepsGoing: keepsGoing)
    if join != nil { try await catchingUp.apply(to: &configuration, isKept: !options.ephemeral) }
    try await Program.run(configuration, options, settings, input: descriptor)
  }

  private static func opened(_ file: String?) throws(WhiteboardError) -> Int32 {
    guard let file, file != "-" else { return STDIN_FILENO }
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    let number = errno
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
      let why = descriptor < 0 ? SystemError.words(for: number) : "it is a directory"
      throw WhiteboardError(.noInput, "the file \(UntrustedText(file).quoted(limit: 256)) cannot be read: \(why)")
    }
    return descriptor
  }
}

enum BoardName {
  /// Returns a board name as one line. Throws if the name is empty, too long to announce, or looks like a path.
  static func checked(_ name: String) throws(WhiteboardError) -> String {
    let name = PlainText.line(name)
    guard !name.isEmpty, name.utf8.count <= 128 else {
      throw WhiteboardError(.usage, "the name of a board must have 1 to 128 bytes")
    }
    guard !UntrustedText(name).displayed.isEmpty else {
      throw WhiteboardError(
        .usage,
        "this name consists of characters that cannot be seen; give the board a name with letters or digits"
      )
    }
    guard !BoardFile.isMeant(by: name) else {
      throw WhiteboardError(
        .usage,
        "a board's name cannot contain / or end in .\(BoardFile.fileExtension), because that would be the path of a file"
      )
    }
    return name
  }
}

struct HostedBoard {
  /// The name of the board; empty if the name is in its file.
  let name: String
  let file: String?

  /// Interprets the argument NAME|FILE. Without the argument, the board is named after the user. Throws if the name is
  /// invalid, or if a file is combined with `--ephemeral`.
  init(_ given: String?, isKept: Bool, _ settings: Settings) throws(WhiteboardError) {
    guard let given else {
      let owner = settings.value(.personName) ?? Environment["USER"] ?? "our"
      name = try BoardName.checked("\(owner.replacing("/", with: "-")) board")
      file = nil
      return
    }
    guard BoardFile.isMeant(by: given) else {
      name = try BoardName.checked(given)
      file = nil
      return
    }
    guard isKept else { throw WhiteboardError(.usage, "--ephemeral saves nothing, so it cannot host a file") }
    name = ""
    file = BoardFile.absolute(given)
  }
}

enum Program {
  static let inputHelp = """
    Without a terminal, the lines of the input are board commands. When the input ends, the board stays open until you \
    stop the program. To quit after the last command, use `run`.
    """

  /// Returns the first action of a shared board: joining the board given on the command line. Throws if the target or
  /// the time is invalid.
  static func joining(_ target: String?, wait: Double) throws(WhiteboardError) -> BoardConfiguration.Part {
    guard (0...86_400).contains(wait) else { throw WhiteboardError(.usage, "--wait must be from 0 to 86400 seconds") }
    do throws(LinkError) { return .join(try JoinTarget(target), patience: .seconds(wait)) } catch {
      throw WhiteboardError(.usage, error.description)
    }
  }

  static func run(_ configuration: BoardConfiguration, _ options: BoardOptions, _ settings: Settings, input: Int32)
    async throws(WhiteboardError)
  {
    let json = options.common.json
    if !json, configuration.script == .none, Console.hasScreen(settings) {
      var configuration = configuration
      configuration.isTyped = true
      try await withScreen(dataDirectory: configuration.dataDirectory, settings) {
        [configuration] screen throws(WhiteboardError) in try await screen.run(configuration)
      }
      return
    }
    let reader = try lineReader(input)
    let ending = EndRequest()
    let writer = LineWriter(descriptor: STDOUT_FILENO)
    var configuration = configuration
    configuration.isTyped = isatty(input) == 1
    // Only JSON lines name the file of a photo. Otherwise, a photo is only in the board's file.
    configuration.keepsPhotoFiles = json
    // A script in text form cannot answer questions. With `--json`, the program that writes the script can answer them.
    if configuration.files == .ask, !configuration.isTyped, !json { configuration.files = .refuse }
    let isTyped = configuration.isTyped
    let termination = Termination { signal in
      // After a hangup there is no user to ask.
      guard await ending.request(asksFirst: isTyped && signal != SIGHUP) else { return false }
      // The program must end even if its output is not read.
      await writer.giveUp(ifStalledFor: .seconds(2))
      return true
    }
    defer { withExtendedLifetime(termination) {} }
    try await run(configuration, from: reader, to: writer, isJSON: json, ending)
  }

  static func lineReader(_ descriptor: Int32) throws(WhiteboardError) -> LineReader {
    do throws(InputError) { return try LineReader(descriptor: descriptor) } catch {
      throw WhiteboardError(.system, "cannot open the input")
    }
  }

  /// Runs a shared board with lines of input and output until it stops. Throws ``WhiteboardError`` with the exit status
  /// of the program.
  static func run(
    _ configuration: BoardConfiguration,
    from reader: LineReader,
    to writer: LineWriter,
    isJSON: Bool,
    _ ending: EndRequest
  ) async throws(WhiteboardError) {
    let lines: any LineSource =
      configuration.isTyped ? TerminalLines(reader: reader) { await ending.request(asksFirst: true) } : reader
    let sink = LineSink(writer, isJSON: isJSON)
    let sharedBoard = SharedBoard(
      configuration,
      input: LineCommands(lines, areNumbered: configuration.script != .none),
      sink: sink
    )
    await ending.set(sharedBoard)
    let outcome: Result<Void, WhiteboardError>
    do throws(WhiteboardError) {
      try await sharedBoard.run()
      outcome = .success(())
    } catch { outcome = .failure(error) }
    await ending.set(nil)
    do throws(OutputError) {
      try await sink.finish()
      try await writer.flush()
    } catch {
      guard error.isReaderGone else {
        try outcome.get()
        throw WhiteboardError.unwritable
      }
    }
    try outcome.get()
  }

  /// Runs `body` with a screen that uses the whole terminal. Throws an error if the terminal cannot be used as a
  /// screen, and rethrows the errors of `body`.
  static func withScreen(
    dataDirectory: String,
    _ settings: Settings,
    _ body: (BoardTerminal) async throws(WhiteboardError) -> Void
  ) async throws(WhiteboardError) {
    let wanted = TerminalSettings(settings)
    let keys = try KeyMap(wanted.keys)
    let exitMessage =
      "whiteboard-peer crashed. All saved changes are in \(BoardFile.directory(inDataDirectory: dataDirectory)): open the board again.\n"
    let terminal = Terminal(mouse: wanted.mouse, exitMessage: exitMessage, log: dataDirectory + "/last-run.log")
    guard let terminal else {
      throw WhiteboardError(.system, "this terminal cannot show a full screen; use --accessible for line mode")
    }
    let screen = BoardTerminal(terminal, TerminalFeatures { Environment[$0] }, wanted, keys, home: Environment["HOME"])
    let termination = Termination { signal in
      guard signal != SIGHUP else {
        await screen.requestEnd()
        return true
      }
      return await screen.requestEndUnlessUnsaved()
    }
    defer { withExtendedLifetime(termination) {} }
    try await body(screen)
  }

  actor EndRequest {
    private var sharedBoard: SharedBoard?

    var hasBoard: Bool { sharedBoard != nil }

    func set(_ sharedBoard: SharedBoard?) { self.sharedBoard = sharedBoard }

    /// Asks the shared board to stop. Returns false if the board asks the user first.
    func request(asksFirst: Bool) async -> Bool {
      guard asksFirst, let sharedBoard else {
        await sharedBoard?.requestEnd()
        return true
      }
      return await sharedBoard.requestEndUnlessUnsaved()
    }
  }
}

extension Console {
  /// Returns whether the program can use the whole terminal as a screen. This requires a terminal that can move its
  /// cursor, and a user who did not choose line mode.
  static func hasScreen(_ settings: Settings) -> Bool {
    let term = Environment["TERM"] ?? ""
    return isTerminal && !term.isEmpty && term != "dumb" && settings.value(.accessible) != true
  }
}

/// At the end of input, the program exits, unless changes would be lost.
struct TerminalLines: LineSource {
  let reader: LineReader
  let ended: @Sendable () async -> Bool

  func nextLines() async throws(InputError) -> [LineReader.Line]? {
    while true {
      if let lines = try await reader.nextLines() { return lines }
      if Task.isCancelled { return nil }
      if await ended() { return nil }
    }
  }
}

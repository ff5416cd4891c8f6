import ArgumentParser
import Whiteboard
import WhiteboardCommands
import WhiteboardNode
import WhiteboardRendering
import WhiteboardTerminal

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// `whiteboard-peer host`.
struct HostCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "host",
    abstract: "Open a board for others to join.",
    discussion: """
      The same name gives the same board again, with its id, its code and all that is on it. What \
      has a / in it or ends in .\(BoardFile.fileExtension) is the file of a board, wherever it lies.
      """
  )

  @Argument(
    help: ArgumentHelp("What the board is called, or its file.", valueName: "NAME|FILE"),
    completion: .board
  )
  var board: String?

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
    try await Program.run(configuration, options, settings, input: STDIN_FILENO)
  }
}

/// Whose a board is that is made.
struct OwnedOption: ParsableArguments {
  @Flag(
    help:
      "Own a new board: you decide who can edit and who can only view (`role`), and `kick` is permanent."
  )
  var owned = false
}

/// `whiteboard-peer join`.
struct JoinCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Join a board: the one nearby, one by name, a link, or HOST:PORT."
  )

  @Argument(help: ArgumentHelp("Which board.", valueName: "NAME|LINK|HOST:PORT"))
  var target: String?

  @Option(
    help: ArgumentHelp("How long to wait for a board to be found.", valueName: "SECONDS")
  )
  var wait = 30.0

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

/// `whiteboard-peer run`.
struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run commands from a file or standard input on a board, then quit.",
    discussion: """
      With --join, commands wait until the board has arrived from at least one member. At the end the \
      program waits until every member has what was done. A command that fails ends it at once with \
      a status that is not 0, unless --keep-going.
      """
  )

  @Argument(
    help: ArgumentHelp("The verbs, one a line; - is standard input.", valueName: "FILE|-"),
    completion: .file()
  )
  var file: String?

  @Option(
    help: ArgumentHelp("Host the board of this name or file.", valueName: "NAME|FILE"),
    completion: .board
  )
  var host: String?

  @Option(help: ArgumentHelp("Join a board.", valueName: "NAME|LINK|HOST:PORT"))
  var join: String?

  @Flag(name: .customLong("keep-going"), help: "Continue after a command that fails.")
  var keepsGoing = false

  @Option(
    help: ArgumentHelp("How long to wait for a board to be found.", valueName: "SECONDS")
  )
  var wait = 30.0

  @OptionGroup var catchingUp: CatchUpOptions

  @OptionGroup var owned: OwnedOption

  @OptionGroup var options: BoardOptions

  mutating func validate() throws {
    guard !catchingUp.offline || join != nil else {
      throw ValidationError("--offline is for a board that was joined: give --join TARGET.")
    }
    guard !owned.owned || host != nil else {
      throw ValidationError("--owned is for a board that is hosted: give --host NAME.")
    }
    guard (host == nil) != (join == nil) else {
      throw ValidationError("Give either --host NAME or --join TARGET.")
    }
    guard file != nil || isatty(STDIN_FILENO) == 0 else {
      throw ValidationError("Give a FILE with verbs, - to type them, or a pipe.")
    }
  }

  mutating func run() async throws {
    // Check the name first, so that a typing error costs no board.
    let descriptor = try Self.opened(file)
    let settings = try options.settings()
    let hosted = try host.map { (host) throws(NodeError) in
      try HostedBoard(host, isKept: !options.ephemeral, settings)
    }
    let part: NodeConfiguration.Part =
      if let hosted {
        .host(boardName: hosted.name)
      } else {
        try Program.joining(join, wait: wait)
      }
    var configuration = try await options.configuration(part, isInteractive: false, settings)
    configuration.boardFile = hosted?.file
    configuration.isOwned = owned.owned
    configuration.script = .run(keepsGoing: keepsGoing)
    if join != nil {
      try await catchingUp.apply(to: &configuration, isKept: !options.ephemeral)
    }
    try await Program.run(configuration, options, settings, input: descriptor)
  }

  /// Opens the file of verbs; standard input where none is named.
  ///
  /// - Throws: ``NodeError`` that names a file that is not there or not to be read.
  private static func opened(_ file: String?) throws(NodeError) -> Int32 {
    guard let file, file != "-" else { return STDIN_FILENO }
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    let number = errno
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR
    else {
      let why = descriptor < 0 ? NetworkSurvey.words(for: number) : "it is a directory"
      throw NodeError(
        .noInput,
        "the file \(TerminalText.quoted(file, limit: 256)) cannot be read: \(why)"
      )
    }
    return descriptor
  }
}

/// What a board may be called.
enum BoardName {
  /// The name.
  ///
  /// - Throws: ``NodeError`` where it is too long to be announced, or would be taken for a file.
  static func checked(_ name: String) throws(NodeError) -> String {
    let name = PlainText.line(name)
    guard !name.isEmpty, name.utf8.count <= 128 else {
      throw NodeError(.usage, "a board's name has 1 to 128 bytes")
    }
    guard !BoardFile.isMeant(by: name) else {
      throw NodeError(
        .usage,
        "a board's name has no / and does not end in .\(BoardFile.fileExtension): that is a file"
      )
    }
    return name
  }
}

/// What is to be hosted.
struct HostedBoard {
  /// What the board is called; empty where its file says it.
  let name: String
  /// Its file, where it was given.
  let file: String?

  /// Reads what was given on the command line; without it the board is called after us.
  ///
  /// - Throws: ``NodeError`` for a name that none can have.
  init(_ given: String?, isKept: Bool, _ settings: Settings) throws(NodeError) {
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
    guard isKept else {
      throw NodeError(.usage, "--ephemeral keeps nothing, so that it cannot host a file")
    }
    name = ""
    file = BoardFile.absolute(given)
  }
}

/// A node with the process's input, output and signals.
enum Program {
  /// What joining means, by what was given on the command line.
  static func joining(
    _ target: String?,
    wait: Double
  ) throws(NodeError) -> NodeConfiguration.Part {
    guard (0...86_400).contains(wait) else {
      throw NodeError(.usage, "--wait is a time from 0 to 86400 seconds")
    }
    do throws(LinkError) {
      return .join(try JoinTarget(target), patience: .seconds(wait))
    } catch {
      throw NodeError(.usage, error.description)
    }
  }

  /// Runs a node until it is over.
  ///
  /// - Throws: ``NodeError`` with the status to exit with.
  static func run(
    _ configuration: NodeConfiguration,
    _ options: BoardOptions,
    _ settings: Settings,
    input: Int32
  ) async throws(NodeError) {
    let json = options.common.json
    if !json, configuration.script == .none, Console.hasScreen(settings) {
      var configuration = configuration
      configuration.isTyped = true
      try await withScreen(dataDirectory: configuration.dataDirectory, settings) {
        [configuration] screen throws(NodeError) in
        try await screen.run(configuration)
      }
      return
    }
    let reader: LineReader
    do throws(InputError) {
      reader = try LineReader(descriptor: input)
    } catch {
      throw NodeError(.system, "the input cannot be opened")
    }
    let ending = EndRequest()
    let lines: any LineSource =
      isatty(input) == 1
      ? TerminalLines(reader: reader) { await ending.request(asksFirst: true) } : reader
    let writer = LineWriter(descriptor: STDOUT_FILENO)
    var configuration = configuration
    configuration.isTyped = isatty(input) == 1
    // A script of text lines does not answer questions. With --json a program can.
    if configuration.files == .ask, !configuration.isTyped, !json { configuration.files = .refuse }
    let commands = LineCommands(lines, areNumbered: configuration.script != .none)
    let node = Node(configuration, input: commands, sink: LineSink(writer, isJSON: json))
    await ending.set(node)
    let isTyped = configuration.isTyped
    let termination = Termination { signal in
      // After a hangup there is no user to ask.
      await ending.request(asksFirst: isTyped && signal != SIGHUP)
    }
    defer { withExtendedLifetime(termination) {} }
    try await node.run()
    do throws(OutputError) {
      try await writer.flush()
    } catch {
      guard error.isReaderGone else {
        throw NodeError.unwritable
      }
    }
  }

  /// Runs something on the whole terminal.
  ///
  /// - Throws: ``NodeError`` where the terminal cannot be taken over, and what `body` throws.
  static func withScreen(
    dataDirectory: String,
    _ settings: Settings,
    _ body: (BoardTerminal) async throws(NodeError) -> Void
  ) async throws(NodeError) {
    let wanted = TerminalSettings(settings)
    let keys = try KeyMap(wanted.keys)
    let farewell =
      "whiteboard-peer crashed. Everything that was saved is in \(dataDirectory)/boards: open the board again.\n"
    let terminal = Terminal(
      mouse: wanted.mouse,
      farewell: farewell,
      log: dataDirectory + "/last-run.log"
    )
    guard let terminal else {
      throw NodeError(.system, "the terminal cannot be taken over; --accessible does without")
    }
    let screen = BoardTerminal(
      terminal,
      TerminalFeatures { Environment[$0] },
      wanted,
      keys,
      home: Environment["HOME"]
    )
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

  /// Passes the wish to end on to the node.
  private actor EndRequest {
    private var node: Node?

    func set(_ node: Node) {
      self.node = node
    }

    /// - Returns: Whether the node ends; false if the user is asked first.
    func request(asksFirst: Bool) async -> Bool {
      guard asksFirst, let node else {
        await node?.requestEnd()
        return true
      }
      return await node.requestEndUnlessUnsaved()
    }
  }
}

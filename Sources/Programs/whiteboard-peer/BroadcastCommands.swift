import ArgumentParser
import AvahiDiscovery
import CommandLines
import FoundationEssentials
import PeerCore
import PeerSession
import WhiteboardDocument
import WhiteboardKit
import WhiteboardPrograms
import WhiteboardTerminal
import WhiteboardWeb

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

struct BroadcastCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "broadcast",
    abstract: "Open a board, and show it as pictures to programs that run `watch`.",
    discussion: """
      The board is opened as with `host`, or joined as with `join` if BOARD is a link or an address, or with --join. On an
      open board, the command `broadcast start` does the same. Pictures are drawn only when something changes, and only
      while there are viewers.
      """
  )

  @Argument(
    help: ArgumentHelp("The board to open or join.", valueName: "NAME|FILE|LINK|HOST:PORT"),
    completion: .board
  ) var board: String

  @Flag(help: "Join the nearby board with this name, instead of opening a board on this computer.") var join = false

  @Option(help: ArgumentHelp("The maximum number of pictures per second, 1 to 60.", valueName: "N")) var fps: Double?

  @Option(help: ArgumentHelp("The size of the pictures (default: 1920x1080).", valueName: "WxH")) var size: String?

  @Option(
    help: ArgumentHelp("The encoding: jpeg, png or raw (default: jpeg).", valueName: "CODEC"),
    completion: .codec
  ) var codec: String?

  @Option(parsing: .unconditional, help: ArgumentHelp("Show only a part of the board.", valueName: "X,Y,W,H"))
  var region: String?

  @Option(help: ArgumentHelp("Show the part that a member sees, or that you see.", valueName: "PEER")) var follow:
    String?

  @Flag(help: "Show the frame of the board in which something changed last.") var frames = false

  @Option(
    help: ArgumentHelp(
      "Also serve the pictures over HTTP: / is a stream of pictures, /still is the last picture. With an address that "
        + "other computers can reach, the server uses HTTPS, and people need the link that is shown.",
      valueName: "ADDRESS:PORT"
    )
  ) var http: String?

  @Option(help: ArgumentHelp("How long to search for the board.", valueName: "SECONDS")) var wait = 30.0

  @OptionGroup var options: BoardOptions

  private var isJoining: Bool {
    guard !join else { return true }
    guard !BoardFile.isMeant(by: board) || BoardLink.looksLikeLink(board) else { return false }
    return switch try? JoinTarget(board) {
    case .link, .address: true
    default: false
    }
  }

  private func broadcastOptions() throws(WhiteboardError) -> Broadcast.Options {
    do throws(CommandError) {
      return try CommandParser.broadcastOptions(
        fps: fps,
        size: size,
        codec: codec,
        region: region.map { (text) throws(CommandError) in try CommandParser.region(text) },
        follow: follow,
        showsFrames: frames
      )
    } catch { throw WhiteboardError(.usage, error.message) }
  }

  private func httpAddress() throws(WhiteboardError) -> HostPort? {
    guard let http else { return nil }
    // `HostPort` would add the port of boards, which is usually in use.
    guard PeerAddress(http) != nil, let address = HostPort(http) else {
      throw WhiteboardError(.usage, "--http must be an address with a port, like 127.0.0.1:8080")
    }
    return address
  }

  mutating func run() async throws {
    let broadcast = try broadcastOptions()
    _ = try httpAddress()
    let settings = try options.settings()
    let hosted = isJoining ? nil : try HostedBoard(board, isKept: !options.ephemeral, settings)
    let part: BoardConfiguration.Part =
      if let hosted { .host(boardName: hosted.name) } else { try Program.joining(board, wait: wait) }
    var configuration = try await options.configuration(part, isInteractive: Console.isTerminal, settings)
    configuration.boardFile = hosted?.file
    configuration.broadcast = broadcast
    if let address = try httpAddress() {
      let gateway = BroadcastServer.isLoopback(address.host) ? nil : try options.gateway(settings)
      configuration.servesBroadcastToOthers = gateway != nil
      configuration.serveBroadcast = { [interface = configuration.interface] broadcast, report in
        try await withBroadcastServer(
          of: broadcast,
          host: address.host,
          port: address.port,
          security: gateway?.security(ofServerOn: address.host, interface: interface)
        ) { server in
          await report(server.links, server.fingerprint)
          // The events end with the broadcast, or when the task is canceled.
          for await _ in broadcast.events {}
        }
      }
    }
    try await Program.run(configuration, options, settings, input: STDIN_FILENO)
  }
}

struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Receive the broadcast of a board, without a copy of the board.",
    discussion: """
      The program joins the session of the board with a temporary identity, waits until a member broadcasts, and ends when
      the broadcast ends. It needs the join code like any other member, unless the board is open on this computer. With
      --output, the pictures are written one after the other, as whole files:
        whiteboard-peer watch standup --output - | ffmpeg -f mjpeg -use_wallclock_as_timestamps 1 -i - film.mp4
        whiteboard-peer watch standup --output - | mpv --no-cache --untimed --demuxer-lavf-format=mjpeg -
      """
  )

  @Argument(
    help: ArgumentHelp("The board; by default, the only board nearby.", valueName: "NAME|LINK|HOST:PORT"),
    completion: .board
  ) var board: String?

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Write the pictures to a file, or to standard output with -; by default, show them in the terminal.",
      valueName: "FILE|-"
    ),
    completion: .file()
  ) var output: String?

  @Option(help: ArgumentHelp("The encoding: jpeg, png or raw (RGB).", valueName: "CODEC"), completion: .codec)
  var codec = "jpeg"

  @Option(help: ArgumentHelp("The maximum number of pictures per second.", valueName: "N")) var fps = 60

  @Option(help: ArgumentHelp("End after this number of pictures.", valueName: "N")) var count: Int?

  @Option(help: ArgumentHelp("How long to search for the board.", valueName: "SECONDS")) var wait = 30.0

  @Option(name: .customLong("as"), help: .of(.personName, "NAME")) var name: String?

  @Option(help: .of(.code, "WORDS")) var code: String?

  @OptionGroup(title: "Terminal") var terminal: TerminalOptions

  @OptionGroup var common: CommonOptions

  mutating func validate() throws {
    guard FrameCodec(rawValue: codec) != nil else { throw ValidationError("--codec must be jpeg, png or raw.") }
    guard BroadcastFormat.rates.contains(fps) else { throw ValidationError("--fps must be from 1 to 60.") }
    guard count ?? 1 >= 1 else { throw ValidationError("--count must be at least 1.") }
    guard (0...86_400).contains(wait) else { throw ValidationError("--wait must be from 0 to 86400 seconds.") }
  }

  mutating func run() async throws {
    var flags = terminal.flags
    flags[.personName] = name
    flags[.code] = code
    let settings = try common.settings(flags)
    let target: JoinTarget
    do throws(LinkError) { target = try JoinTarget(board) } catch { throw WhiteboardError(.usage, error.description) }
    let join = try await Watching.joinRequest(
      target,
      code: settings.value(.code),
      discovery: AvahiDiscovery(interface: settings.value(.interface)),
      dataDirectory: try settings.chosenDataDirectory(),
      within: .seconds(wait)
    )
    let personal = PersonalSettings(inDataDirectory: try settings.chosenDataDirectory())
    let name = try await BoardOptions.chosenName(settings, personal)
    guard output != nil || !Console.hasScreen(settings) else { return try await show(join, as: name, settings) }
    guard (output ?? "-") != "-" || isatty(STDOUT_FILENO) == 0 else {
      throw WhiteboardError(.usage, "this terminal cannot show pictures; to write them to a file, add --output FILE")
    }
    try await write(join, as: name, settings)
  }

  /// Writes the pictures as they are received.
  private func write(_ join: JoinRequest, as name: String, _ settings: Settings) async throws {
    let request = BroadcastRequest(rate: fps, codecs: [FrameCodec(rawValue: codec) ?? .jpeg], acceptsChanges: false)
    let sink = try PictureSink(output ?? "-", limit: count, mayUseRaw: codec != FrameCodec.raw.rawValue)
    let watching = Watching(request, decoding: nil)
    let task = Task {
      try await Self.withSession(join, as: name, settings) { session in
        try await Self.watch(
          watching,
          in: session,
          waiting: { Console.complain("Waiting for a member to broadcast the board.") },
          { event in try await sink.handle(event) }
        )
      }
    }
    let termination = Termination { task.cancel() }
    defer { withExtendedLifetime(termination) {} }
    let result = await task.result
    await sink.finish()
    do { try result.get() } catch is CancellationError { return } catch is PictureSink.Closed { return }
  }

  /// Shows the pictures in the terminal until the broadcast ends or the user quits.
  private func show(_ join: JoinRequest, as name: String, _ settings: Settings) async throws {
    let (board, watching) = (board, Watching(BroadcastRequest(rate: fps), decoding: BoardPainter()))
    let task = Task {
      try await Self.withSession(join, as: name, settings) { session in
        let terminal = Terminal(
          mouse: .off,
          exitMessage: "whiteboard-peer crashed.\n",
          log: try settings.chosenDataDirectory() + "/last-run.log"
        )
        guard let terminal else {
          throw WhiteboardError(.system, "this terminal cannot show a full screen; use --output")
        }
        let screen = BroadcastTerminal(
          terminal,
          TerminalFeatures { Environment[$0] },
          TerminalSettings(settings),
          title: board.map { UntrustedText($0).displayed } ?? "broadcast"
        )
        try await screen.run { screen in
          try await Self.watch(
            watching,
            in: session,
            waiting: { await screen.waiting() },
            { event in
              await screen.show(event)
              if case .finished(let notice) = event { try PictureSink.check(notice) }
            }
          )
        }
      }
    }
    let termination = Termination { task.cancel() }
    defer { withExtendedLifetime(termination) {} }
    do { try await task.value } catch is CancellationError { return }
  }

  /// Joins a session with a temporary identity, and leaves it when `body` has ended. Until the local peer is admitted,
  /// asks on the terminal, before a picture covers it.
  private static func withSession(
    _ join: JoinRequest,
    as name: String,
    _ settings: Settings,
    _ body: @Sendable (Session) async throws -> Void
  ) async throws {
    // The system chooses the name of the directory, so that no other user of this computer can create it first.
    let directory = try BoardOptions.makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    var transport = TransportConfiguration(
      // A second program with the key of this user would replace the first one in the session.
      identity: .ephemeral(),
      displayName: name,
      inboxDirectory: directory,
      logger: settings.logger("whiteboard-peer")
    )
    transport.isListening = false
    transport.isBridge = false
    transport.wantsResource = { _, _ in false }
    try await PeerTransport.withTransport(transport) { transport in
      let session = try await transport.joinFromTerminal(join)
      do { try await body(session) } catch {
        await session.leave()
        throw error
      }
      await session.leave()
    }
  }

  private static func watch(
    _ watching: Watching,
    in session: Session,
    waiting: @escaping @Sendable () async -> Void,
    _ handle: @escaping @Sendable (WatchedEvent) async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        // A viewer needs no messages of the board; reading them keeps the links free.
        for await event in session.events {
          guard case .peerLeft(let peer, .kicked(let reason), _) = event, peer == session.hostPeer else { continue }
          let words = reason.isEmpty ? "" : ": \(reason.escaped())"
          throw WhiteboardError(.notAllowed, "The host removed you from this board\(words)", isRemoval: true)
        }
        try Task.checkCancellation()
        throw WhiteboardError(.unreachable, "the board was closed")
      }
      group.addTask {
        try await watching.run(in: session, waiting: waiting, handle)
      }
      _ = try await group.next()
      group.cancelAll()
    }
  }
}

/// Writes the pictures of a broadcast to a file or to standard output.
actor PictureSink {
  /// The reader closed the output, or the requested number of pictures was written.
  struct Closed: Error {}

  private let descriptor: Int32
  private let writer: LineWriter
  private let mayUseRaw: Bool
  private var left: Int?
  private var isEmptied = false
  /// The path of the file; nil if the file existed before.
  private let createdFile: String?

  /// `mayUseRaw`: whether to advise the user to choose `raw`, which every broadcaster has, if the encoding is refused.
  init(_ output: String, limit: Int?, mayUseRaw: Bool) throws(WhiteboardError) {
    left = limit
    self.mayUseRaw = mayUseRaw
    guard output != "-" else {
      descriptor = STDOUT_FILENO
      isEmptied = true
      createdFile = nil
      writer = LineWriter(descriptor: descriptor)
      return
    }
    let created = open(output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    createdFile = created >= 0 ? output : nil
    descriptor = created >= 0 ? created : open(output, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw WhiteboardError(
        .cannotCreate,
        "the file \(UntrustedText(output).quoted(limit: 256)) cannot be written: \(SystemError.words(for: errno))"
      )
    }
    writer = LineWriter(descriptor: descriptor)
  }

  /// Deletes the file if it was created for this broadcast, and no picture was received.
  func finish() { if let createdFile, !isEmptied { unlink(createdFile) } }

  func handle(_ event: WatchedEvent) async throws {
    switch event {
    case .started(let format):
      Console.complain("Receiving pictures of \(format.size) pixels (\(format.codec.rawValue)).")
    case .picture(let picture, _):
      guard case .whole(let bytes) = picture.content else { return }
      if !isEmptied {
        isEmptied = true
        // The file keeps its content until there is a picture. Devices and pipes have no length, so ignore errors.
        _ = ftruncate(descriptor, 0)
      }
      do throws(OutputError) {
        try await writer.write(bytes)
        try await writer.flush()
      } catch {
        guard error.isReaderGone else { throw WhiteboardError.unwritable }
        throw Closed()
      }
      if let count = left {
        left = count - 1
        if count == 1 { throw Closed() }
      }
    case .paused: Console.complain("The broadcast is paused.")
    case .resumed: Console.complain("The broadcast continues.")
    case .failed(let notice): Console.complain("The broadcaster has a problem: \(Self.words(for: notice))")
    case .finished(let notice):
      try Self.check(notice, mayUseRaw: mayUseRaw)
      Console.complain("The broadcast has ended.")
    }
  }

  /// Throws if the broadcast did not end normally.
  static func check(_ notice: BroadcastNotice, mayUseRaw: Bool = false) throws(WhiteboardError) {
    guard notice.code != "finished" else { return }
    let advice = mayUseRaw && notice.code == "unsupported" ? " (try --codec raw)" : ""
    throw WhiteboardError(.no, "the broadcast cannot be watched: \(words(for: notice))\(advice)")
  }

  /// Returns the message of a notice, or an explanation of its code, because a broadcaster may leave out the message.
  private static func words(for notice: BroadcastNotice) -> String {
    guard notice.message.isEmpty else { return notice.message.escaped() }
    return switch notice.code {
    case "not-broadcasting": "the member is not broadcasting"
    case "busy": "there is no room for another viewer"
    case "malformed": "the broadcaster did not understand the request"
    case "unsupported": "the broadcaster cannot send the pictures in this encoding or size"
    default: "the pictures cannot be drawn"
    }
  }
}

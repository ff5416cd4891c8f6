import ArgumentParser
import AvahiDiscovery
import FoundationEssentials
import Logging
import PeerSession
import SessionReplay
import WhiteboardCommands
import WhiteboardDocument
import WhiteboardNode
import WhiteboardRendering
import WhiteboardTerminal

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// `whiteboard-replay record`.
struct RecordCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Join a board, look on, and record what happens on it.",
    discussion: """
      The others see that a recorder is there; it draws nothing and points at nothing. These lines are understood:

        pause            record nothing for now
        resume           record again
        mark NAME        name this place, to find it again
        status           how long, how much, who is there
        stop             end, and keep the recording
        discard          end, and keep nothing

      A signal to end, or --for, keeps the recording too. On a terminal it can be watched before it is kept. What \
      was recorded stays good whatever happens: a full disk is told of at once, and the recording goes on with \
      the whole board when there is room again.
      """
  )

  @Argument(help: ArgumentHelp("Which board.", valueName: "NAME|LINK|HOST:PORT"))
  var target: String?

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("The file to make; its name ends in .whiteboard.", valueName: "FILE"),
    completion: .file()
  )
  var output: String

  @Option(name: .customLong("as"), help: ArgumentHelp("What to go by.", valueName: "NAME"))
  var name = "recorder"

  @Option(help: ArgumentHelp("The code that lets in.", valueName: "WORDS"))
  var code: String?

  @Option(help: ArgumentHelp("The only network interface to be found on.", valueName: "IF"))
  var interface: String?

  @Option(help: ArgumentHelp("How long to wait for a board to be found.", valueName: "SECONDS"))
  var wait = 30.0

  @Option(name: .customLong("for"), help: ArgumentHelp("How long to record.", valueName: "SECONDS"))
  var seconds: Double?

  mutating func validate() throws {
    guard (0...86_400).contains(wait) else {
      throw ValidationError("--wait is a time from 0 to 86400 seconds.")
    }
    guard seconds.map({ (0.1...31_536_000).contains($0) }) ?? true else {
      throw ValidationError("--for is a time from 0.1 seconds to a year.")
    }
    guard !name.isEmpty, name.utf8.count <= 128 else {
      throw ValidationError("--as is a name of 1 to 128 bytes.")
    }
  }

  mutating func run() async throws {
    let file = BoardFile.absolute(output)
    guard file.hasSuffix(".\(BoardFile.fileExtension)") else {
      throw NodeError(.usage, "end the name of the file in .\(BoardFile.fileExtension)")
    }
    guard access(file, F_OK) != 0 else {
      throw NodeError(
        .cannotCreate,
        "\(TerminalText.quoted(output, limit: 256)) is there already; choose another name"
      )
    }
    let scratch = FileManager.default.temporaryDirectory
      .appendingPathComponent("whiteboard-record-\(UUID().uuidString)").path
    do {
      try FileManager.default.createDirectory(
        atPath: scratch,
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700]
      )
    } catch {
      throw NodeError(.cannotCreate, "\(scratch) cannot be made")
    }
    defer { try? FileManager.default.removeItem(atPath: scratch) }
    let recorder = Recorder(
      try configuration(file, scratch),
      duration: seconds.map { .seconds($0) }
    )
    let termination = Termination { await recorder.stop() }
    defer { withExtendedLifetime(termination) {} }
    let isKept = try await recorder.run()
    guard access(file, F_OK) == 0 else { return }
    if isKept {
      try await keep(file)
    } else {
      try discard(file)
    }
  }

  private func configuration(
    _ file: String,
    _ directory: String
  ) throws(NodeError) -> NodeConfiguration {
    let board: JoinTarget
    do throws(LinkError) { board = try JoinTarget(target) } catch {
      throw NodeError(.usage, error.description)
    }
    var logger = Logger(label: "whiteboard-replay") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = .error
    var configuration = NodeConfiguration(
      part: .join(board, patience: .seconds(wait)),
      displayName: name,
      // Whoever records may be on the board as well, by the key of their own.
      identity: .ephemeral(),
      dataDirectory: directory,
      logger: logger
    )
    configuration.recordingFile = file
    configuration.interface = interface
    // Nobody is to find the board by way of us.
    configuration.isAnnounced = false
    do {
      configuration.code = try code.map(JoinCode.init(words:))
    } catch {
      throw NodeError(.usage, "--code is not one: \(error)")
    }
    switch board {
    case .nearby, .name: configuration.discovery = AvahiDiscovery(interface: interface)
    case .link, .address: break
    }
    return configuration
  }

  /// Tells what was recorded, and has it watched first where somebody is there to ask.
  private func keep(_ file: String) async throws {
    let recording = try await Recording.read(file)
    try Console.tell(Self.summary(recording, of: output))
    guard Console.isTerminal else { return }
    while true {
      try Console.tell("Keep it? [y]es, [w]atch it first, [n]o: ")
      switch readLine()?.lowercased().first {
      case "w":
        guard let terminal = Terminal(farewell: "", log: "/dev/null") else { continue }
        await PlayerTerminal(
          recording,
          on: terminal,
          TerminalFeatures { Environment[$0] },
          speed: 4,
          skipsIdle: true,
          from: 0
        ).run()
      case "n": return try discard(file)
      case "y", nil: return
      default: continue
      }
    }
  }

  private static func summary(_ recording: Recording, of file: String) -> String {
    let statistics = RecordingStatistics(of: recording)
    var playback = Playback(recording, spacing: .max)
    playback.seek(toPlace: recording.count)
    return """
      recorded \(TerminalText.quoted(recording.history.name)) in \(TerminalText.cleaned(file)): \
      \(Recording.text(recording.duration)), \(statistics.operations) operations, people: \(statistics.people.count), \
      objects in the end: \(playback.board.state.objectCount)
      digest \(playback.board.digest.hex)

      """
  }

  private func discard(_ file: String) throws(NodeError) {
    for path in [file, file + "-wal", file + "-shm"] where unlink(path) != 0 && errno != ENOENT {
      throw NodeError(.cannotCreate, "\(path) cannot be removed")
    }
    try Console.tell("nothing was kept\n")
  }
}

/// A node that records, and the lines that steer it.
private actor Recorder {
  private let node: Node
  private let duration: Duration?
  private var isDiscarded = false
  private var began: ContinuousClock.Instant?

  init(_ configuration: NodeConfiguration, duration: Duration?) {
    let (begins, begin) = AsyncStream<Void>.makeStream()
    node = Node(configuration, input: nil, sink: RecorderSink(begin: begin))
    self.begins = begins
    self.duration = duration
  }

  private let begins: AsyncStream<Void>

  /// Records until it is told to end; whether the recording is kept.
  ///
  /// - Throws: ``NodeError``: why it could not begin, or go on; what was recorded is good.
  func run() async throws(NodeError) -> Bool {
    let helpers = [
      Task { await self.follow() },
      Task { await self.readLines() },
    ]
    defer { for helper in helpers { helper.cancel() } }
    try await node.run()
    return !isDiscarded
  }

  func stop() async { await node.requestEnd() }

  /// Ends by itself where it was told how long to record.
  private func follow() async {
    for await _ in begins { break }
    guard !Task.isCancelled else { return }
    began = .now
    guard let duration else { return }
    do { try await Task.sleep(for: duration) } catch { return }
    await stop()
  }

  private func readLines() async {
    guard let reader = try? LineReader(descriptor: STDIN_FILENO) else { return }
    while let line = try? await reader.next() {
      guard case .line(let bytes) = line else { continue }
      let words = String(decoding: bytes, as: UTF8.self).split(separator: " ", maxSplits: 1)
      await take(words.first.map(String.init) ?? "", words.count > 1 ? String(words[1]) : "")
    }
  }

  private func take(_ command: String, _ argument: String) async {
    do throws(DocumentError) {
      switch command {
      case "": break
      case "pause":
        try await node.pauseRecording()
        await tell("paused")
      case "resume":
        try await node.resumeRecording()
        await tell("recording")
      case "mark":
        try await node.markRecording(argument)
        await tell("marked \(TerminalText.quoted(argument))")
      case "status": await tell(await node.isRecordingPaused ? "paused" : "recording")
      case "stop": await stop()
      case "discard":
        isDiscarded = true
        await stop()
      default:
        Console.complain(
          "pause, resume, mark NAME, status, stop or discard; not \(TerminalText.quoted(command))"
        )
      }
    } catch {
      Console.complain("whiteboard-replay: \(TerminalText.cleaned(error.message))")
    }
  }

  /// Says how far it is.
  private func tell(_ state: String) async {
    let elapsed = began.map { Int64((ContinuousClock.now - $0) / .milliseconds(1)) } ?? 0
    let changes = await node.recordedChanges
    try? Console.tell("\(state)  \(Recording.text(elapsed))  \(changes) changes\n")
  }
}

/// Tells of people and of what goes wrong, not of each change.
private struct RecorderSink: EventSink {
  let begin: AsyncStream<Void>.Continuation

  func write(_ events: [NodeEvent]) async throws(OutputError) {
    for event in events {
      switch event {
      case .ready(let ready):
        begin.yield()
        try? Console.tell(
          "recording \(TerminalText.quoted(ready.boardName)) as \(TerminalText.quoted(ready.name)); "
            + "`stop` keeps it, `discard` does not\n"
        )
      case .warning(let remark), .note(let remark):
        Console.complain("whiteboard-replay: \(TerminalText.cleaned(remark.message))")
      case .peerState, .joined, .left, .role:
        if let line = EventText.line(event) { try? Console.tell(line + "\n") }
      default: break
      }
    }
  }
}

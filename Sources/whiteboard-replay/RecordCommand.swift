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
    abstract: "Join a board as a viewer, and record it.",
    discussion: """
      The others see that a recorder is there; it draws nothing and points at nothing. These lines are understood:

        pause            record nothing for now
        resume           record again
        mark NAME        name this place, to find it again: @NAME
        status           how long, how much, who is there
        stop             end, and keep the recording
        discard          end, and keep nothing
        help             these lines

      With --presence it is recorded, too, where people point and how ink grows before it is on the board, and \
      with --wire all that comes and goes in the recorder's session: messages, datagrams, names and sizes of \
      resources, bytes of streams, who comes and is lost. --wire-only records that alone, of the session of any \
      program that is built on the same sessions; it takes a link or HOST:PORT.

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

  @Option(name: .customLong("as"), help: ArgumentHelp("The display name.", valueName: "NAME"))
  var name = "recorder"

  @Option(help: ArgumentHelp("The join code.", valueName: "WORDS"))
  var code: String?

  @Option(help: ArgumentHelp("Use only this network interface.", valueName: "IF"))
  var interface: String?

  @Option(help: ArgumentHelp("How long to wait for a board to be found.", valueName: "SECONDS"))
  var wait = 30.0

  @Flag(help: "Also record pointers and unfinished strokes.") var presence = false

  @Flag(help: "Record all that comes and goes in the session, too.") var wire = false

  @Flag(help: "Record only that, be it a whiteboard or not.") var wireOnly = false

  @Option(name: .customLong("for"), help: ArgumentHelp("How long to record.", valueName: "SECONDS"))
  var seconds: Double?

  mutating func validate() throws {
    guard [presence, wire, wireOnly].count(where: { $0 }) < 2 else {
      throw ValidationError("One of --presence, --wire and --wire-only is enough.")
    }
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
    let duration = seconds.map { Duration.seconds($0) }
    if wireOnly {
      let recorder = WireRecorder(
        try wireRequest(),
        name: name,
        file: file,
        directory: scratch,
        duration: duration
      )
      let termination = Termination { await recorder.stop() }
      defer { withExtendedLifetime(termination) {} }
      if try await recorder.run() { try await tellWire(file) } else { try discard(file) }
      return
    }
    let recorder = BoardRecorder(try configuration(file, scratch), duration: duration)
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
    configuration.files = .refuse
    configuration.recordedTraffic = wire ? .all : presence ? .presence : nil
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

  /// Returns the request for the session whose traffic is recorded.
  private func wireRequest() throws(NodeError) -> JoinRequest {
    let words = code
    func joinCode(_ linked: [String]) throws(NodeError) -> JoinCode? {
      let text = linked.isEmpty ? words : linked.joined(separator: "-")
      do { return try text.map(JoinCode.init(words:)) } catch {
        throw NodeError(.usage, "the code is none: \(error)")
      }
    }
    let found: JoinTarget
    do throws(LinkError) { found = try JoinTarget(target) } catch {
      throw NodeError(.usage, error.description)
    }
    var request: JoinRequest
    switch found {
    case .nearby, .name: throw NodeError(.usage, "--wire-only takes a link or HOST:PORT")
    case .address(let address):
      request = JoinRequest(
        session: nil,
        addresses: [PeerAddress(host: address.host, port: address.port)],
        peer: nil,
        trust: .unverified,
        code: try joinCode([])
      )
      request.allowsUnproved = true
    case .link(let link):
      guard let session = SessionID(text: link.board) else {
        throw NodeError(.usage, LinkError.badBoard.description)
      }
      request = JoinRequest(
        session: session,
        addresses: [PeerAddress(host: link.address.host, port: link.address.port)],
        peer: link.peer.flatMap { PeerID(text: $0) },
        trust: link.peer == nil ? .unverified : .pinnedByLink,
        code: try joinCode(link.code)
      )
    }
    request.timeout = .seconds(max(1, min(wait, 600)))
    return request
  }

  private func tellWire(_ file: String) async throws {
    let recording = try await Recording.read(file)
    let traffic = recording.history.traffic
    try Console.tell(
      """
      recorded \(counted(traffic.count, "entry", "entries")) in \(TerminalText.cleaned(output)): \
      \(Recording.exactText(recording.duration)); `log --wire` tells them

      """
    )
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
          photos: await BoardFile.photoPixels(file),
          on: terminal,
          TerminalFeatures { Environment[$0] },
          speed: 4,
          skipsIdle: true,
          from: 0
        ).run()
      case "n": return try discard(file)
      case "y", nil:
        try Console.tell("kept in \(TerminalText.cleaned(output))\n")
        return
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
      \(Recording.text(recording.duration)), \(counted(statistics.batches, "change")) by \
      \(counted(statistics.people.count, "person", "people")), \
      \(counted(playback.board.shown().snapshots.count, "object")) in the end
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

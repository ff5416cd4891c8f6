import ArgumentParser
import AvahiDiscovery
import FoundationEssentials
import Logging
import PeerCore
import PeerSession
import SessionReplay
import WhiteboardDocument
import WhiteboardKit
import WhiteboardPrograms
import WhiteboardTerminal

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

struct RecordCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Join a board as a viewer, and record it.",
    discussion: """
      The other members see that a recorder has joined; it does not draw or point. If the host is asked who may \
      join, the command shows the words to compare, and waits until you are admitted. While it runs, you can type \
      these commands:

        pause            pause the recording
        resume           continue the recording
        mark NAME        name this time, so that you can find it as @NAME
        status           show the duration, the number of changes, and the members
        stop             end, and keep the recording
        discard          end, and delete the recording
        help             list these commands

      With --presence, pointers and unfinished strokes are recorded too. With --wire, all traffic of the \
      recorder's session is recorded too: messages, datagrams, names and sizes of resources, bytes of streams, and \
      peers that join and leave. With --wire-only, only this traffic is recorded. This works with the sessions of \
      any program that is built on PeerSession, and requires a link or HOST:PORT.

      If a signal or --for ends the recording, it is kept. On a terminal, you can watch it before you decide \
      whether to keep it. If the disk is full, the command reports this immediately. Everything recorded so far \
      stays valid. When there is space again, the recording continues with the whole board.
      """
  )

  @Argument(help: ArgumentHelp("The board to record.", valueName: "NAME|LINK|HOST:PORT")) var target: String?

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("The file to create; its name must end in .whiteboard.", valueName: "FILE"),
    completion: .file()
  ) var output: String

  @Option(name: .customLong("as"), help: ArgumentHelp("The display name.", valueName: "NAME")) var name = "recorder"

  @Option(help: ArgumentHelp("The join code.", valueName: "WORDS")) var code: String?

  @Option(help: ArgumentHelp("Use only this network interface.", valueName: "IF")) var interface: String?

  @Option(help: ArgumentHelp("How long to search for the board.", valueName: "SECONDS")) var wait = 30.0

  @Flag(help: "Also record pointers and unfinished strokes.") var presence = false

  @Flag(help: "Also record all traffic of the session.") var wire = false

  @Flag(help: "Record only the traffic of the session, for any program that is built on PeerSession.") var wireOnly =
    false

  @Option(name: .customLong("for"), help: ArgumentHelp("How long to record.", valueName: "SECONDS")) var seconds:
    Double?

  mutating func validate() throws {
    guard [presence, wire, wireOnly].count(where: { $0 }) < 2 else {
      throw ValidationError("Give only one of --presence, --wire and --wire-only.")
    }
    guard (0...86_400).contains(wait) else { throw ValidationError("--wait must be from 0 to 86400 seconds.") }
    guard seconds.map({ (0.1...31_536_000).contains($0) }) ?? true else {
      throw ValidationError("--for must be from 0.1 seconds to a year.")
    }
    guard !UntrustedText(name).displayed.isEmpty, name.utf8.count <= 128 else {
      throw ValidationError("--as must be a name of 1 to 128 bytes.")
    }
  }

  mutating func run() async throws {
    let file = BoardFile.absolute(output)
    guard file.hasSuffix(".\(BoardFile.fileExtension)") else {
      throw WhiteboardError(.usage, "the name of the file must end in .\(BoardFile.fileExtension)")
    }
    guard access(file, F_OK) != 0 else {
      throw WhiteboardError(
        .cannotCreate,
        "\(UntrustedText(output).quoted(limit: 256)) already exists; choose another name"
      )
    }
    let scratch = FileManager.default.temporaryDirectory.appendingPathComponent(
      "whiteboard-record-\(UUID().uuidString)"
    ).path
    do {
      try FileManager.default.createDirectory(
        atPath: scratch,
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700]
      )
    } catch { throw WhiteboardError(.cannotCreate, "the directory \(scratch) cannot be created") }
    defer { try? FileManager.default.removeItem(atPath: scratch) }
    let duration = seconds.map { Duration.seconds($0) }
    if wireOnly {
      let recorder = WireRecorder(try wireRequest(), name: name, file: file, directory: scratch, duration: duration)
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
    if isKept { try await keep(file) } else { try discard(file) }
  }

  private func configuration(_ file: String, _ directory: String) throws(WhiteboardError) -> BoardConfiguration {
    let board: JoinTarget
    do throws(LinkError) { board = try JoinTarget(target) } catch { throw WhiteboardError(.usage, error.description) }
    var logger = Logger(label: "whiteboard-replay") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = .error
    var configuration = BoardConfiguration(
      part: .join(board, patience: .seconds(wait)),
      displayName: name,
      // The user of the recorder may also be on the board, with their own key.
      identity: .ephemeral(),
      dataDirectory: directory,
      logger: logger
    )
    configuration.recordingFile = file
    configuration.files = .refuse
    configuration.compareWords = { Console.compare($0) }
    configuration.recordedTraffic = wire ? .all : presence ? .presence : nil
    configuration.interface = interface
    // Other peers must not find the board through the recorder.
    configuration.isAnnounced = false
    do { configuration.code = try code.map(JoinCode.init(words:)) } catch {
      throw WhiteboardError(.usage, "--code is not a join code: \(error)")
    }
    switch board {
    case .nearby, .name: configuration.discovery = AvahiDiscovery(interface: interface)
    case .link, .address: break
    }
    return configuration
  }

  private func wireRequest() throws(WhiteboardError) -> JoinRequest {
    let code: JoinCode?
    do { code = try self.code.map(JoinCode.init(words:)) } catch {
      throw WhiteboardError(.usage, "--code is not a join code: \(error)")
    }
    let found: JoinTarget
    do throws(LinkError) { found = try JoinTarget(target) } catch { throw WhiteboardError(.usage, error.description) }
    var request: JoinRequest
    switch found {
    case .nearby, .name: throw WhiteboardError(.usage, "--wire-only requires a link or HOST:PORT")
    case .address(let address):
      request = JoinRequest(at: PeerAddress(host: address.host, port: address.port), code: code)
      request.allowsUnproved = true
    case .link(let link): request = try JoinRequest(link, code: code)
    }
    request.timeout = .seconds(max(1, min(wait, 600)))
    return request
  }

  private func tellWire(_ file: String) async throws {
    let recording = try await Recording.read(file)
    let traffic = recording.history.traffic
    try Console.tell(
      """
      recorded \(EventText.count(traffic.count, "entry", "entries")) in \(UntrustedText(output).escaped()): \
      \(Recording.exactText(recording.duration)); `log --wire` lists them

      """
    )
  }

  private func keep(_ file: String) async throws {
    let recording = try await Recording.read(file)
    try Console.tell(Self.summary(recording, of: output))
    guard Console.isTerminal else { return }
    while true {
      try Console.tell("Keep the recording? [y]es, [w]atch it first, [n]o: ")
      switch readLine()?.lowercased().first {
      case "w":
        guard let terminal = Terminal(exitMessage: "", log: "/dev/null") else { continue }
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
        try Console.tell("saved in \(UntrustedText(output).escaped())\n")
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
      recorded \(UntrustedText(recording.history.name).quoted()) in \(UntrustedText(file).escaped()): \
      \(Recording.text(recording.duration)), \(EventText.count(statistics.batches, "change")) by \
      \(EventText.count(statistics.people.count, "person", "people")), \
      \(EventText.count(playback.board.shown().snapshots.count, "object")) at the end
      digest \(playback.board.digest.hex)

      """
  }

  private func discard(_ file: String) throws(WhiteboardError) {
    try BoardFile.delete(file)
    try Console.tell("the recording was deleted\n")
  }
}

import ArgumentParser
import AvahiDiscovery
import CommandLines
import FoundationEssentials
import PeerDiscovery
import PeerSession
import WhiteboardCommands
import WhiteboardDemo
import WhiteboardDoctor
import WhiteboardDocument
import WhiteboardNode
import WhiteboardRendering
import WhiteboardTerminal

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// `whiteboard-peer nearby`.
struct NearbyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "nearby",
    abstract: "List the boards nearby.",
    discussion: "The exit status is 1 if there are none."
  )

  @Flag(help: "Keep running, and report boards that appear and disappear.")
  var watch = false

  @Option(
    help: ArgumentHelp(
      "How long to search: 3 by default; with --watch, until the program ends.",
      valueName: "SECONDS"
    )
  )
  var timeout: Double?

  @OptionGroup var common: CommonOptions

  mutating func validate() throws {
    guard timeout.map({ (0.1...86_400).contains($0) }) ?? true else {
      throw ValidationError("--timeout must be from 0.1 to 86400 seconds.")
    }
  }

  mutating func run() async throws {
    let writer = LineWriter(descriptor: STDOUT_FILENO)
    let sink = LineSink(writer, isJSON: common.json)
    let discovery = AvahiDiscovery(interface: try common.settings().value(.interface))
    let seconds = timeout ?? (watch ? 365 * 86_400 : 3)
    let limit = Duration.seconds(seconds)
    // Saved boards are marked as the user's own. If they cannot be listed, `boards` reports why.
    let own = await common.ownBoards()
    let look = Look(groups: !common.json, own: own)
    let (ends, end) = AsyncStream<Void>.makeStream()
    let termination = Termination { end.finish() }
    defer { withExtendedLifetime(termination) {} }
    await withTaskGroup { group in
      group.addTask { [watch] in
        await discovery.browse(BrowserQuery(excluding: nil)) { events in
          for await event in events {
            await look.saw(event, sink, writer, isWatching: watch)
            if await look.failure != nil { return }
          }
        }
      }
      group.addTask { try? await ContinuousClock().sleep(for: limit) }
      group.addTask { for await _ in ends {} }
      await group.next()
      group.cancelAll()
    }
    if !watch { await look.tellAll(writer) }
    if let failure = await look.failure, !failure.isReaderGone {
      throw NodeError.unwritable
    }
    if await look.count == 0, !watch {
      guard await look.problem == nil else {
        // The problem was already reported when it occurred.
        throw ExitCode(NodeError.Code.unreachable.rawValue)
      }
      let shown = seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
      Console.complain(
        "No board was found nearby in \(shown) s. To find the cause, run: whiteboard-peer doctor"
      )
      throw ExitCode(NodeError.Code.no.rawValue)
    }
  }

  /// The result of the search for boards.
  private actor Look {
    private(set) var count = 0
    private(set) var problem: DiscoveryProblem?
    private(set) var failure: OutputError?
    private var nearby = Nearby()
    /// Whether the output has one line for each board instead of one for each announcing peer.
    private let groups: Bool
    /// The titles of the boards that are saved on this computer, by board id.
    private let own: [String: String?]

    init(groups: Bool, own: [String: String?]) {
      self.groups = groups
      self.own = own
    }

    /// Writes one line for each board and each relay that was found.
    func tellAll(_ writer: LineWriter) async {
      guard groups else { return }
      for board in nearby.boards {
        await write("nearby: \(line(board))\n", writer)
      }
      for relay in nearby.relays {
        let event = NodeEvent.peerFound(NodeEvent.FoundBoard(relay))
        if let line = EventText.line(event) { await write(line + "\n", writer) }
      }
    }

    private func line(_ board: Nearby.Board) -> String {
      let copy = own[board.id.text]
      return board.line(isOwn: copy != nil, title: copy ?? nil)
    }

    private func write(_ text: String, _ writer: LineWriter) async {
      do throws(OutputError) {
        try await writer.write(Array(text.utf8))
        try await writer.flush()
      } catch {
        failure = error
      }
    }

    /// Writes the line of the board that a peer announces, or announced before.
    ///
    /// - Returns: Whether the peer has a board; false if the peer is only a relay.
    private func tellBoard(
      of peer: DiscoveredPeer,
      wasKnown: Bool,
      _ writer: LineWriter
    ) async -> Bool {
      guard !peer.isRelayAlone else { return false }
      let id = peer.announcement.session.bytes
      guard let board = nearby.boards.first(where: { $0.id.bytes == id }) else {
        let name = TerminalText.quoted(peer.announcement.boardName.raw)
        await write("no longer nearby: \(name)\n", writer)
        return true
      }
      let lead = wasKnown ? "nearby, changed" : "nearby"
      await write("\(lead): \(line(board))\n", writer)
      return true
    }

    func saw(
      _ event: BrowserEvent,
      _ sink: LineSink,
      _ writer: LineWriter,
      isWatching: Bool
    ) async {
      let told: NodeEvent
      switch event {
      case .found(let peer), .updated(let peer), .lost(let peer):
        let id = peer.announcement.session.bytes
        let wasKnown = nearby.boards.contains { $0.id.bytes == id }
        if case .lost = event { nearby.remove(peer) } else { nearby.insert(peer) }
        if case .found = event { count += 1 }
        guard groups else { break }
        guard isWatching else { return }
        if await tellBoard(of: peer, wasKnown: wasKnown, writer) { return }
      case .unavailable, .available: break
      }
      switch event {
      case .found(let peer):
        told = .peerFound(NodeEvent.FoundBoard(peer))
      case .updated(let peer):
        told = .peerUpdated(NodeEvent.FoundBoard(peer))
      case .lost(let peer):
        told = .peerLost(NodeEvent.LostBoard(peer))
      case .unavailable(let problem):
        self.problem = problem
        Console.complain("whiteboard-peer: \(problem.description)")
        return
      case .available:
        problem = nil
        return
      }
      do throws(OutputError) {
        try await sink.write([told])
        try await writer.flush()
      } catch {
        failure = error
      }
    }
  }
}

/// `whiteboard-peer peers`.
struct PeersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "peers",
    abstract: "List, trust or forget the peers that you have met.",
    subcommands: [List.self, Trust.self, Forget.self],
    defaultSubcommand: List.self
  )

  /// Returns the store of the peers in the data directory.
  static func store(_ common: CommonOptions) throws(NodeError) -> PeerStore {
    let directory = try common.chosenDataDirectory()
    do {
      return try PeerStore(file: directory + "/peers.json")
    } catch {
      throw NodeError(error, inDataDirectory: directory)
    }
  }

  /// A known peer as a line of JSON, `known-peer`.
  private struct KnownPeerLine: Encodable {
    let peer: String
    let name: String
    let verified: String
    let firstSeen: String
    let lastSeen: String
    let alwaysAdmitted: Bool?

    init(_ known: KnownPeer) {
      peer = known.peer.text
      name = known.name.displayed
      verified = known.verified.rawValue
      firstSeen = known.firstSeen.formatted(.iso8601)
      lastSeen = known.lastSeen.formatted(.iso8601)
      alwaysAdmitted = known.isAlwaysAdmitted ? true : nil
    }

    var json: String { String(decoding: EventLine.json("known-peer", self), as: UTF8.self) }
  }

  /// `whiteboard-peer peers list`.
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the peers that you have met.")

    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let known = await (try PeersCommand.store(common)).all
      if known.isEmpty, !common.json {
        try Console.tell("You have not met any peers yet.\n")
      }
      let lines = known.map { KnownPeerLine($0) }
      if common.json {
        for line in lines { try Console.tell(line.json) }
      } else if !lines.isEmpty {
        let rows = zip(lines, known).map { line, peer in
          [
            line.name, line.verified, peer.isAlwaysAdmitted ? "always" : "", line.lastSeen,
            line.peer,
          ]
        }
        try Console.tell(
          TextTable.text([["NAME", "ADMITTED", "WITHOUT ASKING", "LAST SEEN", "ID"]] + rows)
        )
      }
    }
  }

  /// `whiteboard-peer peers trust`.
  struct Trust: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Trust a peer, so that boards that admit known peers admit it."
    )

    @Argument(help: "The whole id of the peer (52 characters).")
    var id: String

    @Option(
      name: .customLong("as"),
      help: ArgumentHelp("The name to show for the peer.", valueName: "NAME")
    )
    var name = ""

    @Flag(help: "Also admit the peer on boards that ask you, without asking.")
    var always = false

    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      guard let peer = PeerID(text: id) else {
        throw NodeError(
          .usage,
          "a peer id has 52 letters and digits; `whiteboard-peer peers` lists the known ones"
        )
      }
      let directory = try common.chosenDataDirectory()
      do {
        // This also makes the data directory private.
        _ = try PeerIdentity.loadOrCreate(inDirectory: directory)
        let store = try PeersCommand.store(common)
        try await store.remember(peer, name: name, how: .ask)
        if always { try await store.alwaysAdmit(peer, name: name) }
        guard let known = await store.all.first(where: { $0.peer == peer }) else { return }
        let who = EventText.person(known.name.displayed, peer.text)
        try Console.tell(
          common.json
            ? KnownPeerLine(known).json
            : "\(who) is now admitted to boards that admit known peers"
              + (always ? ", and to boards that ask you.\n" : ".\n")
        )
      } catch {
        throw NodeError(error, inDataDirectory: directory)
      }
    }
  }

  /// `whiteboard-peer peers forget`.
  struct Forget: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Forget a peer.")

    @Argument(help: "The id of the peer, or at least its first 4 characters.")
    var id: String

    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let store = try PeersCommand.store(common)
      let meant = await store.all.filter { $0.peer.text.hasPrefix(id.lowercased()) }
      guard let peer = meant.first, meant.count == 1, id.utf8.count >= 4 else {
        throw NodeError(
          .no,
          meant.count > 1
            ? "\(meant.count) peers have ids that start like this; give more of the id"
            : "there is no such peer; give at least 4 characters of its id"
        )
      }
      do {
        _ = try await store.forget(peer.peer)
      } catch {
        throw NodeError(.inputOutput, "\(error)")
      }
      if !common.json {
        let who = EventText.person(peer.name.displayed, peer.peer.text)
        try Console.tell("Removed \(who) from the known peers.\n")
      }
    }
  }
}

/// `whiteboard-peer doctor`.
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check why boards are not found or not drawn correctly, and say how to fix it.",
    discussion: """
      Checks the interfaces, multicast, D-Bus, the Avahi daemon, the port, the firewall, the clock, \
      the data directory and the terminal. The exit status is 1 if a check finds a fault.
      """
  )

  @OptionGroup var common: CommonOptions

  mutating func run() async throws {
    let settings = try common.settings()
    let listen = settings.value(.listen)
    let doctor = Doctor(
      port: listen.flatMap { $0.port > 0 ? $0.port : nil } ?? HostPort.defaultPort,
      interface: settings.value(.interface),
      dataDirectory: try settings.chosenDataDirectory()
    )
    let terminal = TerminalCheck(.machine, TerminalSettings(settings), size: Console.size)
    let report = await doctor.run(and: [terminal.finding])
    if common.json {
      try Console.tell(String(decoding: EventLine.json("doctor", report), as: UTF8.self))
    } else {
      for finding in report.findings {
        let mark =
          switch finding.verdict {
          case .fine: "ok   "
          case .note: "note "
          case .fault: "FAULT"
          }
        try Console.tell("\(mark) \(finding.check): \(finding.seen)\n")
        if let advice = finding.advice {
          try Console.tell("        \(advice)\n")
        }
      }
      if !report.isHealthy, let cause = report.likelyCause {
        try Console.tell("\nLikely cause: \(cause)\n")
      }
    }
    guard report.isHealthy else { throw ExitCode(NodeError.Code.no.rawValue) }
  }
}

/// `whiteboard-peer demo`.
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Try the program alone: on a terminal, draw with a simulated peer.",
    discussion: """
      Two real peers find each other by discovery: yours, and one named Ada in the same program. Nothing \
      is saved. Without a terminal, or with --accessible, two peers share a board for a moment, print what \
      they do, and compare their boards.
      """
  )

  @OptionGroup(title: "Terminal")
  var terminal: TerminalOptions

  @OptionGroup var common: CommonOptions

  mutating func run() async throws {
    let settings = try common.settings(terminal.flags)
    let template = (Environment["TMPDIR"] ?? "/tmp") + "/whiteboard-demo-XXXXXX"
    var path = Array(template.utf8CString)
    guard mkdtemp(&path) != nil else {
      throw NodeError(.cannotCreate, "cannot create a temporary directory; check TMPDIR")
    }
    let directory = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let discovery = AvahiDiscovery(interface: settings.value(.interface))
    guard !Console.hasScreen(settings) else {
      let companion = DemoCompanion(
        discovery: discovery,
        directory: directory,
        logger: settings.logger("whiteboard-peer")
      )
      let name = settings.value(.personName) ?? Environment["USER"] ?? "somebody"
      try await Program.withScreen(dataDirectory: directory, settings) {
        screen throws(NodeError) in
        try await companion.run(for: name) { (configuration) throws(NodeError) in
          try await screen.run(configuration)
        }
      }
      return
    }
    let writer = LineWriter(descriptor: STDOUT_FILENO)
    let say: @Sendable (String?, String) async -> Void = { who, line in
      let prefix = who.map { "\($0) | " } ?? ""
      for part in line.split(separator: "\n") {
        try? await writer.write(Array("\(prefix)\(part)\n".utf8))
      }
    }
    await say(
      nil,
      "Ada hosts a board, and Ben searches for it. Each has a separate key and directory."
    )
    let demo = Demo(
      discovery: discovery,
      directory: directory,
      listen: PeerAddress(host: "0.0.0.0", port: 0),
      logger: settings.logger("whiteboard-peer"),
      narrate: say
    )
    let digest = try await demo.run()
    await say(nil, "Both boards are the same: \(digest)")
    await say(
      nil,
      "Try it yourself: whiteboard-peer host, and whiteboard-peer join on another computer."
    )
    try? await writer.flush()
  }
}

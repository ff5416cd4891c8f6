import ArgumentParser
import AvahiDiscovery
import FoundationEssentials
import PeerDiscovery
import PeerSession
import WhiteboardNode

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
    discussion: "Exits with 1 where there is none."
  )

  @Flag(help: "Go on, and tell what comes and goes.")
  var watch = false

  @Option(help: ArgumentHelp("How long to look.", valueName: "SECONDS"))
  var timeout = 3.0

  @OptionGroup var common: CommonOptions

  mutating func validate() throws {
    guard (0.1...86_400).contains(timeout) else {
      throw ValidationError("--timeout is a time from 0.1 to 86400 seconds.")
    }
  }

  mutating func run() async throws {
    let sink = LineSink(LineWriter(descriptor: STDOUT_FILENO), isJSON: common.json)
    let discovery = AvahiDiscovery(interface: common.chosenInterface)
    let limit: Duration = watch ? .seconds(Int64(365 * 86_400)) : .seconds(timeout)
    let look = Look()
    let (ends, end) = AsyncStream<Void>.makeStream()
    let termination = Termination { end.finish() }
    defer { withExtendedLifetime(termination) {} }
    await withTaskGroup { group in
      group.addTask {
        await discovery.browse(BrowserQuery(excluding: nil)) { events in
          for await event in events {
            await look.saw(event, sink)
          }
        }
      }
      group.addTask { try? await ContinuousClock().sleep(for: limit) }
      group.addTask { for await _ in ends {} }
      await group.next()
      group.cancelAll()
    }
    if await look.count == 0, !watch {
      guard await look.problem == nil else {
        // It was told when it was met.
        throw ExitCode(NodeError.Code.unreachable.rawValue)
      }
      Console.complain("No board was found nearby in \(timeout) s; see: whiteboard-peer doctor")
      throw ExitCode(NodeError.Code.no.rawValue)
    }
  }

  /// What has been seen.
  private actor Look {
    private(set) var count = 0
    private(set) var problem: DiscoveryProblem?

    func saw(_ event: BrowserEvent, _ sink: LineSink) async {
      let told: NodeEvent
      switch event {
      case .found(let peer):
        count += 1
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
      try? await sink.write([told])
    }
  }
}

/// `whiteboard-peer peers`.
struct PeersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "peers",
    abstract: "List, trust or forget the peers that were met before.",
    subcommands: [List.self, Trust.self, Forget.self],
    defaultSubcommand: List.self
  )

  /// The list of peers in the data directory.
  static func store(_ common: CommonOptions) throws(NodeError) -> PeerStore {
    let directory = try common.chosenDataDirectory()
    do {
      return try PeerStore(file: directory + "/peers.json")
    } catch {
      throw NodeError(.badConfiguration, "\(error)")
    }
  }

  /// `whiteboard-peer peers list`.
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the peers that are remembered.")

    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let known = await (try PeersCommand.store(common)).all
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      for peer in known {
        guard common.json else {
          print(
            "\(peer.peer.text)  \(peer.name.displayed)  \(peer.verified.rawValue)  "
              + "\(peer.lastSeen.formatted(.iso8601))"
          )
          continue
        }
        let line = KnownPeerLine(
          peer: peer.peer.text,
          name: peer.name.displayed,
          verified: peer.verified.rawValue,
          firstSeen: peer.firstSeen.formatted(.iso8601),
          lastSeen: peer.lastSeen.formatted(.iso8601)
        )
        print(String(decoding: try encoder.encode(line), as: UTF8.self))
      }
    }
  }

  private struct KnownPeerLine: Encodable {
    var v = EventLine.version
    var event = "known-peer"
    var peer: String
    var name: String
    var verified: String
    var firstSeen: String
    var lastSeen: String
  }

  /// `whiteboard-peer peers trust`.
  struct Trust: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Let a peer in from now on where boards admit those known."
    )

    @Argument(help: "The whole id of the peer, 52 characters.")
    var id: String

    @Option(name: .customLong("as"), help: "What to call it.")
    var name = ""

    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      guard let peer = PeerID(text: id) else {
        throw NodeError(
          .usage,
          "an id has 52 letters and digits; `whiteboard-peer peers` lists them"
        )
      }
      let directory = try common.chosenDataDirectory()
      do {
        // Makes the directory as private as it has to be.
        _ = try PeerIdentity.loadOrCreate(inDirectory: directory)
        try await PeersCommand.store(common).remember(peer, name: name, how: .ask)
      } catch let error as NodeError {
        throw error
      } catch {
        throw NodeError(.badConfiguration, "\(error)")
      }
    }
  }

  /// `whiteboard-peer peers forget`.
  struct Forget: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Forget a peer.")

    @Argument(help: "The id of the peer, or the start of it.")
    var id: String

    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let store = try PeersCommand.store(common)
      let meant = await store.all.filter { $0.peer.text.hasPrefix(id.lowercased()) }
      guard let peer = meant.first, meant.count == 1, id.utf8.count >= 4 else {
        throw NodeError(
          .no,
          meant.count > 1 ? "\(meant.count) peers start so; give more of the id" : "no such peer"
        )
      }
      do {
        _ = try await store.forget(peer.peer)
      } catch {
        throw NodeError(.inputOutput, "\(error)")
      }
    }
  }
}

/// `whiteboard-peer doctor`.
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Look for what keeps boards from being found, and say how to mend it."
  )

  @OptionGroup var common: CommonOptions

  mutating func run() async throws {
    let doctor = Doctor(
      interface: common.chosenInterface,
      dataDirectory: try common.chosenDataDirectory()
    )
    let report = await doctor.run()
    if common.json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      print(String(decoding: try encoder.encode(report), as: UTF8.self))
    } else {
      for finding in report.findings {
        let mark =
          switch finding.verdict {
          case .fine: "ok   "
          case .note: "note "
          case .fault: "FAULT"
          }
        print("\(mark) \(finding.check): \(finding.seen)")
        if let advice = finding.advice {
          print("        \(advice)")
        }
      }
      if !report.isHealthy, let cause = report.likelyCause {
        print("\nThe likely cause: \(cause)")
      }
    }
    guard report.isHealthy else { throw ExitCode(NodeError.Code.no.rawValue) }
  }
}

/// `whiteboard-peer demo`.
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Two real peers find each other, share a board for a moment, and compare it."
  )

  @OptionGroup var common: CommonOptions

  mutating func run() async throws {
    let template = (Environment["TMPDIR"] ?? "/tmp") + "/whiteboard-demo-XXXXXX"
    var path = Array(template.utf8CString)
    guard mkdtemp(&path) != nil else {
      throw NodeError(.cannotCreate, "no temporary directory can be made; see TMPDIR")
    }
    let directory = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let writer = LineWriter(descriptor: STDOUT_FILENO)
    let say: @Sendable (String?, String) async -> Void = { who, line in
      let prefix = who.map { "\($0) | " } ?? ""
      for part in line.split(separator: "\n") {
        try? await writer.write(Array("\(prefix)\(part)\n".utf8))
      }
    }
    await say(
      nil,
      "Ada hosts a board, Ben looks for it; each has a key and a directory of its own."
    )
    let demo = Demo(
      discovery: AvahiDiscovery(interface: common.chosenInterface),
      directory: directory,
      listen: PeerAddress(host: "0.0.0.0", port: 0),
      logger: try common.logger(),
      narrate: say
    )
    let digest = try await demo.run()
    await say(nil, "Both boards are the same: \(digest)")
    await say(nil, "Try it yourself: whiteboard-peer host, and whiteboard-peer join elsewhere.")
    try? await writer.flush()
  }
}

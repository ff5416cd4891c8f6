import ArgumentParser
import AvahiDiscovery
import CommandLines
import PeerDiscovery
import PeerSession
import WhiteboardDocument
import WhiteboardKit
import WhiteboardPrograms

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

struct NearbyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "nearby",
    abstract: "List the boards nearby.",
    discussion: "The exit status is 1 if there are none."
  )

  @Flag(help: "Keep running, and report boards that appear and disappear.") var watch = false

  @Option(
    help: ArgumentHelp("How long to search: 3 by default; with --watch, until the program exits.", valueName: "SECONDS")
  ) var timeout: Double?

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
    // Mark the saved boards as the user's own. If they cannot be listed, the command `boards` reports the reason.
    let own = await common.ownBoards()
    let look = Look(groups: !common.json, own: own)
    let (ends, end) = AsyncStream<Void>.makeStream()
    let termination = Termination {
      end.finish()
      await writer.giveUp(ifStalledFor: .seconds(2))
    }
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
    if let failure = await look.failure, !failure.isReaderGone { throw WhiteboardError.unwritable }
    if await look.count == 0, !watch {
      guard await look.problem == nil else {
        // Throw only the exit status, since the problem was already reported.
        throw ExitCode(WhiteboardError.Code.unreachable.rawValue)
      }
      let shown = seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
      Console.complain("No board was found nearby in \(shown) s. To find the cause, run: whiteboard-peer doctor")
      throw ExitCode(WhiteboardError.Code.no.rawValue)
    }
  }

  private actor Look {
    private(set) var count = 0
    private(set) var problem: DiscoveryProblem?
    private(set) var failure: OutputError?
    private var nearby = Nearby()
    /// Whether the output has one line for each board instead of one for each announcing peer.
    private let groups: Bool
    private let own: [String: String?]

    init(groups: Bool, own: [String: String?]) {
      self.groups = groups
      self.own = own
    }

    func tellAll(_ writer: LineWriter) async {
      guard groups else { return }
      for board in nearby.boards { await write("nearby: \(line(board))\n", writer) }
      for relay in nearby.relays {
        if let line = EventText.line(.peerFound(.init(relay))) { await write(line + "\n", writer) }
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
      } catch { failure = error }
    }

    /// Writes a line about the board that a peer announces, or has stopped announcing. If the peer is only a relay,
    /// writes nothing and returns false.
    private func tellBoard(of peer: DiscoveredPeer, wasKnown: Bool, _ writer: LineWriter) async -> Bool {
      guard !peer.isRelayAlone else { return false }
      let id = peer.announcement.session.bytes
      guard let board = nearby.boards.first(where: { $0.id.bytes == id }) else {
        let name = peer.announcement.boardName.quoted()
        await write("no longer nearby: \(name)\n", writer)
        return true
      }
      let lead = wasKnown ? "nearby, changed" : "nearby"
      await write("\(lead): \(line(board))\n", writer)
      return true
    }

    func saw(_ event: BrowserEvent, _ sink: LineSink, _ writer: LineWriter, isWatching: Bool) async {
      let told: SharedBoard.News
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
      case .found(let peer): told = .peerFound(.init(peer))
      case .updated(let peer): told = .peerUpdated(.init(peer))
      case .lost(let peer): told = .peerLost(.init(peer))
      case .unavailable(let problem):
        self.problem = problem
        Console.complain("whiteboard-peer: \(problem.description)")
        return
      case .available:
        problem = nil
        return
      }
      do throws(OutputError) {
        try await sink.write([.news(told)])
        try await writer.flush()
      } catch { failure = error }
    }
  }
}

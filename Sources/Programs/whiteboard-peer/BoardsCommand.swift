import ArgumentParser
import AvahiDiscovery
import CommandLines
import FoundationEssentials
import PeerCore
import PeerDiscovery
import PeerSession
import WhiteboardDocument
import WhiteboardKit
import WhiteboardPrograms

struct BoardsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "boards",
    abstract: "List, show, copy, repair and delete the saved boards.",
    discussion: """
      A board is a file in the data directory. BOARD is the name of a board, the start of its id, or a file.

      The exit status is 1 if `verify` finds damage or `recover` cannot save everything, 65 if a file \
      is not a readable board, and 75 if another program has the board open for writing.
      """,
    subcommands: [
      List.self, Show.self, Versions.self, Copy.self, Duplicate.self, Rename.self, Retain.self, Compact.self,
      Verify.self, Recover.self, Delete.self,
    ],
    defaultSubcommand: List.self
  )

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the boards.")

    @Option(
      help: "The order of the list: \(BoardLibrary.Order.allCases.map(\.rawValue).joined(separator: ", ")).",
      completion: .list(BoardLibrary.Order.allCases.map(\.rawValue))
    )
    var sort = BoardLibrary.Order.name.rawValue

    @Option(help: ArgumentHelp("List only boards whose name contains TEXT.", valueName: "TEXT")) var find: String?

    @Option(help: ArgumentHelp("List only boards with changes by NAME.", valueName: "NAME")) var person: String?

    @Option(help: ArgumentHelp("List only boards changed in the last DAYS days.", valueName: "DAYS")) var days: Double?

    @Flag(help: "Keep running, and report added, changed and removed boards.") var watch = false

    @Flag(help: "Search the network for 2 s, and show which members have the boards open.") var nearby = false

    @OptionGroup var common: CommonOptions

    mutating func validate() throws {
      guard !nearby || !watch else { throw ValidationError("--nearby and --watch cannot be combined.") }
      guard BoardLibrary.Order(rawValue: sort) != nil else {
        throw ValidationError(
          "--sort must be one of \(BoardLibrary.Order.allCases.map(\.rawValue).joined(separator: ", "))."
        )
      }
      guard ![find, person].contains(where: { $0.map { UntrustedText($0).displayed.isEmpty } ?? false }) else {
        throw ValidationError("--find and --person must not be empty.")
      }
      guard days.map({ $0 >= 0 && $0 <= 36_500 }) ?? true else {
        throw ValidationError("--days must be a number from 0 to 36500.")
      }
    }

    mutating func run() async throws {
      let library = try common.boardLibrary()
      let filter = BoardLibrary.Filter(
        text: find,
        since: days.map { BoardFile.now - Int64($0 * 86_400_000) },
        person: person
      )
      guard !watch else {
        try await follow(library, filter)
        return
      }
      let found = try await filing { () async throws(DocumentError) in
        try await library.list(filter, by: BoardLibrary.Order(rawValue: sort) ?? .name)
      }
      if found.isEmpty, !common.json {
        try Console.tell("No boards found. To create one, run: whiteboard-peer host NAME\n")
      }
      let announced = nearby ? try await look() : Nearby()
      guard common.json else {
        var boards: [BoardLine] = []
        for summary in found {
          let objects = await BoardFile.objectCount(of: summary)
          boards.append(BoardLine(summary, objects: objects, nearby: announced, thumbnail: nil))
        }
        if !boards.isEmpty { try Console.tell(BoardLine.table(boards)) }
        return
      }
      for summary in found {
        let thumbnail = await BoardFile.thumbnail(of: summary)
        let objects = await BoardFile.objectCount(of: summary)
        let board = BoardLine(summary, objects: objects, nearby: announced, thumbnail: thumbnail)
        try Console.tell(board.text("board", json: true))
      }
    }

    private func look() async throws(WhiteboardError) -> Nearby {
      let discovery = AvahiDiscovery(interface: try common.settings().value(.interface))
      let (found, finding) = AsyncStream<BrowserEvent>.makeStream()
      return await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await discovery.browse(BrowserQuery(excluding: nil)) { events in
            for await event in events { finding.yield(event) }
          }
        }
        group.addTask { try? await ContinuousClock().sleep(for: .seconds(2)) }
        await group.next()
        group.cancelAll()
        finding.finish()
        var nearby = Nearby()
        for await event in found {
          switch event {
          case .found(let peer), .updated(let peer): nearby.insert(peer)
          case .lost(let peer): nearby.remove(peer)
          case .unavailable(let problem): Console.complain("whiteboard-peer: \(problem.description)")
          case .available: break
          }
        }
        return nearby
      }
    }

    private func follow(_ library: BoardLibrary, _ filter: BoardLibrary.Filter) async throws {
      let (ends, end) = AsyncStream<Void>.makeStream()
      let termination = Termination { end.finish() }
      defer { withExtendedLifetime(termination) {} }
      let json = common.json
      try await withThrowingTaskGroup { group in
        group.addTask {
          var told: Set<String> = []
          for await change in library.watch() {
            if let text = await List.text(change, filter, &told, json: json) { try Console.tell(text) }
          }
        }
        group.addTask { for await _ in ends {} }
        try await group.next()
        group.cancelAll()
      }
    }

    /// Returns the line that reports a change, or nil if there is nothing to report. `told` contains the paths of the
    /// boards that were already reported as present.
    private static func text(
      _ change: LibraryChange,
      _ filter: BoardLibrary.Filter,
      _ told: inout Set<String>,
      json: Bool
    ) async -> String? {
      switch change {
      case .added(let summary) where filter.passes(summary), .changed(let summary) where filter.passes(summary):
        let isNew = told.insert(summary.path).inserted
        // A board that is being edited changes often, so its objects are counted only if no count is stored.
        let objects = if let stored = summary.objects { stored } else { await BoardFile.objectCount(of: summary) }
        let thumbnail = json ? await BoardFile.thumbnail(of: summary) : nil
        let line = BoardLine(summary, objects: objects, thumbnail: thumbnail)
        return line.text(isNew ? "board-added" : "board-changed", json: json)
      case .added(let summary), .changed(let summary):
        return told.remove(summary.path).map { BoardLine.removed($0, json: json) }
      case .removed(let path): return told.remove(path).map { BoardLine.removed($0, json: json) }
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show the objects on a board, even while it is open elsewhere."
    )

    @Argument(help: "The board to show.", completion: .board) var board: String
    @Option(
      name: .customLong("at"),
      help: ArgumentHelp("Show the board as it was at this checkpoint.", valueName: "CHECKPOINT")
    ) var version: String?
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let content = try await BoardFile.read(try await common.path(of: board), version: version)
      try Console.tell(content.lines(json: common.json))
    }
  }

  struct Versions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List the checkpoints of a board, and the gaps in its history."
    )

    @Argument(help: "The board to inspect.", completion: .board) var board: String
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let path = try await common.path(of: board)
      let (versions, marks) = try await filing { () async throws(DocumentError) in
        let document = try await BoardDocument.open(at: path, mode: .reading)
        return (try await document.versions(), try await document.marks())
      }
      if versions.isEmpty, !common.json {
        try Console.tell("The board has no checkpoints. To create one, type `checkpoint NAME` on the board.\n")
      }
      let lines = versions.map { VersionLine($0) }
      if common.json {
        for line in lines { try Console.tell(line.json) }
      } else if !lines.isEmpty {
        let rows = [["NAME", "AT", "BYTES"]] + lines.map(\.cells)
        try Console.tell(TextTable.text(rows, numbers: [2]))
      }
      for case .gap(let from, let to) in marks { try Console.tell(GapLine(from, to).text(json: common.json)) }
    }
  }
}

extension CommonOptions {
  func boardLibrary() throws(WhiteboardError) -> BoardLibrary {
    BoardLibrary(inDataDirectory: try chosenDataDirectory())
  }

  /// Returns the titles of the saved boards by id; the value is nil for a board without a title. Returns an empty
  /// dictionary if the boards cannot be listed.
  func ownBoards() async -> [String: String?] {
    let summaries = (try? await boardLibrary().list()) ?? []
    let titles = summaries.compactMap { summary in
      summary.board.flatMap { SessionID(bytes: $0) }.map { ($0.text, summary.title) }
    }
    return Dictionary(titles) { first, _ in first }
  }

  func path(of board: String) async throws(WhiteboardError) -> String { try await boardLibrary().file(of: board) }

  func say(_ event: String, _ message: String, path: String) throws(WhiteboardError) {
    struct Line: Encodable {
      let path: String
      let message: String
    }
    try Console.tell(
      json
        ? String(decoding: EventLine.json(event, Line(path: path, message: message)), as: UTF8.self)
        : UntrustedText(message).escaped(limit: 4096) + "\n"
    )
  }
}

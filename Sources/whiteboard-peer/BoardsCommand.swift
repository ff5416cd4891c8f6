import ArgumentParser
import FoundationEssentials
import PeerSession
import WhiteboardDocument
import WhiteboardNode

/// `whiteboard-peer boards`.
struct BoardsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "boards",
    abstract: "List, look into, copy and mend the boards that are kept here.",
    discussion: """
      A board is a file in the data directory. BOARD is its name, the start of its id, or a file.

      Exits with 1 where `verify` finds damage or `recover` could not save everything, with 65 where a
      file cannot be read as a board, and with 75 where it is open for writing elsewhere.
      """,
    subcommands: [
      List.self, Show.self, Versions.self, Copy.self, Duplicate.self, Rename.self, Retain.self,
      Compact.self, Verify.self, Recover.self,
    ],
    defaultSubcommand: List.self
  )

  /// `whiteboard-peer boards list`.
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the boards.")

    @Option(
      help:
        "In which order: \(BoardLibrary.Order.allCases.map(\.rawValue).joined(separator: ", "))."
    )
    var sort = BoardLibrary.Order.name.rawValue

    @Option(help: ArgumentHelp("Only those with this in their name.", valueName: "TEXT"))
    var find: String?

    @Option(help: ArgumentHelp("Only those that somebody of this name drew on.", valueName: "NAME"))
    var person: String?

    @Option(help: ArgumentHelp("Only those changed in so many days.", valueName: "DAYS"))
    var days: Double?

    @Flag(help: "Go on, and tell what is added, changed and removed.")
    var watch = false

    @OptionGroup var common: CommonOptions

    mutating func validate() throws {
      guard BoardLibrary.Order(rawValue: sort) != nil else {
        throw ValidationError(
          "--sort is one of \(BoardLibrary.Order.allCases.map(\.rawValue).joined(separator: ", "))."
        )
      }
      guard days.map({ $0 >= 0 && $0 <= 36_500 }) ?? true else {
        throw ValidationError("--days is a number from 0 to 36500.")
      }
    }

    mutating func run() async throws {
      let library = try common.library()
      let filter = BoardLibrary.Filter(
        text: find,
        since: days.map { BoardFile.now - Int64($0 * 86_400_000) },
        person: person
      )
      guard !watch else {
        try await follow(library, filter)
        return
      }
      let found = try await filing {
        () async throws(DocumentError) in
        try await library.list(filter, by: BoardLibrary.Order(rawValue: sort) ?? .name)
      }
      if found.isEmpty, !common.json {
        try Console.tell("No board is kept here yet; whiteboard-peer host makes one.\n")
      }
      for summary in found { try Console.tell(BoardLine(summary).text("board", json: common.json)) }
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
            if let text = List.text(change, filter, &told, json: json) { try Console.tell(text) }
          }
        }
        group.addTask { for await _ in ends {} }
        try await group.next()
        group.cancelAll()
      }
    }

    /// The line of a change; `told` are the files of which the last one said that they are there.
    private static func text(
      _ change: LibraryChange,
      _ filter: BoardLibrary.Filter,
      _ told: inout Set<String>,
      json: Bool
    ) -> String? {
      switch change {
      case .added(let summary) where filter.passes(summary),
        .changed(let summary) where filter.passes(summary):
        let isNew = told.insert(summary.path).inserted
        return BoardLine(summary).text(isNew ? "board-added" : "board-changed", json: json)
      case .added(let summary), .changed(let summary):
        return told.remove(summary.path).map { BoardLine.removed($0, json: json) }
      case .removed(let path):
        return told.remove(path).map { BoardLine.removed($0, json: json) }
      }
    }
  }

  /// `whiteboard-peer boards show`.
  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show what is on a board, read-only; it may be open elsewhere."
    )

    @Argument(help: "Which board.") var board: String
    @Option(
      name: .customLong("at"),
      help: ArgumentHelp("As it was at this checkpoint.", valueName: "CHECKPOINT")
    )
    var version: String?
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let content = try await BoardFile.read(try await common.path(of: board), version: version)
      try Console.tell(content.text(json: common.json))
    }
  }

  /// `whiteboard-peer boards versions`.
  struct Versions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the versions of a board.")

    @Argument(help: "Which board.") var board: String
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let path = try await common.path(of: board)
      let (versions, marks) = try await filing { () async throws(DocumentError) in
        let document = try await BoardDocument.open(at: path, mode: .reading)
        return (try await document.versions(), try await document.marks())
      }
      if versions.isEmpty, !common.json {
        try Console.tell("It has no versions; on the board, `checkpoint NAME` makes one.\n")
      }
      for version in versions {
        try Console.tell(VersionLine(version).text(json: common.json))
      }
      for case .gap(let from, let to) in marks {
        try Console.tell(GapLine(from, to).text(json: common.json))
      }
    }
  }

  /// `whiteboard-peer boards copy`.
  struct Copy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write a board, history and all, to another file; it may be open elsewhere."
    )

    @Argument(help: "Which board.") var board: String
    @Argument(help: "The file to write, which must not be there.") var file: String
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let (path, file) = (try await common.path(of: board), BoardFile.absolute(file))
      try await filing { () async throws(DocumentError) in
        try await BoardDocument.open(at: path, mode: .reading).save(as: file)
      }
      try common.say("board-copied", "\(path) is copied to \(file).", path: file)
    }
  }

  /// `whiteboard-peer boards duplicate`.
  struct Duplicate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Begin a new board from what is on another, without its history."
    )

    @Argument(help: "Which board.") var board: String
    @Argument(help: "What the new one is called.") var name: String
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let path = try await common.path(of: board)
      let name = try BoardName.checked(name)
      let made = try await BoardFile.duplicate(path, as: name, in: try common.library())
      try common.say(
        "board-duplicated",
        "The board \(TerminalText.quoted(name)) is made.",
        path: made
      )
    }
  }

  /// `whiteboard-peer boards rename`.
  struct Rename: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Give a board another name.")

    @Argument(help: "Which board.") var board: String
    @Argument(help: "The new name.") var name: String
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let (path, name) = (try await common.path(of: board), try BoardName.checked(name))
      try await writing(path) { document throws(DocumentError) in
        try await document.rename(to: name)
      }
      try common.say("board-renamed", "It is called \(TerminalText.quoted(name)) now.", path: path)
    }
  }

  /// `whiteboard-peer boards retain`.
  struct Retain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Say how many days of a board's history are kept while it is used."
    )

    @Argument(help: "Which board.") var board: String
    @Argument(help: ArgumentHelp("A number of days, or forever.", valueName: "DAYS|forever"))
    var span: String
    @OptionGroup var common: CommonOptions

    mutating func validate() throws {
      guard span == "forever" || Int(span).map({ (0...36_500).contains($0) }) ?? false else {
        throw ValidationError("Give a number of days from 0 to 36500, or forever.")
      }
    }

    mutating func run() async throws {
      let (path, days) = (try await common.path(of: board), Int(span))
      try await writing(path) { document throws(DocumentError) in
        try await document.setRetention(days: days)
      }
      try common.say(
        "board-retained",
        days.map { "Its history is kept for \($0) days." } ?? "All of its history is kept.",
        path: path
      )
    }
  }

  /// `whiteboard-peer boards compact`.
  struct Compact: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make a board's file smaller by forgetting its history."
    )

    @Argument(help: "Which board.") var board: String
    @Option(help: ArgumentHelp("Keep the history of so many days.", valueName: "DAYS"))
    var keep = 0
    @OptionGroup var common: CommonOptions

    mutating func validate() throws {
      guard (0...36_500).contains(keep) else {
        throw ValidationError("--keep is a number of days from 0 to 36500.")
      }
    }

    mutating func run() async throws {
      let path = try await common.path(of: board)
      let days = keep
      try await writing(path) { document throws(DocumentError) in
        try await document.compact(now: BoardFile.now, keeping: days)
      }
      try common.say("board-compacted", "\(path) is compact.", path: path)
    }
  }

  /// `whiteboard-peer boards verify`.
  struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Look at all that is stored of a board, and say what is damaged."
    )

    @Argument(help: "Which board.") var board: String
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let path = try await common.path(of: board)
      let damage = try await BoardFile.verify(path)
      for line in damage { try common.say("board-damage", line, path: path) }
      guard damage.isEmpty else {
        Console.complain("whiteboard-peer boards recover saves what is good.")
        throw ExitCode(NodeError.Code.no.rawValue)
      }
      try common.say("board-verified", "\(path) is whole.", path: path)
    }
  }

  /// `whiteboard-peer boards recover`.
  struct Recover: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Save what a damaged file still holds to a new one; the damaged one is only read.",
      discussion: """
        Host the new file by its path, or move the damaged one out of the data directory: then the
        new one is the board, by its name and its link. Exits with 1 where something is lost.
        """
    )

    @Argument(help: "The damaged file.") var file: String
    @Option(
      name: [.customShort("o"), .customLong("output")],
      help: ArgumentHelp(
        "The file to write; else FILE with -recovered in its name.",
        valueName: "FILE"
      )
    )
    var output: String?
    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let source = BoardFile.absolute(file)
      let suffix = "." + BoardLibrary.fileExtension
      let stem = source.hasSuffix(suffix) ? String(source.dropLast(suffix.count)) : source
      let target = output.map(BoardFile.absolute) ?? "\(stem)-recovered\(suffix)"
      let report = try await filing { () async throws(DocumentError) in
        try await BoardDocument.recover(from: source, to: target, now: BoardFile.now)
      }
      for loss in report.losses { try common.say("board-damage", "lost: \(loss)", path: source) }
      try common.say(
        "board-recovered",
        "\(target) holds \(report.keyframes) states, \(report.entries) changes and "
          + "\(report.assets) photos; \(report.losses.isEmpty ? "nothing is lost" : "see above what is lost").",
        path: target
      )
      guard report.losses.isEmpty else { throw ExitCode(NodeError.Code.no.rawValue) }
    }
  }
}

/// Opens a document for writing, does something with it, and closes it whatever came of that.
private func writing(
  _ path: String,
  _ body: (BoardDocument) async throws(DocumentError) -> Void
) async throws(NodeError) {
  try await filing { () async throws(DocumentError) in
    let document = try await BoardDocument.open(at: path, mode: .writing)
    do throws(DocumentError) {
      try await body(document)
    } catch {
      // Why it was not done says more than what came of closing.
      try? await document.close()
      throw error
    }
    try await document.close()
  }
}

/// Does something with documents; what they refuse is an end with its exit status.
func filing<Result>(
  _ body: () async throws(DocumentError) -> Result
) async throws(NodeError) -> Result {
  do throws(DocumentError) {
    return try await body()
  } catch {
    throw NodeError(error)
  }
}

extension CommonOptions {
  /// The boards that are kept here.
  func library() throws(NodeError) -> BoardLibrary {
    BoardLibrary(directory: try chosenDataDirectory() + "/boards")
  }

  /// The file of a board that is named by a file, a name, or the start of its id.
  func path(of board: String) async throws(NodeError) -> String {
    let isFile = BoardFile.isMeant(by: board)
    if isFile, FileManager.default.fileExists(atPath: board) { return BoardFile.absolute(board) }
    let library = try library()
    let all = try await filing { () async throws(DocumentError) in try await library.list() }
    let meant = all.filter {
      $0.name == board
        || (board.utf8.count >= 4 && BoardLine($0).board?.hasPrefix(board.lowercased()) ?? false)
    }
    guard let only = meant.first else {
      guard !isFile else {
        throw NodeError(
          .noInput,
          "the file \(TerminalText.quoted(board, limit: 256)) is not there"
        )
      }
      throw NodeError(
        .noInput,
        "no board is called \(TerminalText.quoted(board)); `whiteboard-peer boards` lists them"
      )
    }
    guard meant.count == 1 else {
      throw NodeError(
        .usage,
        "\(meant.count) boards are called so; give the file: "
          + meant.prefix(4).map(\.path).joined(separator: ", ")
      )
    }
    return only.path
  }

  /// Tells a result, as a line of words or of JSON.
  func say(_ event: String, _ message: String, path: String) throws(NodeError) {
    struct Line: Encodable {
      let path: String
      let message: String
    }
    try Console.tell(
      json
        ? String(decoding: EventLine.json(event, Line(path: path, message: message)), as: UTF8.self)
        : TerminalText.cleaned(message, limit: 4096) + "\n"
    )
  }
}

/// One board of the library, as a line tells it.
struct BoardLine: Encodable {
  let path: String
  let name: String
  let board: String?
  let objects: Int
  let people: [String]
  let changedAt: String
  let byteCount: Int64
  let thumbnail: String?
  let error: String?

  init(_ summary: DocumentSummary) {
    path = summary.path
    name = summary.name
    board = summary.board.flatMap { SessionID(bytes: $0)?.text }
    objects = summary.objects
    people = summary.people
    changedAt = BoardFile.time(summary.changed)
    byteCount = summary.size
    thumbnail = summary.thumbnail
    error = summary.error?.message
  }

  func text(_ event: String, json: Bool) -> String {
    guard !json else { return String(decoding: EventLine.json(event, self), as: UTF8.self) }
    let lead = event == "board" ? "" : event.dropFirst("board-".count) + " "
    let shown = TerminalText.quoted(name, limit: 128)
    if let error {
      return "\(lead)\(shown): \(TerminalText.cleaned(error, limit: 4096))\n"
    }
    let who = TerminalText.cleaned(people.joined(separator: ", "), limit: 256)
    return
      "\(lead)\(shown)  \(objects) objects  \(who.isEmpty ? "nobody yet" : who)  \(changedAt)  "
      + "\(byteCount) bytes  \(TerminalText.cleaned(path, limit: 4096))\n"
  }

  /// The line of a board that is gone.
  static func removed(_ path: String, json: Bool) -> String {
    struct Removed: Encodable { let path: String }
    return json
      ? String(decoding: EventLine.json("board-removed", Removed(path: path)), as: UTF8.self)
      : "removed \(TerminalText.cleaned(path, limit: 4096))\n"
  }
}

/// A time whose changes are in no log, as a line tells it: what came of them is in what was kept
/// whole later.
struct GapLine: Encodable {
  let from: String
  let to: String

  init(_ from: Int64, _ to: Int64) {
    self.from = BoardFile.time(from)
    self.to = BoardFile.time(to)
  }

  func text(json: Bool) -> String {
    json
      ? String(decoding: EventLine.json("gap", self), as: UTF8.self)
      : "not recorded from \(from) to \(to)\n"
  }
}

/// One version of a board, as a line tells it.
struct VersionLine: Encodable {
  let name: String
  let at: String
  let byteCount: Int

  init(_ version: DocumentVersion) {
    name = version.name
    at = BoardFile.time(version.time)
    byteCount = version.size
  }

  func text(json: Bool) -> String {
    json
      ? String(decoding: EventLine.json("version", self), as: UTF8.self)
      : "\(TerminalText.quoted(name, limit: 128))  \(at)  \(byteCount) bytes\n"
  }
}

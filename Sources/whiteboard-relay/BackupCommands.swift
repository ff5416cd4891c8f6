import ArgumentParser
import FoundationEssentials
import WhiteboardCommands
import WhiteboardNode
import WhiteboardRelay

extension PlaceOptions {
  /// Says what was done: in words, or as a line of JSON.
  func say(_ event: String, _ words: String, path: String) throws(NodeError) {
    struct Line: Encodable { let path: String }
    try Console.tell(
      json
        ? String(decoding: EventLine.json(event, Line(path: path)), as: UTF8.self) : words + "\n"
    )
  }
}

/// `whiteboard-relay backup`.
struct BackupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract:
      "Copy the relay, which may be running, to a directory: its key, whom it knows, its boards.",
    discussion: """
      Who has the copy can be this relay: keep it as safe as the relay itself. Each board is copied as it is \
      in one moment; photos are in the files of the boards.
      """
  )

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("The directory to make.", valueName: "DIR"),
    completion: .directory
  )
  var output: String

  @OptionGroup var place: PlaceOptions

  mutating func run() async throws {
    let target = BoardFile.absolute(output)
    let count = try await RelayBackup.make(
      of: try place.settings().relayDirectory(),
      at: target
    )
    let boards = count == 1 ? "1 board is" : "\(count) boards are"
    try place.say("backup-made", "\(boards) in \(output).", path: target)
  }
}

/// `whiteboard-relay restore`.
struct RestoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Restore the relay's data directory from a backup.",
    discussion: """
      Every board is checked first. The relay has the same key and the same boards: start it instead of the \
      one that was copied, never beside it.
      """
  )

  @Argument(help: ArgumentHelp("The copy.", valueName: "DIR"), completion: .directory)
  var source: String

  @OptionGroup var place: PlaceOptions

  mutating func run() async throws {
    let directory = try place.settings().relayDirectory()
    let count = try await RelayBackup.restore(BoardFile.absolute(source), to: directory)
    let boards = count == 1 ? "1 board is" : "\(count) boards are"
    try place.say("backup-restored", "\(boards) in \(directory).", path: directory)
  }
}

/// `whiteboard-relay compact`.
struct CompactCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Drop history that need not be kept from the boards of the relay that runs here.",
    discussion: "What is on the boards stays. Named versions stay too."
  )

  @Argument(help: "Which board: its name, its id or the beginning of that; else all.")
  var board: String?

  @Option(help: ArgumentHelp("How many days of history stay.", valueName: "DAYS"))
  var keep: Int?

  @OptionGroup var place: PlaceOptions

  mutating func run() async throws {
    var request = ControlRequest(.compact, board: board)
    request.days = keep
    try await place.tell(request, empty: "Nothing is open.")
  }
}

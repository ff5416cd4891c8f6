import ArgumentParser
import CommandLines
import FoundationEssentials
import WhiteboardCommands
import WhiteboardKit
import WhiteboardRelay

extension PlaceOptions {
  /// Prints the result of a command as text or as a line of JSON.
  func say(_ event: String, _ words: String, path: String) throws(WhiteboardError) {
    struct Line: Encodable { let path: String }
    try Console.tell(json ? String(decoding: EventLine.json(event, Line(path: path)), as: UTF8.self) : words + "\n")
  }
}

/// `whiteboard-relay backup`.
struct BackupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy the relay's key, known peers and boards to a directory, even while the relay runs.",
    discussion: """
      Anyone who has the copy can impersonate this relay, so keep it as safe as the relay itself. The copy of each \
      board is consistent, and includes its photos.
      """
  )

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("The directory to create.", valueName: "DIR"),
    completion: .directory
  ) var output: String

  @OptionGroup var place: PlaceOptions

  mutating func run() async throws {
    let target = BoardFile.absolute(output)
    let count = try await RelayBackup.make(of: try place.settings().relayDirectory(), at: target)
    let boards = count == 1 ? "1 board" : "\(count) boards"
    try place.say("backup-made", "Copied \(boards) to \(output).", path: target)
  }
}

/// `whiteboard-relay restore`.
struct RestoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Restore the relay's data directory from a backup.",
    discussion: """
      Every board is checked first. The restored relay has the same key and the same boards, so run it \
      instead of the original, never at the same time.
      """
  )

  @Argument(help: ArgumentHelp("The directory with the backup.", valueName: "DIR"), completion: .directory) var source:
    String

  @OptionGroup var place: PlaceOptions

  mutating func run() async throws {
    let directory = try place.settings().relayDirectory()
    let count = try await RelayBackup.restore(BoardFile.absolute(source), to: directory)
    let boards = count == 1 ? "1 board" : "\(count) boards"
    try place.say("backup-restored", "Restored \(boards) to \(directory).", path: directory)
  }
}

/// `whiteboard-relay compact`.
struct CompactCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Delete old history from the boards of the running relay.",
    discussion: "The objects on the boards and the checkpoints are kept."
  )

  @Argument(help: "The name or id of the board, or the start of its id; by default, all boards.") var board: String?

  @Option(help: ArgumentHelp("The number of days of history to keep.", valueName: "DAYS")) var keep: Int?

  @OptionGroup var place: PlaceOptions

  mutating func run() async throws {
    var request = ControlRequest(.compact, board: board)
    request.days = keep
    try await place.tell(request, empty: "No board is open.")
  }
}

import ArgumentParser
import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardCommands

/// `whiteboard-replay diff`.
struct DiffCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Show the differences between two recordings, or between two times of one recording.",
    discussion: """
      Prints one line for each object that differs: + for an added object, - for a removed one, and ~ for a \
      changed one, with its properties before and after. The exit status is 1 if anything differs.
      """
  )

  @Argument(help: "The first recording.", completion: .file()) var file: String

  @Argument(help: "The second recording; by default, the first.", completion: .file()) var other: String?

  @Option(help: ArgumentHelp("The time in the first recording; by default, its end.", valueName: "TIME")) var from:
    String?

  @Option(help: ArgumentHelp("The time in the second recording; by default, its end.", valueName: "TIME")) var to:
    String?

  @Flag(help: "Write one JSON object per line.") var json = false

  mutating func validate() throws {
    guard other != nil || from != nil || to != nil else {
      throw ValidationError("Give a second recording, or two times with --from and --to.")
    }
  }

  mutating func run() async throws {
    let earlier = try await Self.state(of: file, at: from)
    let later = try await Self.state(of: other ?? file, at: to)
    let changes = BoardDiff.between(earlier, later).changes
    if json {
      for change in changes { try Console.tell(change.json + "\n") }
    } else {
      let lines = changes.map(Self.text)
      try Console.tell(lines.isEmpty ? "Nothing differs.\n" : lines.joined())
    }
    if !changes.isEmpty { throw ExitCode(1) }
  }

  /// Returns a change as text for the user.
  private static func text(_ change: BoardDiff.Change) -> String {
    let sign =
      switch change.fate {
      case .added: "+"
      case .removed: "-"
      case .changed: "~"
      }
    func shown(_ value: String?) -> String { value.map { UntrustedText($0).escaped(limit: 60) } ?? "none" }
    let head = "\(sign) \(change.kind.name) \(change.id)"
    guard change.fate == .changed else {
      let text = change.fields.first { $0.name == "text" }
      return head + (text.map { " \(shown($0.after ?? $0.before))" } ?? "") + "\n"
    }
    let fields = change.fields.map { field in "    \(field.name): \(shown(field.before)) -> \(shown(field.after))\n" }
    return "\(head)\n\(fields.joined())"
  }

  private static func state(of file: String, at time: String?) async throws -> BoardState {
    let recording = try await Recording.read(file)
    var playback = Playback(recording, spacing: .max)
    playback.seek(toTime: try time.map { try recording.askedWithin($0) } ?? recording.duration)
    return playback.board.state
  }
}

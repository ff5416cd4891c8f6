import ArgumentParser
import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardKit
import WhiteboardPrograms
import WhiteboardTerminal

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

@main struct WhiteboardReplay: DocumentedProgram {
  static let configuration = CommandConfiguration(
    commandName: "whiteboard-replay",
    abstract: "Inspect, play, check and replay recorded whiteboards.",
    discussion: """
      Every .whiteboard file is a recording; `whiteboard-peer boards` lists yours.

      EXAMPLES
        whiteboard-replay record standup -o a.whiteboard
        whiteboard-replay list                  list your boards and recordings
        whiteboard-replay play a.whiteboard     watch it
        whiteboard-replay info a.whiteboard     summarize it
        whiteboard-replay log a.whiteboard      list every change, one per line
        whiteboard-replay stats a.whiteboard    show how much each author did
        whiteboard-replay verify a.whiteboard   check that it is intact
        whiteboard-replay run a.whiteboard --net "loss=5%,delay=20ms+-10"
        whiteboard-replay export a.whiteboard --at 1:30 -o then.svg
        whiteboard-replay export a.whiteboard -o a.gif --speed 8
        whiteboard-replay cut a.whiteboard --to 2:00 -o begin.whiteboard
        whiteboard-replay diff a.whiteboard --from 1:00 --to 2:00

      A time is seconds (90.5), m:ss or h:mm:ss (1:30), a percentage of the whole (50%) or a marker (@lunch).

      \(ExitStatus.help)
      """,
    version: ProgramVersion.text,
    subcommands: [
      ListCommand.self, InfoCommand.self, LogCommand.self, StatsCommand.self, GrepCommand.self, DiffCommand.self,
      RecordCommand.self, PlayCommand.self, CutCommand.self, ConcatCommand.self, AnonymizeCommand.self,
      ExportCommand.self, ImportCommand.self, DeleteCommand.self, VerifyCommand.self, RunCommand.self,
      CompletionsCommand<WhiteboardReplay>.self, ManualCommand<WhiteboardReplay>.self,
    ]
  )

  static let about = ManualPage.Program(settings: [], sections: [], files: [])

  static func main() async { await runMain() }
}

struct PlayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play",
    abstract: "Watch a recording on the terminal.",
    discussion: """
      KEYS
      \(PlayerClient.keys.map { "  " + $0 }.joined(separator: "\n"))

      The bar shows when most changes were made; click on it to go to a time. If the recording was made with \
      --presence, pointers and unfinished strokes are shown as they moved.
      """
  )

  @OptionGroup var input: RecordingArgument

  @Option(help: ArgumentHelp("The speed, from 0.1 to 64.", valueName: "N")) var speed = 1.0

  @Option(help: ArgumentHelp("The time to start at.", valueName: "TIME")) var from: String?

  @Flag(help: "Skip the pauses in the recording.") var skipIdle = false

  mutating func validate() throws {
    guard (0.1...64).contains(speed) else { throw ValidationError("--speed must be from 0.1 to 64.") }
  }

  mutating func run() async throws {
    let recording = try await input.recording()
    let time = try from.map(recording.askedWithin) ?? 0
    guard Console.isTerminal, let term = Environment["TERM"], term != "dumb" else {
      throw WhiteboardError(.usage, "`play` needs a terminal; `export -o FILE.cast` writes a film instead")
    }
    let terminal = Terminal(
      exitMessage: "whiteboard-replay crashed. The recording was not changed.\n",
      log: "/dev/null"
    )
    guard let terminal else { throw WhiteboardError(.system, "this terminal cannot show a full screen") }
    let photos = try await BoardFile.photoPixels(input.path())
    let player = PlayerTerminal(
      recording,
      photos: photos,
      on: terminal,
      TerminalFeatures { Environment[$0] },
      speed: speed,
      skipsIdle: skipIdle,
      from: time
    )
    let termination = Termination { await player.requestEnd() }
    defer { withExtendedLifetime(termination) {} }
    await player.run()
  }
}

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

struct InfoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Summarize the contents of a recording."
  )

  @OptionGroup var input: RecordingArgument

  @Flag(help: "Write one JSON object.") var json = false

  mutating func run() async throws {
    let recording = try await input.recording()
    var playback = Playback(recording, spacing: .max)
    playback.seek(toPlace: recording.count)
    playback.tellFaults()
    let statistics = RecordingStatistics(of: recording)
    let gaps = recording.history.marks.filter { $0.name == nil && $0.until > $0.time }
    let objects = playback.board.shown().snapshots.count
    let names = statistics.people.compactMap(\.member).map(recording.label)
    let facts: [(key: String, label: String, text: String, isNumber: Bool)] = [
      ("name", "name", recording.history.name, false), ("board", "board", recording.board.description, false),
      ("start", "begins", recording.start.map(BoardFile.time) ?? "", false),
      ("seconds", "lasts", "\(Double(recording.duration) / 1000)", true),
      ("people", "people", "\(statistics.people.count)", true), ("steps", "steps", "\(recording.count)", true),
      ("operations", "operations", "\(statistics.operations)", true), ("bytes", "bytes", "\(statistics.bytes)", true),
      ("traffic", "traffic", "\(recording.history.traffic.count)", true),
      ("digests", "digests", "\(recording.history.checks.count)", true),
      ("damages", "damages", "\(recording.history.damages.count)", true), ("objects", "objects", "\(objects)", true),
      ("digest", "digest", playback.board.digest.hex, false),
    ]
    if json {
      var line = JSONObject()
      for fact in facts { line.add(fact.key, json: fact.isNumber ? fact.text : JSONObject.quoted(fact.text)) }
      let markers = recording.markers.map { marker in
        var json = JSONObject()
        json.add("ms", whole: marker.elapsed)
        json.add("name", string: marker.name)
        return json.text
      }
      line.add("markers", list: markers)
      let unrecorded = gaps.map { gap in
        var json = JSONObject()
        json.add("from", whole: recording.elapsed(gap.time))
        json.add("to", whole: recording.elapsed(gap.until))
        return json.text
      }
      line.add("gaps", list: unrecorded)
      try Console.tell(line.text + "\n")
      return
    }
    for fact in facts {
      let label = fact.label + String(repeating: " ", count: max(1, 12 - fact.label.count))
      var text = fact.text
      switch fact.key {
      case "seconds": text = Recording.exactText(recording.duration)
      case "people" where !names.isEmpty: text += ": " + names.joined(separator: ", ")
      case "bytes": text += " in the changes"
      case "traffic" where recording.history.traffic.isEmpty: text = "not recorded"
      case "traffic": text += " entries"
      default: break
      }
      try Console.tell("\(label)\(UntrustedText(text).escaped())\n")
    }
    for marker in recording.markers {
      let time = Recording.exactText(marker.elapsed)
      try Console.tell("marker      \(time) \(UntrustedText(marker.name).escaped())\n")
    }
    for gap in gaps {
      let time = Recording.exactText(recording.elapsed(gap.time))
      let until = Recording.exactText(recording.elapsed(gap.until))
      try Console.tell("gap         \(time) to \(until): not recorded\n")
    }
  }
}

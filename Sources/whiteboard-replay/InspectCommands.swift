import ArgumentParser
import SessionReplay
import Whiteboard
import WhiteboardCommands
import WhiteboardNode
import WhiteboardRendering
import WhiteboardSync

/// `whiteboard-replay info`.
struct InfoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Tell what is in a recording."
  )

  @OptionGroup var input: RecordingArgument

  @Flag(help: "Write one JSON object.") var json = false

  mutating func run() async throws {
    let recording = try await input.recording()
    var playback = Playback(recording, spacing: .max)
    playback.seek(toPlace: recording.count)
    let statistics = RecordingStatistics(of: recording)
    let gaps = recording.history.marks.filter { $0.name == nil }
    let objects = playback.board.state.objectCount
    let facts: [(key: String, label: String, text: String, isNumber: Bool)] = [
      ("name", "name", recording.history.name, false),
      ("board", "board", recording.board.description, false),
      ("start", "begins", recording.start.map(BoardFile.time) ?? "", false),
      ("seconds", "lasts", "\(Double(recording.duration) / 1000)", true),
      ("people", "people", "\(statistics.people.count)", true),
      ("steps", "steps", "\(recording.count)", true),
      ("operations", "operations", "\(statistics.operations)", true),
      ("bytes", "bytes", "\(statistics.bytes)", true),
      ("checks", "digests", "\(recording.history.checks.count)", true),
      ("markers", "markers", "\(recording.markers.count)", true),
      ("gaps", "gaps", "\(gaps.count)", true),
      ("damages", "damages", "\(recording.history.damages.count)", true),
      ("objects", "objects", "\(objects)", true),
      ("digest", "digest", playback.board.digest.hex, false),
    ]
    if json {
      let fields = facts.map { fact in
        "\(JSONObject.quoted(fact.key)):\(fact.isNumber ? fact.text : JSONObject.quoted(fact.text))"
      }
      try Console.tell("{\(fields.joined(separator: ","))}\n")
      return
    }
    for fact in facts {
      let label = fact.label + String(repeating: " ", count: max(1, 12 - fact.label.count))
      let text = fact.key == "seconds" ? Recording.text(recording.duration) : fact.text
      try Console.tell("\(label)\(TerminalText.cleaned(text))\n")
    }
    for marker in recording.markers {
      let time = Recording.text(marker.elapsed)
      try Console.tell("marker      \(time) \(TerminalText.cleaned(marker.name))\n")
    }
    for gap in gaps {
      let time = Recording.text(recording.elapsed(gap.time))
      let until = Recording.text(recording.elapsed(gap.until))
      try Console.tell("gap         \(time) to \(until): not recorded\n")
    }
  }
}

/// `whiteboard-replay log`.
struct LogCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Tell every change of a recording, one line each."
  )

  @OptionGroup var input: RecordingArgument

  @OptionGroup var choice: LineOptions

  mutating func run() async throws { try await choice.tell(input.recording()) { _ in true } }
}

/// `whiteboard-replay grep`.
struct GrepCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grep",
    abstract: "Tell the changes of a recording in which some words are.",
    discussion:
      "Looks at what `log` tells, letters of either case. Ends with 1 where there are none."
  )

  @Argument(help: "The words.") var words: String

  @OptionGroup var input: RecordingArgument

  @OptionGroup var choice: LineOptions

  mutating func run() async throws {
    let words = words.lowercased()
    let told = try await choice.tell(input.recording()) { line in
      line.words.lowercased().contains(words)
    }
    if told == 0 { throw ExitCode(1) }
  }
}

/// Which lines of a log are meant, and how they are written.
struct LineOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Only who has an id that starts so.", valueName: "PEER"))
  var author: String?

  @Option(help: ArgumentHelp("From this time on.", valueName: "TIME"))
  var since: String?

  @Option(help: ArgumentHelp("Up to this time.", valueName: "TIME"))
  var until: String?

  @Flag(help: "Write one JSON object a line.") var json = false

  @Flag(help: "With --json, say what the board hashes to after each change.") var digests = false

  mutating func validate() throws {
    guard json || !digests else { throw ValidationError("--digests needs --json.") }
  }

  /// Writes the lines; returns how many.
  @discardableResult
  func tell(
    _ recording: Recording,
    where isMeant: (RecordingLine) -> Bool
  ) throws -> Int {
    let first = try since.map { try recording.asked($0) } ?? 0
    let last = try until.map { try recording.asked($0) } ?? .max
    let author = author?.lowercased()
    var log = RecordingLog(recording)
    var playback = digests ? Playback(recording, spacing: .max) : nil
    var count = 0
    while let line = log.next() {
      playback?.step()
      guard line.elapsed >= first, line.elapsed <= last, isMeant(line) else { continue }
      if let author {
        guard let member = line.member, member.description.hasPrefix(author) else { continue }
      }
      count += 1
      let digest = playback?.board.digest.hex
      try Console.tell(json ? Self.json(line, digest) : Self.text(line))
    }
    return count
  }

  private static func text(_ line: RecordingLine) -> String {
    let who = line.member.map { String($0.description.prefix(8)) } ?? "-"
    let words = TerminalText.cleaned(line.words)
    return "\(line.number)\t\(Recording.text(line.elapsed))\t\(who)\t\(words)\n"
  }

  private static func json(_ line: RecordingLine, _ digest: String?) -> String {
    var fields = [
      #""step":\#(line.number)"#, #""ms":\#(line.elapsed)"#,
      #""kind":\#(JSONObject.quoted(line.kind))"#, #""bytes":\#(line.bytes)"#,
    ]
    if let member = line.member {
      fields.append(#""author":\#(JSONObject.quoted(member.description))"#)
    }
    if let incarnation = line.incarnation {
      fields += [
        #""incarnation":\#(JSONObject.quoted(incarnation.description))"#,
        #""sequence":\#(line.sequence)"#, #""operations":\#(line.operations)"#,
      ]
    }
    fields.append(#""words":\#(JSONObject.quoted(line.words))"#)
    if let digest { fields.append(#""digest":"\#(digest)""#) }
    return "{\(fields.joined(separator: ","))}\n"
  }
}

/// `whiteboard-replay stats`.
struct StatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Tell who did how much in a recording."
  )

  @OptionGroup var input: RecordingArgument

  mutating func run() async throws {
    let recording = try await input.recording()
    let statistics = RecordingStatistics(of: recording)
    let operations = statistics.operations
    let perOperation = operations > 0 ? Double(statistics.bytes) / Double(operations) : 0
    try Console.tell(
      """
      \(statistics.batches) batches, \(operations) operations, \(statistics.bytes) bytes \
      (\((perOperation * 10).rounded() / 10) an operation), \(statistics.states) whole states
      lasts \(Recording.text(recording.duration)); the longest pause, \
      \(Recording.text(statistics.longestPause.duration)), began at \
      \(Recording.text(statistics.longestPause.since))

      """
    )
    try Console.tell("\nPEER\tOPERATIONS\tBATCHES\tBYTES\tFROM\tTO\n")
    for person in statistics.people {
      let who = person.member.map { String($0.description.prefix(8)) } ?? "unknown"
      try Console.tell(
        "\(who)\t\(person.operations)\t\(person.batches)\t\(person.bytes)\t"
          + "\(Recording.text(person.first))\t\(Recording.text(person.last))\n"
      )
    }
    try Console.tell("\nPROPERTY\tOPERATIONS\n")
    for (number, count) in statistics.properties {
      try Console.tell("\(RecordingLog.name(ofProperty: number))\t\(count)\n")
    }
  }
}

/// `whiteboard-replay diff`.
struct DiffCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Tell what differs between two recordings, or two times of one.",
    discussion: """
      One line of JSON for each object: whether it was added, removed or changed, and its properties before \
      and after. Ends with 1 where anything differs.
      """
  )

  @Argument(help: "The recording.", completion: .file()) var file: String

  @Argument(help: "Another; else the same.", completion: .file()) var other: String?

  @Option(help: ArgumentHelp("The time in the first; else its end.", valueName: "TIME"))
  var from: String?

  @Option(help: ArgumentHelp("The time in the second; else its end.", valueName: "TIME"))
  var to: String?

  mutating func validate() throws {
    guard other != nil || from != nil || to != nil else {
      throw ValidationError("Name another recording, or two times with --from and --to.")
    }
  }

  mutating func run() async throws {
    let earlier = try await Self.state(of: file, at: from)
    let later = try await Self.state(of: other ?? file, at: to)
    let changes = BoardDiff.between(earlier, later).changes
    for change in changes { try Console.tell(change.json + "\n") }
    if !changes.isEmpty { throw ExitCode(1) }
  }

  private static func state(of file: String, at time: String?) async throws -> BoardState {
    let recording = try await Recording.read(file)
    var playback = Playback(recording, spacing: .max)
    playback.seek(toTime: try time.map { try recording.asked($0) } ?? recording.duration)
    return playback.board.state
  }
}

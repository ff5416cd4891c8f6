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
      ("name", "name", recording.history.name, false),
      ("board", "board", recording.board.description, false),
      ("start", "begins", recording.start.map(BoardFile.time) ?? "", false),
      ("seconds", "lasts", "\(Double(recording.duration) / 1000)", true),
      ("people", "people", "\(statistics.people.count)", true),
      ("steps", "steps", "\(recording.count)", true),
      ("operations", "operations", "\(statistics.operations)", true),
      ("bytes", "bytes", "\(statistics.bytes)", true),
      ("traffic", "traffic", "\(recording.history.traffic.count)", true),
      ("digests", "digests", "\(recording.history.checks.count)", true),
      ("damages", "damages", "\(recording.history.damages.count)", true),
      ("objects", "objects", "\(objects)", true),
      ("digest", "digest", playback.board.digest.hex, false),
    ]
    if json {
      var fields = facts.map { fact in
        "\(JSONObject.quoted(fact.key)):\(fact.isNumber ? fact.text : JSONObject.quoted(fact.text))"
      }
      let markers = recording.markers.map { marker in
        #"{"ms":\#(marker.elapsed),"name":\#(JSONObject.quoted(marker.name))}"#
      }
      let unrecorded = gaps.map { gap in
        #"{"from":\#(recording.elapsed(gap.time)),"to":\#(recording.elapsed(gap.until))}"#
      }
      fields.append(#""markers":[\#(markers.joined(separator: ","))]"#)
      fields.append(#""gaps":[\#(unrecorded.joined(separator: ","))]"#)
      try Console.tell("{\(fields.joined(separator: ","))}\n")
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
      try Console.tell("\(label)\(TerminalText.cleaned(text))\n")
    }
    for marker in recording.markers {
      let time = Recording.exactText(marker.elapsed)
      try Console.tell("marker      \(time) \(TerminalText.cleaned(marker.name))\n")
    }
    for gap in gaps {
      let time = Recording.exactText(recording.elapsed(gap.time))
      let until = Recording.exactText(recording.elapsed(gap.until))
      try Console.tell("gap         \(time) to \(until): not recorded\n")
    }
  }
}

/// `whiteboard-replay log`.
struct LogCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "List every change of a recording, one per line.",
    discussion: """
      Each line shows the step, the time, the author and the change. With --wire, the lines show the traffic of \
      the session instead, if it was recorded: <- was received, -> was sent.
      """
  )

  @OptionGroup var input: RecordingArgument

  @OptionGroup var choice: LineOptions

  mutating func run() async throws { try await choice.tell(input.recording()) { _ in true } }
}

/// `whiteboard-replay grep`.
struct GrepCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grep",
    abstract: "List the changes of a recording that contain some words.",
    discussion:
      "Searches the lines of `log`, ignoring case. The exit status is 1 if no line matches."
  )

  @Argument(help: "The words to search for.") var words: String

  @OptionGroup var input: RecordingArgument

  @OptionGroup var choice: LineOptions

  mutating func run() async throws {
    let words = words.lowercased()
    let told = try await choice.tell(input.recording()) { $0.lowercased().contains(words) }
    if told == 0 { throw ExitCode(1) }
  }
}

/// The options that select the lines of a log, and their format.
struct LineOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Only lines about the peer of this name or id prefix.", valueName: "PEER")
  )
  var author: String?

  @Option(help: ArgumentHelp("Only lines from this time on.", valueName: "TIME"))
  var since: String?

  @Option(help: ArgumentHelp("Only lines up to this time.", valueName: "TIME"))
  var until: String?

  @Flag(help: "Write one JSON object per line.") var json = false

  @Flag(help: "With --json, add the digest of the board after each change.") var digests = false

  @Flag(help: "List the traffic of the session instead of the changes.") var wire = false

  mutating func validate() throws {
    guard json || !digests else { throw ValidationError("--digests requires --json.") }
    guard !wire || !digests else {
      throw ValidationError("--digests and --wire cannot be combined.")
    }
  }

  /// Prints the selected lines of the log.
  ///
  /// - Returns: The number of printed lines.
  @discardableResult
  func tell(
    _ recording: Recording,
    where isMeant: (String) -> Bool
  ) throws -> Int {
    let first = try since.map { try recording.askedWithin($0) } ?? 0
    let last = try until.map { try recording.asked($0) } ?? .max
    let authors = try author.map { try recording.members(named: $0) }
    if wire { return try tellTraffic(recording, first, last, authors, isMeant) }
    var log = RecordingLog(recording)
    var playback = digests ? Playback(recording, spacing: .max) : nil
    var count = 0
    var rows: [[String]] = []
    while let line = log.next() {
      playback?.step()
      guard line.elapsed >= first, line.elapsed <= last, isMeant(line.words) else { continue }
      if let authors {
        guard let member = line.member, authors.contains(member) else { continue }
      }
      count += 1
      let digest = playback?.board.digest.hex
      if json {
        try Console.tell(json(line, recording, digest))
      } else {
        rows.append(Self.cells(line, recording))
      }
    }
    try Console.tell(TextTable.text(rows, numbers: [0, 1]))
    return count
  }

  private func tellTraffic(
    _ recording: Recording,
    _ first: Int64,
    _ last: Int64,
    _ members: Set<MemberID>?,
    _ isMeant: (String) -> Bool
  ) throws -> Int {
    if recording.history.traffic.isEmpty {
      Console.complain(
        "whiteboard-replay: this file contains only the changes of the board, but no traffic of the session; "
          + "`whiteboard-replay record --wire` records both"
      )
    }
    var count = 0
    var rows: [[String]] = []
    for (number, entry) in recording.history.traffic.enumerated() {
      let elapsed = recording.elapsed(entry.time)
      let line = TrafficLine(entry, recording)
      guard elapsed >= first, elapsed <= last, isMeant(line.text) else { continue }
      if let members, members.isDisjoint(with: line.members) { continue }
      count += 1
      if json {
        try Console.tell(line.json(number + 1, elapsed))
      } else {
        rows.append(["\(number + 1)", Recording.exactText(elapsed), line.text])
      }
    }
    try Console.tell(TextTable.text(rows, numbers: [0, 1]))
    return count
  }

  private static func cells(_ line: RecordingLine, _ recording: Recording) -> [String] {
    let who = line.member.map(recording.label) ?? "-"
    let words = TerminalText.cleaned(line.words)
    return ["\(line.number)", Recording.exactText(line.elapsed), who, words]
  }

  private func json(
    _ line: RecordingLine,
    _ recording: Recording,
    _ digest: String?
  ) -> String {
    let time = BoardFile.time(recording.history.steps[line.number - 1].time)
    var fields = [
      #""step":\#(line.number)"#, #""ms":\#(line.elapsed)"#,
      #""time":\#(JSONObject.quoted(time))"#,
      #""kind":\#(JSONObject.quoted(line.kind))"#, #""bytes":\#(line.bytes)"#,
    ]
    if let member = line.member {
      fields.append(#""author":\#(JSONObject.quoted(member.description))"#)
      if let name = recording.name(of: member) {
        fields.append(#""name":\#(JSONObject.quoted(name))"#)
      }
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
    abstract: "Show how much each author did in a recording.",
    discussion: """
      LATENCY is the time from the creation of an author's changes to their arrival at the recorder: the median \
      and the 99th percentile. It is measured with the clocks of both computers, so it is wrong by the difference \
      between them. Times in JSON are in milliseconds.
      """
  )

  @OptionGroup var input: RecordingArgument

  @Flag(help: "Write one JSON object.") var json = false

  mutating func run() async throws {
    let recording = try await input.recording()
    let statistics = RecordingStatistics(of: recording)
    let traffic = TrafficStatistics(of: recording.history.traffic)
    try Console.tell(
      json
        ? Self.json(statistics, traffic, recording) : Self.text(statistics, traffic, recording)
    )
  }

  private static func text(
    _ statistics: RecordingStatistics,
    _ traffic: TrafficStatistics,
    _ recording: Recording
  ) -> String {
    let changed = statistics.people.reduce(0) { $0 + $1.bytes }
    let perOperation =
      statistics.operations > 0 ? Double(changed) / Double(statistics.operations) : 0
    var text = """
      \(counted(statistics.batches, "batch", "batches")), \(counted(statistics.operations, "operation")), \
      \(changed) bytes (\((perOperation * 10).rounded() / 10) per operation); \
      \(counted(statistics.states, "whole state")), \(statistics.bytes - changed) bytes
      lasts \(Recording.exactText(recording.duration)); the longest pause, \
      \(Recording.exactText(statistics.longestPause.duration)), began at \
      \(Recording.exactText(statistics.longestPause.since))


      """
    text += TextTable.text(
      [["PERSON", "OPERATIONS", "BATCHES", "BYTES", "FROM", "TO", "LATENCY", "99%"]]
        + statistics.people.map { person in
          [
            person.member.map(recording.label) ?? "unknown", "\(person.operations)",
            "\(person.batches)", "\(person.bytes)", Recording.exactText(person.first),
            Recording.exactText(person.last), "\(person.latency.median) ms",
            "\(person.latency.late) ms",
          ]
        },
      numbers: Set(1...7)
    )
    text += "\n"
    text += TextTable.text(
      [["PROPERTY", "OPERATIONS"]]
        + statistics.properties.map { number, count in
          [RecordingLog.name(ofProperty: number), "\(count)"]
        },
      numbers: [1]
    )
    guard !traffic.people.isEmpty else { return text }
    func both(_ amounts: (received: TrafficStatistics.Amount, sent: TrafficStatistics.Amount))
      -> [String]
    {
      [amounts.received, amounts.sent].map { $0.count == 0 ? "-" : "\($0.count) (\($0.bytes))" }
    }
    text += "\nReceived (<-) and sent (->), with the number of bytes:\n"
    text += TextTable.text(
      [
        [
          "PEER", "MESSAGES <-", "->", "DATAGRAMS <-", "->", "RESOURCES <-", "->", "STREAMS <-",
          "->", "JOINED", "LOST",
        ]
      ]
        + traffic.people.map { person in
          [recording.label(of: person.member)] + both(person.messages) + both(person.datagrams)
            + both(person.resources) + both(person.streams) + [
              "\(person.joins)", "\(person.losses)",
            ]
        },
      numbers: Set(1...10)
    )
    return text
  }

  private static func json(
    _ statistics: RecordingStatistics,
    _ traffic: TrafficStatistics,
    _ recording: Recording
  ) -> String {
    func member(_ member: MemberID) -> String {
      let name = recording.name(of: member).map { #","name":\#(JSONObject.quoted($0))"# } ?? ""
      return #""peer":\#(JSONObject.quoted(member.description))\#(name)"#
    }
    func both(
      _ key: String,
      _ amounts: (received: TrafficStatistics.Amount, sent: TrafficStatistics.Amount)
    ) -> String {
      #""\#(key)":{"received":\#(amounts.received.count),"receivedBytes":\#(amounts.received.bytes),"#
        + #""sent":\#(amounts.sent.count),"sentBytes":\#(amounts.sent.bytes)}"#
    }
    let people = statistics.people.map { person in
      "{" + (person.member.map { member($0) + "," } ?? "")
        + #""operations":\#(person.operations),"batches":\#(person.batches),"bytes":\#(person.bytes),"#
        + #""from":\#(person.first),"to":\#(person.last),"latency":\#(person.latency.median),"#
        + #""latency99":\#(person.latency.late)}"#
    }
    let properties = statistics.properties.map { number, count in
      "\(JSONObject.quoted(RecordingLog.name(ofProperty: number))):\(count)"
    }
    let peers = traffic.people.map { person in
      "{\(member(person.member)),\(both("messages", person.messages)),"
        + "\(both("datagrams", person.datagrams)),\(both("resources", person.resources)),"
        + "\(both("streams", person.streams)),"
        + #""joined":\#(person.joins),"lost":\#(person.losses)}"#
    }
    return
      #"{"batches":\#(statistics.batches),"operations":\#(statistics.operations),"#
      + #""bytes":\#(statistics.bytes),"states":\#(statistics.states),"#
      + #""ms":\#(recording.duration),"longestPause":\#(statistics.longestPause.duration),"#
      + #""longestPauseSince":\#(statistics.longestPause.since),"#
      + #""people":[\#(people.joined(separator: ","))],"#
      + #""properties":{\#(properties.joined(separator: ","))},"#
      + #""traffic":[\#(peers.joined(separator: ","))]}"# + "\n"
  }
}

/// `whiteboard-replay diff`.
struct DiffCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Show the differences between two recordings, or two times of one.",
    discussion: """
      One line for each object: + for one that was added, - for one that was removed, ~ for one that was \
      changed, with its properties before and after. The exit status is 1 if anything differs.
      """
  )

  @Argument(help: "The first recording.", completion: .file()) var file: String

  @Argument(help: "The second recording; else the first.", completion: .file()) var other: String?

  @Option(help: ArgumentHelp("The time in the first recording; else its end.", valueName: "TIME"))
  var from: String?

  @Option(help: ArgumentHelp("The time in the second recording; else its end.", valueName: "TIME"))
  var to: String?

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
    func shown(_ value: String?) -> String {
      value.map { TerminalText.cleaned($0, limit: 60) } ?? "none"
    }
    let head = "\(sign) \(change.kind.name) \(change.id)"
    guard change.fate == .changed else {
      let text = change.fields.first { $0.name == "text" }
      return head + (text.map { " \(shown($0.after ?? $0.before))" } ?? "") + "\n"
    }
    let fields = change.fields.map { field in
      "    \(field.name): \(shown(field.before)) -> \(shown(field.after))\n"
    }
    return "\(head)\n\(fields.joined())"
  }

  private static func state(of file: String, at time: String?) async throws -> BoardState {
    let recording = try await Recording.read(file)
    var playback = Playback(recording, spacing: .max)
    playback.seek(toTime: try time.map { try recording.askedWithin($0) } ?? recording.duration)
    return playback.board.state
  }
}

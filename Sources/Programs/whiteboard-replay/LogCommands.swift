import ArgumentParser
import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardDocument
import WhiteboardKit
import WhiteboardPrograms

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

struct GrepCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grep",
    abstract: "List the changes in a recording that contain the given words.",
    discussion: "Searches the lines of `log`, ignoring case. The exit status is 1 if no line matches."
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

struct LineOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Print only lines about the peer with this name or id prefix.", valueName: "PEER"))
  var author: String?

  @Option(help: ArgumentHelp("Print only lines from this time on.", valueName: "TIME")) var since: String?

  @Option(help: ArgumentHelp("Print only lines up to this time.", valueName: "TIME")) var until: String?

  @Flag(help: "Write one JSON object per line.") var json = false

  @Flag(help: "With --json, add the digest of the board after each change.") var digests = false

  @Flag(help: "List the traffic of the session instead of the changes.") var wire = false

  mutating func validate() throws {
    guard json || !digests else { throw ValidationError("--digests requires --json.") }
    guard !wire || !digests else { throw ValidationError("--digests and --wire cannot be combined.") }
  }

  @discardableResult func tell(_ recording: Recording, where isMeant: (String) -> Bool) throws -> Int {
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
      if let authors { guard let member = line.member, authors.contains(member) else { continue } }
      count += 1
      let digest = playback?.board.digest.hex
      if json { try Console.tell(json(line, recording, digest)) } else { rows.append(Self.cells(line, recording)) }
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
        "whiteboard-replay: this file contains only the changes of the board, not the traffic of the session; "
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
    let words = UntrustedText(line.words).escaped()
    return ["\(line.number)", Recording.exactText(line.elapsed), who, words]
  }

  private func json(_ line: RecordingLine, _ recording: Recording, _ digest: String?) -> String {
    let time = BoardFile.time(recording.history.steps[line.number - 1].time)
    var json = JSONObject()
    json.add("step", whole: line.number)
    json.add("ms", whole: line.elapsed)
    json.add("time", string: time)
    json.add("kind", string: line.kind)
    json.add("bytes", whole: line.bytes)
    if let member = line.member {
      json.add("author", string: member.description)
      if let name = recording.name(of: member) { json.add("name", string: name) }
    }
    if let incarnation = line.incarnation {
      json.add("incarnation", string: incarnation.description)
      json.add("sequence", whole: line.sequence)
      json.add("operations", whole: line.operations)
    }
    json.add("words", string: line.words)
    if let digest { json.add("digest", string: digest) }
    return json.text + "\n"
  }
}

struct TrafficLine {
  private let entry: TrafficEntry
  private let recording: Recording
  let members: [MemberID]

  init(_ entry: TrafficEntry, _ recording: Recording) {
    self.entry = entry
    self.recording = recording
    members = entry.peers.compactMap { MemberID(bytes: $0) }
  }

  var text: String {
    let who = members.map(recording.label).joined(separator: ", ")
    let name = UntrustedText(entry.text).quoted(limit: 512)
    let number = entry.number
    return switch entry.kind {
    case .began: "\(who) is recording, as \(name)"
    case .joined: "\(who) joined, as \(name)"
    case .left: "\(who) left: \(UntrustedText(entry.text).escaped())"
    case .state: "\(who) is \(UntrustedText(entry.text).escaped())"
    case .message: "<- \(who)  message, \(entry.content)"
    case .sentMessage: "-> \(who)  message, \(entry.content)"
    case .datagram: "<- \(who)  datagram, \(entry.content)"
    case .sentDatagram: "-> \(who)  datagram, \(entry.content)"
    case .resource: "<- \(who)  resource \(number), \(entry.size) bytes, \(name)"
    case .sentResource: "-> \(who)  resource \(number), \(entry.size) bytes, \(name)"
    case .resourceEnded:
      "\(who)  resource \(number) "
        + (entry.text.isEmpty ? "is complete" : "ended: \(UntrustedText(entry.text).escaped())")
    case .stream: "<- \(who)  stream \(number) opened, \(name)"
    case .openedStream: "-> \(who)  stream \(number) opened, \(name)"
    case .streamBytes: "<- \(who)  stream \(number), \(entry.content)"
    case .sentStreamBytes: "-> \(who)  stream \(number), \(entry.content)"
    case .streamFinished: "<- \(who)  stream \(number) finished"
    case .finishedStream: "-> \(who)  stream \(number) finished"
    case .streamBroke: "\(who)  stream \(number) broke: \(UntrustedText(entry.text).escaped())"
    case .missed: "nothing was recorded for \(Recording.exactText(Int64(clamping: number)))"
    }
  }

  func json(_ place: Int, _ elapsed: Int64) -> String {
    var json = JSONObject()
    json.add("entry", whole: place)
    json.add("ms", whole: elapsed)
    json.add("time", string: BoardFile.time(entry.time))
    json.add("kind", string: "\(entry.kind)")
    json.add("peers", strings: members.map(\.description))
    if entry.number > 0 { json.add("number", whole: entry.number) }
    if entry.size > 0 { json.add("size", whole: entry.size) }
    if !entry.text.isEmpty { json.add("text", string: entry.text) }
    if !entry.bytes.isEmpty { json.add("bytes", string: Hexadecimal.encode(entry.bytes)) }
    return json.text + "\n"
  }
}

import ArgumentParser
import Logging
import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardDocument
import WhiteboardKit
import WhiteboardPrograms

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Replay a recording with several peers over a network with faults, and compare their boards.",
    discussion: """
      Each author in the recording becomes a peer that makes the same changes at the same times; additional peers \
      only watch. The peers are named A, B and so on, in the order of their first changes. The replicas are real, \
      but the network, the clock and the random numbers are simulated. An hour therefore takes seconds, and the \
      same seed gives the same session, byte for byte. With --loopback, the sessions are real too. Pauses are \
      shortened to one minute. At a gap, or at an answer to a newcomer, all peers start again with the recorded \
      board.

      --net is a list of: loss=5%, delay=20ms+-10, reorder=1%, duplicate=1%, partition=A|B@10s..25s (A+C|B puts A \
      and C on one side; peers that are not named are on a third side), kill=B@30s..40s (B restarts at 40 s; \
      without a second time, after 2 s).

      The exit status is 65 if a board differs from the recorded one, or if a peer reports an error. Then the \
      smallest recording that still fails is written, and the command that repeats the failure is printed.

      EXAMPLE
        whiteboard-replay run standup.whiteboard --peers 5 --net "loss=5%,delay=20ms+-10,kill=B@30s" --seed 7
      """
  )

  @Argument(help: "The recordings to replay.", completion: .file()) var files: [String]

  @Option(
    help: ArgumentHelp("The number of peers; the minimum and the default is one for each author.", valueName: "N")
  ) var peers: Int?

  @Option(help: ArgumentHelp("The faults of the simulated network.", valueName: "CONDITIONS")) var net = ""

  @Option(help: ArgumentHelp("The seed of all random numbers; by default, a random seed.", valueName: "S")) var seed:
    UInt64?

  @Option(help: ArgumentHelp("Write a trace of all events to this file.", valueName: "FILE"), completion: .file())
  var trace: String?

  @Option(
    name: .customLong("shrink"),
    help: ArgumentHelp(
      "The file for the smallest failing recording; by default, NAME.failed.whiteboard.",
      valueName: "FILE"
    ),
    completion: .file()
  ) var shrunkFile: String?

  @Flag(help: "Do not search for the smallest failing recording.") var noShrink = false

  @Flag(help: "Use real sessions on loopback, at the recorded times; peers cannot be killed.") var loopback = false

  @Flag(help: "With --loopback, replay as fast as possible.") var hurry = false

  mutating func validate() throws {
    guard peers.map({ (1...256).contains($0) }) ?? true else { throw ValidationError("--peers must be from 1 to 256.") }
    guard shrunkFile?.hasSuffix(".\(BoardFile.fileExtension)") ?? true else {
      throw ValidationError("--shrink must be a file whose name ends in .\(BoardFile.fileExtension).")
    }
    guard loopback || !hurry else { throw ValidationError("--hurry requires --loopback.") }
    guard !loopback || trace == nil && shrunkFile == nil else {
      throw ValidationError(
        "--trace and --shrink cannot be combined with --loopback: real sessions are not repeatable."
      )
    }
    guard files.count == 1 || (trace == nil && shrunkFile == nil) else {
      throw ValidationError("--trace and --shrink require a single recording.")
    }
  }

  mutating func run() async throws {
    let conditions: NetworkConditions
    do throws(NetworkConditions.ParseError) { conditions = try NetworkConditions(net) } catch {
      throw WhiteboardError(.usage, "--net: \(UntrustedText(error.message).escaped())")
    }
    let seed = seed ?? UInt64.random(in: 0..<1_000_000)
    var isGood = true
    for file in files { if try await !act(file, conditions, seed) { isGood = false } }
    guard isGood else { throw WhiteboardError(.badData, "not all peers ended with the recorded board") }
  }

  private func act(_ file: String, _ conditions: NetworkConditions, _ seed: UInt64) async throws -> Bool {
    let recording = try await Recording.read(file)
    let replay = RecordingReplay(of: recording)
    // A damaged recording fails even if all peers reach the board of its intact part.
    let found = await Verification(of: recording, replicas: 0, seed: seed)
    let isWhole = found.isGood && recording.history.damages.isEmpty
    let names = SimulatedSession.names(replay, peers: peers ?? 0)
    guard peers ?? .max >= names.count else {
      throw WhiteboardError(
        .usage,
        "the recording has \(EventText.count(names.count, "author")), so --peers must be at least \(names.count)"
      )
    }
    if let stranger = conditions.stranger(among: names) {
      throw WhiteboardError(
        .usage,
        "--net: there is no peer \(UntrustedText(stranger).quoted()); the peers are "
          + names.prefix(26).joined(separator: ", ")
      )
    }
    guard replay.count > 0 else {
      throw WhiteboardError(.badData, "\(file): there is nothing to replay, because no change has a known author")
    }
    var lines: [UInt8] = []
    var (operations, messages, disturbed) = (0, 0, 0)
    var time: Int64 = 0
    var faults: [(part: Int, words: [String])] = []
    var digest = ""
    guard !loopback || conditions.kills.isEmpty else {
      throw WhiteboardError(.usage, "--net: kill cannot be combined with --loopback")
    }
    for part in replay.parts.indices {
      let outcome: ReplayOutcome
      if loopback {
        var logger = Logger(label: "whiteboard-replay") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .critical
        outcome = try await LoopbackSession(
          replay,
          part: part,
          peers: names.count,
          conditions: conditions,
          seed: seed,
          isHurried: hurry,
          logger: logger
        ).run()
      } else {
        outcome = SimulatedSession(
          replay,
          part: part,
          peers: names.count,
          conditions: conditions,
          seed: seed,
          trace: trace.map { _ in { lines += Array($0.utf8) } }
        ).run()
      }
      operations += replay.parts[part].operations
      messages += outcome.messages
      disturbed += outcome.disturbed
      time += outcome.duration
      digest = outcome.expected.hex
      if !outcome.isGood { faults.append((part, outcome.faults)) }
    }
    if let trace { try Console.write(lines, to: trace, isReplacing: false) }
    let words =
      "\(EventText.count(names.count, "peer")), \(EventText.count(replay.count, "batch", "batches")), "
      + EventText.count(operations, "operation")
    let parts = replay.parts.count > 1 ? " in \(replay.parts.count) parts" : ""
    let given = replay.given > 0 ? ", \(EventText.count(replay.given, "step")) not replayed" : ""
    try Console.tell(
      """
      \(faults.isEmpty && isWhole ? "ok" : "NOT OK")  \(UntrustedText(file).escaped()): \(words)\(parts)\
      \(given), \(EventText.count(messages, "message")), \(EventText.count(disturbed, "network fault")), \
      \(Recording.text(time)) (seed \(seed))
          digest \(digest)

      """
    )
    if !isWhole { try Console.tell("    the recording is damaged; only its intact part was replayed; see `verify`\n") }
    for (part, words) in faults {
      let parts = replay.parts.count > 1 ? "part \(part + 1): " : ""
      for word in words.prefix(20) { try Console.tell("    \(parts)\(word)\n") }
    }
    if let first = faults.first, !noShrink, !loopback { try await shrink(replay, first.part, conditions, seed, file) }
    return faults.isEmpty && isWhole
  }

  private func shrink(
    _ replay: RecordingReplay,
    _ part: Int,
    _ conditions: NetworkConditions,
    _ seed: UInt64,
    _ file: String
  ) async throws {
    let peers = SimulatedSession.names(replay, peers: peers ?? 0).count
    let found = replay.shrunk(part: part) { candidate in
      !SimulatedSession(candidate, peers: peers, conditions: conditions, seed: seed).run().isGood
    }
    guard let (smallest, attempts) = found else {
      try Console.tell("    over this network, the peers fail to synchronize even if they change nothing\n")
      return
    }
    let path = shrunkFile ?? Self.freeName(for: file)
    try await filing { () async throws(DocumentError) in
      try await smallest.recording(name: "fails").write(to: BoardFile.absolute(path))
    }
    let net = net.isEmpty ? "" : " --net '\(net)'"
    try Console.tell(
      """
          \(smallest.count) of \(replay.parts[part].acts.count) batches are enough to reproduce the failure \
      (\(attempts) attempts). To repeat it:
          whiteboard-replay run \(UntrustedText(path).escaped()) --peers \(peers)\(net) --seed \(seed)

      """
    )
  }

  /// Returns an unused file name in the working directory, such as `standup.failed.whiteboard`. In the directory of the
  /// recording, the file could appear as one of the user's boards.
  private static func freeName(for file: String) -> String {
    let end = ".\(BoardFile.fileExtension)"
    let name = file.split(separator: "/").last.map(String.init) ?? file
    let stem = name.hasSuffix(end) ? String(name.dropLast(end.count)) : name
    for number in 1... {
      let name = number == 1 ? "\(stem).failed\(end)" : "\(stem).failed-\(number)\(end)"
      if access(name, F_OK) != 0 { return name }
    }
    return file
  }
}

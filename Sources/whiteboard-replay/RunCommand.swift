import ArgumentParser
import SessionReplay
import Whiteboard
import WhiteboardCommands
import WhiteboardDocument
import WhiteboardNode
import WhiteboardRendering

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// `whiteboard-replay run`.
struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract:
      "Have peers act a recording again, over a network with faults, and compare their boards.",
    discussion: """
      Each person of the recording becomes a peer that writes what that person wrote, when it was written; further \
      peers look on. They are called A, B and so on, by who wrote first. Their replicas are the real ones; network, \
      clock and chance are simulated, so that an hour takes seconds and the same seed is the same session, byte for \
      byte; with --loopback they are real sessions. Where the recording has the answer to a newcomer, or a gap, all \
      begin anew with the board as it was then. Of a pause longer than a minute a minute is waited.

      --net is a list of: loss=5%, delay=20ms+-10, reorder=1%, duplicate=1%, partition=A|B@10s..25s (A+C|B puts A \
      and C on one side; others are on a third), kill=B@30s..40s (starts again then; without an end after 2 s).

      Ends with 65 where any board is not the recorded one, or a peer finds fault with another. Then a recording of \
      as little as still fails is written, and the command said that repeats it.

      EXAMPLE
        whiteboard-replay run standup.whiteboard --peers 5 --net "loss=5%,delay=20ms+-10,kill=B@30s" --seed 7
      """
  )

  @Argument(help: "The recordings.", completion: .file()) var files: [String]

  @Option(
    help: ArgumentHelp(
      "The number of peers; at least and by default one for each author.",
      valueName: "N"
    )
  )
  var peers: Int?

  @Option(help: ArgumentHelp("What the network does.", valueName: "CONDITIONS"))
  var net = ""

  @Option(help: ArgumentHelp("What all chance comes from; else one is drawn.", valueName: "S"))
  var seed: UInt64?

  @Option(
    help: ArgumentHelp("Write a trace of all events to this file.", valueName: "FILE"),
    completion: .file()
  )
  var trace: String?

  @Option(
    name: .customLong("shrink"),
    help: ArgumentHelp(
      "Where the least that fails goes; else NAME.failed.whiteboard here.",
      valueName: "FILE"
    ),
    completion: .file()
  )
  var shrunkFile: String?

  @Flag(help: "Do not look for the least that fails.") var noShrink = false

  @Flag(help: "Over real sessions on loopback, at the times of the recording; no kill.")
  var loopback = false

  @Flag(help: "With --loopback, as fast as it goes.") var hurry = false

  mutating func validate() throws {
    guard peers.map({ (1...256).contains($0) }) ?? true else {
      throw ValidationError("--peers is 1 to 256.")
    }
    guard shrunkFile?.hasSuffix(".\(BoardFile.fileExtension)") ?? true else {
      throw ValidationError("--shrink is a file whose name ends in .\(BoardFile.fileExtension).")
    }
    guard loopback || !hurry else { throw ValidationError("--hurry is for --loopback.") }
    guard !loopback || trace == nil && shrunkFile == nil else {
      throw ValidationError(
        "Real sessions have no trace, and are not shrunk: they are never twice the same."
      )
    }
    guard files.count == 1 || (trace == nil && shrunkFile == nil) else {
      throw ValidationError("--trace and --shrink are for one recording.")
    }
  }

  mutating func run() async throws {
    let conditions: NetworkConditions
    do throws(NetworkConditions.ParseError) { conditions = try NetworkConditions(net) } catch {
      throw NodeError(.usage, "--net: \(TerminalText.cleaned(error.message))")
    }
    let seed = seed ?? UInt64.random(in: 0..<1_000_000)
    var isGood = true
    for file in files {
      if try await !act(file, conditions, seed) { isGood = false }
    }
    guard isGood else { throw NodeError(.badData, "not all peers came to the recorded board") }
  }

  /// Acts one recording; whether all came out as it was.
  private func act(
    _ file: String,
    _ conditions: NetworkConditions,
    _ seed: UInt64
  ) async throws -> Bool {
    let recording = try await Recording.read(file)
    let reenactment = RecordingReplay(of: recording)
    // What peers are to come to is what was recorded, not what is left of it.
    let found = await Verification(of: recording, replicas: 0, seed: seed)
    let isWhole = found.isGood && recording.history.damages.isEmpty
    let names = SimulatedSession.names(reenactment, peers: peers ?? 0)
    guard peers ?? .max >= names.count else {
      throw NodeError(
        .usage,
        "\(counted(names.count, "person", "people")) wrote in it: --peers is \(names.count) at least"
      )
    }
    if let stranger = conditions.stranger(among: names) {
      throw NodeError(
        .usage,
        "--net: there is no peer \(TerminalText.quoted(stranger)); there are "
          + names.prefix(26).joined(separator: ", ")
      )
    }
    guard reenactment.count > 0 else {
      throw NodeError(
        .badData,
        "\(file): there is nothing to act: no change in it says who made it"
      )
    }
    var lines: [UInt8] = []
    var (operations, messages, disturbed) = (0, 0, 0)
    var time: Int64 = 0
    var faults: [(part: Int, words: [String])] = []
    var digest = ""
    guard !loopback || conditions.kills.isEmpty else {
      throw NodeError(.usage, "--net: kill is for the simulated network, not for --loopback")
    }
    for part in reenactment.parts.indices {
      let outcome: ReenactmentOutcome
      if loopback {
        outcome = try await LoopbackSession(
          reenactment: reenactment,
          part: part,
          count: names.count,
          conditions: conditions,
          seed: seed,
          isHurried: hurry
        ).run()
      } else {
        outcome =
          SimulatedSession(
            reenactment,
            part: part,
            peers: names.count,
            conditions: conditions,
            seed: seed,
            trace: trace.map { _ in { lines += Array($0.utf8) } }
          ).run()
      }
      operations += reenactment.parts[part].operations
      messages += outcome.messages
      disturbed += outcome.disturbed
      time += outcome.duration
      digest = outcome.expected.hex
      if !outcome.isGood { faults.append((part, outcome.faults)) }
    }
    if let trace { try write(lines, to: trace) }
    let words =
      "\(counted(names.count, "peer")), \(counted(reenactment.count, "batch", "batches")), "
      + counted(operations, "operation")
    let parts = reenactment.parts.count > 1 ? " in \(reenactment.parts.count) parts" : ""
    let given = reenactment.given > 0 ? ", \(counted(reenactment.given, "step")) given" : ""
    try Console.tell(
      """
      \(faults.isEmpty && isWhole ? "ok" : "NOT OK")  \(TerminalText.cleaned(file)): \(words)\(parts)\
      \(given), \(counted(messages, "message")), disturbed \(counted(disturbed, "time")), \
      \(Recording.text(time)) (seed \(seed))
          digest \(digest)

      """
    )
    if !isWhole {
      try Console.tell(
        "    the recording itself is damaged: what is left of it was acted; see `verify`\n"
      )
    }
    for (part, words) in faults {
      let parts = reenactment.parts.count > 1 ? "part \(part + 1): " : ""
      for word in words.prefix(20) { try Console.tell("    \(parts)\(word)\n") }
    }
    if let first = faults.first, !noShrink, !loopback {
      try await shrink(reenactment, first.part, conditions, seed, file)
    }
    return faults.isEmpty && isWhole
  }

  /// Writes the least that still fails.
  private func shrink(
    _ reenactment: RecordingReplay,
    _ part: Int,
    _ conditions: NetworkConditions,
    _ seed: UInt64,
    _ file: String
  ) async throws {
    let peers = SimulatedSession.names(reenactment, peers: peers ?? 0).count
    let found = reenactment.shrunk(part: part) { candidate in
      !SimulatedSession(candidate, peers: peers, conditions: conditions, seed: seed).run().isGood
    }
    guard let (smallest, attempts) = found else {
      try Console.tell(
        "    over this network the peers do not come together where nothing is written, either\n"
      )
      return
    }
    let path = shrunkFile ?? Self.freeName(for: file)
    do throws(DocumentError) {
      try await smallest.recording(name: "fails").write(to: BoardFile.absolute(path))
    } catch {
      throw NodeError(error)
    }
    let net = net.isEmpty ? "" : " --net '\(net)'"
    try Console.tell(
      """
          \(smallest.count) of \(reenactment.parts[part].acts.count) batches are enough (\(attempts) attempts). \
      To repeat it:
          whiteboard-replay run \(TerminalText.cleaned(path)) --peers \(peers)\(net) --seed \(seed)

      """
    )
  }

  /// `standup.failed.whiteboard` in the working directory, with a number where that is there: among the boards of
  /// somebody it would be another of theirs.
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

  private func write(_ bytes: [UInt8], to file: String) throws(NodeError) {
    do throws(OutputFile.WriteError) {
      try OutputFile.write(bytes, to: BoardFile.absolute(file), isReplacing: false)
    } catch {
      throw NodeError(.cannotCreate, TerminalText.cleaned("\(file): \(error.message)"))
    }
  }
}

import ArgumentParser
import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardKit
import WhiteboardPrograms
import WhiteboardSync

struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check that recordings are intact, and that their changes give the same board in any order.",
    discussion: """
      Verifies all checksums, plays the recording, and compares every digest in it. Then new replicas receive the \
      changes in different ways: shuffled, duplicated, delayed, in two halves, or as catch-up answers. All \
      replicas must end with the same board. Several recordings must end with the same board too. If there is a \
      problem, the exit status is 65, and the problem and its time are printed.
      """
  )

  @Argument(help: "The recordings to check.", completion: .file()) var files: [String]

  @Option(help: ArgumentHelp("The number of new replicas.", valueName: "N")) var replicas = 8

  @Option(help: ArgumentHelp("The seed of the random orders; by default, a random seed.", valueName: "S")) var seed:
    UInt64?

  mutating func validate() throws {
    guard (0...1024).contains(replicas) else { throw ValidationError("--replicas must be from 0 to 1024.") }
  }

  mutating func run() async throws {
    let seed = seed ?? UInt64.random(in: 0..<1_000_000)
    var digests: Set<Bytes32> = []
    var isGood = true
    for file in files {
      let found = try await Self.verify(file, replicas, seed)
      digests.insert(found.digest)
      isGood = isGood && found.isGood
      try Console.tell(Self.text(found, of: file, fully: files.count == 1))
    }
    if digests.count > 1 {
      isGood = false
      try Console.tell("DIFFERENT: the recordings end with \(digests.count) different boards\n")
    } else if files.count > 1 {
      try Console.tell("\(files.count) recordings end with the same board\n")
    }
    guard isGood else { throw WhiteboardError(.badData, "a recording is damaged, or its board differs (seed \(seed))") }
  }

  private static func verify(_ file: String, _ replicas: Int, _ seed: UInt64) async throws(WhiteboardError)
    -> Verification
  {
    let recording = try await Recording.read(file, isLoud: false)
    let path = try await Recording.file(of: file)
    let damages: [String]
    do throws(WhiteboardError) { damages = try await BoardFile.verify(path) } catch { damages = [error.message] }
    return await Verification(of: recording, damages: damages, replicas: replicas, seed: seed)
  }

  private static func text(_ found: Verification, of file: String, fully isWhole: Bool) -> String {
    var lines = [
      "\(found.isGood ? "ok" : "NOT OK")  \(UntrustedText(file).escaped()): \(found.steps) steps, "
        + "\(found.operations) operations, \(found.checks - found.mismatches.count) of "
        + "\(found.checks) digests match, \(found.replicas - found.divergences.count) of "
        + "\(found.replicas) replicas match (seed \(found.seed))", "    digest \(found.digest.hex)",
    ]
    lines += found.damages.map { "    damaged: \(UntrustedText($0).escaped())" }
    // The damage already explains the problems below, unless replicas diverged.
    guard found.damages.isEmpty || !found.divergences.isEmpty else { return lines.joined(separator: "\n") + "\n" }
    lines += found.faults.map { "    step \($0.place + 1) cannot be applied: \($0.reason)" }
    lines += found.mismatches.map { mismatch in
      "    after step \(mismatch.place), at \(BoardFile.time(mismatch.time)): the digest is "
        + "\(mismatch.found.hex.prefix(16)), not \(Hexadecimal.encode(mismatch.expected).prefix(16))"
    }
    lines += found.divergences.map { divergence in
      "    replica \(divergence.replica) (\(divergence.order.rawValue)) ended with "
        + "\(divergence.digest.hex.prefix(16))"
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

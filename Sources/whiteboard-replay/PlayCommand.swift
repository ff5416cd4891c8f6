import ArgumentParser
import SessionReplay
import WhiteboardCommands
import WhiteboardNode
import WhiteboardTerminal

/// `whiteboard-replay play`.
struct PlayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play",
    abstract: "Watch a recording on the terminal.",
    discussion: """
      KEYS
        space            play and pause
        up, down         faster and slower: 0.1x to 64x
        left, right      5 seconds back and forth; a minute with shift
        , .              a step back and forth
        0 to 9           a tenth of it; Home and End
        n N              the next marker, the one before
        i                pass over pauses
        [ ] \\            repeat from here, to here; no more
        p f              show one person's objects only; follow what changes
        h j k l z        move the view; show all; the wheel zooms
        q                leave

      The bar shows where much happened; a click on it goes there.
      """
  )

  @OptionGroup var input: RecordingArgument

  @Option(help: ArgumentHelp("How fast: 0.1 to 64.", valueName: "N")) var speed = 1.0

  @Option(help: ArgumentHelp("Where to begin.", valueName: "TIME")) var from: String?

  @Flag(help: "Pass over pauses.") var skipIdle = false

  mutating func validate() throws {
    guard (0.1...64).contains(speed) else { throw ValidationError("--speed is 0.1 to 64.") }
  }

  mutating func run() async throws {
    let recording = try await input.recording()
    let time = try from.map(recording.asked) ?? 0
    guard Console.isTerminal, let term = Environment["TERM"], term != "dumb" else {
      throw NodeError(.usage, "this is no terminal to play on; `export -o FILE.cast` makes a film")
    }
    let terminal = Terminal(
      farewell: "whiteboard-replay crashed. The recording is as it was.\n",
      log: "/dev/null"
    )
    guard let terminal else {
      throw NodeError(.system, "the terminal cannot be taken over")
    }
    let player = PlayerTerminal(
      recording,
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

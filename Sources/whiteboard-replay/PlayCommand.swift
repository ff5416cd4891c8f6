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
      \(PlayerClient.keys.map { "  " + $0 }.joined(separator: "\n"))

      The bar shows where much happened; a click on it goes there. Where the recording was made with --presence, \
      pointers and ink are seen as they moved.
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
    let time = try from.map(recording.askedWithin) ?? 0
    guard Console.isTerminal, let term = Environment["TERM"], term != "dumb" else {
      throw NodeError(.usage, "this is no terminal to play on; `export -o FILE.cast` makes a film")
    }
    let terminal = Terminal(
      farewell: "whiteboard-replay crashed. The recording was not changed.\n",
      log: "/dev/null"
    )
    guard let terminal else {
      throw NodeError(.system, "the terminal cannot be taken over")
    }
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

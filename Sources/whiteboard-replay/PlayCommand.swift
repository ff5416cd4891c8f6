import ArgumentParser
import SessionReplay
import WhiteboardCommands
import WhiteboardKit
import WhiteboardTerminal

/// `whiteboard-replay play`.
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

import ArgumentParser
import WhiteboardCommands
import WhiteboardKit

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// The program `whiteboard-replay`, which plays, checks and replays recordings of sessions.
@main struct WhiteboardReplay: DocumentedProgram {
  static let configuration = CommandConfiguration(
    commandName: "whiteboard-replay",
    abstract: "Inspect, play, check and replay recorded whiteboards.",
    discussion: """
      Every .whiteboard file is a recording; `whiteboard-peer boards` lists yours.

      EXAMPLES
        whiteboard-replay record standup -o a.whiteboard
        whiteboard-replay play a.whiteboard     watch it
        whiteboard-replay info a.whiteboard     summarize it
        whiteboard-replay log a.whiteboard      list every change, one per line
        whiteboard-replay stats a.whiteboard    show how much each author did
        whiteboard-replay verify a.whiteboard   check that it is intact
        whiteboard-replay run a.whiteboard --net "loss=5%,delay=20ms+-10"
        whiteboard-replay export a.whiteboard --at 1:30 -o then.svg
        whiteboard-replay export a.whiteboard -o a.cast --speed 8
        whiteboard-replay cut a.whiteboard --to 2:00 -o begin.whiteboard
        whiteboard-replay diff a.whiteboard --from 1:00 --to 2:00

      A time is seconds (90.5), m:ss or h:mm:ss (1:30), a percentage of the whole (50%) or a marker (@lunch).

      \(ExitStatus.help)
      """,
    version: "0.1.0",
    subcommands: [
      InfoCommand.self, LogCommand.self, StatsCommand.self, GrepCommand.self, DiffCommand.self, RecordCommand.self,
      PlayCommand.self, CutCommand.self, ConcatCommand.self, AnonymizeCommand.self, ExportCommand.self,
      ImportCommand.self, VerifyCommand.self, RunCommand.self, CompletionsCommand<WhiteboardReplay>.self,
      ManualCommand<WhiteboardReplay>.self,
    ]
  )

  static let about = ManualPage.Program(version: configuration.version, settings: [], sections: [], files: [])

  static func main() async { await runMain() }
}

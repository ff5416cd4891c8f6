import ArgumentParser
import CommandLines
import PeerSession
import WhiteboardCommands
import WhiteboardDoctor
import WhiteboardKit
import WhiteboardTerminal

/// `whiteboard-peer doctor`.
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Find out why boards are not found or not drawn correctly, and suggest solutions.",
    discussion: """
      Checks the interfaces, multicast, D-Bus, the Avahi daemon, the port, the firewall, the clock, the data \
      directory and the terminal. The exit status is 1 if a check finds a problem.
      """
  )

  @OptionGroup var common: CommonOptions

  mutating func run() async throws {
    let settings = try common.settings()
    let listen = settings.value(.listen)
    let doctor = Doctor(
      port: listen.flatMap { $0.port > 0 ? $0.port : nil } ?? HostPort.defaultPort,
      interface: settings.value(.interface),
      dataDirectory: try settings.chosenDataDirectory()
    )
    let terminal = TerminalCheck(.machine, TerminalSettings(settings), size: Console.size)
    let report = await doctor.run(and: [terminal.finding])
    if common.json {
      try Console.tell(String(decoding: EventLine.json("doctor", report), as: UTF8.self))
    } else {
      for finding in report.findings {
        let mark =
          switch finding.verdict {
          case .fine: "ok   "
          case .note: "note "
          case .fault: "FAULT"
          }
        try Console.tell("\(mark) \(finding.check): \(finding.seen)\n")
        if let advice = finding.advice { try Console.tell("        \(advice)\n") }
      }
      if !report.isHealthy, let cause = report.likelyCause { try Console.tell("\nLikely cause: \(cause)\n") }
    }
    guard report.isHealthy else { throw ExitCode(WhiteboardError.Code.no.rawValue) }
  }
}

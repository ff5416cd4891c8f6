import ArgumentParser
import AvahiDiscovery
import CommandLines
import FoundationEssentials
import PeerSession
import WhiteboardCommands
import WhiteboardDemo
import WhiteboardKit
import WhiteboardTerminal

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// `whiteboard-peer demo`.
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Try the program alone: on a terminal, draw with a simulated peer.",
    discussion: """
      Two real peers find each other by discovery: yours, and one named Ada in the same program. Nothing \
      is saved. Without a terminal, or with --accessible, two peers share a board for a moment, print what \
      they do, and compare their boards.
      """
  )

  @OptionGroup(title: "Terminal") var terminal: TerminalOptions

  @OptionGroup var common: CommonOptions

  mutating func run() async throws {
    let settings = try common.settings(terminal.flags)
    let template = (Environment["TMPDIR"] ?? "/tmp") + "/whiteboard-demo-XXXXXX"
    var path = Array(template.utf8CString)
    guard mkdtemp(&path) != nil else {
      throw WhiteboardError(.cannotCreate, "cannot create a temporary directory; check TMPDIR")
    }
    let directory = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let discovery = AvahiDiscovery(interface: settings.value(.interface))
    guard !Console.hasScreen(settings) else {
      let companion = DemoCompanion(
        discovery: discovery,
        directory: directory,
        logger: settings.logger("whiteboard-peer")
      )
      let name = settings.value(.personName) ?? Environment.userName
      try await Program.withScreen(dataDirectory: directory, settings) { screen throws(WhiteboardError) in
        try await companion.run(for: name) { (configuration) throws(WhiteboardError) in
          try await screen.run(configuration)
        }
      }
      return
    }
    let writer = LineWriter(descriptor: STDOUT_FILENO)
    let say: @Sendable (String?, String) async -> Void = { who, line in
      let prefix = who.map { "\($0) | " } ?? ""
      for part in line.split(separator: "\n") { try? await writer.write(Array("\(prefix)\(part)\n".utf8)) }
    }
    await say(nil, "Ada hosts a board, and Ben searches for it. Each has a separate key and directory.")
    let demo = Demo(
      discovery: discovery,
      directory: directory,
      listen: PeerAddress(host: "0.0.0.0", port: 0),
      logger: settings.logger("whiteboard-peer"),
      narrate: say
    )
    let digest = try await demo.run()
    await say(nil, "Both boards are the same: \(digest)")
    await say(nil, "Try it yourself: whiteboard-peer host, and whiteboard-peer join on another computer.")
    try? await writer.flush()
  }
}

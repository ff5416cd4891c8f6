import CommandLines
import Logging
import PeerDiscovery
import PeerSession
import Whiteboard
import WhiteboardKit

/// A peer named Ada that hosts a board and draws on it, for a user who is alone.
///
/// It is a real peer, which the user finds and joins like any other.
package struct DemoCompanion: Sendable {
  private let discovery: any Discovery
  private let directory: String
  private let logger: Logger

  package init(discovery: any Discovery, directory: String, logger: Logger) {
    self.discovery = discovery
    self.directory = directory
    self.logger = logger
  }

  /// Hosts the board while `visit` runs; throws if the board cannot be hosted, and the errors of `visit`.
  package func run(for name: String, _ visit: @Sendable (BoardConfiguration) async throws(WhiteboardError) -> Void)
    async throws(WhiteboardError)
  {
    let ada = ScriptedBoard()
    let code = JoinCode.random()
    let boardName = "demo \(SessionID.random().short)"
    var hosting = configuration(.host(boardName: boardName), "Ada", "ada")
    hosting.code = code
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        let hostConfiguration = hosting
        group.addTask { try await ada.run(hostConfiguration) }
        guard let ready = await ada.ready() else {
          try await group.next()
          throw WhiteboardError(.internal, "the demo stopped before its board was open")
        }
        // The drawing task ends when Ada's board is closed.
        group.addTask { try? await Self.draw(as: ada) }
        let target: JoinTarget =
          await Nearby.problem(of: discovery) == nil ? .name(boardName) : .link(try BoardLink(ready.link))
        var joining = configuration(.join(target, patience: .seconds(15)), name, "guest")
        joining.code = code
        let result: Result<Void, WhiteboardError>
        do throws(WhiteboardError) {
          try await visit(joining)
          result = .success(())
        } catch { result = .failure(error) }
        await ada.end()
        try await group.waitForAll()
        try result.get()
      }
    } catch let error as WhiteboardError { throw error } catch {
      throw WhiteboardError(.internal, "the demo failed: \(error)")
    }
  }

  private func configuration(_ part: BoardConfiguration.Part, _ name: String, _ folder: String) -> BoardConfiguration {
    var configuration = BoardConfiguration(
      part: part,
      displayName: name,
      identity: .ephemeral(),
      dataDirectory: "\(directory)/\(folder)",
      logger: logger
    )
    configuration.remembersBoards = false
    configuration.files = .accept
    configuration.discovery = discovery
    return configuration
  }

  // MARK: - The drawing

  private static func draw(as ada: ScriptedBoard) async throws(CommandError) {
    try await ada.perform("wait peers=1")
    for line in welcome { try await ada.perform(line) }
    // Draw flowers periodically, until the meadow is full.
    for index in 0..<9 {
      try await ada.perform("wait 4")
      for line in flower(Double(index * 52 - 208)) { try await ada.perform(line) }
    }
    try await ada.perform(#"say "That is all I can draw. The board is yours.""#)
  }

  private static let welcome = [
    #"say "Hello, I am Ada, another program on this computer. Draw with me: drag the mouse.""#,
    #"text 0,-150 "Hello from Ada" as=hello"#, "point -150,0",
    "stroke -150,80 -150,0 -50,0 -50,80 -150,80 color=#e69f00ff width=8 over=1.2",
    "stroke -160,0 -100,-60 -40,0 color=#e8601cff width=8 over=0.8",
    "stroke -115,80 -115,40 -85,40 -85,80 color=#56b4e9ff over=0.5", "point 170,-90",
    "stroke \(circle(170, -90, 32)) color=#f0e442ff width=8 over=1 as=sun",
    #"say "u takes your last step back, c is for the chat, ? shows all keys.""#, "point 0,120",
    "stroke -300,100 -200,92 -100,100 0,94 100,102 200,94 300,100 color=#1fae84ff width=8 over=1", "game wordle 150,30",
    #"say "Click the Wordle with v, press w and guess a word of five letters.""#, "select hello", "wait 1",
    "rotate hello -6", "deselect", "point none",
  ]

  private static func flower(_ x: Double) -> [String] {
    [
      "stroke \(x),150 \(x + 3),128 color=#1fae84ff over=0.3",
      "stroke \(circle(x + 3, 118, 9)) color=#cc79a7ff over=0.4",
    ]
  }

  /// Returns the points of a circle in command syntax.
  private static func circle(_ x: Double, _ y: Double, _ radius: Double) -> String {
    (0...24).map { step in
      let turn = Rotation(steps: UInt64(step) * 4096 / 24)
      func rounded(_ value: Double) -> Double { (value * 16).rounded() / 16 }
      return "\(rounded(x + radius * turn.cosine)),\(rounded(y + radius * turn.sine))"
    }.joined(separator: " ")
  }
}

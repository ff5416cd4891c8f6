import CommandLines
import FoundationEssentials
import Logging
import PeerDiscovery
import PeerSession
import Whiteboard
import WhiteboardKit

/// Two real peers that find each other, draw together, and have the same board at the end.
package struct Demo: Sendable {
  package var discovery: any Discovery
  /// The directory for the peers' files; each peer gets a subdirectory, which is removed at the end of the demo.
  package var directory: String
  /// The address on which the peers listen; nil to listen on all addresses, on the next free port.
  package var listen: PeerAddress?
  /// Receives a line of text for each event, and the name of the peer; the name is nil if the event is about both
  /// peers.
  package let narrate: @Sendable (_ who: String?, _ line: String) async -> Void
  package var logger: Logger
  private let host: ScriptedBoard
  private let guest: ScriptedBoard

  package init(
    discovery: any Discovery,
    directory: String,
    listen: PeerAddress? = nil,
    logger: Logger,
    narrate: @escaping @Sendable (_ who: String?, _ line: String) async -> Void
  ) {
    self.discovery = discovery
    self.directory = directory
    self.listen = listen
    self.logger = logger
    self.narrate = narrate
    host = Self.scriptedBoard("ada", narrate)
    guest = Self.scriptedBoard("ben", narrate)
  }

  package var isStopped: Bool { get async { await host.isEnding } }

  /// Closes both boards, so that ``run()`` ends with an error.
  package func stop() async {
    await host.end()
    await guest.end()
  }

  /// Runs the demo once. Returns the digest of both boards. Throws an error with the code `no` if the boards differ.
  package func run() async throws(WhiteboardError) -> String {
    let ada = "\(directory)/ada"
    let ben = "\(directory)/ben"
    defer {
      try? FileManager.default.removeItem(atPath: ada)
      try? FileManager.default.removeItem(atPath: ben)
    }
    let code = JoinCode.random()
    let boardName = "demo \(SessionID.random().short)"
    func configuration(_ part: BoardConfiguration.Part, _ name: String, _ folder: String) -> BoardConfiguration {
      var configuration = demoConfiguration(part, name, folder, discovery, logger)
      configuration.listen = listen
      configuration.code = code
      return configuration
    }
    let hosting = configuration(.host(boardName: boardName), "ada", ada)
    let problem = await Nearby.problem(of: discovery)
    if let problem { await narrate(nil, "Ben joins by a direct link, because \(lowercased(problem.description))") }
    do {
      return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await host.run(hosting) }
        guard let ready = await host.ready() else {
          try await group.next()
          throw WhiteboardError(.internal, "the host stopped before its board was open")
        }
        var target = JoinTarget.name(boardName)
        if problem != nil { target = .link(try BoardLink(ready.link)) }
        let joining = configuration(.join(target, patience: .seconds(15)), "ben", ben)
        group.addTask { try await guest.run(joining) }
        guard await guest.ready() != nil else {
          try await group.next()
          throw WhiteboardError(.unreachable, "Ben could not join the board")
        }
        let digest = try await play(host, guest)
        await guest.end()
        await host.end()
        try await group.waitForAll()
        return digest
      }
    } catch let error as WhiteboardError { throw error } catch let error as CommandError {
      throw WhiteboardError(error)
    } catch { throw WhiteboardError(.internal, "the demo failed: \(error)") }
  }

  private func play(_ ada: ScriptedBoard, _ ben: ScriptedBoard) async throws -> String {
    try await ada.perform("wait peers=1 timeout=15")
    try await ben.perform("wait peers=1 timeout=15")
    let hello = try await ada.perform(#"text 0,-120 "Hello from Ada" as=hello"#).id
    try await ben.perform(#"say "I see it. Drawing a wave.""#)
    try await ben.perform("stroke \(Demo.wave) over=1.5 as=wave")
    let photo = "\(directory)/ada/sun.png"
    do { try Data(Demo.photo).write(to: URL(fileURLWithPath: photo)) } catch {
      throw WhiteboardError(.cannotCreate, "\(photo) cannot be written")
    }
    try await ada.perform("photo 220,-40 \(quoted(photo)) as=sun")
    try await ben.perform("wait objects=3 timeout=15")
    try await ada.perform("move hello 0,-160")
    try await ada.perform("scale hello 1.5")
    try await ben.perform("select wave")
    try await ben.perform("rotate wave -8")
    try await ben.perform("deselect")
    try await ben.perform(#"edit "\#(hello?.description ?? "")" "Hello from Ada and Ben""#)
    try await ada.perform("wait synced timeout=30")
    try await ben.perform("wait synced timeout=30")
    try await ada.perform(#"say "Same board?""#)
    try await ada.perform("wait synced timeout=30")
    try await ben.perform("wait synced timeout=30")
    guard let first = await ada.sharedBoard?.digest, let second = await ben.sharedBoard?.digest else {
      throw WhiteboardError(.unreachable, "a board was closed before the end of the demo")
    }
    guard first == second else { throw WhiteboardError(.no, "the boards differ: \(first) and \(second)") }
    return first
  }

  private static func scriptedBoard(
    _ who: String,
    _ narrate: @escaping @Sendable (_ who: String?, _ line: String) async -> Void
  ) -> ScriptedBoard {
    ScriptedBoard { event in
      switch event {
      case .news(.peerState), .news(.ready), .news(.resourceStarted), .news(.peerFound), .news(.peerUpdated),
        .news(.peerLost), .news(.warning), .answer(.done, _):
        break
      default: if let line = EventText.line(event) { await narrate(who, line) }
      }
    }
  }

  private func lowercased(_ sentence: String) -> String { sentence.prefix(1).lowercased() + sentence.dropFirst() }

  private func quoted(_ text: String) -> String {
    let escaped = text.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }
    return "\"\(String(escaped))\""
  }

  private static let wave: String = {
    (0...96).map { step in
      // Alternating parabolas make a wave without a sine function.
      let phase = Double(step % 48) / 48
      let height = 160 * phase * (1 - phase) * (step < 48 ? -1 : 1)
      return "\(step * 4 - 192),\((height * 16).rounded() / 16)"
    }.joined(separator: " ")
  }()

  /// A sun over a meadow, 48 by 32 pixels, as a PNG.
  package static let photo: [UInt8] = Array(
    Data(
      base64Encoded: """
        iVBORw0KGgoAAAANSUhEUgAAADAAAAAgCAMAAABjCgsuAAAACVBMVEWqzev6yChGglrsG+xcAAAAWUlEQVR42t3TQQ\
        qAMAxE0f7c/9BCQZCYSj8oamfZzNuUpLWFgyrvkfVJAk6AE+AESGEBSPE9ADeJX/3S86vht3XiHiIn9fP4DOKyX4ED\
        KWYl6GjwPgTxGtgAksUEDqHr1yEAAAAASUVORK5CYII=
        """
    ) ?? Data()
  )
}

private func demoConfiguration(
  _ part: BoardConfiguration.Part,
  _ name: String,
  _ directory: String,
  _ discovery: any Discovery,
  _ logger: Logger
) -> BoardConfiguration {
  var configuration = BoardConfiguration(
    part: part,
    displayName: name,
    identity: .ephemeral(),
    dataDirectory: directory,
    logger: logger
  )
  configuration.remembersBoards = false
  configuration.discovery = discovery
  return configuration
}

/// A peer named Ada that hosts a board and draws on it, for a user who is alone. It is a real peer, which the user
/// finds and joins like any other.
package struct DemoCompanion: Sendable {
  private let discovery: any Discovery
  private let directory: String
  private let logger: Logger

  package init(discovery: any Discovery, directory: String, logger: Logger) {
    self.discovery = discovery
    self.directory = directory
    self.logger = logger
  }

  /// Hosts the board while `visit` runs.
  package func run(for name: String, _ visit: @Sendable (BoardConfiguration) async throws(WhiteboardError) -> Void)
    async throws(WhiteboardError)
  {
    let ada = ScriptedBoard()
    let code = JoinCode.random()
    let boardName = "demo \(SessionID.random().short)"
    func configuration(_ part: BoardConfiguration.Part, _ name: String, _ folder: String) -> BoardConfiguration {
      var configuration = demoConfiguration(part, name, "\(directory)/\(folder)", discovery, logger)
      configuration.files = .accept
      configuration.code = code
      return configuration
    }
    let hosting = configuration(.host(boardName: boardName), "Ada", "ada")
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await ada.run(hosting) }
        guard let ready = await ada.ready() else {
          try await group.next()
          throw WhiteboardError(.internal, "the demo stopped before its board was open")
        }
        // The drawing task ends when Ada's board is closed.
        group.addTask { try? await Self.draw(as: ada) }
        let target: JoinTarget =
          await Nearby.problem(of: discovery) == nil ? .name(boardName) : .link(try BoardLink(ready.link))
        let joining = configuration(.join(target, patience: .seconds(15)), name, "guest")
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

  // MARK: - The drawing

  private static func draw(as ada: ScriptedBoard) async throws(CommandError) {
    try await ada.perform("wait peers=1")
    for line in welcome { try await ada.perform(line) }
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

  private static func circle(_ x: Double, _ y: Double, _ radius: Double) -> String {
    (0...24).map { step in
      let turn = Rotation(steps: UInt64(step) * 4096 / 24)
      func rounded(_ value: Double) -> Double { (value * 16).rounded() / 16 }
      return "\(rounded(x + radius * turn.cosine)),\(rounded(y + radius * turn.sine))"
    }.joined(separator: " ")
  }
}

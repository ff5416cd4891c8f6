import CommandLines
import FoundationEssentials
import Logging
import PeerDiscovery
import PeerSession
import WhiteboardKit

/// Two real peers that find each other, draw together, and have the same board at the end.
package struct Demo: Sendable {
  package var discovery: any Discovery
  /// The directory for the peers' files; each peer gets a subdirectory, which is removed at the end of the demo.
  package var directory: String
  /// The address on which the peers listen; nil to listen on all addresses, on the next free port.
  package var listen: PeerAddress?
  /// A function that receives a line of text for each event, and the name of the peer; nil if the event is about both
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

  /// Whether ``stop()`` was called.
  package var isStopped: Bool { get async { await host.isEnding } }

  /// Closes both boards, so that ``run()`` ends with an error.
  package func stop() async {
    await host.end()
    await guest.end()
  }

  /// Runs the demo once; returns the digest that both boards have.
  ///
  /// Throws if a step fails; the code is `no` if the boards differ.
  package func run() async throws(WhiteboardError) -> String {
    let ada = "\(directory)/ada"
    let ben = "\(directory)/ben"
    defer {
      try? FileManager.default.removeItem(atPath: ada)
      try? FileManager.default.removeItem(atPath: ben)
    }
    let code = JoinCode.random()
    let boardName = "demo \(SessionID.random().short)"
    var hosting = configuration(.host(boardName: boardName), "ada", ada)
    hosting.code = code
    let problem = await Nearby.problem(of: discovery)
    if let problem { await narrate(nil, "Ben joins by a direct link, because \(lowercased(problem.description))") }
    do {
      return try await withThrowingTaskGroup(of: Void.self) { group in
        let hostConfiguration = hosting
        group.addTask { try await host.run(hostConfiguration) }
        guard let ready = await host.ready() else {
          try await group.next()
          throw WhiteboardError(.internal, "the host stopped before its board was open")
        }
        var target = JoinTarget.name(boardName)
        if problem != nil { target = .link(try BoardLink(ready.link)) }
        var joining = configuration(.join(target, patience: .seconds(15)), "ben", ben)
        joining.code = code
        let guestConfiguration = joining
        group.addTask { try await guest.run(guestConfiguration) }
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

  /// Performs the script of the demo on the board; returns the digest that both boards have at the end.
  private func play(_ ada: ScriptedBoard, _ ben: ScriptedBoard) async throws -> String {
    try await ada.perform("wait peers=1 timeout=15")
    try await ben.perform("wait peers=1 timeout=15")
    try await ada.perform(#"text 0,-120 "Hello from Ada" as=hello"#)
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
    try await ben.perform(#"edit "\#(try await helloID(ada))" "Hello from Ada and Ben""#)
    try await ada.perform("wait synced timeout=30")
    try await ben.perform("wait synced timeout=30")
    try await ada.perform(#"say "Same board?""#)
    try await ada.perform("wait synced timeout=30")
    try await ben.perform("wait synced timeout=30")
    let first = try await digest(ada)
    let second = try await digest(ben)
    guard first == second else { throw WhiteboardError(.no, "the boards differ: \(first) and \(second)") }
    return first
  }

  private func helloID(_ ada: ScriptedBoard) async throws -> String {
    for case .done(let done) in await ada.events where done.verb == .text { return done.id?.description ?? "" }
    return ""
  }

  private func digest(_ scriptedBoard: ScriptedBoard) async throws -> String {
    try await scriptedBoard.perform("digest")
    var last = ""
    for case .digest(let digest) in await scriptedBoard.events { last = digest.digest }
    return last
  }

  private static func scriptedBoard(
    _ who: String,
    _ narrate: @escaping @Sendable (_ who: String?, _ line: String) async -> Void
  ) -> ScriptedBoard {
    ScriptedBoard { event in
      switch event {
      case .peerState, .done, .ready, .resourceStarted, .peerFound, .peerUpdated, .peerLost, .warning: break
      default: if let line = EventText.line(event) { await narrate(who, line) }
      }
    }
  }

  private func configuration(_ part: BoardConfiguration.Part, _ name: String, _ directory: String) -> BoardConfiguration
  {
    var configuration = BoardConfiguration(
      part: part,
      displayName: name,
      identity: .ephemeral(),
      dataDirectory: directory,
      logger: logger
    )
    configuration.remembersBoards = false
    configuration.listen = listen
    configuration.discovery = discovery
    return configuration
  }

  private func lowercased(_ sentence: String) -> String { sentence.prefix(1).lowercased() + sentence.dropFirst() }

  private func quoted(_ text: String) -> String {
    let escaped = text.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }
    return "\"\(String(escaped))\""
  }

  /// A line with two waves, as a list of points.
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

import FoundationEssentials
import Logging
import PeerDiscovery
import PeerSession
import WhiteboardNode

/// A node without a screen that keeps boards alive: it serves all of them on one port, keeps each in its
/// document, and goes on with them after it was started again.
package actor Relay {
  let configuration: RelayConfiguration
  let logger: Logger
  var limits: RelayConfiguration.Limits
  var register: BoardRegister
  /// The boards that are served, or cannot be.
  var boards: [SessionID: ServedBoard] = [:]
  private(set) var transport: PeerTransport?
  let started = ContinuousClock().now
  let metrics = RelayMetrics()
  private var isReady = false
  /// Why not all is on the disk at the end.
  private var loss: NodeError?

  private(set) var isEnding = false
  private var endWaiter: CheckedContinuation<Void, Never>?
  /// Ends when the relay does.
  let ending: AsyncStream<Void>
  private let endSource: AsyncStream<Void>.Continuation
  private var boardWaiters: [CheckedContinuation<Void, Never>] = []
  /// Work that runs beside everything else; the relay's group of tasks takes it from here.
  private let jobs: AsyncStream<Job>
  private let jobSource: AsyncStream<Job>.Continuation

  typealias Job = @Sendable (isolated Relay) async -> Void

  /// Creates a relay; nothing runs until ``run(ready:)``.
  ///
  /// - Throws: ``NodeError`` if the list of its boards cannot be read.
  package init(_ configuration: RelayConfiguration) throws(NodeError) {
    self.configuration = configuration
    logger = configuration.logger
    limits = configuration.limits
    register = try BoardRegister(inDataDirectory: configuration.dataDirectory)
    (jobs, jobSource) = AsyncStream.makeStream()
    (ending, endSource) = AsyncStream.makeStream()
  }

  /// Serves until it is asked to end; then every board is left with a goodbye, and kept.
  ///
  /// - Parameter ready: Called once it can be reached and every board that it had is served or failed.
  /// - Throws: ``NodeError``: why it could not begin, or that not every board could be kept.
  package func run(
    ready: @escaping @Sendable (isolated Relay) async -> Void
  ) async throws(NodeError) {
    var transportConfiguration = TransportConfiguration(
      identity: configuration.identity,
      displayName: configuration.name,
      inboxDirectory: configuration.dataDirectory + "/inbox",
      logger: logger
    )
    transportConfiguration.listen = configuration.listen
    transportConfiguration.interface = configuration.interface
    transportConfiguration.lostAfter = configuration.lostAfter
    transportConfiguration.peerStore = configuration.peerStore
    transportConfiguration.maximumPeers = limits.maximumPeople
    transportConfiguration.isRelay = true
    transportConfiguration.relayLimits = configuration.passing
    // 64 readers cost 64 x 60 writes a second, however many write.
    transportConfiguration.gathers = .milliseconds(16)
    transportConfiguration.carries = { [weak self] request in
      await self?.answer(request) ?? .refuse(reason: "The relay is shutting down.")
    }
    transportConfiguration.isRequestedResource = { [weak self] session, info in
      await self?.node(of: session)?.isRequested(info) ?? false
    }
    // A relay has no person who could use a file.
    transportConfiguration.wantsResource = { _, _ in false }
    transportConfiguration.isTemporaryResource = { Node.answer(named: $0.raw) != nil }
    do {
      let body: @Sendable (PeerTransport) async -> Void = { await self.serve($0, ready) }
      try await PeerTransport.withTransport(transportConfiguration, body)
    } catch let error as SessionError {
      throw NodeError(error)
    } catch {
      throw NodeError(.internal, "the relay cannot go on: \(error)")
    }
    if let loss { throw loss }
  }

  /// Asks it to end; ``run(ready:)`` returns when it has.
  package func requestEnd() {
    isEnding = true
    endSource.finish()
    endWaiter?.resume()
    endWaiter = nil
  }

  /// Why nobody should be sent here just now, in words; empty while it serves.
  package var hindrances: [String] {
    if isEnding { return ["it is ending"] }
    guard isReady else { return ["boards are still being opened"] }
    // What comes now would be in memory alone.
    let causes = boards.values.compactMap { $0.unsaved?.cause }
    return causes.isEmpty ? [] : [Self.told(unsaved: causes.count, causes)]
  }

  private static func told(unsaved count: Int, _ causes: [SaveProblem.Cause]) -> String {
    let words = Set(causes).map(\.words).sorted().joined(separator: ", ")
    return "NOT SAVED: \(words) (\(count == 1 ? "1 board" : "\(count) boards"))"
  }

  /// Has work run beside everything else, until it is over.
  func spawn(_ job: @escaping Job) { jobSource.yield(job) }

  private func serve(
    _ transport: PeerTransport,
    _ ready: @escaping @Sendable (isolated Relay) async -> Void
  ) async {
    self.transport = transport
    let carried = transport.carriedSessions
    await withDiscardingTaskGroup { group in
      group.addTask { await self.main(ready) }
      let taking = Task {
        for await session in carried { await self.take(session) }
      }
      defer { taking.cancel() }
      for await job in jobs {
        group.addTask { await job(self) }
      }
    }
    self.transport = nil
  }

  private func main(_ ready: @Sendable (isolated Relay) async -> Void) async {
    for entry in register.entries { open(entry) }
    await untilNoBoard { if case .opening = $0.state { true } else { false } }
    await transport?.startAccepting()
    announce()
    isReady = true
    metrics.show(boards.values)
    await ready(self)
    let upkeep = Task { await self.upkeep() }
    if !isEnding { await withCheckedContinuation { endWaiter = $0 } }
    upkeep.cancel()
    noteVisits()
    let served = boards.filter { if case .serving = $0.value.state { true } else { false } }.keys
    for board in boards.values { await board.node.requestEnd(untilNextStart: true) }
    await untilNoBoard { board in
      if case .failed = board.state { false } else { true }
    }
    // One that ended as it should is not here any more.
    let unsaved = served.count { boards[$0] != nil }
    if unsaved > 0 {
      let causes = served.compactMap { id -> SaveProblem.Cause? in
        guard case .failed(let error)? = boards[id]?.state else { return nil }
        return error.problem?.cause
      }
      loss = NodeError(.inputOutput, Self.told(unsaved: unsaved, causes))
    }
    jobSource.finish()
  }

  /// Waits until no board is so.
  private func untilNoBoard(_ holds: (ServedBoard) -> Bool) async {
    while boards.values.contains(where: holds) { await untilBoardsChange() }
  }

  /// Waits until a board is not as it was.
  func untilBoardsChange() async {
    await withCheckedContinuation { boardWaiters.append($0) }
  }

  /// A board is not as it was: who waits for that looks again.
  func boardsChanged() {
    metrics.show(boards.values)
    for waiter in boardWaiters { waiter.resume() }
    boardWaiters = []
  }

  /// Who serves a session, nil where nobody does.
  func node(of session: SessionID) -> Node? { boards[session]?.node }
}

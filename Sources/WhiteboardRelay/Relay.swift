import FoundationEssentials
import Logging
import PeerDiscovery
import PeerSession
import WhiteboardKit

/// A headless peer that keeps boards online.
package actor Relay {
  let configuration: RelayConfiguration
  let logger: Logger
  var limits: RelayConfiguration.Limits
  var register: BoardRegister
  /// The boards that are being served, and those that could not be served.
  var boards: [SessionID: ServedBoard] = [:]
  private(set) var transport: PeerTransport?
  let started = ContinuousClock().now
  let metrics = RelayMetrics()
  private var isReady = false
  /// The error that ``run(ready:)`` throws if some changes are not on disk.
  private var loss: WhiteboardError?

  private(set) var isEnding = false
  private var endWaiter: CheckedContinuation<Void, Never>?
  /// A stream that finishes when the relay receives a request to shut down.
  let ending: AsyncStream<Void>
  private let endSource: AsyncStream<Void>.Continuation
  private var boardWaiters: [CheckedContinuation<Void, Never>] = []
  /// Jobs that run concurrently with the relay's other work, as child tasks of `serve`.
  private let jobs: AsyncStream<Job>
  private let jobSource: AsyncStream<Job>.Continuation

  typealias Job = @Sendable (isolated Relay) async -> Void

  /// Creates a relay.
  ///
  /// The relay does nothing until ``run(ready:)`` is called.
  ///
  /// - Throws: ``WhiteboardError`` if the list of its boards cannot be read.
  package init(_ configuration: RelayConfiguration) throws(WhiteboardError) {
    self.configuration = configuration
    logger = configuration.logger
    limits = configuration.limits
    register = try BoardRegister(inDataDirectory: configuration.dataDirectory)
    (jobs, jobSource) = AsyncStream.makeStream()
    (ending, endSource) = AsyncStream.makeStream()
  }

  /// Serves boards until the relay receives a request to shut down.
  ///
  /// The relay then leaves all sessions and saves all boards. Canceling the task requests the relay to shut down.
  ///
  /// - Parameter ready: A closure that is called when peers can connect and each board in the register is served or has
  ///   failed.
  /// - Throws: ``WhiteboardError`` if the relay cannot start, or if it could not save every board.
  package func run(ready: @escaping @Sendable (isolated Relay) async -> Void) async throws(WhiteboardError) {
    var transportConfiguration = configuration.transportConfiguration
    transportConfiguration.carries = { [weak self] request in
      await self?.answer(request) ?? .refuse(reason: "The relay is shutting down.")
    }
    transportConfiguration.askBoards { [weak self] in await self?.sharedBoard(of: $0) }
    // A relay has no user, so it does not accept files.
    transportConfiguration.wantsResource = { _, _ in false }
    // A separate task, which is awaited below but not canceled with the caller: a relay that shuts down must still
    // leave the sessions and save the boards.
    let running = Task { [transportConfiguration] in
      let body: @Sendable (PeerTransport) async -> Void = { await self.serve($0, ready) }
      try await PeerTransport.withTransport(transportConfiguration, body)
    }
    do {
      try await withTaskCancellationHandler {
        try await running.value
      } onCancel: {
        // This task returns soon, so no code awaits it.
        Task { await self.requestEnd() }
      }
    } catch let error as SessionError { throw WhiteboardError(error) } catch {
      throw WhiteboardError(.internal, "the relay cannot continue: \(error)")
    }
    if let loss { throw loss }
  }

  /// Requests the relay to shut down, so that ``run(ready:)`` returns.
  package func requestEnd() {
    isEnding = true
    endSource.finish()
    endWaiter?.resume()
    endWaiter = nil
    boardsChanged()
  }

  /// The reasons why new peers should not be routed to this relay; empty while it serves normally.
  package var hindrances: [String] {
    if isEnding { return ["the relay is shutting down"] }
    guard isReady else { return ["boards are still being opened"] }
    // If saving fails, new changes exist only in memory, so new peers should not be routed to this relay.
    let causes = boards.values.compactMap { $0.unsaved?.cause }
    return causes.isEmpty ? [] : [causes.sentence(boards: causes.count)]
  }

  /// Runs a job concurrently with the relay's other work.
  func spawn(_ job: @escaping Job) { jobSource.yield(job) }

  private func serve(_ transport: PeerTransport, _ ready: @escaping @Sendable (isolated Relay) async -> Void) async {
    self.transport = transport
    let carried = transport.carriedSessions
    await withDiscardingTaskGroup { group in
      group.addTask { await self.main(ready) }
      let taking = Task { for await session in carried { await self.take(session) } }
      defer { taking.cancel() }
      for await job in jobs { group.addTask { await job(self) } }
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
    for board in boards.values { await board.sharedBoard.requestEnd(untilNextStart: true) }
    await untilNoBoard { board in if case .failed = board.state { false } else { true } }
    // A board that was closed without an error is no longer in `boards`.
    let unsaved = served.count { boards[$0] != nil }
    if unsaved > 0 {
      let causes = served.compactMap { id -> SaveProblem.Cause? in
        guard case .failed(let error)? = boards[id]?.state else { return nil }
        return error.problem?.cause
      }
      loss = WhiteboardError(.inputOutput, causes.sentence(boards: unsaved))
    }
    jobSource.finish()
  }

  /// Waits until no board satisfies a condition.
  private func untilNoBoard(_ holds: (ServedBoard) -> Bool) async {
    while boards.values.contains(where: holds) { await untilBoardsChange() }
  }

  /// Waits until the state of any board changes, or the relay receives a request to shut down.
  func untilBoardsChange() async { await withCheckedContinuation { boardWaiters.append($0) } }

  /// Updates the metrics, and resumes the tasks that wait for a change of a board.
  func boardsChanged() {
    metrics.show(boards.values)
    for waiter in boardWaiters { waiter.resume() }
    boardWaiters = []
  }

  /// Returns the running board of a session, or `nil` if the relay does not serve the session.
  func sharedBoard(of session: SessionID) -> SharedBoard? { boards[session]?.sharedBoard }
}

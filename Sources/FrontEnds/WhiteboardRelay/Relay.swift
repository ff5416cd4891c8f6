import FoundationEssentials
import Logging
import PeerDiscovery
import PeerSession
import WhiteboardDocument
import WhiteboardKit

package actor Relay {
  let configuration: RelayConfiguration
  var metrics: RelayMetrics { configuration.metrics }
  let logger: Logger
  var limits: RelayConfiguration.Limits
  var register: BoardRegister
  /// The boards that are being served, and those that could not be served.
  var boards: [SessionID: ServedBoard] = [:]
  private static let openingsAtOnce = 4

  /// The results of reading the board files, shared by the boards that are opened after the start.
  private let listing = LibraryListing()
  /// The boards that are still to be opened after the start, in this order.
  private var unopened: [SessionID] = []
  private(set) var transport: PeerTransport?
  var cluster = RelayClusterState()
  let started = ContinuousClock().now
  private var isReady = false
  /// Whether the time limit has expired after which the relay is ready even if boards are still being opened.
  private var isLate = false
  /// The error that ``run(ready:)`` throws if some changes are not on disk.
  private var loss: WhiteboardError?

  private(set) var isEnding = false
  private var endWaiter: CheckedContinuation<Void, Never>?
  let ending: AsyncStream<Void>
  private let endSource: AsyncStream<Void>.Continuation
  private var boardWaiters: [CheckedContinuation<Void, Never>] = []
  /// Jobs that run concurrently with the relay's other work, as child tasks of `serve`.
  private let jobs: AsyncStream<Job>
  private let jobSource: AsyncStream<Job>.Continuation

  typealias Job = @Sendable (isolated Relay) async -> Void

  /// Throws if a list of boards cannot be read. The relay does nothing until ``run(ready:)`` is called.
  package init(_ configuration: RelayConfiguration) throws(WhiteboardError) {
    self.configuration = configuration
    logger = configuration.logger
    limits = configuration.limits
    register = try BoardRegister(inDataDirectory: configuration.dataDirectory)
    if configuration.cluster != nil {
      cluster.unpublished = try UnpublishedRecords(inDataDirectory: configuration.dataDirectory)
    }
    (jobs, jobSource) = AsyncStream.makeStream()
    (ending, endSource) = AsyncStream.makeStream()
  }

  /// Serves boards until the relay receives a request to shut down or the task is canceled. Then leaves all sessions
  /// and saves all boards. Calls `ready` when peers can connect: when each board is served or has failed, but at the
  /// latest after ``RelayConfiguration/openingLimit``. After that limit, peers and commands that need a board wait
  /// until the board is open. Throws if the relay cannot start, or if it could not save every board.
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
    // Also end a relay that could not start, so that no task waits for its boards.
    defer { requestEnd() }
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

  package func requestEnd() {
    isEnding = true
    unopened = []
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

  func spawn(_ job: @escaping Job) { jobSource.yield(job) }

  private func serve(_ transport: PeerTransport, _ ready: @escaping @Sendable (isolated Relay) async -> Void) async {
    self.transport = transport
    let carried = transport.carriedSessions
    await withDiscardingTaskGroup { group in
      group.addTask { await self.main(ready) }
      let taking = Task { for await session in carried { await self.take(session) } }
      let needed = transport.neededSessions
      let needing = Task { for await session in needed { self.openFirst(session) } }
      defer {
        taking.cancel()
        needing.cancel()
      }
      for await job in jobs { group.addTask { await job(self) } }
    }
    self.transport = nil
  }

  private func main(_ ready: @Sendable (isolated Relay) async -> Void) async {
    unopened = register.entries.compactMap(\.id)
    await transport?.willOpen(unopened)
    openNext()
    await untilOpened()
    await transport?.startAccepting()
    announce()
    isReady = true
    showMetrics()
    await ready(self)
    let upkeep = Task { await self.upkeep() }
    let clustering = Task { await self.stayInCluster() }
    if !isEnding { await withCheckedContinuation { endWaiter = $0 } }
    upkeep.cancel()
    clustering.cancel()
    await clustering.value
    noteVisits()
    await untilNoBoard(\.isOpening)
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

  // MARK: - Opening after the start

  /// Opens only a few boards at the same time, so that a board that is needed now does not wait for all others.
  private func openNext() {
    while !unopened.isEmpty, boards.values.count(where: \.isOpening) < Self.openingsAtOnce {
      let id = unopened.removeFirst()
      if let entry = register[id] {
        open(entry, listing: listing)
      } else {
        spawn { await $0.transport?.sessionOpened(id) }
      }
    }
  }

  func openFirst(_ id: SessionID) {
    guard let index = unopened.firstIndex(of: id) else { return }
    unopened.insert(unopened.remove(at: index), at: 0)
    openNext()
  }

  func isOpening(_ id: SessionID) -> Bool { unopened.contains(id) || boards[id]?.isOpening == true }

  /// Waits until all boards are served or have failed, but not longer than the limit.
  private func untilOpened() async {
    // No code awaits this task, which ends within the limit.
    let timer = Task { [limit = configuration.openingLimit] in
      try? await ContinuousClock().sleep(for: limit)
      isLate = true
      boardsChanged()
    }
    defer { timer.cancel() }
    while !isLate, !isEnding, !unopened.isEmpty || boards.values.contains(where: \.isOpening) {
      await untilBoardsChange()
    }
  }

  private func untilNoBoard(_ holds: (ServedBoard) -> Bool) async {
    while boards.values.contains(where: holds) { await untilBoardsChange() }
  }

  /// Waits until the state of any board changes, or the relay receives a request to shut down.
  func untilBoardsChange() async { await withCheckedContinuation { boardWaiters.append($0) } }

  func boardsChanged() {
    openNext()
    showMetrics()
    for waiter in boardWaiters { waiter.resume() }
    boardWaiters = []
  }

  private func showMetrics() { metrics.show(boards.values, unopened: unopened.count) }

  func sharedBoard(of session: SessionID) -> SharedBoard? { boards[session]?.sharedBoard }
}

extension Relay {
  /// Performs maintenance until the relay ends: updates metrics every 10 seconds, and does all other work every minute.
  func upkeep() async {
    let clock = ContinuousClock()
    var rounds = 0
    while !isEnding {
      do { try await clock.sleep(for: .seconds(10)) } catch { return }
      await count()
      rounds += 1
      guard rounds % 6 == 0 else { continue }
      noteVisits()
      await removeForgotten(now: BoardFile.now)
      await boundSizes()
    }
  }

  /// Applies new limits. Existing boards that exceed the limits remain, except for boards whose files are too large.
  package func reload(_ limits: RelayConfiguration.Limits) async {
    self.limits = limits
    logger.notice("Settings reloaded.")
    for entry in register.entries {
      // A board that failed because it was too large may be within the new limits.
      if let id = entry.id, case .failed? = boards[id]?.state {
        boards[id] = nil
        open(entry)
      }
    }
    await boundSizes()
  }

  /// Updates the metrics with the number of messages that were refused or relayed since the last call.
  func count() async {
    for (id, board) in boards {
      let now = await board.sharedBoard.refusals
      let passed = await board.sharedBoard.relayTally()
      guard let before = boards[id] else { continue }
      metrics.add(.refused, now.viewer - before.refused.viewer, of: "viewer")
      metrics.add(.refused, now.revoked - before.refused.revoked, of: "revoked")
      metrics.passed(since: before.passed, passed)
      boards[id]?.refused = (now.viewer, now.revoked)
      boards[id]?.passed = passed
    }
  }

  func noteVisits() {
    let now = BoardFile.now
    var changed: [BoardRegister.Entry] = []
    for entry in register.entries {
      guard let id = entry.id, let board = boards[id] else { continue }
      let visited = visitors(of: board).isEmpty ? board.visited : now
      guard let visited, visited > entry.visited else { continue }
      var entry = entry
      entry.visited = visited
      changed.append(entry)
    }
    guard !changed.isEmpty else { return }
    do throws(WhiteboardError) { try register.set(changed) } catch { logger.error("\(error.message)") }
  }

  /// Removes the boards that no peer has visited for longer than the limits allow.
  func removeForgotten(now: Int64) async {
    for entry in register.entries {
      guard let days = limits.retention(of: entry), let id = entry.id,
        boards[id].map({ visitors(of: $0).isEmpty }) ?? true, now - entry.visited > Int64(days) * 86_400_000,
        !isHostedInCluster(entry)
      else { continue }
      logger.notice("Board removed because no peer visited it.", metadata: ["board": "\(id.short)", "days": "\(days)"])
      do throws(WhiteboardError) { try await delete(entry, inCluster: false) } catch {
        logger.error("\(error.message)", metadata: ["board": "\(id.short)"])
      }
    }
  }

  /// Compacts the boards whose files are too large, and stops serving boards that remain too large.
  func boundSizes() async {
    let limit = limits.maximumBoardMegabytes << 20
    for (id, board) in boards {
      guard case .serving = board.state, let size = await board.sharedBoard.documentSize, size > limit else { continue }
      // If compaction fails, the file remains too large. The code below handles this case.
      try? await board.sharedBoard.compactDocument(keeping: 0)
      let left = await board.sharedBoard.documentSize ?? 0
      logger.warning(
        "Board was too large; its history was deleted.",
        metadata: ["board": "\(id.short)", "before": "\(size)", "after": "\(left)"]
      )
      guard left > limit else { continue }
      boards[id]?.problem = WhiteboardError(
        .notAllowed,
        "its file has \(left >> 20) MB, and max-board-mb allows \(limit >> 20): raise max-board-mb, or "
          + "export and delete the board"
      )
      // The browser links stay valid, because the board opens again when the limit is raised.
      await board.sharedBoard.requestEnd(untilNextStart: true)
    }
  }
}

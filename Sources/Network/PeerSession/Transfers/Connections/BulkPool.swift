import NIOCore
import PeerCore
import PeerWire

/// The links to one peer on which the local peer is the opener. Each link is in use or idle (BLK-2).
final class BulkPool: Sendable {
  private static let idleLimit = 4
  private static let idleTime = Duration.seconds(30)

  private struct State {
    var idle: [(link: BulkLinkRunner, since: Duration)] = []
    var open: Set<ObjectIdentifier> = []
    var opening = 0
    var endError: SessionError?
  }

  private let peer: PeerID
  private let links: any BulkLinkProvider
  private let scope: WorkScope
  private let time: BulkTime
  private let idleSink = IdleLinkSink()
  private let state = Locked(State())

  init(peer: PeerID, links: any BulkLinkProvider, scope: WorkScope, time: BulkTime) {
    self.peer = peer
    self.links = links
    self.scope = scope
    self.time = time
  }

  var count: Int { state.withLock { $0.open.count + $0.opening } }

  var idleCount: Int { state.withLock { $0.idle.count } }

  var endError: SessionError { state.withLock { $0.endError } ?? SessionError(.sessionEnded, "The session has ended.") }

  func acquire() async throws(SessionError) -> BulkLinkRunner {
    while let link = state.withLock({ $0.idle.popLast()?.link }) { if link.isOpen { return link } }
    let failure = state.withLock { state in
      if state.endError == nil { state.opening += 1 }
      return state.endError
    }
    if let failure { throw failure }
    defer { state.withLock { $0.opening -= 1 } }
    let link = try await links.openLink(to: peer)
    let runner = BulkLinkRunner(link, idle: idleSink) { [self] in endError }
    state.withLock { _ = $0.open.insert(ObjectIdentifier(runner)) }
    let isRunning = scope.submit { [self] in
      await runner.run()
      state.withLock { state in
        state.open.remove(ObjectIdentifier(runner))
        state.idle.removeAll { $0.link === runner }
      }
    }
    guard isRunning else {
      state.withLock { _ = $0.open.remove(ObjectIdentifier(runner)) }
      await link.discard()
      throw endError
    }
    return runner
  }

  func release(_ link: BulkLinkRunner) {
    link.detach()
    let now = time.now()
    let isKept = state.withLock { state in
      guard link.isOpen, state.endError == nil, state.idle.count < Self.idleLimit else { return false }
      state.idle.append((link, now))
      return true
    }
    if !isKept { closePlainly(link) }
  }

  /// Closes the idle links, because the network path that they use may no longer exist.
  func dropIdle() {
    let idle = state.withLock { state in
      defer { state.idle = [] }
      return state.idle
    }
    for (link, _) in idle { closePlainly(link) }
  }

  func closeUnused() async {
    while !Task.isCancelled {
      // The sleep is canceled only together with the endpoint. The endpoint then closes all links.
      try? await time.sleep(Self.idleTime)
      let limit = time.now() - Self.idleTime
      let unused = state.withLock { state in
        let unused = state.idle.filter { $0.since <= limit }
        state.idle.removeAll { $0.since <= limit }
        return unused
      }
      for (link, _) in unused { closePlainly(link) }
    }
  }

  func end(_ error: SessionError) { state.withLock { $0.endError = $0.endError ?? error } }

  private func closePlainly(_ link: BulkLinkRunner) {
    link.cut(after: Control.Close(.left, "").bulkFrame(), SessionError(.sessionEnded, "The link was idle."))
  }
}

/// Runs all submitted work in child tasks of the task that called ``run()``, even if that task is canceled.
final class WorkScope: Sendable {
  typealias Work = @Sendable () async -> Void

  private let work: AsyncStream<Work>
  private let source: AsyncStream<Work>.Continuation

  init() { (work, source) = AsyncStream.makeStream() }

  /// Submits `work`, which starts soon. If the scope is closed, returns `false`, and `work` never runs.
  func submit(_ work: @escaping Work) -> Bool { if case .terminated = source.yield(work) { false } else { true } }

  func close() { source.finish() }

  /// Runs the submitted work until ``close()`` is called or the task is canceled, and waits for all work to end. Work
  /// that was submitted before the close or the cancellation still runs.
  func run() async {
    await withDiscardingTaskGroup { group in
      for await work in work { group.addTask { await work() } }
      group.cancelAll()
    }
  }
}

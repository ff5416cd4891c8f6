import Crypto
import NIOCore
import NIOPosix
import PeerCore
import PeerDiscovery
import PeerWire

/// Sends a file to one peer, over as many links as necessary (8.2). The file is read and hashed on a thread pool, one
/// block ahead of the link. No block is read before the peer has room for it, so memory does not grow with the file.
final class ResourceSender: Sendable {
  private struct Ending: Sendable {
    var result: Result<ReceivedResource, SessionError>
    var withdrawal: Attempt?
  }

  struct Attempt: Sendable {
    var link: BulkLinkRunner
    var replies: ResourceReplies
    var hasOffered = false
    var hasStarted = false
  }

  private enum Step {
    case sent(sha256: [UInt8])
    case refused(Control.ResourceCancel)
    case failed(SessionError)
    case broken(BulkEnd, hasProgressed: Bool)
    case interrupted
  }

  private struct State {
    var info: ResourceInfo
    var hasStarted = false
    var sentBytes = 0
    var throttle = ProgressThrottle()
    var link: BulkLinkRunner?
  }

  let id: TransferID
  /// Whether the peer requested the file (RES-6).
  let isRequested: Bool
  let progress: AsyncStream<ResourceProgress>
  let outcome = Outcome<ReceivedResource>()

  private let path: String
  private let peer: PeerID
  let context: BulkContext
  private let reports: AsyncStream<ResourceProgress>.Continuation
  private let cancellation = Outcome<String>()
  private let onCancel: @Sendable (ResourceSender) -> Void
  private let state: Locked<State>

  init(
    path: String,
    name: UntrustedText,
    peer: PeerID,
    isRequested: Bool,
    context: BulkContext,
    onCancel: @escaping @Sendable (ResourceSender) -> Void
  ) {
    let id = TransferID.random()
    self.id = id
    self.isRequested = isRequested
    self.path = path
    self.peer = peer
    self.context = context
    self.onCancel = onCancel
    (progress, reports) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    state = Locked(
      State(info: ResourceInfo(id: id, name: name, size: 0, peer: peer, direction: .outgoing, resumedFrom: 0))
    )
  }

  func cancel(reason: String = "") { if cancellation.set(.success(reason)) { onCancel(self) } }

  private var isCancelled: Bool { cancellation.isSet }

  var fitsInFrame: Bool {
    let name = state.withLock { $0.info.name }
    let offer = Control.ResourceOffer(id: id, name: name, size: maximumControlInteger, modified: -maximumControlInteger)
    return offer.encoded().count <= Limits.framePayload
  }

  var position: (bytes: Int, link: BulkLinkRunner?) { state.withLock { ($0.sentBytes, $0.link) } }

  /// The task is canceled if the peer leaves.
  func run(_ pool: BulkPool) async {
    let ending = await withTaskGroup(of: Ending?.self) { group in
      group.addTask { await self.transfer(pool) }
      group.addTask {
        // This task is canceled if the transfer ends first.
        _ = try? await self.cancellation.value()
        return nil
      }
      var ending: Ending?
      for await result in group {
        ending = result ?? ending
        group.cancelAll()
      }
      return ending
    }
    var result = ending?.result ?? .failure(.cancelled)
    if case .failure(let error) = result, error == .cancelled {
      result = .failure(
        isCancelled ? SessionError(.transferCancelled, "The local peer canceled the transfer.") : pool.endError
      )
    }
    if case .success(let resource) = result { reportWhole(resource.size) }
    outcome.set(result)
    reports.finish()
    context.events.emit(.resourceFinished(state.withLock { $0.info }, result))
    if let attempt = ending?.withdrawal, case .failure(let error) = result, error.code == .protocolError {
      // A link with contradictory answers is not used again (FRM-4).
      attempt.link.cut(after: Control.Close(.protocolError, error.message).bulkFrame(), error)
    } else if let attempt = ending?.withdrawal {
      var code = Control.ResourceCode.cancelled
      if case .failure(let error) = result { code = error.resourceCode }
      // If there is a reason for the cancellation, the reason is already set at this point.
      let reason = isCancelled ? (try? await cancellation.value()) ?? "" : ""
      await withdraw(attempt, code, reason, pool)
    }
  }

  // MARK: The transfer

  private func transfer(_ pool: BulkPool) async -> Ending {
    let source: ResourceSource
    do { source = try await context.work { [path] () throws(SessionError) in try ResourceSource(path: path) } } catch {
      return Ending(result: .failure(error))
    }
    state.withLock { $0.info.size = source.size }
    var retry = TransferRetry()
    while true {
      let link: BulkLinkRunner
      do { link = try await pool.acquire() } catch {
        guard error.mayTryLater, let wait = retry.failed(), await pause(wait) else {
          return Ending(result: .failure(Task.isCancelled ? .cancelled : error))
        }
        continue
      }
      var attempt = Attempt(link: link, replies: ResourceReplies(id: id, size: source.size))
      let step = await withTaskExecutorPreference(link.tasks) { await send(source, &attempt) }
      switch step {
      case .sent(let sha256):
        pool.release(link)
        return Ending(result: .success(ReceivedResource(path: nil, sha256: sha256, size: source.size)))
      case .refused(let cancel):
        // The receiver sent CANCEL, and waits for the local CANCEL as the answer (RES-4).
        link.markLate(id)
        link.writer.push(Control.ResourceCancel(id: id, code: cancel.code, message: "").bulkFrame())
        pool.release(link)
        return Ending(result: .failure(SessionError(cancel)))
      case .failed(let error): return Ending(result: .failure(error), withdrawal: attempt)
      case .interrupted: return Ending(result: .failure(.cancelled), withdrawal: attempt)
      case .broken(let end, let hasProgressed):
        guard end.mayRetry else { return Ending(result: .failure(end.error)) }
        if hasProgressed {
          retry.progressed()
          continue
        }
        guard let wait = retry.failed() else { return Ending(result: .failure(end.error)) }
        guard await pause(wait) else { return Ending(result: .failure(.cancelled)) }
      }
    }
  }

  private func pause(_ wait: Duration) async -> Bool {
    do {
      try await context.time.sleep(wait)
      return true
    } catch { return false }
  }

  private func send(_ source: ResourceSource, _ attempt: inout Attempt) async -> Step {
    let link = attempt.link
    let replies = attempt.replies
    let info = state.withLock { state in
      state.link = link
      return state.info
    }
    guard link.attach(replies) else { return .broken(.broken, hasProgressed: false) }
    var hasProgressed = false
    do throws(SessionError) {
      let offer = Control.ResourceOffer(id: id, name: info.name, size: source.size, modified: source.modified)
      attempt.hasOffered = true
      try await link.writer.write(offer.bulkFrame())
      let accept: Control.ResourceAccept
      switch await replies.next() {
      case .accepted(let answer): accept = answer
      case .done: return .failed(SessionError(.protocolError, "The receiver's answers contradict each other."))
      case .cancelled(let cancel): return .refused(cancel)
      case .ended(let end): return .broken(end, hasProgressed: false)
      case .interrupted: return .interrupted
      }
      var (offset, hash) = try await start(accept, source)
      replies.advance(to: .started)
      attempt.hasStarted = true
      reportStart(offset)
      try await link.writer.write(Control.ResourceStart(id: id, offset: offset).bulkFrame())

      var block = try await read(source, offset, hash)
      while let current = block {
        if let reply = replies.poll() { return step(reply, hasProgressed: hasProgressed) }
        hash = current.hash
        offset += current.count
        let (from, after) = (offset, current.hash)
        async let next = readResult(source, from, after)
        try await link.writer.write(current.frames)
        hasProgressed = true
        report(offset, of: source.size)
        block = try await next.get()
      }
      // The last block was checked when it was read; check that the file has not changed since then.
      try await context.work { () throws(SessionError) in try source.checkUnchanged() }
      let sha256 = hash.digest
      replies.advance(to: .finished)
      try await link.writer.write(Control.ResourceEnd(id: id, sha256: hexadecimal(sha256)).bulkFrame())
      switch await replies.next() {
      case .done: return .sent(sha256: sha256)
      case let reply: return step(reply, hasProgressed: hasProgressed)
      }
    } catch {
      if Task.isCancelled { return .interrupted }
      guard !link.isOpen || error == .bulkLinkLost else { return .failed(error) }
      // A message that the receiver sent before the link broke takes precedence over the link error.
      return step(await replies.next(), hasProgressed: hasProgressed)
    }
  }

  private func step(_ reply: ResourceReplies.Reply, hasProgressed: Bool) -> Step {
    switch reply {
    case .cancelled(let cancel): .refused(cancel)
    case .ended(let end): .broken(end, hasProgressed: hasProgressed)
    case .interrupted: .interrupted
    case .accepted, .done: .failed(SessionError(.protocolError, "The receiver's answers contradict each other."))
    }
  }

  /// Decides at which offset to start (RES-2).
  private func start(_ accept: Control.ResourceAccept, _ source: ResourceSource) async throws(SessionError) -> (
    Int, SHA256
  ) {
    guard accept.offset > 0, let prefix = accept.prefix else { return (0, SHA256()) }
    let cancellation = cancellation
    let hash = try await context.work { () throws(SessionError) in
      try source.hashPrefix(accept.offset) { cancellation.isSet }
    }
    return hash.text == prefix ? (accept.offset, hash) : (0, SHA256())
  }

  /// Wraps ``read(_:_:_:)`` in a `Result`, because `async let` would lose the type of the error.
  private func readResult(_ source: ResourceSource, _ offset: Int, _ hash: SHA256) async -> Result<
    ResourceSource.Block?, SessionError
  > {
    do throws(SessionError) { return .success(try await read(source, offset, hash)) } catch { return .failure(error) }
  }

  private func read(_ source: ResourceSource, _ offset: Int, _ hash: SHA256) async throws(SessionError)
    -> ResourceSource.Block?
  {
    guard offset < source.size else { return nil }
    return try await context.work { () throws(SessionError) in try source.block(at: offset, after: hash) }
  }

  private func reportStart(_ offset: Int) {
    let info: ResourceInfo? = state.withLock { state in
      state.sentBytes = offset
      guard !state.hasStarted else { return nil }
      state.hasStarted = true
      state.info.resumedFrom = offset
      return state.info
    }
    if let info { context.events.emit(.resourceStarted(info)) }
  }

  /// Ends a transfer that cannot continue, because the peer left or the session is over.
  func refuse(_ error: SessionError) {
    outcome.set(.failure(error))
    reports.finish()
  }

  private func report(_ bytes: Int, of total: Int) {
    let now = context.time.now()
    let isDue = state.withLock { state in
      state.sentBytes = bytes
      return state.throttle.reports(bytes, now: now)
    }
    if isDue { emitProgress(bytes, of: total) }
  }

  private func reportWhole(_ total: Int) {
    if state.withLock({ $0.throttle.reportsEnd(total) }) { emitProgress(total, of: total) }
  }

  private func emitProgress(_ bytes: Int, of total: Int) {
    reports.yield(ResourceProgress(bytes: bytes, total: total))
    context.events.emit(.resourceProgress(id, bytes: bytes, of: total))
  }
}

struct TransferRetry {
  static let attemptLimit = 20
  /// The delays after consecutive failures, in milliseconds; the last delay repeats.
  static let waits = [200, 500, 1_000, 2_000, 5_000]

  private var failures = 0

  /// Records that no link opened, or that a link broke before any byte was sent. Returns the delay before the next
  /// attempt, or `nil` if the sender must give up.
  mutating func failed() -> Duration? {
    failures += 1
    guard failures < Self.attemptLimit else { return nil }
    return .milliseconds(Self.waits[min(failures, Self.waits.count) - 1])
  }

  /// Records that a link broke after bytes were sent; the next attempt follows immediately.
  mutating func progressed() { failures = 0 }
}

// The withdrawal of an attempt that the receiver has not ended (RES-4).
extension ResourceSender {
  private static let withdrawalLimit = Duration.seconds(10)

  /// Sends CANCEL to the receiver, and returns the link to the pool when the link is idle (RES-4).
  func withdraw(_ attempt: Attempt, _ code: Control.ResourceCode, _ reason: String, _ pool: BulkPool) async {
    let link = attempt.link
    guard attempt.hasOffered else { return pool.release(link) }
    attempt.replies.advance(to: .cancelled)
    link.markLate(id)
    link.writer.push(Control.ResourceCancel(id: id, code: code, message: reason).bulkFrame())
    guard attempt.hasStarted else { return pool.release(link) }
    let isAnswered = await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        while true {
          switch await attempt.replies.next() {
          case .cancelled, .done: return true
          case .ended, .interrupted: return false
          case .accepted: break
          }
        }
      }
      group.addTask { [context] in
        // The sleep is canceled when the answer has arrived.
        try? await context.time.sleep(Self.withdrawalLimit)
        return false
      }
      let first = await group.next() ?? false
      group.cancelAll()
      return first
    }
    if isAnswered { pool.release(link) } else { link.abandon() }
  }
}

extension SessionError {
  var mayTryLater: Bool { code == .busy || code == .unreachable || code == .timedOut }
}

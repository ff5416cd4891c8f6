import NIOCore
import NIOPosix
import PeerCore
import PeerDiscovery
import PeerWire

/// Manages all bulk links with one incarnation of a peer, and their transfers and streams (8). The endpoint exists from
/// the peer's admission until the peer is lost or leaves, across control links (BLK-3). All its work runs in child
/// tasks of ``run()``.
final class BulkEndpoint: Sendable {
  private struct State {
    var transfers = TransferTable()
    var incomingStreams = 0
    var outgoingStreams = 0
    var acceptedLinks = 0
    var endError: SessionError?
  }

  let peer: PeerID
  /// The session; `nil` for an endpoint without a session, as in tests.
  let session: SessionID?
  let context: BulkContext
  private let inbox: ResourceInbox
  private let scope: WorkScope
  private let pool: BulkPool
  private let state = Locked(State())

  init(
    peer: PeerID,
    session: SessionID? = nil,
    inbox: ResourceInbox,
    links: any BulkLinkProvider,
    events: any BulkEvents,
    time: BulkTime = BulkTime(ContinuousClock()),
    threads: NIOThreadPool = .singleton
  ) {
    self.peer = peer
    self.session = session
    self.inbox = inbox
    context = BulkContext(events: events, time: time, threads: threads)
    scope = WorkScope()
    pool = BulkPool(peer: peer, links: links, scope: scope, time: time)
  }

  /// Runs links and transfers until ``close(_:)``, or until the task is canceled. When this method returns, all links,
  /// transfers and streams have ended and were reported.
  func run() async {
    _ = scope.submit { [pool] in await pool.closeUnused() }
    _ = scope.submit { [self] in await breakStalled() }
    await withTaskCancellationHandler {
      await scope.run()
    } onCancel: {
      close(SessionError(.sessionEnded, "The session has ended."))
    }
    let (error, left): (SessionError, [ResourceInfo]) = state.withLock { state in
      (state.endError ?? pool.endError, state.transfers.endIncoming())
    }
    for info in left { context.events.emit(.resourceFinished(info, .failure(error))) }
  }

  func close(_ error: SessionError) {
    let waiting = state.withLock { state in
      state.endError = state.endError ?? error
      return state.transfers.removeWaiting()
    }
    pool.end(error)
    // Start the waiting senders, so that they notice the cancellation and report it.
    for sender in waiting { start(sender) }
    scope.close()
  }

  // MARK: Links

  /// The number of open links, whichever side is the opener (BLK-4).
  var linkCount: Int { pool.count + state.withLock { $0.acceptedLinks } }

  var idleLinkCount: Int { pool.idleCount }

  /// Whether no resource or stream is in progress. Idle links may be open.
  var isIdle: Bool {
    state.withLock { $0.transfers.isIdle && $0.incomingStreams == 0 && $0.outgoingStreams == 0 }
  }

  func accept(_ link: BulkLink) {
    let runner = BulkLinkRunner(link, idle: BulkAcceptor(self)) { [pool] in pool.endError }
    state.withLock { $0.acceptedLinks += 1 }
    let isRunning = scope.submit { [self] in
      await runner.run()
      state.withLock { $0.acceptedLinks -= 1 }
    }
    if !isRunning {
      state.withLock { $0.acceptedLinks -= 1 }
      // No code awaits this task; it only closes the channel.
      Task { await link.discard() }
    }
  }

  /// Handles the opening of a new control link after the previous control link broke. Idle links are closed, because
  /// they may be broken too. A transfer that makes no progress for 3 s continues over a new link.
  func reconnected() {
    pool.dropIdle()
    let running = state.withLock { $0.transfers.runningSenders }
    for sender in running {
      let before = sender.position
      guard let link = before.link else { continue }
      _ = scope.submit { [context] in
        try? await context.time.sleep(.seconds(3))
        if !Task.isCancelled, sender.position.bytes == before.bytes { link.abandon() }
      }
    }
  }

  // MARK: Resources

  func sentBytes(of id: TransferID) -> Int? { state.withLock { $0.transfers.runningSender(id) }?.position.bytes }

  /// Sends a file to the peer; throws `invalidName`, or the reason why the peer is out of the session. The transfer's
  /// result reports file errors. At most eight transfers run at a time (RES-6). Transfers that the peer requested are
  /// counted separately.
  func sendResource(atPath path: String, named name: String, isRequested: Bool = false) throws(SessionError)
    -> ResourceTransfer
  {
    guard !name.utf8.contains(0), name.utf8.count <= Limits.resourceName else {
      throw SessionError(.invalidName, "A resource's name is at most 16,384 bytes of UTF-8 without NUL.")
    }
    let sender = ResourceSender(
      path: path,
      name: UntrustedText(name),
      peer: peer,
      isRequested: isRequested,
      context: context
    ) { [weak self] sender in self?.senderCancelled(sender) }
    // JSON encodes a control character in six bytes, so a name within its limit might still not fit in a frame.
    guard sender.fitsInFrame else { throw SessionError(.invalidName, "The resource's name does not fit in a frame.") }
    let (failure, isRunning): (SessionError?, Bool) = state.withLock { state in
      if let error = state.endError { return (error, false) }
      return (nil, state.transfers.add(sender))
    }
    if let failure { throw failure }
    if isRunning { start(sender) }
    return ResourceTransfer(sender)
  }

  @discardableResult func cancelResource(_ id: TransferID, reason: String = "") -> Bool {
    let (sender, receiver, interrupted) = state.withLock { $0.transfers.cancel(id) }
    sender?.cancel(reason: reason)
    if let receiver {
      receiver.willCancel(reason: reason)
      return scope.submit { await receiver.cancel(reason: reason) }
    }
    if let interrupted {
      return scope.submit { [self] in
        await inbox.discard(id)
        let error = SessionError(.transferCancelled, "The local peer canceled the transfer.")
        context.events.emit(.resourceFinished(interrupted, .failure(error)))
      }
    }
    return sender != nil
  }

  private func start(_ sender: ResourceSender) {
    let isRunning = scope.submit { [self] in
      await sender.run(pool)
      let next = state.withLock { $0.transfers.senderEnded(sender) }
      if let next { start(next) }
    }
    if !isRunning { sender.refuse(pool.endError) }
  }

  private func senderCancelled(_ sender: ResourceSender) {
    // Start the canceled sender, so that it reports its end.
    if state.withLock({ $0.transfers.removeWaiting(sender) }) { start(sender) }
  }

  // MARK: Streams

  /// Throws `invalidName`, `busy` if 24 streams are open (STR-3), or the reason why no link can be opened.
  func openStream(named name: String) async throws(SessionError) -> PeerStream {
    guard !name.utf8.contains(0), name.utf8.count <= Limits.streamName else {
      throw SessionError(.invalidName, "A stream's name is at most 1,024 bytes of UTF-8 without NUL.")
    }
    let isFull = state.withLock { state in
      guard state.outgoingStreams < Limits.streams else { return true }
      state.outgoingStreams += 1
      return false
    }
    guard !isFull else {
      throw SessionError(.busy, "There are already \(Limits.streams) streams to the peer, which is the maximum.")
    }
    while true {
      let link: BulkLinkRunner
      do { link = try await pool.acquire() } catch {
        streamEnded(isOurs: true)
        throw error
      }
      let stream = StreamCore(id: .random(), name: UntrustedText(name), peer: peer, link: link) {
        [weak self] isLinkIdle in
        self?.streamEnded(isOurs: true)
        if isLinkIdle { self?.pool.release(link) }
      }
      // An idle link may have ended a moment ago.
      guard link.attach(stream) else { continue }
      do {
        let open = Control.StreamOpen(id: stream.id, name: stream.name)
        try await link.writer.write(open.bulkFrame())
      } catch {
        link.abandon()
        throw error
      }
      return PeerStream(stream)
    }
  }

  /// Counts a stream that the peer opens, unless there are too many (STR-3).
  func acceptsStream() -> Bool {
    state.withLock { state in
      guard state.incomingStreams < Limits.streams else { return false }
      state.incomingStreams += 1
      return true
    }
  }

  func streamEnded(isOurs: Bool) {
    state.withLock { state in if isOurs { state.outgoingStreams -= 1 } else { state.incomingStreams -= 1 } }
  }

  // MARK: Receivers

  private func breakStalled() async {
    while !Task.isCancelled {
      // The sleep is canceled only together with the endpoint. The endpoint then closes all links.
      try? await context.time.sleep(TransferPace.interval)
      let now = context.time.now()
      for receiver in state.withLock({ $0.transfers.receivers }) { await receiver.checkPace(now: now) }
    }
  }

  func end(_ receiver: ResourceReceiver) { _ = scope.submit { await receiver.failForSlowness() } }

  /// Answers an offer in a separate task, so that the link is read in the meantime.
  func answer(_ receiver: ResourceReceiver, _ release: @escaping @Sendable () -> Void) {
    _ = scope.submit { await receiver.answer(release) }
  }

  /// Creates the receiver of an offer; returns `nil` if the peer has too many transfers in progress (RES-6). The new
  /// receiver replaces an earlier receiver of the same transfer, because the earlier link is probably broken.
  func receiver(for offer: Control.ResourceOffer, on link: BulkLinkRunner) async -> ResourceReceiver? {
    if let old = state.withLock({ $0.transfers.receiver(of: offer.id) }) {
      // The sender may notice before the receiver that the old link broke (RES-5).
      await old.interrupt(.broken)
      old.link.abandon()
      // This wait is canceled with the link; the offer then has no receiver.
      _ = try? await old.ended.value()
    }
    let info = ResourceInfo(
      id: offer.id,
      name: offer.name,
      size: offer.size,
      peer: peer,
      direction: .incoming,
      resumedFrom: 0
    )
    let isRequested = await context.events.isRequested(info)
    let receiver = ResourceReceiver(offer, info, on: link, inbox: inbox, endpoint: self, isRequested: isRequested)
    return state.withLock { $0.transfers.add(receiver) } ? receiver : nil
  }

  func hasAccepted(_ id: TransferID) -> Bool { state.withLock { $0.transfers.hasAccepted(id) } }

  func receiverAccepted(_ info: ResourceInfo) { state.withLock { $0.transfers.accepted(info) } }

  func receiverStarted(_ info: ResourceInfo) {
    let isFirst = state.withLock { $0.transfers.started(info) }
    if isFirst { context.events.emit(.resourceStarted(info)) }
  }

  /// Handles the end of a receiver, and reports the result if there is one. Without a result, the sender may continue
  /// over another link.
  func receiverEnded(
    _ receiver: ResourceReceiver,
    _ info: ResourceInfo,
    _ result: Result<ReceivedResource, SessionError>?
  ) {
    let end = state.withLock { $0.transfers.receiverEnded(receiver, info, result) }
    receiver.ended.set(.success(()))
    if let end { context.events.emit(.resourceFinished(end.info, end.result)) }
  }
}

protocol BulkEvents: Sendable {
  func isRequested(_ info: ResourceInfo) async -> Bool
  /// Whether to accept an offer that the application did not request; may wait for a user until canceled.
  func wants(_ info: ResourceInfo) async -> Bool
  func emit(_ event: SessionEvent)
}

/// The shared context of all tasks on bulk links: the receiver of events, the time, and the threads for blocking work.
struct BulkContext: Sendable {
  var events: any BulkEvents
  var time: BulkTime
  var threads: NIOThreadPool

  /// Throws the error of `body`, or `cancelled` if the task was canceled before the work began.
  func work<T: Sendable>(_ body: @escaping @Sendable () throws(SessionError) -> T) async throws(SessionError) -> T {
    do {
      return try await threads.runIfActive {
        preferOtherThreads()
        return try body()
      }
    } catch {
      if let error = error as? SessionError { throw error }
      if error is CancellationError { throw .cancelled }
      throw SessionError(.system, "The thread pool is not running.")
    }
  }
}

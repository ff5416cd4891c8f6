import NIOCore
import NIOPosix
import PeerCore
import PeerWire

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

protocol BulkFrameSink: AnyObject, Sendable {
  /// Handles the next frame; returns whether the link continues. If this method throws ``LinkViolation``, the link is
  /// closed with the code of the violation. The link is not read until this call returns.
  func receive(_ frame: BulkFrame, from link: BulkLinkRunner) async throws(LinkViolation) -> Bool

  /// Called once, on the sink that is attached when the link ends.
  func linkEnded(_ end: BulkEnd) async
}

/// Reads the frames of a bulk link and passes each to the attached sink. A violation by the peer closes this link with
/// a typed CLOSE, and affects nothing else.
final class BulkLinkRunner: Sendable {
  private struct State {
    var sink: any BulkFrameSink
    var hasEnded = false
    var endedByUs: SessionError?
    var lateIDs: [TransferID] = []
  }

  /// The maximum number of ended transfers to remember, because their last frames may still arrive.
  private static let lateLimit = 8
  private static let flushLimit = TimeAmount.seconds(2)

  let writer: BulkWriter
  /// The executor that runs tasks on the link's event loop, for tasks that mostly wait for the link.
  let tasks: EventLoopTasks
  private let link: BulkLink
  private let idle: any BulkFrameSink
  private let endError: @Sendable () -> SessionError
  private let state: Locked<State>

  init(_ link: BulkLink, idle: any BulkFrameSink, endError: @escaping @Sendable () -> SessionError) {
    self.link = link
    self.idle = idle
    self.endError = endError
    writer = BulkWriter(channel: link.channel.channel)
    tasks = EventLoopTasks(link.channel.channel.eventLoop)
    state = Locked(State(sink: idle))
  }

  /// Passes the frames to `sink` from now on. If the link has ended, returns `false`, and `sink` receives nothing.
  func attach(_ sink: any BulkFrameSink) -> Bool {
    state.withLock { state in
      guard !state.hasEnded, state.endedByUs == nil else { return false }
      state.sink = sink
      return true
    }
  }

  func detach() { _ = attach(idle) }

  var isOpen: Bool { state.withLock { !$0.hasEnded && $0.endedByUs == nil } }

  /// Remembers a transfer that ended, because frames about the transfer may still arrive (RES-4).
  func markLate(_ id: TransferID) {
    state.withLock { state in
      if state.lateIDs.count == Self.lateLimit { state.lateIDs.removeFirst() }
      state.lateIDs.append(id)
    }
  }

  /// Returns whether `frame` belongs to a transfer that ended a short while ago; such a frame must be ignored.
  func isLate(_ frame: BulkFrame) -> Bool {
    let id: TransferID
    do {
      switch frame.type {
      case .resourceAccept: id = try Control.ResourceAccept.decode(frame).id
      case .resourceCancel: id = try Control.ResourceCancel.decode(frame).id
      case .resourceDone: id = try Control.ResourceDone.decode(frame).id
      default: return false
      }
    } catch { return false }
    return state.withLock { $0.lateIDs.contains(id) }
  }

  /// Reads until the link ends, and then reports the end to the sink; cancellation ends the link.
  func run() async { await withTaskExecutorPreference(tasks) { await serve() } }

  private func serve() async {
    var end = BulkEnd.broken
    do { end = try await link.channel.executeThenClose { inbound, _ in await read(inbound) } } catch {
      // Closing failed because the link is broken, which `end` already records.
    }
    let sink = state.withLock { state in
      state.hasEnded = true
      if let error = state.endedByUs { end = .endedByUs(error) }
      // Release the reference to break a retain cycle, because the link's transfers refer to the link.
      defer { state.sink = idle }
      return state.sink
    }
    writer.fail(end.error)
    await sink.linkEnded(end)
  }

  func cut(_ error: SessionError) {
    state.withLock { $0.endedByUs = $0.endedByUs ?? error }
    writer.channel.close(promise: nil)
  }

  /// Breaks the link as if the network had failed; a transfer on it may continue over another link.
  func abandon() { writer.channel.close(promise: nil) }

  /// Sends one last frame, and closes the link if the peer has not closed it after 2 s.
  func cut(after last: ByteBuffer, _ error: SessionError) {
    state.withLock { $0.endedByUs = $0.endedByUs ?? error }
    let channel = writer.channel
    writer.push(last)
    let timeout = channel.eventLoop.scheduleTask(in: Self.flushLimit) { channel.close(promise: nil) }
    channel.closeFuture.whenComplete { _ in timeout.cancel() }
  }

  private func read(_ inbound: NIOAsyncChannelInboundStream<BulkFrame>) async -> BulkEnd {
    do {
      for try await frame in inbound {
        if frame.type == .close {
          let close = try Control.Close.decode(frame)
          return .closed(close.code, message: close.message)
        }
        let sink = state.withLock { $0.sink }
        guard try await sink.receive(frame, from: self) else {
          return .endedByUs(SessionError(.reset, "The stream was reset."))
        }
      }
      return Task.isCancelled ? await leave() : .broken
    } catch let error as FrameError { return await close(LinkViolation(error)) } catch let violation as LinkViolation {
      return await close(violation)
    } catch is CancellationError { return await leave() } catch { return .broken }
  }

  private func leave() async -> BulkEnd {
    await sendClose(.left, "")
    return .endedByUs(endError())
  }

  private func close(_ violation: LinkViolation) async -> BulkEnd {
    await sendClose(violation.code, violation.message)
    return .violated(violation)
  }

  private func sendClose(_ code: CloseCode, _ message: String) async {
    let channel = writer.channel
    // A peer that does not read must not keep the link open.
    let timeout = channel.eventLoop.scheduleTask(in: Self.flushLimit) { channel.close(promise: nil) }
    // Ignore an error, because the peer need not read the reason.
    try? await writer.push(Control.Close(code, message).bulkFrame()).get()
    timeout.cancel()
  }
}

/// Handles frames on an idle outgoing link; only late answers are allowed there (BLK-2).
final class IdleLinkSink: BulkFrameSink {
  func receive(_ frame: BulkFrame, from link: BulkLinkRunner) async throws(LinkViolation) -> Bool {
    guard link.isLate(frame) else { throw .unexpected(frame.type) }
    return true
  }

  func linkEnded(_ end: BulkEnd) async {}
}

/// A task executor that runs tasks on an event loop, so that serving a link needs no thread switch. Its tasks must
/// never block; files are read and hashed on a thread pool.
final class EventLoopTasks: TaskExecutor {
  private let eventLoop: any EventLoop

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

/// A bulk link that is not in use yet; the owner must pass it to a ``BulkEndpoint`` or end it with ``discard()``.
struct BulkLink: Sendable {
  /// The incoming frames; outgoing frames are written by ``BulkWriter``.
  let channel: NIOAsyncChannel<BulkFrame, ByteBuffer>

  /// Creates a bulk link from a channel; call it on the channel's event loop. At most two reads of 256 KiB are buffered
  /// for the task that reads the link. ``StreamCore`` buffers at most its own limit and one more read. Together, the
  /// two buffers stay below the 1 MiB limit of STR-2.
  @Sendable static func wrap(_ channel: any Channel) throws -> BulkLink {
    try prepare(channel)
    try channel.pipeline.syncOperations.addHandler(BulkFrameDecoder())
    return BulkLink(
      channel: try NIOAsyncChannel(
        wrappingChannelSynchronously: channel,
        configuration: .init(backPressureStrategy: .init(lowWatermark: 1, highWatermark: 2))
      )
    )
  }

  static func prepare(_ channel: any Channel) throws {
    let options = channel.syncOptions
    try options?.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 262_144))
    try options?.setOption(.maxMessagesPerRead, value: 1)
    // A side that only reads needs keep-alive to detect a broken path.
    try options?.setOption(.socketOption(.so_keepalive), value: 1)
    for (name, value) in [(TCP_KEEPIDLE, 10), (TCP_KEEPINTVL, 3), (TCP_KEEPCNT, 4)] {
      try options?.setOption(.tcpOption(NIOBSDSocket.Option(rawValue: name)), value: .init(value))
    }
  }

  /// Closes an unused link with `left` (BLK-5).
  func discard() async {
    // The link is unused, so an error in closing it does not matter.
    try? await channel.executeThenClose { _, outbound in try await outbound.write(Control.Close(.left, "").bulkFrame())
    }
  }
}

/// Opens bulk links on which the local peer is the opener (8.1).
protocol BulkLinkProvider: Sendable {
  /// Dials and attaches a link, or asks the peer to dial a link; throws ``SessionError``. After `busy`, `unreachable`
  /// or `timedOut`, the caller can try again later. After any other code, no further link can be opened. The call waits
  /// while the peer is reconnecting.
  func openLink(to peer: PeerID) async throws(SessionError) -> BulkLink
}

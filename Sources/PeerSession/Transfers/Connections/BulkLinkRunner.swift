import NIOConcurrencyHelpers
import NIOCore
import PeerWire

/// Receives the frames of a bulk link in order, from the task that reads it.
protocol BulkFrameSink: AnyObject, Sendable {
  /// Takes the next frame; while this waits, the link is not read.
  ///
  /// - Returns: Whether the link goes on.
  /// - Throws: ``BulkViolation``; the link is then closed with its code.
  func receive(_ frame: BulkFrame, from link: BulkLinkRunner) async throws(BulkViolation) -> Bool

  /// The link is gone; called once, unless the link was given to another before.
  func linkEnded(_ end: BulkEnd) async
}

/// One bulk link at work: reads its frames and hands each to whom the link serves now.
///
/// A fault of the peer closes this link with a typed CLOSE, and costs nothing else.
final class BulkLinkRunner: Sendable {
  private struct State {
    var sink: any BulkFrameSink
    var hasEnded = false
    var endedByUs: SessionError?
    var lateIDs: [TransferID] = []
  }

  /// Ended transfers whose last frames may still be on their way.
  private static let lateLimit = 8
  /// How long a last frame may take to leave before the link is cut.
  private static let flushLimit = TimeAmount.seconds(2)

  let writer: BulkWriter
  /// The link's event loop, for tasks that mostly wait for it.
  let tasks: EventLoopTasks
  private let link: BulkLink
  private let idle: any BulkFrameSink
  private let endError: @Sendable () -> SessionError
  private let state: NIOLockedValueBox<State>

  /// Makes a runner that gives its frames to `idle` until something is attached.
  ///
  /// - Parameters:
  ///   - link: The link, which nobody else uses.
  ///   - idle: Who takes frames when nothing is attached.
  ///   - endError: Why everything ended, asked when the running task is cancelled.
  init(
    _ link: BulkLink,
    idle: any BulkFrameSink,
    endError: @escaping @Sendable () -> SessionError
  ) {
    self.link = link
    self.idle = idle
    self.endError = endError
    writer = BulkWriter(channel: link.channel.channel)
    tasks = EventLoopTasks(link.channel.channel.eventLoop)
    state = NIOLockedValueBox(State(sink: idle))
  }

  /// Gives the frames to `sink` from now on.
  ///
  /// - Returns: `false` when the link is gone, and `sink` will hear nothing.
  func attach(_ sink: any BulkFrameSink) -> Bool {
    state.withLockedValue { state in
      guard !state.hasEnded, state.endedByUs == nil else { return false }
      state.sink = sink
      return true
    }
  }

  /// Passes frames to the idle sink again.
  func detach() { _ = attach(idle) }

  /// Whether anything can still be sent.
  var isOpen: Bool { state.withLockedValue { !$0.hasEnded && $0.endedByUs == nil } }

  /// Remembers a transfer that ended while frames about it may be on their way (RES-4).
  func markLate(_ id: TransferID) {
    state.withLockedValue { state in
      if state.lateIDs.count == Self.lateLimit { state.lateIDs.removeFirst() }
      state.lateIDs.append(id)
    }
  }

  /// Whether `frame` is about a transfer that ended a short while ago, and says nothing now.
  func isLate(_ frame: BulkFrame) -> Bool {
    let id: TransferID
    do {
      switch frame.type {
      case .resourceAccept: id = try Control.ResourceAccept.decode(frame).id
      case .resourceCancel: id = try Control.ResourceCancel.decode(frame).id
      case .resourceDone: id = try Control.ResourceDone.decode(frame).id
      default: return false
      }
    } catch {
      return false
    }
    return state.withLockedValue { $0.lateIDs.contains(id) }
  }

  /// Reads until the link ends, and then tells whom it served; ends the link when cancelled.
  func run() async {
    await withTaskExecutorPreference(tasks) { await serve() }
  }

  private func serve() async {
    var end = BulkEnd.broken
    do {
      end = try await link.channel.executeThenClose { inbound, _ in await read(inbound) }
    } catch {
      // Closing failed: the link is broken, which `end` says already.
    }
    let sink = state.withLockedValue { state in
      state.hasEnded = true
      if let error = state.endedByUs { end = .endedByUs(error) }
      // Let go of: what runs on a link refers to it.
      defer { state.sink = idle }
      return state.sink
    }
    writer.fail(end.error)
    await sink.linkEnded(end)
  }

  /// Cuts the link; whoever it served is told `error`.
  func cut(_ error: SessionError) {
    state.withLockedValue { $0.endedByUs = $0.endedByUs ?? error }
    writer.channel.close(promise: nil)
  }

  /// Breaks the link, as the network would: what was under way may go on over another.
  func abandon() { writer.channel.close(promise: nil) }

  /// Sends one last frame and cuts the link when the peer has closed it, or after 2 s.
  func cut(after last: ByteBuffer, _ error: SessionError) {
    state.withLockedValue { $0.endedByUs = $0.endedByUs ?? error }
    let channel = writer.channel
    writer.push(last)
    let timeout = channel.eventLoop.scheduleTask(in: Self.flushLimit) {
      channel.close(promise: nil)
    }
    channel.closeFuture.whenComplete { _ in timeout.cancel() }
  }

  private func read(_ inbound: NIOAsyncChannelInboundStream<BulkFrame>) async -> BulkEnd {
    do {
      for try await frame in inbound {
        if frame.type == .close {
          let close = try Control.Close.decode(frame)
          return .closed(close.code, message: close.message)
        }
        let sink = state.withLockedValue { $0.sink }
        guard try await sink.receive(frame, from: self) else {
          return .endedByUs(SessionError(.reset, "The stream was reset."))
        }
      }
      return Task.isCancelled ? await leave() : .broken
    } catch let error as FrameError {
      return await close(BulkViolation(error))
    } catch let violation as BulkViolation {
      return await close(violation)
    } catch is CancellationError {
      return await leave()
    } catch {
      return .broken
    }
  }

  private func leave() async -> BulkEnd {
    await sendClose(.left, "")
    return .endedByUs(endError())
  }

  private func close(_ violation: BulkViolation) async -> BulkEnd {
    await sendClose(violation.code, violation.message)
    return .violated(violation)
  }

  private func sendClose(_ code: CloseCode, _ message: String) async {
    let channel = writer.channel
    // A peer that does not read must not keep the link.
    let timeout = channel.eventLoop.scheduleTask(in: Self.flushLimit) {
      channel.close(promise: nil)
    }
    // Whether the peer hears why is up to the peer.
    try? await writer.push(Control.Close(code, message).bulkFrame()).get()
    timeout.cancel()
  }
}

/// Takes frames on an idle link of ours, where only late answers may come (BLK-2).
final class IdleLinkSink: BulkFrameSink {
  func receive(
    _ frame: BulkFrame,
    from link: BulkLinkRunner
  ) async throws(BulkViolation) -> Bool {
    guard link.isLate(frame) else { throw .unexpected(frame.type) }
    return true
  }

  func linkEnded(_ end: BulkEnd) async {}
}

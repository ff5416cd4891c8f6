import NIOCore
import PeerCore

/// The writer of a bulk link, with a limit on the number of bytes that wait to be sent.
///
/// Bytes are included from the moment they are pushed until the channel has passed them to the kernel. The limit is
/// therefore effective even if the writers are far ahead of the event loop. Writers take turns in order of arrival.
final class BulkWriter: Sendable {
  /// The number of waiting bytes above which a writer must wait.
  static let limit = 1_048_576

  private typealias Waiter = CheckedContinuation<Void, any Error>

  private struct State {
    var waitingBytes = 0
    var isTaken = false
    var holder: (id: Int, waiter: Waiter)?
    var queue = CircularBuffer<(id: Int, waiter: Waiter)>()
    var cancelled: Set<Int> = []
    var nextID = 0
    var failure: SessionError?
  }

  let channel: any Channel
  private let state = Locked(State())

  init(channel: any Channel) { self.channel = channel }

  /// The number of bytes that were pushed but not yet accepted by the system.
  var waitingBytes: Int { state.withLock { $0.waitingBytes } }

  /// Waits for the caller's turn and for room, writes one buffer of complete frames, and ends the turn; throws the
  /// reason why the link ended, or `cancelled` if nothing was written.
  func write(_ frames: ByteBuffer) async throws(SessionError) {
    try await begin()
    push(frames)
    finish()
  }

  /// Waits for the caller's turn and for room; throws `SessionError.cancelled`, or the reason why the link ended; the
  /// caller then has no turn.
  ///
  /// After each success, the caller must call ``finish()`` once.
  func begin() async throws(SessionError) {
    try await wait { state, waiter, id in
      if !state.isTaken && state.queue.isEmpty && state.waitingBytes < Self.limit {
        state.isTaken = true
        return false
      }
      state.queue.append((id, waiter))
      return true
    }
  }

  /// Waits for room during the caller's turn.
  ///
  /// The turn does not end, even if this call throws.
  func waitForRoom() async throws(SessionError) {
    try await wait { state, waiter, id in
      if state.waitingBytes < Self.limit { return false }
      state.holder = (id, waiter)
      return true
    }
  }

  /// Passes the turn to the next writer.
  func finish() {
    let next = state.withLock { state in
      state.isTaken = false
      return Self.next(&state)
    }
    next?.resume()
  }

  /// Writes immediately, ahead of all waiting writers.
  ///
  /// Call it only for the writer whose turn it is, or for the last frame of a link.
  @discardableResult func push(_ frames: ByteBuffer) -> EventLoopFuture<Void> {
    let count = frames.readableBytes
    state.withLock { $0.waitingBytes += count }
    let written = channel.writeAndFlush(frames)
    written.whenComplete { [self] result in
      let next = state.withLock { state in
        state.waitingBytes -= count
        if case .success = result { return Self.next(&state) }
        return nil
      }
      next?.resume()
      if case .failure = result { fail(.bulkLinkLost) }
    }
    return written
  }

  func fail(_ error: SessionError) {
    let (waiters, error): ([Waiter], SessionError) = state.withLock { state in
      let failure = state.failure ?? error
      state.failure = failure
      var waiters = state.queue.map(\.waiter)
      if let holder = state.holder { waiters.append(holder.waiter) }
      state.queue.removeAll()
      state.holder = nil
      return (waiters, failure)
    }
    for waiter in waiters { waiter.resume(throwing: error) }
  }

  private static func next(_ state: inout State) -> Waiter? {
    guard state.waitingBytes < limit else { return nil }
    if let holder = state.holder {
      state.holder = nil
      return holder.waiter
    }
    guard !state.isTaken, let first = state.queue.popFirst() else { return nil }
    state.isTaken = true
    return first.waiter
  }

  private func wait(_ enter: @Sendable (inout State, Waiter, Int) -> Bool) async throws(SessionError) {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    do {
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { (waiter: Waiter) in
          let result: Result<Void, any Error>? = state.withLock { state in
            if let failure = state.failure { return .failure(failure) }
            if state.cancelled.remove(id) != nil { return .failure(SessionError.cancelled) }
            return enter(&state, waiter, id) ? nil : .success(())
          }
          if let result { waiter.resume(with: result) }
        }
      } onCancel: {
        let waiter: Waiter? = state.withLock { state in
          if state.holder?.id == id {
            defer { state.holder = nil }
            return state.holder?.waiter
          }
          if let index = state.queue.firstIndex(where: { $0.id == id }) { return state.queue.remove(at: index).waiter }
          state.cancelled.insert(id)
          return nil
        }
        waiter?.resume(throwing: SessionError.cancelled)
      }
      // Remove the identifier, because a late cancellation may have added it.
      state.withLock { _ = $0.cancelled.remove(id) }
    } catch {
      state.withLock { _ = $0.cancelled.remove(id) }
      throw error as? SessionError ?? .bulkLinkLost
    }
  }
}

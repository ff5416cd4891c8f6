import NIOCore
import PeerCore

/// The writer of a bulk link, with a limit on the number of bytes that wait to be sent. Bytes count from the moment
/// they are pushed until the channel has passed them to the kernel. The limit is therefore effective even if the
/// writers are far ahead of the event loop. Writers take turns in order of arrival.
final class BulkWriter: Sendable {
  /// The number of waiting bytes above which a writer must wait.
  static let limit = 1_048_576

  private typealias Waiter = PeerSession.Waiter<Result<Void, SessionError>>

  private struct State {
    var waitingBytes = 0
    var isTaken = false
    var holder: Waiter?
    var queue = CircularBuffer<Waiter>()
    var failure: SessionError?
  }

  let channel: any Channel
  private let state = Locked(State())

  init(channel: any Channel) { self.channel = channel }

  var waitingBytes: Int { state.withLock { $0.waitingBytes } }

  /// Waits for the caller's turn and for room, and writes one buffer of complete frames. Throws the reason why the link
  /// ended, or `cancelled` if nothing was written.
  func write(_ frames: ByteBuffer) async throws(SessionError) {
    try await begin()
    push(frames)
    finish()
  }

  /// Waits for the caller's turn and for room. After each success, the caller must call ``finish()`` once. If this call
  /// throws `cancelled` or the reason why the link ended, the caller has no turn.
  func begin() async throws(SessionError) {
    try await wait { state, waiter in
      if !state.isTaken && state.queue.isEmpty && state.waitingBytes < Self.limit {
        state.isTaken = true
        return .success(())
      }
      state.queue.append(waiter)
      return nil
    }
  }

  /// Waits for room during the caller's turn, which does not end even if this call throws.
  func waitForRoom() async throws(SessionError) {
    try await wait { state, waiter in
      if state.waitingBytes < Self.limit { return .success(()) }
      state.holder = waiter
      return nil
    }
  }

  func finish() {
    let next = state.withLock { state in
      state.isTaken = false
      return Self.next(&state)
    }
    next?.resume(.success(()))
  }

  /// Writes immediately, ahead of all waiting writers. Call it only for the writer whose turn it is, or for the last
  /// frame of a link.
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
      next?.resume(.success(()))
      if case .failure = result { fail(.bulkLinkLost) }
    }
    return written
  }

  func fail(_ error: SessionError) {
    let (waiters, error): ([Waiter], SessionError) = state.withLock { state in
      let failure = state.failure ?? error
      state.failure = failure
      let waiters = Array(state.queue) + [state.holder.take()].compactMap(\.self)
      state.queue.removeAll()
      return (waiters, failure)
    }
    for waiter in waiters { waiter.resume(.failure(error)) }
  }

  private static func next(_ state: inout State) -> Waiter? {
    guard state.waitingBytes < limit else { return nil }
    if let holder = state.holder.take() { return holder }
    guard !state.isTaken, let first = state.queue.popFirst() else { return nil }
    state.isTaken = true
    return first
  }

  private func wait(_ enter: (inout State, Waiter) -> Result<Void, SessionError>?) async throws(SessionError) {
    try await state.wait(ifCanceled: .failure(.cancelled)) { state, waiter in
      state.failure.map { .failure($0) } ?? enter(&state, waiter)
    } remove: {
      $0.holder.remove($1) ?? $0.queue.remove($1)
    }.get()
  }
}

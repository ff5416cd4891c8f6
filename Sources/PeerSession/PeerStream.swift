import PeerDiscovery

/// Ordered bytes to and from one peer, over a connection of their own.
///
/// Each direction ends by itself: ours with ``finish()``, the peer's when ``inbound`` ends. Bytes
/// arrive in order, or the stream ends with an error; a stream does not outlive its connection
/// (STR-1), so a break of it is an error even when the peer stays in the session. Letting go of the
/// last reference resets a stream that was not finished on our side.
public final class PeerStream: Sendable {
  /// Names the stream; chosen by who opened it.
  public let id: TransferID
  /// The name given by the opener.
  public let name: UntrustedText
  /// The peer at the other end.
  public let peer: PeerID

  let core: StreamCore
  let observation = TrafficObservation()

  init(_ core: StreamCore) {
    self.core = core
    id = core.id
    name = core.name
    peer = core.peer
  }

  deinit { core.release() }

  /// The peer's bytes, for one reader at a time.
  public var inbound: Inbound { Inbound(stream: self) }

  /// The code of the peer's reset, once one arrived.
  public var resetCode: UInt32? { core.resetCode }

  /// Sends bytes behind those sent before.
  ///
  /// Waits while the peer does not take what was sent: about 1 MiB of ours and the system's buffers
  /// lie between the two. Writes of several tasks do not mix. That a write returned does not say that
  /// the peer has the bytes.
  ///
  /// - Throws: `cancelled` when the task was cancelled before anything of this write was sent. Later
  ///   than that, the stream is reset, since its bytes would have a hole, and the error is `reset`, as
  ///   it is for every other reset. `sessionEnded` after ``finish()``. Otherwise what broke the
  ///   connection.
  public func write(_ bytes: [UInt8]) async throws(SessionError) {
    try await observed { () throws(SessionError) in try await core.write(bytes) }
    observation.report(.streamBytes(bytes, of: self, isSent: true))
  }

  /// Says that no more bytes will be written; the peer's direction goes on.
  ///
  /// - Throws: Why the stream had ended before; `reset` when the task is cancelled, which resets the
  ///   stream.
  public func finish() async throws(SessionError) {
    try await observed { () throws(SessionError) in try await core.finish() }
    observation.report(.streamFinished(self, isSent: true))
  }

  /// Ends both directions at once; what was not delivered is dropped.
  ///
  /// - Parameter code: For the peer's application; 1 is what a peer with too many streams answers.
  public func reset(code: UInt32) {
    core.reset(code: code)
    observation.report(.streamBroke(self, SessionError(.reset, "The stream was reset here.")))
  }

  /// The next bytes of the peer, nil at their end.
  fileprivate func read() async throws(SessionError) -> [UInt8]? {
    let bytes = try await observed { () throws(SessionError) in try await core.read() }
    observation.report(
      bytes.map { .streamBytes($0, of: self, isSent: false) }
        ?? .streamFinished(self, isSent: false)
    )
    return bytes
  }

  private func observed<Value>(
    _ body: () async throws(SessionError) -> Value
  ) async throws(SessionError) -> Value {
    do {
      return try await body()
    } catch {
      // A cancelled wait does not change the stream.
      if error.code != .cancelled { observation.report(.streamBroke(self, error)) }
      throw error
    }
  }

  /// The bytes of the peer, in order, in pieces of no particular length.
  ///
  /// At most 1 MiB is held for a reader that does not take them; then the writer is made to wait.
  /// Ends when the peer finished; throws when the stream was reset or broke. A cancelled task gets
  /// `cancelled`, and nothing is lost: a new iterator goes on.
  public struct Inbound: AsyncSequence, Sendable {
    let stream: PeerStream

    /// Takes bytes.
    public struct AsyncIterator: AsyncIteratorProtocol {
      let stream: PeerStream

      /// The next bytes, at least one, or `nil` when the peer has finished.
      public mutating func next() async throws(SessionError) -> [UInt8]? {
        try await stream.read()
      }

      /// The next bytes, at least one, or `nil` when the peer has finished.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(SessionError) -> [UInt8]? {
        try await stream.read()
      }
    }

    /// Starts taking.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: stream) }
  }
}

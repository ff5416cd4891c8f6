import PeerCore
import PeerDiscovery

/// An ordered byte stream to and from one peer, over its own connection.
///
/// Each direction ends separately: the local direction with ``finish()``, the peer's direction when ``inbound`` ends.
/// Bytes arrive in order, or the stream ends with an error. A stream does not outlive its connection (STR-1), so a
/// broken connection is an error even if the peer stays in the session. If the last reference is released before
/// ``finish()``, the stream is reset.
public final class PeerStream: Sendable {
  /// The identifier of the stream, chosen by the opener.
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

  /// The code with which the peer reset the stream; `nil` if the peer has not reset it.
  public var resetCode: UInt32? { core.resetCode }

  /// Sends bytes to the peer, after the bytes of earlier calls.
  ///
  /// If the peer does not read, calls suspend when about 1 MiB is queued, in addition to the system's buffers. Bytes of
  /// concurrent calls are not interleaved. When the call returns, the peer might not have received the bytes yet.
  ///
  /// - Throws: `cancelled` if the task was canceled before any byte of this call was sent. If some bytes were already
  ///   sent, cancellation resets the stream, and the error is `reset`. After ``finish()``, the error is `sessionEnded`.
  ///   Otherwise, the error is the reason why the connection broke.
  public func write(_ bytes: [UInt8]) async throws(SessionError) {
    try await observed { () throws(SessionError) in try await core.write(bytes) }
    observation.report(.streamBytes(bytes, of: self, isSent: true))
  }

  /// Ends the local direction; the peer's direction continues.
  ///
  /// - Throws: The reason why the stream had already ended. If the task is canceled, the error is `reset`, and the
  ///   stream is reset.
  public func finish() async throws(SessionError) {
    try await observed { () throws(SessionError) in try await core.finish() }
    observation.report(.streamFinished(self, isSent: true))
  }

  /// Ends both directions immediately, and drops undelivered bytes.
  ///
  /// - Parameter code: A code for the peer's application. Code 1 also means that too many streams are open (STR-3).
  public func reset(code: UInt32) {
    core.reset(code: code)
    observation.report(.streamBroke(self, SessionError(.reset, "This peer reset the stream.")))
  }

  fileprivate func read() async throws(SessionError) -> [UInt8]? {
    let bytes = try await observed { () throws(SessionError) in try await core.read() }
    observation.report(bytes.map { .streamBytes($0, of: self, isSent: false) } ?? .streamFinished(self, isSent: false))
    return bytes
  }

  private func observed<Value>(_ body: () async throws(SessionError) -> Value) async throws(SessionError) -> Value {
    do { return try await body() } catch {
      // A canceled wait does not change the stream.
      if error.code != .cancelled { observation.report(.streamBroke(self, error)) }
      throw error
    }
  }

  /// The bytes of the peer, in order, in pieces of any length.
  ///
  /// At most 1 MiB is buffered for a slow reader; beyond that, the writer must wait. The sequence ends when the peer
  /// finishes, and throws an error if the stream is reset or breaks. Canceling a read throws `cancelled` without losing
  /// bytes. A new iterator can then read these bytes.
  public struct Inbound: AsyncSequence, Sendable {
    let stream: PeerStream

    /// An iterator over the bytes of the peer.
    public struct AsyncIterator: AsyncIteratorProtocol {
      let stream: PeerStream

      /// Returns the next bytes, at least one, or `nil` when the peer has finished.
      public mutating func next() async throws(SessionError) -> [UInt8]? { try await stream.read() }

      /// Returns the next bytes, at least one, or `nil` when the peer has finished.
      public mutating func next(isolation actor: isolated (any Actor)?) async throws(SessionError) -> [UInt8]? {
        try await stream.read()
      }
    }

    /// Creates an iterator over the bytes of the peer.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: stream) }
  }
}

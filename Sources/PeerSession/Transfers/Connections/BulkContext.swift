import NIOPosix

/// Receives the events of a peer's bulk links, and turns them into session events.
protocol BulkEvents: Sendable {
  /// Returns whether the application requested an offered resource, so that the offer needs no
  /// decision.
  func isRequested(_ info: ResourceInfo) async -> Bool
  /// Returns whether any other offer is accepted; may wait for a user until the task is canceled.
  func wants(_ info: ResourceInfo) async -> Bool
  /// The bytes of a transfer begin to arrive or leave; once for each transfer, however many links
  /// it uses.
  func resourceStarted(_ info: ResourceInfo) async
  /// A transfer progressed; at most ten reports a second for each. May be dropped.
  func resourceProgress(_ id: TransferID, bytes: Int, of total: Int)
  /// A transfer ended; once for each accepted one, and for outgoing ones that never began.
  func resourceFinished(
    _ info: ResourceInfo,
    _ result: Result<ReceivedResource, SessionError>
  ) async
  /// The peer opened a stream; while this call waits, that stream is not read.
  func streamOpened(_ stream: PeerStream) async
}

/// The shared context of all tasks on bulk links: the receiver of events, the time, and blocking
/// threads.
struct BulkContext: Sendable {
  var events: any BulkEvents
  var time: BulkTime
  var threads: NIOThreadPool

  /// Runs blocking work on a thread of the pool.
  ///
  /// - Throws: The error of `body`, or `cancelled` if the task was canceled before it began.
  func work<T: Sendable>(
    _ body: @escaping @Sendable () throws(SessionError) -> T
  ) async throws(SessionError) -> T {
    do {
      return try await threads.runIfActive { try body() }
    } catch {
      if let error = error as? SessionError { throw error }
      if error is CancellationError { throw .cancelled }
      throw SessionError(.system, "The thread pool is not running.")
    }
  }
}

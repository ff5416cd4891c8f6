import NIOPosix

/// Receives the events of a peer's bulk links, from which session events are made.
protocol BulkEvents: Sendable {
  /// Whether the application requested an offered resource, so that the offer needs no decision.
  func isRequested(_ info: ResourceInfo) async -> Bool
  /// Whether any other offer is accepted; may wait for a person until the task is cancelled.
  func wants(_ info: ResourceInfo) async -> Bool
  /// The bytes of a transfer begin to move; once for each transfer, however many links it takes.
  func resourceStarted(_ info: ResourceInfo) async
  /// A transfer went on; at most ten times a second for each. May be dropped.
  func resourceProgress(_ id: TransferID, bytes: Int, of total: Int)
  /// A transfer ended; once for each that was accepted, and for ours that never began.
  func resourceFinished(
    _ info: ResourceInfo,
    _ result: Result<ReceivedResource, SessionError>
  ) async
  /// The peer opened a stream; while this waits, that stream is not read.
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
  /// - Throws: What `body` throws, or `cancelled` when the task was cancelled before it began.
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

import NIOPosix

/// Receives the events of a peer's bulk links, and converts them to session events.
protocol BulkEvents: Sendable {
  /// Returns whether the application requested an offered resource.
  ///
  /// If so, the offer is accepted without asking the application.
  func isRequested(_ info: ResourceInfo) async -> Bool
  /// Returns whether to accept an offer that the application did not request.
  ///
  /// It may wait for a user until the task is canceled.
  func wants(_ info: ResourceInfo) async -> Bool
  /// Handles the start of a transfer's bytes; called once for each transfer, regardless of how many links it uses.
  func resourceStarted(_ info: ResourceInfo) async
  /// Handles the progress of a transfer; called at most ten times per second for each transfer. The implementation may
  /// drop reports.
  func resourceProgress(_ id: TransferID, bytes: Int, of total: Int)
  /// Handles the end of a transfer; called once for each accepted transfer, and once for each outgoing transfer that
  /// never began.
  func resourceFinished(_ info: ResourceInfo, _ result: Result<ReceivedResource, SessionError>) async
  /// Handles a stream that the peer opened; the stream is not read until this call returns.
  func streamOpened(_ stream: PeerStream) async
}

/// The shared context of all tasks on bulk links: the receiver of events, the time, and the threads for blocking work.
struct BulkContext: Sendable {
  var events: any BulkEvents
  var time: BulkTime
  var threads: NIOThreadPool

  /// Runs blocking work on a thread of the pool.
  ///
  /// - Throws: The error of `body`, or `cancelled` if the task was canceled before it began.
  func work<T: Sendable>(_ body: @escaping @Sendable () throws(SessionError) -> T) async throws(SessionError) -> T {
    do { return try await threads.runIfActive { try body() } } catch {
      if let error = error as? SessionError { throw error }
      if error is CancellationError { throw .cancelled }
      throw SessionError(.system, "The thread pool is not running.")
    }
  }
}

import NIOPosix

/// Threads shared by several transports, for a program that runs many of them.
///
/// Without shared threads, each transport has three or four threads of its own.
public struct TransportThreads: Sendable {
  let control: MultiThreadedEventLoopGroup
  let bulk: MultiThreadedEventLoopGroup
  let files: NIOThreadPool

  private init(count: Int) {
    control = MultiThreadedEventLoopGroup(numberOfThreads: count)
    bulk = MultiThreadedEventLoopGroup(numberOfThreads: count)
    files = NIOThreadPool(numberOfThreads: 2)
    files.start()
  }

  /// Runs `body` with new threads, which exist until `body` returns.
  ///
  /// Every transport that uses the threads must end before `body` returns.
  ///
  /// - Parameters:
  ///   - count: The number of threads for links, and the number of threads for transfers. Each session uses one thread
  ///     of each kind.
  ///   - body: The operation that uses the threads.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  public static func withThreads<Result, Failure: Error>(
    _ count: Int,
    _ body: (TransportThreads) async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let threads = TransportThreads(count: count)
    let outcome: Swift.Result<Result, Failure>
    do throws(Failure) { outcome = .success(try await body(threads)) } catch { outcome = .failure(error) }
    try? await threads.files.shutdownGracefully()
    try? await threads.bulk.shutdownGracefully()
    try? await threads.control.shutdownGracefully()
    return try outcome.get()
  }
}

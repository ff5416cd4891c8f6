import NIOPosix

/// Threads that several transports share, for a program that runs many of them: each has three or four
/// of its own otherwise.
public struct TransportThreads: Sendable {
  /// Serves control links and datagrams.
  let control: MultiThreadedEventLoopGroup
  /// Serves resources and streams.
  let bulk: MultiThreadedEventLoopGroup
  /// Reads and hashes files.
  let files: NIOThreadPool

  private init(count: Int) {
    control = MultiThreadedEventLoopGroup(numberOfThreads: count)
    bulk = MultiThreadedEventLoopGroup(numberOfThreads: count)
    files = NIOThreadPool(numberOfThreads: 2)
    files.start()
  }

  /// Makes threads that last while `body` runs; every transport that has them must be over when it
  /// returns.
  ///
  /// - Parameters:
  ///   - count: How many serve links, and how many transfers; each session is served by one of them.
  ///   - body: What to do with them.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  public static func withThreads<Result, Failure: Error>(
    _ count: Int,
    _ body: (TransportThreads) async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let threads = TransportThreads(count: count)
    let outcome: Swift.Result<Result, Failure>
    do throws(Failure) {
      outcome = .success(try await body(threads))
    } catch {
      outcome = .failure(error)
    }
    try? await threads.files.shutdownGracefully()
    try? await threads.bulk.shutdownGracefully()
    try? await threads.control.shutdownGracefully()
    return try outcome.get()
  }
}

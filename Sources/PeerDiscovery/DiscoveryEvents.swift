/// The events of an advertiser or browser, in order, for one reader.
///
/// The buffer is bounded and a slow reader costs nobody anything: what a browser has to tell about
/// one peer merges into one event, so that a reader who is late sees each peer once, as it is now
/// (DSC-19); an advertiser keeps the last 16. The sequence ends when the scope that it was handed to
/// ends, or when the reading task is cancelled, and cannot be read again after.
public struct DiscoveryEvents<Element: Sendable>: AsyncSequence, Sendable {
  private let signal: AsyncStream<Void>
  private let take: @Sendable () async -> Element?

  /// Makes a sequence; for implementations of `Advertiser` and `Browser`.
  ///
  /// - Parameters:
  ///   - signal: Yields when something may be there to take; finishes when nothing more will be.
  ///     It should buffer one element, the newest.
  ///   - take: Removes the next event from the buffer, if there is one.
  public init(signal: AsyncStream<Void>, take: @escaping @Sendable () async -> Element?) {
    self.signal = signal
    self.take = take
  }

  /// Begins to read.
  public func makeAsyncIterator() -> Iterator {
    Iterator(signal: signal.makeAsyncIterator(), take: take)
  }

  /// Reads one event after the other.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var signal: AsyncStream<Void>.Iterator
    fileprivate let take: @Sendable () async -> Element?

    /// Waits for the next event; nil at the end.
    public mutating func next() async -> Element? { await next(isolation: nil) }

    /// Waits for the next event, in the isolation of the reader; nil at the end.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      while !Task.isCancelled {
        if let event = await take() { return event }
        guard await signal.next(isolation: actor) != nil else {
          // The scope ended; what it left behind is still told.
          return Task.isCancelled ? nil : await take()
        }
      }
      return nil
    }
  }
}

/// The events of an advertiser or browser, in order, for one reader.
///
/// The buffer is bounded, so a slow reader does not delay discovery. A browser merges the unread events of one peer
/// into one event with the current state of the peer (DSC-19). An advertiser buffers the last 16 events. The sequence
/// ends when the body of `advertise` or `browse` returns, or when the reading task is canceled. It cannot be read a
/// second time.
public struct DiscoveryEvents<Element: Sendable>: AsyncSequence, Sendable {
  private let signal: AsyncStream<Void>
  private let take: @Sendable () async -> Element?

  /// Creates a sequence, for implementations of `Advertiser` and `Browser`.
  ///
  /// - Parameters:
  ///   - signal: A stream that yields when the buffer may contain an event, and finishes when no more events will be
  ///     added. It should buffer only the newest element.
  ///   - take: A closure that removes and returns the next event in the buffer, or returns `nil` if the buffer is
  ///     empty.
  public init(signal: AsyncStream<Void>, take: @escaping @Sendable () async -> Element?) {
    self.signal = signal
    self.take = take
  }

  /// Creates an iterator over the events.
  public func makeAsyncIterator() -> Iterator { Iterator(signal: signal.makeAsyncIterator(), take: take) }

  /// An iterator over the events of an advertiser or browser.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var signal: AsyncStream<Void>.Iterator
    fileprivate let take: @Sendable () async -> Element?

    /// Waits for the next event, or returns `nil` at the end of the sequence.
    public mutating func next() async -> Element? { await next(isolation: nil) }

    /// Waits for the next event in the reader's isolation, or returns `nil` at the end of the sequence.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      while !Task.isCancelled {
        if let event = await take() { return event }
        guard await signal.next(isolation: actor) != nil else {
          // The advertiser or browser has stopped. Return the events that are still in the buffer.
          return Task.isCancelled ? nil : await take()
        }
      }
      return nil
    }
  }
}

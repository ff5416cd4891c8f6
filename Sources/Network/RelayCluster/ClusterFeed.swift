import NIOConcurrencyHelpers

package enum ClusterEvent: Sendable {
  case message(ClusterMessage)
  /// Messages may be missing here, because the connection lost its server, or because the reader is too slow.
  case gap
}

/// The messages of a subject, for one reader. At most ``capacity`` messages wait for the reader. Further messages are
/// dropped, and the reader then receives a gap.
package struct ClusterFeed: AsyncSequence, Sendable {
  package static let capacity = 4096

  private let reading: Reading

  package init(_ source: Source) { reading = Reading(source) }

  package func makeAsyncIterator() -> Iterator { Iterator(reading: reading) }

  package struct Iterator: AsyncIteratorProtocol {
    fileprivate let reading: Reading

    package mutating func next() async -> ClusterEvent? { await reading.source.next() }
  }

  /// Ends the feed when its last reader is released.
  fileprivate final class Reading: Sendable {
    let source: Source

    init(_ source: Source) { self.source = source }

    deinit { source.end() }
  }

  /// The end of a feed to which an implementation of ``ClusterConnection`` writes, from any thread.
  package final class Source: Sendable {
    fileprivate struct State {
      /// The messages before the gap. The first ``read`` of them were read.
      var waiting: [ClusterMessage] = []
      var read = 0
      var hasGap = false
      var hasEnded = false
      var reader: CheckedContinuation<ClusterEvent?, Never>?
    }

    private let state = NIOLockedValueBox(State())
    /// Is called once, when the feed ends.
    private let ended: @Sendable (Source) -> Void

    package init(ended: @escaping @Sendable (Source) -> Void = { _ in }) { self.ended = ended }

    package func write(_ message: ClusterMessage) {
      let reader = state.withLockedValue { state -> CheckedContinuation<ClusterEvent?, Never>? in
        guard !state.hasEnded else { return nil }
        if let reader = state.reader {
          state.reader = nil
          return reader
        }
        // Messages after a gap are dropped until the reader has received the gap.
        if state.hasGap || state.waiting.count - state.read >= ClusterFeed.capacity {
          state.hasGap = true
        } else {
          state.waiting.append(message)
        }
        return nil
      }
      reader?.resume(returning: .message(message))
    }

    package func writeGap() {
      let reader = state.withLockedValue { state -> CheckedContinuation<ClusterEvent?, Never>? in
        guard !state.hasEnded else { return nil }
        guard let reader = state.reader else {
          state.hasGap = true
          return nil
        }
        state.reader = nil
        return reader
      }
      reader?.resume(returning: .gap)
    }

    package func end() {
      let (isFirst, reader) = state.withLockedValue { state in
        defer { (state.hasEnded, state.reader) = (true, nil) }
        return (!state.hasEnded, state.reader)
      }
      reader?.resume(returning: nil)
      if isFirst { ended(self) }
    }

    fileprivate func next() async -> ClusterEvent? {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let event = state.withLockedValue { state -> ClusterEvent?? in
            precondition(state.reader == nil, "a feed has one reader")
            if let event = state.removeFirst() { return event }
            if state.hasEnded { return .some(nil) }
            state.reader = continuation
            return nil
          }
          if let event { continuation.resume(returning: event) }
        }
      } onCancel: {
        end()
      }
    }
  }
}

extension ClusterFeed.Source.State {
  fileprivate mutating func removeFirst() -> ClusterEvent? {
    if read < waiting.count {
      defer { read += 1 }
      return .message(waiting[read])
    }
    waiting = []
    read = 0
    guard hasGap else { return nil }
    hasGap = false
    return .gap
  }
}

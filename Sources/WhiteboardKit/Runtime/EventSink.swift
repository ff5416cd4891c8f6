#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// The receiver of the events of a node.
package protocol EventSink: Sendable {
  /// Receives events in their order; returns when there is room for more.
  ///
  /// - Throws: ``OutputError`` if no more events can be received.
  func write(_ events: [BoardEvent]) async throws(OutputError)

  /// Receives a change of the board when it happens, before its event.
  ///
  /// It does not wait: a slow receiver stores only the latest state of each object. The default does
  /// nothing.
  func show(_ change: BoardChange)
}

extension EventSink {
  package func show(_ change: BoardChange) {}
}

/// An error of output that cannot be written.
package struct OutputError: Error, Equatable, Sendable {
  /// The system's error number.
  package let number: Int32

  /// Creates an error with the system's number.
  package init(number: Int32) { self.number = number }

  /// Whether the reader of the output closed its end, which is not an error of this program.
  package var isReaderGone: Bool { number == EPIPE }
}

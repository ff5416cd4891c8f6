#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// The receiver of the events of a board.
package protocol EventSink: Sendable {
  /// Receives events in order; returns when the sink has room for more.
  ///
  /// - Throws: ``OutputError`` if the sink can receive no more events.
  func write(_ events: [BoardEvent]) async throws(OutputError)

  /// Whether the sink reads the events about objects, the chat, messages and data of streams; true by
  /// default.
  ///
  /// If it does not, these events are not created.
  var readsContents: Bool { get }

  /// Receives a change of the board when it happens, before its event.
  ///
  /// The function does not wait: a slow receiver stores only the latest state of each object. The
  /// default implementation does nothing.
  func show(_ change: BoardChange)
}

extension EventSink {
  package var readsContents: Bool { true }

  package func show(_ change: BoardChange) {}
}

/// An error of the output to which a sink writes.
package struct OutputError: Error, Equatable, Sendable {
  /// The system's error number.
  package let number: Int32

  /// Creates an error with the system's error number.
  package init(number: Int32) { self.number = number }

  /// Whether the reader of the output closed its end, which is not an error of this program.
  package var isReaderGone: Bool { number == EPIPE }
}

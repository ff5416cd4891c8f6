#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

package protocol EventSink: Sendable {
  /// Receives events in order; returns when the sink has room for more; throws if the sink can receive no more events.
  func write(_ events: [BoardEvent]) async throws(OutputError)

  /// The kinds of event content that the sink reads; all by default.
  ///
  /// Events with other content are not created.
  var contents: EventContents { get }

  /// Receives a change of the board when it happens, before its event; also all objects of the stored board.
  ///
  /// The changes of hidden authors are left out. The function does not wait: a slow receiver stores only the latest
  /// state of each object. The default implementation does nothing.
  func boardChanged(_ change: SharedBoard.Change)

  /// Receives the result of a command with a request id as soon as its function returns, with the ids of new objects.
  ///
  /// The answer follows when the changes are stored. The function does not wait, and comes after the changes that the
  /// command made. The default implementation does nothing.
  func commandReturned(_ outcome: CommandOutcome, to request: RequestMark)
}

extension EventSink {
  package var contents: EventContents { .all }

  package func boardChanged(_ change: SharedBoard.Change) {}

  package func commandReturned(_ outcome: CommandOutcome, to request: RequestMark) {}
}

package struct EventContents: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let objects = EventContents(rawValue: 1)
  package static let chat = EventContents(rawValue: 2)
  /// The application messages, and the data of streams.
  package static let data = EventContents(rawValue: 4)

  package static let all: EventContents = [.objects, .chat, .data]
}

package struct OutputError: Error, Equatable, Sendable {
  package let number: Int32

  package init(number: Int32) { self.number = number }

  /// Whether the reader of the output closed its end.
  ///
  /// This is not an error in this program.
  package var isReaderGone: Bool { number == EPIPE }
}

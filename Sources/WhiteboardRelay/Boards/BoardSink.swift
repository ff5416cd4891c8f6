import WhiteboardKit

/// Receives the events of one board, and passes on only those that the relay needs: joins, leaves, browser links and
/// problems.
struct BoardSink: EventSink {
  let take: @Sendable (BoardEvent) async -> Void

  var contents: EventContents { [] }

  func write(_ events: [BoardEvent]) async throws(OutputError) {
    for event in events {
      switch event {
      case .ready, .invited, .web, .joined, .left, .saveState, .note, .warning: await take(event)
      default: break
      }
    }
  }
}

import WhiteboardKit

/// The receiver of one board's events, which passes on only those that the relay needs: members
/// that join and leave, and problems.
struct BoardSink: EventSink {
  let take: @Sendable (BoardEvent) async -> Void

  var contents: EventContents { [] }

  func write(_ events: [BoardEvent]) async throws(OutputError) {
    for event in events {
      switch event {
      case .ready, .joined, .left, .saveState, .note, .warning: await take(event)
      default: break
      }
    }
  }
}

import WhiteboardNode

/// Takes what happens on one board of a relay, and passes on what the relay is about: who comes and goes, and
/// what is wrong.
struct BoardSink: EventSink {
  let take: @Sendable (NodeEvent) async -> Void

  func write(_ events: [NodeEvent]) async throws(OutputError) {
    for event in events {
      switch event {
      case .ready, .joined, .left, .saveState, .note, .warning: await take(event)
      default: break
      }
    }
  }
}

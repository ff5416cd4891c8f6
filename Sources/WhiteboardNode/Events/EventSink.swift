/// The receiver of a node's events.
package protocol EventSink: Sendable {
  /// Accepts events in their order; returns when there is room for more.
  ///
  /// - Throws: ``OutputError`` if the events cannot be delivered any longer.
  func write(_ events: [NodeEvent]) async throws(OutputError)

  /// Accepts a change of what a screen shows, immediately and before its event.
  ///
  /// The call must not wait. A slow receiver keeps only the latest change of each object. Sinks that print lines
  /// ignore these changes.
  func show(_ change: BoardChange)
}

extension EventSink {
  package func show(_ change: BoardChange) {}
}

/// Writes events as lines of JSON or text.
package struct LineSink: EventSink {
  private let writer: LineWriter
  private let isJSON: Bool

  /// Creates a sink that writes JSON or text.
  package init(_ writer: LineWriter, isJSON: Bool) {
    self.writer = writer
    self.isJSON = isJSON
  }

  /// Writes the events, and waits until the writer has room.
  ///
  /// Some events have no text, because they are of no use to a user.
  ///
  /// - Throws: ``OutputError`` if the output cannot be written any longer.
  package func write(_ events: [NodeEvent]) async throws(OutputError) {
    var bytes: [UInt8] = []
    for event in events {
      if isJSON {
        EventLine.append(event, to: &bytes)
      } else if let line = EventText.line(event) {
        bytes.append(contentsOf: line.utf8)
        bytes.append(UInt8(ascii: "\n"))
      }
      // A few large lines must not all be in memory at once.
      guard bytes.count >= Self.pieceLength else { continue }
      try await writer.write(bytes)
      bytes = []
    }
    guard !bytes.isEmpty else { return }
    try await writer.write(bytes)
  }

  /// The number of bytes from which lines are written before more are created.
  private static let pieceLength = 1 << 18
}

import WhiteboardKit

/// A sink that writes events as lines of JSON or of text.
package struct LineSink: EventSink {
  private let writer: LineWriter
  private let isJSON: Bool

  /// Creates a sink that writes JSON, or text.
  package init(_ writer: LineWriter, isJSON: Bool) {
    self.writer = writer
    self.isJSON = isJSON
  }

  /// Writes the events, and waits until the writer has room.
  ///
  /// The text form leaves out the events that are only for programs.
  ///
  /// - Throws: ``OutputError`` if the output cannot be written to.
  package func write(_ events: [BoardEvent]) async throws(OutputError) {
    var bytes: [UInt8] = []
    for event in events {
      if isJSON {
        EventLine.append(event, to: &bytes)
      } else if let line = EventText.line(event) {
        bytes.append(contentsOf: line.utf8)
        bytes.append(UInt8(ascii: "\n"))
      }
      // Lines are written in pieces, so that many large lines are not in memory at the same time.
      guard bytes.count >= Self.pieceLength else { continue }
      try await writer.write(bytes)
      bytes = []
    }
    guard !bytes.isEmpty else { return }
    try await writer.write(bytes)
  }

  /// The number of bytes after which lines are written, before more events are encoded.
  private static let pieceLength = 1 << 18
}

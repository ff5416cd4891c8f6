import PeerCore
import WhiteboardKit

/// A sink that writes events as lines of JSON or of text.
package struct LineSink: EventSink {
  private let writer: LineWriter
  /// The writer of text; nil for JSON.
  private let narration: Narration?

  package init(_ writer: LineWriter, isJSON: Bool) {
    self.writer = writer
    narration = isJSON ? nil : Narration(writer)
  }

  /// Writes the events, and waits until the writer has room; throws if the output cannot be written to.
  ///
  /// The text form leaves out the events that are only for programs. It has one line for a text that another member
  /// types, and for a movement, when they are finished.
  package func write(_ events: [BoardEvent]) async throws(OutputError) {
    if let narration { return try await narration.write(events) }
    var bytes: [UInt8] = []
    for event in events {
      EventLine.append(event, to: &bytes)
      // Lines are written in pieces, so that many large lines are not in memory at the same time.
      guard bytes.count >= Self.pieceLength else { continue }
      try await writer.write(bytes)
      bytes = []
    }
    guard !bytes.isEmpty else { return }
    try await writer.write(bytes)
  }

  /// Writes the lines that wait for the end of a text or a movement, because the board is closed; throws if the output
  /// cannot be written to.
  package func finish() async throws(OutputError) { try await narration?.finish() }

  /// The number of bytes after which lines are written, before more events are encoded.
  fileprivate static let pieceLength = 1 << 18
}

/// The owner of the narrator of one board, which writes its lines.
private actor Narration {
  private let writer: LineWriter
  private let clock = ContinuousClock()
  private let began: ContinuousClock.Instant
  private var narrator = BoardNarrator()
  private var isTimerSet = false

  init(_ writer: LineWriter) {
    self.writer = writer
    began = clock.now
  }

  private var now: Duration { clock.now - began }

  func write(_ events: [BoardEvent]) async throws(OutputError) {
    var bytes: [UInt8] = []
    for event in events {
      Self.append(narrator.lines(for: event, now: now), to: &bytes)
      guard bytes.count >= LineSink.pieceLength else { continue }
      let piece = bytes
      bytes = []
      try await writer.write(piece)
    }
    setTimer()
    if !bytes.isEmpty { try await writer.write(bytes) }
  }

  func finish() async throws(OutputError) { try await write(lines: narrator.allLines()) }

  private func write(lines: [String]) async throws(OutputError) {
    guard !lines.isEmpty else { return }
    var bytes: [UInt8] = []
    Self.append(lines, to: &bytes)
    try await writer.write(bytes)
  }

  private static func append(_ lines: [String], to bytes: inout [UInt8]) {
    for line in lines {
      bytes.append(contentsOf: line.utf8)
      bytes.append(UInt8(ascii: "\n"))
    }
  }

  /// Writes the pending lines when they are due.
  private func setTimer() {
    guard let due = narrator.nextDue, !isTimerSet else { return }
    isTimerSet = true
    // No code waits for this task. It ends after its sleep, and the next call of `write` reports an error of the output.
    Task {
      try? await clock.sleep(until: began + due, tolerance: .zero)
      isTimerSet = false
      try? await write(lines: narrator.dueLines(now: now))
      setTimer()
    }
  }
}

import WhiteboardCommands
import WhiteboardNode

extension Console {
  /// Whether a board may take up the whole terminal: one that can move its cursor, and whose reader did
  /// not ask for lines.
  static func hasScreen(_ settings: Settings) -> Bool {
    let term = Environment["TERM"] ?? ""
    return isTerminal && !term.isEmpty && term != "dumb" && settings.value(.accessible) != true
  }
}

/// A terminal as input; its end of file ends the program, unless work would be lost.
struct TerminalLines: LineSource {
  let reader: LineReader
  let ended: @Sendable () async -> Bool

  func next() async throws(InputError) -> LineReader.Line? {
    while true {
      if let line = try await reader.next() { return line }
      if Task.isCancelled { return nil }
      if await ended() { return nil }
    }
  }
}

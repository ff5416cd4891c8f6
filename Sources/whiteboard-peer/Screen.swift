import CommandLines
import WhiteboardCommands
import WhiteboardKit

extension Console {
  /// Returns whether the program can use the whole terminal as a screen.
  ///
  /// This requires a terminal that can move its cursor, and a user who did not choose line mode.
  static func hasScreen(_ settings: Settings) -> Bool {
    let term = Environment["TERM"] ?? ""
    return isTerminal && !term.isEmpty && term != "dumb" && settings.value(.accessible) != true
  }
}

/// The lines that a user types on a terminal.
///
/// At the end of input, the program exits, unless changes would be lost.
struct TerminalLines: LineSource {
  let reader: LineReader
  let ended: @Sendable () async -> Bool

  func nextLine() async throws(InputError) -> LineReader.Line? {
    while true {
      if let line = try await reader.nextLine() { return line }
      if Task.isCancelled { return nil }
      if await ended() { return nil }
    }
  }
}

/// A recognizer of pastes in terminals that do not mark them, by the speed of the input.
///
/// A terminal without bracketed paste delivers pasted text as if the user typed it, but all at once. Without the
/// recognizer, each letter would run the command of its key.
struct PasteRecognizer: Sendable {
  /// The part of the screen that receives the keys.
  enum Context: Sendable {
    /// A line or a text on the board, which receives letters as text.
    case text
    /// The board or the lobby, where keys run commands.
    case commands
  }

  private var burst: [InputEvent] = []

  /// The number of characters from which on a burst is a paste where keys run commands.
  private static let leastCount = 4
  /// The maximum number of characters of a paste; further characters are dropped.
  private static let limit = 1 << 16
  /// The time without input after which a burst is over.
  static let pause = Duration.milliseconds(40)

  /// Whether a paste has begun that may continue; call ``finish()`` after a ``pause`` without input.
  var isWaiting: Bool { !burst.isEmpty }

  /// Handles the events that arrived together; returns the events to handle now.
  mutating func feed(_ events: [InputEvent], in context: Context, opensText: (InputEvent) -> Bool) -> [InputEvent] {
    if isWaiting {
      // Only text can continue a paste.
      guard events.allSatisfy({ Self.letter($0) != nil }) else { return finish() + events }
      burst += events.prefix(max(Self.limit - burst.count, 0))
      return []
    }
    guard Self.isPaste(events, in: context, opensText: opensText) else { return events }
    burst = events
    return []
  }

  mutating func finish() -> [InputEvent] {
    defer { burst = [] }
    return burst.isEmpty ? [] : [.paste(String(burst.compactMap(Self.letter)))]
  }

  private static func isPaste(_ events: [InputEvent], in context: Context, opensText: (InputEvent) -> Bool) -> Bool {
    let letters = events.compactMap(letter)
    guard letters.count == events.count, let first = events.first else { return false }
    let lines = letters.split(separator: "\n", omittingEmptySubsequences: false)
    // Text after the end of a line would run commands. Lines that begin with a colon are meant to do so.
    let hasMoreLines = lines.dropFirst().contains { !$0.isEmpty && $0.first != ":" }
    guard context == .commands else { return hasMoreLines }
    guard letters.count >= leastCount else { return false }
    if hasMoreLines { return true }
    // A key that repeats is held down.
    guard Set(letters).count > 1 else { return false }
    // The first letter may be the key that opens a line. A command line is entered with it; other text is not.
    guard opensText(first) else { return true }
    return lines.count > 1 && first != .key(.character(":"), [])
  }

  /// Returns the character that a key types; nil for any other event.
  private static func letter(_ event: InputEvent) -> Character? {
    switch event {
    case .key(.character(let character), []): character
    case .key(.enter, []): "\n"
    case .key(.tab, []): "\t"
    case .key(.character("j"), .control): "\n"
    default: nil
    }
  }
}

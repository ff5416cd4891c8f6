/// A counter that limits the combining marks of each character.
struct MarkLimit {
  /// The maximum number of marks of one character.
  private static let maximum = 2

  /// The number of marks of the current character; the maximum if there is no character.
  private var count = MarkLimit.maximum

  /// Begins a character, which can have marks.
  mutating func startCharacter() { count = 0 }

  /// Ends the character; marks are dropped until the next one begins.
  mutating func endCharacter() { count = Self.maximum }

  /// Counts a mark.
  ///
  /// - Returns: Whether the mark is kept.
  mutating func accept() -> Bool {
    guard count < Self.maximum else { return false }
    count += 1
    return true
  }
}

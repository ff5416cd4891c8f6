/// The games, by their names in commands.
public enum GameName: String, CaseIterable, Sendable {
  /// A game for everyone: guess a word of five letters.
  case wordle
  /// A game for two: four in a row.
  case connectFour = "connect-four"
}

/// A move of a game, as the player enters it.
public enum GameMove: Hashable, Sendable {
  /// A guessed word, in Wordle.
  case guess(String)
  /// A disc dropped into a column, numbered 1 to 7 from the left, in Connect Four.
  case drop(column: Int)
  /// A resignation, in Connect Four.
  case resign

  /// Creates the move that `text` describes in the game `name`; nil if there is no such move.
  ///
  /// In Wordle, `text` is a word. In Connect Four, it is a column number or `resign`.
  public init?(_ text: String, in name: String) {
    switch name {
    case Wordle.name: self = .guess(text)
    case ConnectFour.name:
      if text == "resign" {
        self = .resign
      } else if let column = Int(text) {
        self = .drop(column: column)
      } else {
        return nil
      }
    default: return nil
    }
  }
}

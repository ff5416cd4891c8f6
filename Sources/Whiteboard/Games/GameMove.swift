/// A move as a player makes it.
public enum GameMove: Hashable, Sendable {
  /// A word, in Wordle.
  case guess(String)
  /// A disc into a column, 1 to 7 from the left, in Connect Four.
  case drop(column: Int)
  /// Giving up, in Connect Four.
  case resign

  /// The move that `text` says in the game `name`, or nil: a word, or a column's number or `resign`.
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

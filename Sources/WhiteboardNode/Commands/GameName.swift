/// The games there are, as scripts spell them.
package enum GameName: String, CaseIterable, Sendable {
  /// A word of five letters to be guessed, for everybody.
  case wordle
  /// Four in a row, for two.
  case connectFour = "connect-four"
}

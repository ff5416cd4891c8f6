/// One setting of the board, and what it is to be.
package enum Setting: Equatable, Sendable {
  /// What the board is called.
  case title(String)
  /// What lies behind everything, `0xRRGGBBAA`; nil for the colour of who looks.
  case background(UInt32?)
  /// How far the lines of the grid are apart, in board units; zero for no grid.
  case grid(Double)
  /// The language of games, a BCP 47 tag.
  case language(String)

  /// The names of the settings in the `set` command.
  static let names = ["title", "background", "grid", "language"]
}

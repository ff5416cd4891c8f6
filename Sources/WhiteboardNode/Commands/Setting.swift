/// One setting of the board, and what it is to be.
package enum Setting: Equatable, Sendable {
  /// The title of the board.
  case title(String)
  /// The background color, `0xRRGGBBAA`; nil for the viewer's own color.
  case background(UInt32?)
  /// How far the lines of the grid are apart, in board units; zero for no grid.
  case grid(Double)
  /// The language of games, a BCP 47 tag.
  case language(String)

  /// The names of the settings in the `set` command.
  static let names = ["title", "background", "grid", "language"]
}

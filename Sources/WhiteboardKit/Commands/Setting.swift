/// A setting of the board with its new value.
public enum Setting: Equatable, Sendable {
  /// The title of the board.
  case title(String)
  /// The background color, `0xRRGGBBAA`; nil for the viewer's own color.
  case background(UInt32?)
  /// The grid spacing, in board units; zero for no grid.
  case grid(Double)
  /// The language of games, as a BCP 47 tag.
  case language(String)
}

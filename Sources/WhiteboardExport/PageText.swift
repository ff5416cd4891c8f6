import Whiteboard
import WhiteboardRendering

/// How words stand on a page: as on the terminal at its own size, where a cell is 8 by 16 board units.
package enum PageText {
  /// Board units that a letter takes.
  package static let column = 8.0
  /// Board units from a line to the next.
  package static let row = 16.0
  /// The size of letters of which each takes a column, in board units.
  package static let fontSize = 13.3
  /// Fonts whose letters are all as wide.
  package static let fonts = "DejaVu Sans Mono, Menlo, Consolas, monospace"
  /// How far the line that letters stand on is below the top of their row.
  package static let baseline = 12.0
  /// The most lines of one text that are shown.
  private static let lineLimit = 2_000

  /// The lines of a text, as broad as its box.
  package static func lines(of snapshot: ObjectSnapshot) -> [String] {
    guard let text = snapshot.text, !text.isEmpty else { return [] }
    let columns = Int(min(max(snapshot.size.width / column, 4), 4_096))
    return TextLines.wrapped(text, columns: columns, limit: lineLimit)
  }

  /// The columns of the longest line.
  package static func columns(_ lines: [String]) -> Int {
    lines.reduce(0) { max($0, CharacterWidth.columns($1)) }
  }
}

import CCairo
import Whiteboard
import WhiteboardRendering

/// Drawing of words on a page.
extension PagePainter {
  /// The maximum letter size in pixels that is requested from a font.
  private static let largestLetter = 8_000.0

  /// Draws a row of words, unless its letters are too large.
  func draw(_ words: PageWords, of snapshot: ObjectSnapshot) {
    guard BoardPicture.fontSize * snapshot.scale * scale <= Self.largestLetter else { return }
    chooseFont(isBold: words.isBold)
    set(words.color)
    var extents = cairo_font_extents_t()
    cairo_font_extents(page, &extents)
    // Center the letters vertically in the row.
    let room = BoardPicture.letter.height - extents.ascent - extents.descent
    cairo_move_to(page, words.corner.x, words.corner.y + room / 2 + extents.ascent)
    // `cairo_show_text` draws each letter separately, and would show a joiner as a box.
    let letters = words.text.unicodeScalars.filter { $0 != "\u{200C}" && $0 != "\u{200D}" }
    cairo_show_text(page, String(String.UnicodeScalarView(letters)))
  }

  /// Selects the system's monospaced font, in the size in which a letter is as wide as a cell.
  private func chooseFont(isBold: Bool) {
    cairo_select_font_face(
      page,
      "monospace",
      CAIRO_FONT_SLANT_NORMAL,
      isBold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL
    )
    cairo_set_font_size(page, BoardPicture.fontSize)
    var extents = cairo_text_extents_t()
    cairo_text_extents(page, "0", &extents)
    guard extents.x_advance > 0 else { return }
    cairo_set_font_size(page, BoardPicture.fontSize * BoardPicture.letter.width / extents.x_advance)
  }
}

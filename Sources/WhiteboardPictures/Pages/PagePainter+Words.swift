import CCairo
import Whiteboard
import WhiteboardRendering

/// Words on a page.
extension PagePainter {
  private static let fontSize = 13.3
  /// Letters larger than this on the page are more than a font can be asked for.
  private static let largestLetter = 8_000.0

  /// A text, in the lines that a terminal would have.
  func drawText(_ snapshot: ObjectSnapshot) {
    let lines = BoardPicture.lines(of: snapshot)
    guard !lines.isEmpty, canWrite(snapshot) else { return }
    enter(snapshot)
    font()
    let columns = lines.reduce(0) { max($0, CharacterWidth.columns($1)) }
    let width = Double(columns) * BoardPicture.letter.width
    let top = -Double(lines.count) * BoardPicture.letter.height / 2
    set(ink.color(snapshot.color))
    for (row, line) in lines.enumerated() {
      write(Self.cleaned(line), x: -width / 2, top: top + Double(row) * BoardPicture.letter.height)
    }
  }

  /// A panel of cells, in a frame.
  func drawPanel(_ label: Label, _ snapshot: ObjectSnapshot) {
    guard canWrite(snapshot) else { return }
    enter(snapshot)
    let width = Double(label.width) * BoardPicture.letter.width
    let height = Double(label.height) * BoardPicture.letter.height
    let (left, top) = (-width / 2, -height / 2)
    let margin = BoardPicture.panelMargin
    if let background = picture.background {
      set(PageInk.Color(rgb: background))
      rectangle(left - margin, top - margin, width + 2 * margin, height + 2 * margin)
      cairo_fill(page)
    }
    set(PageInk.Color(rgb: 0x888888))
    rectangle(left - margin, top - margin, width + 2 * margin, height + 2 * margin)
    cairo_set_line_width(page, 1)
    cairo_stroke(page)
    for (row, line) in label.lines.enumerated() {
      var x = left
      let y = top + Double(row) * BoardPicture.letter.height
      for span in line {
        let room = Double(CharacterWidth.columns(span.text)) * BoardPicture.letter.width
        if let background = span.style.background.rgb {
          set(PageInk.Color(rgb: background))
          rectangle(x, y + 0.5, room, BoardPicture.letter.height - 1)
          cairo_fill(page)
        }
        let isDim = span.style.attributes.contains(.dim)
        let isOnColor = span.style.background.rgb != nil
        set(
          span.style.foreground.rgb.map {
            isOnColor ? PageInk.Color(rgb: $0) : ink.color($0 << 8 | 0xFF)
          } ?? PageInk.Color(rgb: ink.plain, opacity: isDim ? 0.6 : 1)
        )
        font(isBold: span.style.attributes.contains(.bold))
        write(Self.cleaned(span.text), x: x, top: y)
        x += room
      }
    }
  }

  /// Words in the middle of a grey box that stands for a photo.
  func drawBox(_ words: String, _ snapshot: ObjectSnapshot) {
    enter(snapshot)
    let (width, height) = (snapshot.size.width, snapshot.size.height)
    set(PageInk.Color(rgb: 0x444444))
    rectangle(-width / 2, -height / 2, width, height)
    cairo_fill(page)
    guard canWrite(snapshot) else { return }
    font()
    let room = advance(words)
    guard room <= width, height >= BoardPicture.letter.height else { return }
    set(PageInk.Color(rgb: 0xFFFFFF))
    write(words, x: -room / 2, top: -BoardPicture.letter.height / 2)
  }

  func rectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double) {
    cairo_rectangle(page, x, y, width, height)
  }

  private func canWrite(_ snapshot: ObjectSnapshot) -> Bool {
    Self.fontSize * snapshot.scale * scale <= Self.largestLetter
  }

  /// The system's letters of one width, which is exactly that of a cell.
  private func font(isBold: Bool = false) {
    cairo_select_font_face(
      page,
      "monospace",
      CAIRO_FONT_SLANT_NORMAL,
      isBold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL
    )
    cairo_set_font_size(page, Self.fontSize)
    let width = advance("0")
    guard width > 0 else { return }
    cairo_set_font_size(page, Self.fontSize * BoardPicture.letter.width / width)
  }

  private func advance(_ text: String) -> Double {
    var extents = cairo_text_extents_t()
    cairo_text_extents(page, text, &extents)
    return extents.x_advance
  }

  /// Writes a line in the middle of a row.
  private func write(_ line: String, x: Double, top: Double) {
    var extents = cairo_font_extents_t()
    cairo_font_extents(page, &extents)
    let room = BoardPicture.letter.height - extents.ascent - extents.descent
    cairo_move_to(page, x, top + room / 2 + extents.ascent)
    cairo_show_text(page, line)
  }

  /// A line without what a font cannot show, and at which cairo would give up the whole page.
  private static func cleaned(_ line: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in line.unicodeScalars {
      if TerminalText.isSafe(scalar) {
        scalars.append(scalar)
      } else if scalar == "\t" {
        scalars.append(" ")
      } else if scalar.properties.generalCategory != .format {
        scalars.append("\u{FFFD}")
      }
    }
    return String(scalars)
  }
}

import CCairo
import PeerCore
import WhiteboardRendering

/// The fonts of the system, and the layout of rows of text in these fonts. Pango joins and reorders the letters of a
/// row as its script requires, and takes letters that the wanted font lacks from other fonts. An instance is confined
/// to one thread.
final class PageFonts {
  private let map = pango_cairo_font_map_new()
  private let context: OpaquePointer?
  private let layout: OpaquePointer?
  /// The descriptions of the fonts that were used, at the factor 1, by face.
  private var descriptions: [PageFace: OpaquePointer?] = [:]
  /// The number of rows with letters that no font has, and the text of the first such row.
  private var incomplete: (count: Int, first: String) = (0, "")

  init() {
    context = pango_font_map_create_context(map)
    // A row has the same width at each scale.
    let options = cairo_font_options_create()
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF)
    pango_cairo_context_set_font_options(context, options)
    cairo_font_options_destroy(options)
    pango_context_set_round_glyph_positions(context, 0)
    layout = pango_layout_new(context)
    pango_layout_set_auto_dir(layout, 0)
    pango_layout_set_single_paragraph_mode(layout, 1)
  }

  deinit {
    for description in descriptions.values { pango_font_description_free(description) }
    for object in [layout, context, map] { g_object_unref(UnsafeMutableRawPointer(object)) }
  }

  /// Returns a row and its width at the factor 1. The row is valid until the next call.
  func line(_ words: PageWords) -> (line: OpaquePointer?, width: Double) {
    pango_context_set_base_dir(context, words.isRightToLeft ? PANGO_DIRECTION_RTL : PANGO_DIRECTION_LTR)
    pango_layout_context_changed(layout)
    pango_layout_set_font_description(layout, description(words.face))
    pango_layout_set_text(layout, words.text, Int32(words.text.utf8.count))
    if pango_layout_get_unknown_glyphs_count(layout) > 0 {
      if incomplete.count == 0 { incomplete.first = words.text }
      incomplete.count += 1
    }
    let line = pango_layout_get_line_readonly(layout, 0)
    var area = PangoRectangle()
    pango_layout_line_get_extents(line, nil, &area)
    return (line, Double(area.width) / Double(PANGO_SCALE))
  }

  private func description(_ face: PageFace) -> OpaquePointer? {
    var face = face
    face.factor = 1
    if let description = descriptions[face] { return description }
    let style = (face.isBold ? " Bold" : "") + (face.isItalic ? " Italic" : "")
    let description = pango_font_description_from_string("\(face.families),\(style)")
    pango_font_description_set_absolute_size(description, BoardPicture.fontSize * Double(PANGO_SCALE))
    descriptions[face] = description
    return description
  }

  var warning: String? {
    guard incomplete.count > 0 else { return nil }
    let rows = incomplete.count == 1 ? "a row of text has" : "\(incomplete.count) rows of text have"
    return
      "\(rows) letters that are in no installed font, such as \(UntrustedText(incomplete.first).quoted(limit: 40)); "
      + "install a font that has them (on Debian, fonts-noto-core, fonts-noto-cjk or fonts-noto-color-emoji)"
  }
}

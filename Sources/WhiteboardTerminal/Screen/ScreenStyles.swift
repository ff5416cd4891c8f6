import WhiteboardRendering

extension CellStyle {
  static let bar = CellStyle(CellColor(rgb: 0xE8E8E8), on: CellColor(rgb: 0x303A46))
  /// Less important text.
  static let quiet = CellStyle(.terminal, on: .terminal, .dim)
  /// Headings and keys.
  static let strong = CellStyle(.terminal, on: .terminal, .bold)
  /// Errors, and work that is not saved.
  static let problem = CellStyle(CellColor(rgb: 0xFFFFFF), on: CellColor(rgb: 0x9A3324))

  var bold: CellStyle {
    var style = self
    style.attributes.insert(.bold)
    return style
  }
}

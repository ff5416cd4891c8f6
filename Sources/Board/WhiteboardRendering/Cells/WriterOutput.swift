struct WriterOutput {
  private let depth: ColorDepth
  private let width: Int
  private(set) var bytes: [UInt8] = []
  private var cursor: (x: Int, y: Int)?
  private var trust = Trust.sure
  /// The current style, as the caller requested it. `told` is the style that was sent to the terminal; if the terminal
  /// has a palette, the colors of `told` are palette indices.
  private var style = CellStyle.plain
  private var told = CellStyle.plain
  private var indices: [UInt32: UInt8] = [:]
  /// The address to which the terminal links the next glyphs.
  private var address: String?

  /// The certainty of the cursor position after a glyph.
  private enum Trust {
    case sure
    /// The cursor is probably at the expected position. If the cursor is elsewhere, only the current run of letters is
    /// affected, because the cursor is positioned again after the run.
    case inRun
    case none
  }

  init(depth: ColorDepth, width: Int) {
    self.depth = depth
    self.width = width
  }

  mutating func text(_ text: String) { bytes.append(contentsOf: text.utf8) }

  private mutating func digits(_ value: Int) {
    if value >= 10 { digits(value / 10) }
    bytes.append(UInt8(0x30 + value % 10))
  }

  // MARK: - The cursor

  mutating func move(to x: Int, _ y: Int, before glyph: Glyph) {
    guard let cursor, trust == .sure || (trust == .inRun && Self.trust(glyph) == .inRun) else { return jump(to: x, y) }
    let (across, down) = (x - cursor.x, y - cursor.y)
    guard across != 0 || down != 0 else { return }
    let step = Self.length(across) + Self.length(down)
    guard trust == .sure, step < 4 + Self.digitCount(x + 1) + Self.digitCount(y + 1) else { return jump(to: x, y) }
    go(down, "B", "A")
    go(across, "C", "D")
    self.cursor = (x, y)
  }

  private mutating func jump(to x: Int, _ y: Int) {
    text("\u{1B}[")
    digits(y + 1)
    text(";")
    digits(x + 1)
    text("H")
    (cursor, trust) = ((x, y), .sure)
  }

  private mutating func go(_ count: Int, _ forward: String, _ back: String) {
    guard count != 0 else { return }
    text("\u{1B}[")
    if count.magnitude != 1 { digits(Int(count.magnitude)) }
    text(count > 0 ? forward : back)
  }

  /// Returns the number of bytes of a relative cursor movement.
  private static func length(_ count: Int) -> Int {
    switch count.magnitude {
    case 0: 0
    case 1: 3
    default: 3 + digitCount(Int(count.magnitude))
    }
  }

  private static func digitCount(_ value: Int) -> Int { value < 10 ? 1 : value < 100 ? 2 : value < 1000 ? 3 : 4 }

  // MARK: - Glyphs

  private static func trust(_ glyph: Glyph) -> Trust {
    switch glyph.bits {
    // ASCII, frames, blocks and braille have one column on every terminal.
    case 0x20..<0x7F, 0x2500...0x28FF: .sure
    // Letters of European and East Asian scripts.
    case 0xA1...0x52F, 0x3041...0xD7A3, 0xFF01...0xFF60: .inRun
    default: .none
    }
  }

  static func isSure(_ glyph: Glyph) -> Bool { trust(glyph) == .sure }

  mutating func glyph(_ glyph: Glyph, _ screen: Screen, columns: Int) {
    if glyph.bits < 0x80 {
      bytes.append(UInt8(glyph.bits))
    } else if (0x800...0xFFFF).contains(glyph.bits) {
      bytes.append(UInt8(0xE0 | glyph.bits >> 12))
      bytes.append(UInt8(0x80 | glyph.bits >> 6 & 0x3F))
      bytes.append(UInt8(0x80 | glyph.bits & 0x3F))
    } else {
      if columns == 2, glyph.clusterIndex != nil, let cursor {
        // Clear both cells first, for a terminal that draws the cluster in one column.
        text("  ")
        jump(to: cursor.x, cursor.y)
      }
      text(screen.text(of: glyph))
    }
    trust = Self.trust(glyph)
    // After the last column, the cursor position depends on the terminal.
    let next = (cursor?.x ?? width) + columns
    cursor = trust == .none || next >= width ? nil : cursor.map { (next, $0.y) }
  }

  // MARK: - Links

  mutating func link(_ next: String?) {
    guard next != address else { return }
    address = next
    text("\u{1B}]8;;\(next ?? "")\u{1B}\\")
  }

  // MARK: - Styles

  mutating func style(_ next: CellStyle) {
    guard next != style else { return }
    style = next
    let wanted = CellStyle(shown(next.foreground), on: shown(next.background), next.attributes)
    guard wanted != told else { return }
    text("\u{1B}[")
    let first = bytes.count
    attributes(wanted)
    if wanted.foreground != told.foreground { color(wanted.foreground, 30) }
    if wanted.background != told.background { color(wanted.background, 40) }
    told = wanted
    // Replace the last separator by `m`. A sequence without numbers resets the style.
    if bytes.count > first { bytes[bytes.count - 1] = UInt8(ascii: "m") } else { text("m") }
  }

  private mutating func attributes(_ wanted: CellStyle) {
    let ended = told.attributes.subtracting(wanted.attributes)
    if wanted == .plain {
      told = .plain
      return
    }
    if !ended.isEmpty {
      // If a color does not change, turn the attributes off one by one. After a reset, the color would have to be sent
      // again.
      let isKept =
        (wanted.foreground == told.foreground && told.foreground != .terminal)
        || (wanted.background == told.background && told.background != .terminal)
      if isKept {
        if !ended.isDisjoint(with: [.bold, .dim]) {
          code(22)
          told.attributes.subtract([.bold, .dim])
        }
        if ended.contains(.underlined) { code(24) }
        if ended.contains(.reversed) { code(27) }
        told.attributes.subtract(ended)
      } else {
        code(0)
        told = .plain
      }
    }
    let added = wanted.attributes.subtracting(told.attributes)
    if added.contains(.bold) { code(1) }
    if added.contains(.dim) { code(2) }
    if added.contains(.underlined) { code(4) }
    if added.contains(.reversed) { code(7) }
  }

  private mutating func code(_ number: Int) {
    digits(number)
    bytes.append(UInt8(ascii: ";"))
  }

  private mutating func shown(_ color: CellColor) -> CellColor {
    guard let rgb = color.rgb else { return color }
    switch depth {
    case .full: return color
    case .none: return .terminal
    case .sixteen, .palette:
      if let known = indices[rgb] { return CellColor(rgb: UInt32(known)) }
      let index = depth == .sixteen ? PaletteColor.index16(rgb) : PaletteColor.index256(rgb)
      indices[rgb] = index
      return CellColor(rgb: UInt32(index))
    }
  }

  private mutating func color(_ color: CellColor, _ base: Int) {
    guard let value = color.rgb else { return code(base + 9) }
    switch depth {
    case .none: break
    case .sixteen: code(value < 8 ? base + Int(value) : base + 52 + Int(value))
    case .palette:
      code(base + 8)
      code(5)
      code(Int(value))
    case .full:
      code(base + 8)
      code(2)
      code(Int(value >> 16))
      code(Int(value >> 8 & 0xFF))
      code(Int(value & 0xFF))
    }
  }

  mutating func reset() {
    link(nil)
    if told != .plain { text("\u{1B}[m") }
    (style, told) = (.plain, .plain)
  }
}

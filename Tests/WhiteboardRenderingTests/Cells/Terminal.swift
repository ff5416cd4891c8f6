@testable import WhiteboardRendering

/// A terminal that supports only the output of ``ScreenWriter``; anything else fails.
struct Terminal {
  private(set) var screen: Screen
  private var x = 0
  private var y = 0
  private var style = CellStyle.plain
  /// The address to which the next characters are linked; empty without a link.
  private var address = ""

  init(_ screen: Screen) { self.screen = screen }

  /// The unknown output.
  private(set) var complaints: [String] = []

  mutating func write(_ bytes: [UInt8]) {
    var rest = Substring(String(decoding: bytes, as: UTF8.self))
    while let first = rest.first {
      guard first == "\u{1B}" else {
        rest.removeFirst()
        show(first)
        continue
      }
      let link = "\u{1B}]8;;"
      if rest.hasPrefix(link), let end = rest.dropFirst(link.count).firstIndex(of: "\u{1B}"),
        rest[end...].hasPrefix("\u{1B}\\")
      {
        address = String(rest.dropFirst(link.count)[..<end])
        rest = rest[end...].dropFirst(2)
        continue
      }
      guard rest.dropFirst().first == "[", let end = rest.dropFirst(2).firstIndex(where: { $0.isLetter }) else {
        complaints.append("an escape: \(rest.prefix(8).debugDescription)")
        return
      }
      let numbers = rest[rest.index(rest.startIndex, offsetBy: 2)..<end].split(separator: ";").compactMap { Int($0) }
      act(rest[end], numbers)
      rest = rest[rest.index(after: end)...]
    }
  }

  private mutating func show(_ character: Character) {
    let width = CharacterWidth.columns(character)
    guard width > 0, screen.area.contains(x: x, y: y), x + width <= screen.width else {
      complaints.append("\(character.debugDescription) at \(x), \(y)")
      return
    }
    screen.fill(CellArea(x: x, y: y, width: width, height: 1), with: ScreenCell(.space, style))
    screen.put(String(character), x: x, y: y, style)
    if !address.isEmpty { screen.link(CellArea(x: x, y: y, width: width, height: 1), to: address) }
    x += width
  }

  private mutating func act(_ final: Character, _ numbers: [Int]) {
    switch final {
    case "H": (x, y) = ((numbers.last ?? 1) - 1, (numbers.first ?? 1) - 1)
    case "A": y -= numbers.first ?? 1
    case "B": y += numbers.first ?? 1
    case "C": x += numbers.first ?? 1
    case "D": x -= numbers.first ?? 1
    case "J": screen.fill(screen.area)
    case "m": look(numbers.isEmpty ? [0] : numbers)
    default: complaints.append("\(numbers)\(final)")
    }
  }

  private mutating func look(_ numbers: [Int]) {
    var rest = numbers[...]
    while let code = rest.popFirst() {
      switch code {
      case 0: style = .plain
      case 1: style.attributes.insert(.bold)
      case 2: style.attributes.insert(.dim)
      case 4: style.attributes.insert(.underlined)
      case 7: style.attributes.insert(.reversed)
      case 22: style.attributes.subtract([.bold, .dim])
      case 24: style.attributes.remove(.underlined)
      case 27: style.attributes.remove(.reversed)
      case 39: style.foreground = .terminal
      case 49: style.background = .terminal
      case 38, 48:
        guard rest.first == 2, rest.count >= 4 else {
          complaints.append("colour \(rest)")
          return
        }
        let rgb = rest.dropFirst().prefix(3).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        rest = rest.dropFirst(4)
        if code == 38 { style.foreground = CellColor(rgb: rgb) } else { style.background = CellColor(rgb: rgb) }
      default: complaints.append("style \(code)")
      }
    }
  }
}

/// Describes the first cell in which two screens look different, or nil.
func difference(_ one: Screen, _ other: Screen) -> String? {
  guard one.width == other.width, one.height == other.height else { return "their sizes" }
  for index in one.cells.indices {
    let (first, second) = (one.cells[index], other.cells[index])
    let texts = (one.text(of: first.glyph), other.text(of: second.glyph))
    let addresses = (one.address(of: first), other.address(of: second))
    guard first.style == second.style, texts.0 == texts.1, addresses.0 == addresses.1 else {
      let place = (index % one.width, index / one.width)
      return "\(place): \(texts.0) \(first.style), \(texts.1) \(second.style)"
    }
  }
  return nil
}

import Whiteboard
import WhiteboardKit

/// The action of the left mouse button, or of the keyboard pen.
package enum Tool: String, Hashable, Sendable, CaseIterable {
  case pen, line, rectangle, ellipse, arrow, text, eraser
  case remover = "object eraser"
  case picker = "color picker"
  case select, hand, laser

  package var key: Character {
    switch self {
    case .pen: "p"
    case .line: "l"
    case .rectangle: "r"
    case .ellipse: "o"
    case .arrow: "a"
    case .text: "t"
    case .eraser: "e"
    case .remover: "E"
    case .picker: "i"
    case .select: "v"
    case .hand: "h"
    case .laser: "k"
    }
  }

  var name: String { self == .picker ? "colour-picker" : rawValue.replacing(" ", with: "-") }

  var hint: String {
    switch self {
    case .pen: "drag to draw"
    case .line, .arrow: "drag from one end to the other"
    case .rectangle, .ellipse: "drag from corner to corner"
    case .text: "click and type; Enter finishes, Alt+Enter starts a new line"
    case .eraser: "drag over the parts of lines to erase"
    case .remover: "drag over objects to delete them"
    case .picker: "click an object to use its color and width"
    case .select:
      "click objects or drag around them; drag the frame to resize them (Alt: from the center; Ctrl: with line widths)"
    case .hand: "drag the board"
    case .laser: "show others where you point"
    }
  }
}

/// The colors and widths that the user can choose with keys.
///
/// Color-blind users can distinguish the colors on dark and light backgrounds. The hues are those of Okabe and Ito
/// (2008), a little brighter for dark terminals. The first color is the text color of the terminal.
package enum Pens {
  /// The name and the `0xRRGGBB` value of the color for each digit key from 0 on; nil is the text color of the
  /// terminal.
  package static let colors: [(name: String, rgb: UInt32?)] = [
    ("plain", nil), ("orange", 0xE69F00), ("sky", 0x56B4E9), ("green", 0x1FAE84), ("yellow", 0xF0E442),
    ("blue", 0x3B8FD9), ("red", 0xE8601C), ("pink", 0xCC79A7), ("grey", 0x999999), ("violet", 0x9A7BE0),
  ]

  /// The line widths that the keys step through, in board units.
  package static let widths: [Double] = [2, 5, 8, 12, 20, 32]

  static func name(of rgb: UInt32?) -> String {
    if let known = colors.first(where: { $0.rgb == rgb }) { return known.name }
    return String(ColorText.text((rgb ?? 0) << 8 | 0xFF).dropLast(2))
  }

  /// Returns the color of a member.
  ///
  /// It is always the same, and never the gray of remarks.
  static func color(of member: MemberID) -> UInt32 {
    let sum = member.description.utf8.reduce(UInt32(5381)) { $0 &* 33 &+ UInt32($1) }
    let hues = colors.filter { $0.name != "grey" }.compactMap(\.rgb)
    return hues[Int(sum % UInt32(hues.count))]
  }
}

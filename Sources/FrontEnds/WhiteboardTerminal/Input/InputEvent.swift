/// An input of the user, or a reply of the terminal.
package enum InputEvent: Hashable, Sendable {
  case key(Key, Modifiers)
  case mouse(MouseEvent)
  /// Text was pasted; text longer than ``InputParser/pasteLimit`` is truncated.
  case paste(String)
  case focus(Bool)
  case reply(TerminalReply)

  package enum Key: Hashable, Sendable {
    case character(Character)
    case enter, tab, escape, backspace, delete, insert, up, down, left, right, home, end, pageUp, pageDown
    case function(Int)
  }

  package struct Modifiers: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let shift = Modifiers(rawValue: 1)
    package static let alt = Modifiers(rawValue: 2)
    package static let control = Modifiers(rawValue: 4)
  }
}

package struct MouseEvent: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case press(Button)
    case release(Button)
    case drag(Button)
    case move
    case scroll(dx: Int, dy: Int)
  }

  package enum Button: Hashable, Sendable { case left, middle, right }

  package let kind: Kind
  /// The distance from the left edge, in cells or in pixels, depending on the reporting mode.
  package let x: Int
  package let y: Int
  package let modifiers: InputEvent.Modifiers
  /// The distance from the left edge in cells; the middle of the cell if the fraction is unknown.
  package let column: Double
  package let row: Double

  package init(_ kind: Kind, x: Int, y: Int, modifiers: InputEvent.Modifiers = []) {
    self.init(kind, x: x, y: y, column: Double(x) + 0.5, row: Double(y) + 0.5, modifiers: modifiers)
  }

  private init(_ kind: Kind, x: Int, y: Int, column: Double, row: Double, modifiers: InputEvent.Modifiers) {
    (self.kind, self.x, self.y) = (kind, x, y)
    (self.column, self.row, self.modifiers) = (column, row, modifiers)
  }

  /// Converts an event in pixels to cells of the given size.
  func inCells(width: Double, height: Double) -> MouseEvent {
    let (column, row) = ((Double(x) + 0.5) / width, (Double(y) + 0.5) / height)
    return MouseEvent(kind, x: Int(column), y: Int(row), column: column, row: row, modifiers: modifiers)
  }
}

package enum TerminalReply: Hashable, Sendable {
  /// The primary device attributes: the numbers of supported features.
  case attributes([Int])
  /// The number and the state of a private mode; state 0 means that the mode is unknown.
  case mode(Int, Int)
  case keyboard(Int)
  /// The height and width of a cell in pixels.
  case cellSize(height: Int, width: Int)
  /// The height and width of the window in pixels.
  case windowSize(height: Int, width: Int)
  case background(UInt32)
  /// Whether the terminal accepted an image sent with the kitty graphics protocol.
  case graphics(Bool)
}

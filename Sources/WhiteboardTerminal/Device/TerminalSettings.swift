import CommandLines
import WhiteboardKit
import WhiteboardRendering

/// The user's settings for the terminal; `auto` uses what the terminal supports.
package struct TerminalSettings: Hashable, Sendable {
  /// The way in which photos are shown.
  package enum Graphics: String, Hashable, Sendable, CaseIterable {
    /// The best way that the terminal supports.
    case auto
    /// The kitty graphics protocol.
    case kitty
    /// Sixel graphics.
    case sixel
    /// Colored cells.
    case blocks
    /// A label instead of the photo.
    case none
  }

  /// The characters with which lines are drawn.
  package enum Pen: String, Hashable, Sendable, CaseIterable {
    /// The finest characters that the locale and the terminal support.
    case auto
    /// Braille, with eight dots in a cell.
    case braille
    /// Half blocks, with two dots in a cell.
    case half
    /// ASCII characters.
    case ascii

    /// The chosen style; nil for `auto`.
    package var dotStyle: DotStyle? { DotStyle(rawValue: rawValue) }
  }

  /// Mouse reporting.
  package enum Mouse: String, Hashable, Sendable, CaseIterable {
    /// Positions in pixels if the terminal supports them, otherwise in cells.
    case auto
    /// Positions in pixels, even if the terminal does not report that it supports them.
    case pixel
    /// Positions in cells.
    case cell
    /// No reporting; the terminal uses the mouse for its own selection.
    case off
  }

  /// The number of colors.
  package enum Color: String, Hashable, Sendable, CaseIterable {
    /// The number of colors that the environment indicates.
    case auto
    /// No colors.
    case none
    /// The 16 ANSI colors.
    case sixteen = "16"
    /// The palette of 256 colors.
    case palette = "256"
    /// All 24-bit colors.
    case full = "24bit"

    /// The chosen depth; nil for `auto`.
    package var depth: ColorDepth? { ColorDepth(rawValue: rawValue) }
  }

  /// The way in which photos are shown.
  package var graphics = Graphics.auto
  /// The characters with which lines are drawn.
  package var pen = Pen.auto
  /// Mouse reporting.
  package var mouse = Mouse.auto
  /// The number of colors.
  package var color = Color.auto
  /// Whether movement is shown, such as the trail of a laser pointer; otherwise only the final position is shown.
  package var allowsMotion = true
  /// The user's key bindings, whose names are not checked yet.
  package var keys: [KeyBinding] = []

  /// Creates settings that use the terminal's defaults.
  package init() {}
}

import WhiteboardNode
import WhiteboardRendering

/// The user's settings for the terminal; `auto` uses what the terminal supports.
package struct TerminalSettings: Hashable, Sendable {
  /// How photos are shown.
  package enum Graphics: String, Hashable, Sendable, CaseIterable {
    /// By the best that the terminal says it has.
    case auto
    /// By the graphics protocol of kitty.
    case kitty
    /// By sixels.
    case sixel
    /// By coloured cells.
    case blocks
    /// By a label alone.
    case none
  }

  /// How lines are drawn in cells.
  package enum Pen: String, Hashable, Sendable, CaseIterable {
    /// By the finest that the locale and the terminal have.
    case auto
    /// By eight dots a cell.
    case braille
    /// By two blocks a cell.
    case half
    /// By letters and signs.
    case ascii

    /// The style that was asked for, or nil.
    package var dotStyle: DotStyle? { DotStyle(rawValue: rawValue) }
  }

  /// How the mouse is heard.
  package enum Mouse: String, Hashable, Sendable, CaseIterable {
    /// As finely as the terminal tells.
    case auto
    /// In pixels, also where the terminal does not say that it can.
    case pixel
    /// In cells.
    case cell
    /// Not at all: the terminal keeps it for its own selection.
    case off
  }

  /// How many colours are used.
  package enum Color: String, Hashable, Sendable, CaseIterable {
    /// As many as the environment says there are.
    case auto
    /// None.
    case none
    /// The sixteen of old.
    case sixteen = "16"
    /// The palette of 256.
    case palette = "256"
    /// All.
    case full = "24bit"

    /// The depth that was asked for, or nil.
    package var depth: ColorDepth? { ColorDepth(rawValue: rawValue) }
  }

  /// How photos are shown.
  package var graphics = Graphics.auto
  /// How lines are drawn.
  package var pen = Pen.auto
  /// How the mouse is heard.
  package var mouse = Mouse.auto
  /// How many colours are used.
  package var color = Color.auto
  /// Whether what moves may be shown moving; else it is shown where it ends.
  package var allowsMotion = true
  /// Keys that do something else than usual; their names are not checked yet.
  package var keys: [KeyBinding] = []

  /// Settings that use the terminal's defaults.
  package init() {}
}

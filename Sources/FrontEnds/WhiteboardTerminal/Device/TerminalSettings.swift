import CommandLines
import WhiteboardKit
import WhiteboardRendering

/// The user's settings for the terminal; `auto` uses what the terminal supports.
package struct TerminalSettings: Hashable, Sendable {
  package enum Graphics: String, Hashable, Sendable, CaseIterable {
    /// The best format that the terminal supports.
    case auto
    case kitty, sixel
    /// Colored cells.
    case blocks
    /// A label instead of the photo.
    case none
  }

  package enum Pen: String, Hashable, Sendable, CaseIterable {
    /// The characters with the highest resolution that the locale and the terminal support.
    case auto
    case braille, half, ascii

    /// The chosen style; nil for `auto`.
    package var dotStyle: DotStyle? { DotStyle(rawValue: rawValue) }
  }

  package enum Mouse: String, Hashable, Sendable, CaseIterable {
    /// Positions in pixels if the terminal supports them, otherwise in cells.
    case auto
    /// Positions in pixels, even if the terminal does not report that it supports them.
    case pixel
    case cell
    /// No reporting; the terminal uses the mouse for its own selection.
    case off
  }

  package enum Color: String, Hashable, Sendable, CaseIterable {
    case auto, none
    case sixteen = "16"
    case palette = "256"
    case full = "24bit"

    package var depth: ColorDepth? { ColorDepth(rawValue: rawValue) }
  }

  package var graphics = Graphics.auto
  package var pen = Pen.auto
  package var mouse = Mouse.auto
  package var color = Color.auto
  /// Whether movement is shown, such as the trail of a laser pointer; otherwise only the final position is shown.
  package var allowsMotion = true
  /// The user's key bindings, whose names are not checked yet.
  package var keys: [KeyBinding] = []

  package init() {}
}

extension SettingKey<TerminalSettings.Graphics> {
  package static let graphics = SettingKey("graphics", "How photos are shown", standard: .value("auto"))
}

extension SettingKey<TerminalSettings.Pen> {
  package static let pen = SettingKey("pen", "How lines are drawn", standard: .value("auto"))
}

extension SettingKey<TerminalSettings.Mouse> {
  package static let mouse = SettingKey("mouse", "Mouse reporting", standard: .value("auto"))
}

extension SettingKey<TerminalSettings.Color> {
  package static let color = SettingKey(
    "color",
    "Number of colors",
    standard: .value("auto"),
    otherwise: .init("NO_COLOR", means: "none")
  )
}

extension SettingKey<Bool> {
  package static let motion = SettingKey("motion", "Show movement", standard: true)
}

extension SettingEntry {
  package static let ofTerminal: [SettingEntry] = [
    SettingKey.graphics.entry, SettingKey.pen.entry, SettingKey.mouse.entry, SettingKey.color.entry,
    SettingKey.motion.entry,
  ]
}

extension TerminalSettings {
  package init(_ settings: Settings) {
    self.init()
    graphics = settings.value(.graphics) ?? .auto
    pen = settings.value(.pen) ?? .auto
    mouse = settings.value(.mouse) ?? .auto
    color = settings.value(.color) ?? .auto
    allowsMotion = settings.value(.motion) ?? true
    keys = settings.keys
  }
}

import CommandLines
import WhiteboardKit

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
  /// Whether movement is shown, such as the trail of a laser pointer.
  package static let motion = SettingKey("motion", "Show movement", standard: true)
}

extension SettingEntry {
  package static let ofTerminal: [SettingEntry] = [
    SettingKey.graphics.entry, SettingKey.pen.entry, SettingKey.mouse.entry, SettingKey.color.entry,
    SettingKey.motion.entry,
  ]
}

extension TerminalSettings {
  /// Creates the terminal settings from options, environment and configuration file.
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

import WhiteboardNode

extension SettingKey<TerminalSettings.Graphics> {
  /// How photos are shown.
  package static let graphics = SettingKey(
    "graphics",
    "How photos are shown",
    standard: .value("auto")
  )
}

extension SettingKey<TerminalSettings.Pen> {
  /// How lines are drawn.
  package static let pen = SettingKey("pen", "How lines are drawn", standard: .value("auto"))
}

extension SettingKey<TerminalSettings.Mouse> {
  /// How the mouse is heard.
  package static let mouse = SettingKey("mouse", "How the mouse is heard", standard: .value("auto"))
}

extension SettingKey<TerminalSettings.Color> {
  /// How many colours are used.
  package static let color = SettingKey(
    "color",
    "How many colours are used",
    standard: .value("auto"),
    otherwise: .init("NO_COLOR", means: "none")
  )
}

extension SettingKey<Bool> {
  /// Whether what moves is shown moving.
  package static let motion = SettingKey(
    "motion",
    "Whether what moves is shown moving",
    standard: true
  )
}

extension SettingEntry {
  /// The settings of the terminal.
  package static let ofTerminal: [SettingEntry] = [
    SettingKey.graphics.entry, SettingKey.pen.entry, SettingKey.mouse.entry,
    SettingKey.color.entry, SettingKey.motion.entry,
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

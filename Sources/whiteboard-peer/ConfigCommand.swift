import ArgumentParser
import WhiteboardNode
import WhiteboardRendering

/// `whiteboard-peer config`.
struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Tell the settings, and the file that they are in.",
    discussion: """
      The file has lines NAME = VALUE and comments after #, as TOML has them; a value needs double \
      quotes only where it begins or ends with a blank, or has a # after one. After a line [keys] \
      the lines are COMMAND = KEY, KEY and bind keys; keys.COMMAND = KEY does so anywhere.

      A flag beats the environment, which beats the file, which beats the default. What the file \
      does not say right is an error that names the line and what is allowed, with exit status 78.

      The settings:
      \(CommonOptions.entries.map(Self.line).joined(separator: "\n"))
      """,
    subcommands: [Show.self, Path.self],
    defaultSubcommand: Show.self
  )

  /// A setting in the help, with the option and the variable that set it too.
  private static func line(_ entry: SettingEntry) -> String {
    let variables = [entry.variable, entry.otherwise?.variable].compactMap { $0 }
    return
      "  \(entry.name) is \(entry.allowed) [\(entry.flag), \(variables.joined(separator: ", "))]"
  }

  /// `whiteboard-peer config show`.
  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Tell what holds, in lines that can be a file of settings."
    )

    @Flag(
      help: "Tell of each setting who said so: a file and its line, a variable, a flag, or none."
    )
    var origin = false

    @OptionGroup var options: BoardOptions

    mutating func run() async throws {
      let settings = try options.settings()
      let isJSON = options.common.json
      let lines =
        CommonOptions.entries.map { SettingLine($0, settings) }
        .map { isJSON ? $0.json : $0.text(withOrigin: origin) }
        + settings.keys.enumerated().map { index, binding in
          isJSON
            ? KeyLine(binding).json
            : (index == 0 ? "\n[keys]\n" : "") + KeyLine(binding).text(withOrigin: origin)
        }
      try Console.tell(lines.joined())
    }
  }

  /// `whiteboard-peer config path`.
  struct Path: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Tell where the file of settings is, or would be."
    )

    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      guard let place = SettingsFile.Place(common.config, environment: { Environment[$0] }) else {
        throw NodeError(.badConfiguration, "HOME is not set; name the file with --config")
      }
      struct Line: Encodable { let path: String }
      try Console.tell(
        common.json
          ? String(decoding: EventLine.json("config-path", Line(path: place.path)), as: UTF8.self)
          : TerminalText.cleaned(place.path, limit: 4096) + "\n"
      )
    }
  }
}

/// One setting, as a line tells it.
private struct SettingLine: Encodable {
  let name: String
  /// Nil where it depends, and where it is a secret.
  let value: String?
  /// `flag`, `environment`, `file` or `default`.
  let origin: String
  /// Which flag, which variable, which file and line; for a default that depends, what it is.
  let place: String?

  init(_ entry: SettingEntry, _ settings: Settings) {
    name = entry.name
    guard let choice = settings.choices[entry.name] else {
      origin = "default"
      switch entry.standard {
      case .value(let text): (value, place) = (text, nil)
      case .words(let text): (value, place) = (nil, text)
      }
      return
    }
    value = entry.isSecret ? nil : choice.text
    origin =
      switch choice.origin {
      case .flag: "flag"
      case .environment: "environment"
      case .file: "file"
      }
    place = choice.origin.description
  }

  var json: String { String(decoding: EventLine.json("setting", self), as: UTF8.self) }

  func text(withOrigin: Bool) -> String {
    let place = place.map { TerminalText.cleaned($0, limit: 4096) }
    guard let value else {
      let said = origin == "default" ? "" : "set and not shown; "
      return "# \(name): \(said)\(origin == "default" ? "default, " : "")\(place ?? "")\n"
    }
    let line = "\(name) = \(SettingLine.quoted(value))"
    return withOrigin ? "\(padded(line))# \(place ?? origin)\n" : "\(line)\n"
  }

  /// A value as the file takes it.
  static func quoted(_ value: String) -> String {
    let isBare =
      !value.isEmpty && value.first?.isWhitespace == false && value.last?.isWhitespace == false
      && !value.contains { $0 == "\"" || $0 == "#" }
    if isBare { return TerminalText.cleaned(value) }
    let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return "\"\(TerminalText.cleaned(escaped))\""
  }
}

/// One binding of keys, as a line tells it.
private struct KeyLine: Encodable {
  let command: String
  let keys: [String]
  let place: String

  init(_ binding: KeyBinding) {
    command = binding.command
    keys = binding.keys
    place = binding.place
  }

  var json: String { String(decoding: EventLine.json("key-binding", self), as: UTF8.self) }

  func text(withOrigin: Bool) -> String {
    let names = SettingLine.quoted(keys.joined(separator: ", "))
    let line = "\(TerminalText.cleaned(command)) = \(names)"
    return withOrigin
      ? "\(padded(line))# \(TerminalText.cleaned(place, limit: 4096))\n" : "\(line)\n"
  }
}

/// A line with blanks up to where what is said of it stands.
private func padded(_ line: String) -> String {
  line + String(repeating: " ", count: max(2, 32 - line.count))
}

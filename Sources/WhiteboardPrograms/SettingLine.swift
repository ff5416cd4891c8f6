import CommandLines
import PeerCore
import WhiteboardKit

package struct SettingLine: Encodable {
  let name: String
  /// The value; nil if the setting is a secret, or if its default is not a fixed value.
  let value: String?
  /// The source of the value: `flag`, `environment`, `file` or `default`.
  let origin: String
  /// The flag, variable, or file and line that set the value; for a default that is not a fixed value, its description.
  let place: String?

  package init(_ entry: SettingEntry, _ settings: Settings) {
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

  package var json: String { String(decoding: EventLine.json("setting", self), as: UTF8.self) }

  package func text(withOrigin: Bool) -> String {
    let place = place.map { UntrustedText($0).escaped(limit: 4096) }
    guard let value else {
      let said = origin == "default" ? "" : "set, but not shown; "
      return "# \(name): \(said)\(origin == "default" ? "default, " : "")\(place ?? "")\n"
    }
    let line = "\(name) = \(SettingLine.quoted(value))"
    return withOrigin ? "\(padded(line))# \(place ?? origin)\n" : "\(line)\n"
  }

  /// Returns a value in the syntax of the configuration file.
  static func quoted(_ value: String) -> String {
    let isBare =
      !value.isEmpty && value.first?.isWhitespace == false && value.last?.isWhitespace == false
      && !value.contains { $0 == "\"" || $0 == "#" }
    if isBare { return UntrustedText(value).escaped() }
    let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return "\"\(UntrustedText(escaped).escaped())\""
  }
}

/// A key binding, printed as a line of output.
package struct KeyLine: Encodable {
  let command: String
  let keys: [String]
  let place: String

  package init(_ binding: KeyBinding) {
    command = binding.command
    keys = binding.keys
    place = binding.place
  }

  package var json: String { String(decoding: EventLine.json("key-binding", self), as: UTF8.self) }

  package func text(withOrigin: Bool) -> String {
    let names = SettingLine.quoted(keys.joined(separator: ", "))
    let line = "\(UntrustedText(command).escaped()) = \(names)"
    return withOrigin ? "\(padded(line))# \(UntrustedText(place).escaped(limit: 4096))\n" : "\(line)\n"
  }
}

/// Returns a line padded with spaces to the column where its comment begins.
private func padded(_ line: String) -> String { line + String(repeating: " ", count: max(2, 32 - line.count)) }

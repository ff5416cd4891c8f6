import PeerCore
import WhiteboardKit

/// The values of the settings, with their origins. A command-line option overrides the environment, the environment
/// overrides the file, and the file overrides the default. All values are valid.
package struct Settings: Sendable {
  package enum Origin: Hashable, Sendable {
    case flag(String)
    case environment(String)
    case file(String, line: Int)

    package var description: String {
      switch self {
      case .flag(let name): name
      case .environment(let name): name
      case .file(let path, let line): "\(path):\(line)"
      }
    }
  }

  package struct Choice: Equatable, Sendable {
    package let text: String
    package let origin: Origin
  }

  /// The values that differ from the defaults, by the name of the setting.
  package private(set) var choices: [String: Choice] = [:]
  package let keys: [KeyBinding]

  /// Throws for an unknown name, or a value that is not allowed. The code of the error is `usage` if a command-line
  /// option is wrong, and otherwise `badConfiguration`.
  package init(
    _ entries: [SettingEntry],
    flags: [String: String] = [:],
    environment: (String) -> String?,
    file: SettingsFile?
  ) throws(WhiteboardError) {
    keys = file?.keys ?? []
    let known = Dictionary(uniqueKeysWithValues: entries.map { ($0.name, $0) })
    for line in file?.lines ?? [] {
      let origin = Origin.file(file?.path ?? "", line: line.number)
      guard let entry = known[line.name] else {
        throw WhiteboardError(.badConfiguration, "\(origin.description): \(Self.unknown(line.name, entries))")
      }
      try set(entry, Choice(text: line.value, origin: origin))
    }
    for entry in entries {
      if let text = flags[entry.name] {
        try set(entry, Choice(text: text, origin: .flag(entry.flag)))
      } else if let text = environment(entry.variable) {
        try set(entry, Choice(text: text, origin: .environment(entry.variable)))
      } else if let other = entry.otherwise, environment(other.variable) != nil {
        try set(entry, Choice(text: other.value, origin: .environment(other.variable)))
      }
    }
  }

  private mutating func set(_ entry: SettingEntry, _ choice: Choice) throws(WhiteboardError) {
    do throws(SettingFault) { try entry.check(choice.text) } catch {
      let place = choice.origin.description
      let given = entry.isSecret ? "" : ", not \(UntrustedText(choice.text).quoted())"
      let why = error.reason.map { ": \($0)" } ?? " is \(entry.allowed)\(given)"
      switch choice.origin {
      case .flag: throw WhiteboardError(.usage, place + why)
      case .environment: throw WhiteboardError(.badConfiguration, place + why)
      case .file: throw WhiteboardError(.badConfiguration, "\(place): \(entry.name)\(why)")
      }
    }
    choices[entry.name] = choice
  }

  private static func unknown(_ name: String, _ entries: [SettingEntry]) -> String {
    let nearest = Spelling.nearest(to: name, in: entries.map(\.name))
    return "there is no setting \(UntrustedText(name).quoted()); "
      + (nearest.map { "did you mean \($0)? The settings are " } ?? "the settings are ")
      + entries.map(\.name).joined(separator: ", ") + ", and [keys]"
  }

  package func value<Value>(_ key: SettingKey<Value>) -> Value? {
    // The initializer already checked the value with this parser.
    choices[key.entry.name].flatMap { try? key.parse($0.text) }
  }

  package func origin<Value>(_ key: SettingKey<Value>) -> Origin? { choices[key.entry.name]?.origin }
}

import WhiteboardNode
import WhiteboardRendering

/// What holds for each setting, and who said so: a flag beats the environment, which beats the file, which
/// beats the default.
///
/// Every value that it has was checked when it was made.
package struct Settings: Sendable {
  /// Who said what a setting is.
  package enum Origin: Hashable, Sendable {
    /// The command line, by this option.
    case flag(String)
    /// This variable.
    case environment(String)
    /// This line of the file.
    case file(String, line: Int)

    /// Where to look, as `config show --origin` tells it.
    package var description: String {
      switch self {
      case .flag(let name): name
      case .environment(let name): name
      case .file(let path, let line): "\(path):\(line)"
      }
    }
  }

  /// A setting that somebody made.
  package struct Choice: Equatable, Sendable {
    /// What it is.
    package let text: String
    /// Who said so.
    package let origin: Origin
  }

  /// What was chosen, by the name of the setting.
  package private(set) var choices: [String: Choice] = [:]
  /// The keys of the file.
  package let keys: [KeyBinding]

  /// Finds out what holds.
  ///
  /// - Parameters:
  ///   - entries: The settings that there are.
  ///   - flags: What the command line says, by the names of settings.
  ///   - environment: The value of a variable, nil where it is not set or empty.
  ///   - file: The file, where there is one.
  /// - Throws: ``NodeError`` for a value that a setting cannot have, or a name that none has: `usage` where a flag
  ///   is wrong, else `badConfiguration`.
  package init(
    _ entries: [SettingEntry],
    flags: [String: String] = [:],
    environment: (String) -> String?,
    file: SettingsFile?
  ) throws(NodeError) {
    keys = file?.keys ?? []
    let known = Dictionary(uniqueKeysWithValues: entries.map { ($0.name, $0) })
    for line in file?.lines ?? [] {
      let origin = Origin.file(file?.path ?? "", line: line.number)
      guard let entry = known[line.name] else {
        throw NodeError(
          .badConfiguration,
          "\(origin.description): \(Self.unknown(line.name, entries))"
        )
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

  private mutating func set(_ entry: SettingEntry, _ choice: Choice) throws(NodeError) {
    do throws(SettingFault) {
      try entry.check(choice.text)
    } catch {
      let place = choice.origin.description
      let given = entry.isSecret ? "" : ", not \(TerminalText.quoted(choice.text))"
      let why = error.reason.map { ": \($0)" } ?? " is \(entry.allowed)\(given)"
      switch choice.origin {
      case .flag: throw NodeError(.usage, place + why)
      case .environment: throw NodeError(.badConfiguration, place + why)
      case .file: throw NodeError(.badConfiguration, "\(place): \(entry.name)\(why)")
      }
    }
    choices[entry.name] = choice
  }

  private static func unknown(_ name: String, _ entries: [SettingEntry]) -> String {
    let nearest = Spelling.nearest(to: name, in: entries.map(\.name))
    return "there is no setting \(TerminalText.quoted(name)); "
      + (nearest.map { "did you mean \($0)? There are " } ?? "there are ")
      + entries.map(\.name).joined(separator: ", ") + ", and [keys]"
  }

  /// What a setting is, or nil where nobody said.
  package func value<Value>(_ key: SettingKey<Value>) -> Value? {
    // What was chosen was checked by the same function.
    choices[key.entry.name].flatMap { try? key.parse($0.text) }
  }

  /// Returns the origin of a setting's value, or nil if it is the default.
  package func origin<Value>(_ key: SettingKey<Value>) -> Origin? {
    choices[key.entry.name]?.origin
  }
}

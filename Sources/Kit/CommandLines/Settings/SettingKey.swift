import PeerSession
import WhiteboardKit

package struct SettingFault: Error, Equatable, Sendable {
  package var reason: String?

  package init(_ reason: String? = nil) { self.reason = reason }
}

package struct SettingKey<Value: Sendable>: Sendable {
  package let entry: SettingEntry
  package let parse: @Sendable (String) throws(SettingFault) -> Value

  package init(
    _ name: String,
    _ summary: String,
    allowed: String,
    standard: SettingEntry.Standard,
    flag: String? = nil,
    choices: [String] = [],
    otherwise: SettingEntry.Presence? = nil,
    isSecret: Bool = false,
    parse: @escaping @Sendable (String) throws(SettingFault) -> Value
  ) {
    self.parse = parse
    entry = SettingEntry(
      name: name,
      summary: summary,
      allowed: allowed,
      standard: standard,
      flag: flag ?? "--\(name)",
      choices: choices,
      otherwise: otherwise,
      isSecret: isSecret,
      check: { text throws(SettingFault) in _ = try parse(text) }
    )
  }
}

extension SettingKey where Value: RawRepresentable<String> & CaseIterable {
  package init(
    _ name: String,
    _ summary: String,
    standard: SettingEntry.Standard,
    otherwise: SettingEntry.Presence? = nil
  ) {
    let choices = Value.allCases.map(\.rawValue)
    self.init(
      name,
      summary,
      allowed: "one of \(choices.joined(separator: ", "))",
      standard: standard,
      choices: choices,
      otherwise: otherwise
    ) { text throws(SettingFault) in
      guard let value = Value(rawValue: text) else { throw SettingFault() }
      return value
    }
  }
}

extension SettingKey<Bool> {
  package init(_ name: String, _ summary: String, standard: Bool, otherwise: SettingEntry.Presence? = nil) {
    self.init(
      name,
      summary,
      allowed: "true or false",
      standard: .value("\(standard)"),
      flag: standard ? "--no-\(name)" : nil,
      choices: ["true", "false"],
      otherwise: otherwise
    ) { text throws(SettingFault) in
      guard let value = Bool(text) else { throw SettingFault() }
      return value
    }
  }
}

package struct SettingEntry: Sendable {
  package enum Standard: Sendable {
    case value(String)
    /// The default depends on other values.
    case words(String)
  }

  /// If the environment variable is set to any text, the variable implies `value` for the setting.
  package struct Presence: Sendable {
    package let variable: String
    package let value: String

    package init(_ variable: String, means value: String) {
      self.variable = variable
      self.value = value
    }
  }

  package let name: String
  package let summary: String
  package let allowed: String
  package let standard: Standard
  package let flag: String
  package let choices: [String]
  /// An environment variable of other programs that implies a value.
  package let otherwise: Presence?
  package let isSecret: Bool
  package let check: @Sendable (String) throws(SettingFault) -> Void

  package var variable: String { "WHITEBOARD_" + name.uppercased().replacing("-", with: "_") }

  package var help: String {
    let values = choices.isEmpty || choices.first == "true" ? "" : ": \(choices.joined(separator: ", "))"
    let standard: String =
      switch standard {
      case .value(let text) where choices.first == "true": "; default: --\(text == "true" ? "" : "no-")\(name)"
      case .value(let text): "; default: \(text)"
      case .words(let text): "; default: \(text)"
      }
    let variables = [variable, otherwise?.variable].compactMap { $0 }.joined(separator: ", ")
    return "\(summary)\(values)\(standard). [\(variables)]"
  }
}

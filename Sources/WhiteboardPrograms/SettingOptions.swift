import ArgumentParser
import CommandLines
import WhiteboardKit

extension [String: String] {
  /// The value of a setting from the command line; nil if the option is not used.
  package subscript<Setting>(_ key: SettingKey<Setting>) -> String? {
    get { self[key.entry.name] }
    set { self[key.entry.name] = newValue }
  }
}

extension ArgumentHelp {
  /// Returns the help text of the option that sets a setting.
  package static func of<Value>(_ key: SettingKey<Value>, _ valueName: String? = nil) -> ArgumentHelp {
    ArgumentHelp("\(key.entry.help)", valueName: valueName)
  }
}

extension CompletionKind {
  /// Returns the completions for the value of a setting's option.
  package static func of<Value>(_ key: SettingKey<Value>) -> CompletionKind { .list(key.entry.choices) }
}

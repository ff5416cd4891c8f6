import ArgumentParser
import CommandLines
import WhiteboardKit

extension [String: String] {
  /// The value that the command line gives to a setting.
  package subscript<Setting>(_ key: SettingKey<Setting>) -> String? {
    get { self[key.entry.name] }
    set { self[key.entry.name] = newValue }
  }
}

extension ArgumentHelp {
  /// Returns the help text for the option of a setting.
  package static func of<Value>(
    _ key: SettingKey<Value>,
    _ valueName: String? = nil
  ) -> ArgumentHelp {
    ArgumentHelp("\(key.entry.help)", valueName: valueName)
  }
}

extension CompletionKind {
  /// Returns the completions for the option of a setting.
  package static func of<Value>(_ key: SettingKey<Value>) -> CompletionKind {
    .list(key.entry.choices)
  }
}

import ArgumentParser
import WhiteboardNode

extension [String: String] {
  /// What a flag says of a setting.
  package subscript<Setting>(_ key: SettingKey<Setting>) -> String? {
    get { self[key.entry.name] }
    set { self[key.entry.name] = newValue }
  }
}

extension ArgumentHelp {
  /// What help says of the option of a setting.
  package static func of<Value>(
    _ key: SettingKey<Value>,
    _ valueName: String? = nil
  ) -> ArgumentHelp {
    ArgumentHelp("\(key.entry.help)", valueName: valueName)
  }
}

extension CompletionKind {
  /// What can be written after the option of a setting.
  package static func of<Value>(_ key: SettingKey<Value>) -> CompletionKind {
    .list(key.entry.choices)
  }
}

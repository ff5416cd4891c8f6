import ArgumentParser
import CommandLines
import WhiteboardKit

extension [String: String] {
  package subscript<Setting>(_ key: SettingKey<Setting>) -> String? {
    get { self[key.entry.name] }
    set { self[key.entry.name] = newValue }
  }
}

extension ArgumentHelp {
  package static func of<Value>(_ key: SettingKey<Value>, _ valueName: String? = nil) -> ArgumentHelp {
    ArgumentHelp("\(key.entry.help)", valueName: valueName)
  }
}

extension CompletionKind {
  package static func of<Value>(_ key: SettingKey<Value>) -> CompletionKind { .list(key.entry.choices) }
}

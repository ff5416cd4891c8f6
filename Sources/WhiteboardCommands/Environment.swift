import FoundationEssentials

/// The environment of the process.
package enum Environment {
  /// Returns the value of an environment variable; nil if it is not set or empty.
  package static subscript(_ name: String) -> String? {
    guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else { return nil }
    return value
  }
}

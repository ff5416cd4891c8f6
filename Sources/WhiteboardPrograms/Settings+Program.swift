import CommandLines
import Logging
import WhiteboardKit

extension Settings {
  package func chosenDataDirectory() throws(WhiteboardError) -> String {
    if let given = try directory(.dataDirectory) { return given }
    // The XDG specification requires that relative paths are ignored.
    if let data = Environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/whiteboard" }
    guard let home = Environment["HOME"], home.hasPrefix("/") else {
      throw WhiteboardError(.badConfiguration, "HOME is not set; give a directory with --data-dir")
    }
    return home + "/.local/share/whiteboard"
  }

  /// Returns the absolute path of a directory that a setting names; nil if the setting has no value; throws if the
  /// configuration file contains a relative path.
  package func directory(_ key: SettingKey<String>) throws(WhiteboardError) -> String? {
    guard let given = value(key) else { return nil }
    guard case .file(let path, let line) = origin(key) else { return BoardFile.absolute(given) }
    // The program can be started in any directory, so relative paths in the configuration file
    // are rejected. No shell expands `~`, so it is expanded here.
    if given.hasPrefix("~/"), let home = Environment["HOME"] { return home + given.dropFirst() }
    guard given.hasPrefix("/") else {
      throw WhiteboardError(.badConfiguration, "\(path):\(line): \(key.entry.name) must begin with / or ~/")
    }
    return given
  }

  /// Returns a logger that writes to standard error.
  package func logger(_ program: String) -> Logger {
    var logger = Logger(label: program) { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = value(.logLevel) ?? .warning
    return logger
  }
}

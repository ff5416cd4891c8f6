import Logging
import WhiteboardNode

extension Settings {
  /// Returns the data directory.
  package func chosenDataDirectory() throws(NodeError) -> String {
    if let given = value(.dataDirectory) {
      guard case .file(let path, let line) = origin(.dataDirectory) else {
        return BoardFile.absolute(given)
      }
      // A file is read from anywhere, and no shell looks at it.
      if given.hasPrefix("~/"), let home = Environment["HOME"] {
        return home + given.dropFirst()
      }
      guard given.hasPrefix("/") else {
        throw NodeError(
          .badConfiguration,
          "\(path):\(line): data-dir is a directory from / or ~/ on"
        )
      }
      return given
    }
    // Relative values of XDG variables are invalid and ignored, as its specification says.
    if let data = Environment["XDG_DATA_HOME"], data.hasPrefix("/") {
      return data + "/whiteboard"
    }
    guard let home = Environment["HOME"], home.hasPrefix("/") else {
      throw NodeError(.badConfiguration, "HOME is not set; say where files go with --data-dir")
    }
    return home + "/.local/share/whiteboard"
  }

  /// A logger that writes to standard error.
  ///
  /// - Parameter program: What the program is called.
  /// - Returns: The logger.
  package func logger(_ program: String) -> Logger {
    var logger = Logger(label: program) {
      StreamLogHandler.standardError(label: $0)
    }
    logger.logLevel = value(.logLevel) ?? .warning
    return logger
  }
}

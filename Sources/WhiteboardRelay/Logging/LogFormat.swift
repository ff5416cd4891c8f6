import Glibc
import Logging

/// The format of the lines of a log.
public enum LogFormat: String, CaseIterable, Sendable {
  /// A format for people: time, level, logger, message, `key=value`.
  case text
  /// A format for programs: one JSON object per line.
  case json
  /// A format for the systemd journal, which adds the time itself.
  ///
  /// A line consists of the priority, such as `<4>`, and the line in `text` format without the time and level.
  case journald

  /// Returns `journald` if the journal reads the descriptor, and `text` otherwise.
  ///
  /// systemd sets `JOURNAL_STREAM` to the device and inode of the stream that it reads (systemd.exec(5)). A child
  /// process inherits the variable even if its own output goes elsewhere, so the function compares the descriptor with
  /// the variable.
  public static func chosen(environment: [String: String], descriptor: Int32 = STDERR_FILENO) -> LogFormat {
    var status = stat()
    guard let stream = environment["JOURNAL_STREAM"], fstat(descriptor, &status) == 0,
      stream == "\(status.st_dev):\(status.st_ino)"
    else { return .text }
    return .journald
  }

  func line(_ entry: LogEntry, at time: LogTime) -> String {
    switch self {
    case .text: "\(time) \(entry.level.padded) \(entry.shown)\n"
    case .journald: "<\(entry.level.priority)>\(entry.shown)\n"
    case .json: entry.json(at: time) + "\n"
    }
  }
}

extension Logger.Level {
  /// The syslog(3) priority for the level.
  fileprivate var priority: Int {
    switch self {
    case .critical: 2
    case .error: 3
    case .warning: 4
    case .notice: 5
    case .info: 6
    case .debug, .trace: 7
    }
  }

  /// The name of the level, padded to the longest name so that messages line up.
  fileprivate var padded: String {
    rawValue + String(repeating: " ", count: Logger.Level.critical.rawValue.count - rawValue.count)
  }
}

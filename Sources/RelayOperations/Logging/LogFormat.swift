import Glibc
import Logging

/// How the lines of a log look.
public enum LogFormat: String, CaseIterable, Sendable {
  /// For people: time, level, logger, message, `key=value`.
  case text
  /// For programs: one JSON object a line.
  case json
  /// For the journal of systemd, which knows the time: the priority as `<4>`, then as `text`.
  case journald

  /// `journald` where the journal reads this descriptor, else `text`.
  ///
  /// systemd says in `JOURNAL_STREAM` which device and inode it reads (systemd.exec(5)); a program that was started from there and
  /// writes elsewhere inherits the variable, and so it is compared with the descriptor.
  public static func chosen(
    environment: [String: String],
    descriptor: Int32 = STDERR_FILENO
  ) -> LogFormat {
    var status = stat()
    guard let stream = environment["JOURNAL_STREAM"], fstat(descriptor, &status) == 0,
      stream == "\(status.st_dev):\(status.st_ino)"
    else { return .text }
    return .journald
  }

  /// One line, with its end, of what was logged at that time.
  func line(_ entry: LogEntry, at time: LogTime) -> String {
    switch self {
    case .text: "\(time) \(entry.level.padded) \(entry.shown)\n"
    case .journald: "<\(entry.level.priority)>\(entry.shown)\n"
    case .json: entry.json(at: time).text + "\n"
    }
  }
}

extension Logger.Level {
  /// The priority of syslog(3).
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

  /// As wide as the widest, so that messages stand below each other.
  fileprivate var padded: String {
    rawValue + String(repeating: " ", count: Logger.Level.critical.rawValue.count - rawValue.count)
  }
}

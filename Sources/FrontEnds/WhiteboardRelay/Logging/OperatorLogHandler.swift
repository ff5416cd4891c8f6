import Glibc
import Logging

/// Writes one line per entry in a ``LogFormat``, without control characters.
package struct OperatorLogHandler: LogHandler {
  package var logLevel: Logger.Level
  package var metadata: Logger.Metadata = [:]
  package var metadataProvider: Logger.MetadataProvider?

  private let label: String
  private let format: LogFormat
  private let writer: LogOutput
  private let now: @Sendable () -> LogTime

  package init(
    label: String,
    format: LogFormat,
    level: Logger.Level = .info,
    writer: LogOutput,
    metadataProvider: Logger.MetadataProvider? = nil
  ) {
    self.init(label: label, format: format, level: level, writer: writer, metadataProvider: metadataProvider) {
      LogTime.now
    }
  }

  init(
    label: String,
    format: LogFormat,
    level: Logger.Level,
    writer: LogOutput,
    metadataProvider: Logger.MetadataProvider?,
    now: @escaping @Sendable () -> LogTime
  ) {
    self.label = label
    self.format = format
    self.writer = writer
    self.metadataProvider = metadataProvider
    self.now = now
    logLevel = level
  }

  package subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// The metadata of the call overrides that of the task, which overrides that of the logger.
  package func log(event: LogEvent) {
    var said = metadata
    if let provided = metadataProvider?.get() { said.merge(provided) { $1 } }
    if let own = event.metadata { said.merge(own) { $1 } }
    let entry = LogEntry(event, label: label, metadata: said)
    writer.write(format.line(entry, at: now())) { [label, format, now] count in
      let note = LogEntry(
        .warning,
        label: label,
        message: "log lines were dropped because their reader was too slow",
        metadata: ["dropped": "\(count)"]
      )
      return format.line(note, at: now())
    }
  }
}

/// A time with millisecond precision, described as RFC 3339 in UTC.
struct LogTime: Equatable, CustomStringConvertible {
  var seconds: Int
  var milliseconds: Int

  static var now: LogTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return LogTime(seconds: time.tv_sec, milliseconds: time.tv_nsec / 1_000_000)
  }

  var description: String {
    var (seconds, parts) = (time_t(seconds), tm())
    gmtime_r(&seconds, &parts)
    let date = "\(padded(Int(parts.tm_year) + 1900, 4))-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday))"
    let time = "\(padded(parts.tm_hour)):\(padded(parts.tm_min)):\(padded(parts.tm_sec))"
    return "\(date)T\(time).\(padded(milliseconds, 3))Z"
  }

  private func padded(_ number: some BinaryInteger, _ width: Int = 2) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(width - digits.count, 0)) + digits
  }
}

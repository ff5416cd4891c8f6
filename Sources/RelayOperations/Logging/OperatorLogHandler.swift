import Logging

/// Writes what is logged for whoever runs the program: one line each, in a ``LogFormat``, harmless whatever is in it.
public struct OperatorLogHandler: LogHandler {
  /// Below it nothing is written.
  public var logLevel: Logger.Level
  /// The metadata of every line of this logger.
  public var metadata: Logger.Metadata = [:]
  /// Metadata of the task that logs.
  public var metadataProvider: Logger.MetadataProvider?

  private let label: String
  private let format: LogFormat
  private let writer: LogWriter
  private let now: @Sendable () -> LogTime

  /// A handler that writes lines in this format.
  public init(
    label: String,
    format: LogFormat,
    level: Logger.Level = .info,
    writer: LogWriter,
    metadataProvider: Logger.MetadataProvider? = nil
  ) {
    self.init(
      label: label,
      format: format,
      level: level,
      writer: writer,
      metadataProvider: metadataProvider
    ) { LogTime.now }
  }

  init(
    label: String,
    format: LogFormat,
    level: Logger.Level,
    writer: LogWriter,
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

  /// One value that is said with every line.
  public subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Writes one line.
  ///
  /// What the call says of a key wins over the task, and the task over the logger.
  public func log(event: LogEvent) {
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

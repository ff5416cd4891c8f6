import Dispatch
import Glibc
import Logging
import NIOCore
import PeerCore

/// A writer that writes lines to a file descriptor, in order, on its own thread. The caller never waits for the reader
/// of the descriptor. If the reader is slow, lines wait in a queue of at most 1 MiB. If the queue is full, the oldest
/// line is dropped and counted. A line that cannot be written, for example because the disk is full, is dropped too.
/// The process must ignore SIGPIPE if the reader can exit.
package final class LogOutput: Sendable {
  /// The number of bytes that a writable pipe accepts without blocking, even if it has other writers.
  private static let pieceSize = 4_096

  private struct State {
    var lines = BoundedLines()
    var isWriting = false
    var isMidLine = false
  }

  private let descriptor: Int32
  private let limit: Int
  private let dropped: @Sendable () -> Void
  private let state = Locked(State())
  private let queue = DispatchQueue(label: "whiteboard.log")

  /// `descriptor` must stay open; `dropped` is called for each line that is dropped because the queue is full.
  package convenience init(descriptor: Int32, dropped: @escaping @Sendable () -> Void = {}) {
    self.init(descriptor: descriptor, limit: 1 << 20, dropped: dropped)
  }

  init(descriptor: Int32, limit: Int, dropped: @escaping @Sendable () -> Void = {}) {
    self.descriptor = descriptor
    self.limit = limit
    self.dropped = dropped
  }

  /// Adds a line, with its line feed, to the queue, and returns immediately; `note` returns the line to write in place
  /// of a number of dropped lines.
  package func write(_ line: String, ifDropped note: (@Sendable (Int) -> String)? = nil) {
    let (count, mustStart) = state.withLock { state in
      let count = state.lines.append(line, note: note, limit: limit)
      defer { state.isWriting = true }
      return (count, !state.isWriting)
    }
    for _ in 0..<count { dropped() }
    guard mustStart else { return }
    queue.async { self.writeAll() }
  }

  /// Blocks the calling thread until all queued lines are written, or `timeout` has expired.
  package func flush(timeout: DispatchTimeInterval = .seconds(1)) {
    let written = DispatchWorkItem {}
    queue.async(execute: written)
    _ = written.wait(timeout: .now() + timeout)
  }

  private func writeAll() { while let line = next() { write(bytes: line) } }

  private func next() -> [UInt8]? {
    state.withLock { state in
      guard let text = state.lines.takeFirst() else {
        state.isWriting = false
        return nil
      }
      return Array((state.isMidLine ? "\n" + text : text).utf8)
    }
  }

  private func write(bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      waitUntilWritable()
      let count = rest.prefix(Self.pieceSize).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 { rest = rest.dropFirst(count) } else if errno != EINTR, errno != EAGAIN { break }
    }
    guard rest.count < bytes.count else { return }
    state.withLock { $0.isMidLine = !rest.isEmpty }
  }

  /// Waits until a non-blocking descriptor is writable; for a blocking descriptor, the write itself waits.
  private func waitUntilWritable() {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    while poll(&waiting, 1, -1) < 0, errno == EINTR {}
  }
}

struct BoundedLines {
  private var lines = CircularBuffer<String>()
  private var size = 0
  private var dropped = 0
  private var note: (@Sendable (Int) -> String)?

  /// Adds a line, and drops the oldest lines if the total size exceeds a limit. Returns the number of lines that were
  /// dropped. The new line is never dropped, even if it alone exceeds the limit.
  mutating func append(_ line: String, note: (@Sendable (Int) -> String)?, limit: Int) -> Int {
    let before = dropped
    lines.append(line)
    size += line.utf8.count
    self.note = note
    while size > limit, lines.count > 1 {
      size -= lines.removeFirst().utf8.count
      dropped += 1
    }
    return dropped - before
  }

  /// Removes and returns the oldest line; `nil` if there are no lines. If lines were dropped, the result begins with a
  /// line about them.
  mutating func takeFirst() -> String? {
    guard let line = lines.popFirst() else { return nil }
    size -= line.utf8.count
    guard dropped > 0 else { return line }
    defer { dropped = 0 }
    return (note?(dropped) ?? "") + line
  }
}

/// A log entry that is safe to write: its size is bounded, and it has no control characters or line ends.
struct LogEntry {
  /// The maximum number of characters in a message or a value.
  static let textLimit = 1_024
  /// The maximum number of elements of an array or a dictionary that are shown.
  static let elementLimit = 32

  let level: Logger.Level
  private let label: String
  private let message: String
  private let metadata: [(key: String, value: Logger.MetadataValue)]

  init(_ event: LogEvent, label: String, metadata: Logger.Metadata) {
    var metadata = metadata
    if let error = event.error { metadata["error"] = "\(error)" }
    self.init(event.level, label: label, message: event.message.description, metadata: metadata)
  }

  init(_ level: Logger.Level, label: String, message: String, metadata: Logger.Metadata) {
    self.level = level
    self.label = UntrustedText(label).escaped(limit: Self.textLimit)
    self.message = UntrustedText(message).escaped(limit: Self.textLimit)
    self.metadata = Self.bounded(metadata)
  }

  /// The entry as text: logger, message and `key=value` pairs, sorted by key.
  var shown: String {
    let pairs = metadata.map { " \($0.key.asWord)=\(Self.shown($0.value).cutAndQuoted)" }
    return "\(label): \(message)\(pairs.joined())"
  }

  func json(at time: LogTime) -> String {
    var json = JSONObject()
    json.add("time", string: "\(time)")
    json.add("level", string: level.rawValue)
    json.add("logger", string: label)
    json.add("message", string: message)
    if !metadata.isEmpty { json.add("metadata", json: Self.object(metadata)) }
    return json.text
  }

  private static func bounded(_ metadata: Logger.Metadata) -> [(key: String, value: Logger.MetadataValue)] {
    metadata.sorted { $0.key < $1.key }.prefix(elementLimit).map {
      (UntrustedText($0.key).escaped(limit: textLimit), $0.value)
    }
  }

  private static func shown(_ value: Logger.MetadataValue) -> String {
    switch value {
    case .string, .stringConvertible: UntrustedText(value.description).escaped(limit: textLimit)
    case .array(let values): "[" + values.prefix(elementLimit).map(shown).joined(separator: ", ") + "]"
    case .dictionary(let metadata):
      "{" + bounded(metadata).map { "\($0.key): \(shown($0.value))" }.joined(separator: ", ") + "}"
    }
  }

  private static func json(_ value: Logger.MetadataValue) -> String {
    switch value {
    case .string, .stringConvertible: JSONObject.quoted(UntrustedText(value.description).escaped(limit: textLimit))
    case .array(let values): JSONObject.list(values.prefix(elementLimit).map(json))
    case .dictionary(let metadata): object(bounded(metadata))
    }
  }

  private static func object(_ metadata: [(key: String, value: Logger.MetadataValue)]) -> String {
    var object = JSONObject()
    for (key, value) in metadata { object.add(key, json: json(value)) }
    return object.text
  }
}

extension String {
  /// The text without characters that would end the key of a `key=value` pair.
  fileprivate var asWord: String { String(map { $0 == " " || $0 == "=" || $0 == "\"" ? "_" : $0 }) }

  /// The text, truncated to the limit, and quoted if the end of the value would otherwise be ambiguous.
  fileprivate var cutAndQuoted: String {
    let text = UntrustedText(self).escaped(limit: LogEntry.textLimit)
    guard text.isEmpty || text.contains(where: { $0 == " " || $0 == "\"" || $0 == "=" || $0 == "\\" }) else {
      return text
    }
    return JSONObject.quoted(text)
  }
}

package enum LogFormat: String, CaseIterable, Sendable {
  /// A format for people: time, level, logger, message, `key=value`.
  case text
  /// A format for programs: one JSON object per line.
  case json
  /// A format for the systemd journal, which adds the time itself. A line consists of the priority, such as `<4>`, and
  /// the line in `text` format without the time and level.
  case journald

  /// Returns `journald` if the journal reads the descriptor, and `text` otherwise. systemd sets `JOURNAL_STREAM` to the
  /// device and inode of the stream that it reads (systemd.exec(5)). A child process inherits the variable even if its
  /// own output goes elsewhere, so the function compares the descriptor with the variable.
  package static func chosen(environment: [String: String], descriptor: Int32 = STDERR_FILENO) -> LogFormat {
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

  fileprivate var padded: String {
    rawValue + String(repeating: " ", count: Logger.Level.critical.rawValue.count - rawValue.count)
  }
}

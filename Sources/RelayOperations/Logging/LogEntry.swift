import Logging

/// A log entry that is safe to write: bounded, without control characters and line ends.
struct LogEntry {
  /// The characters that a message or a value holds at most.
  static let textLimit = 1_024
  /// The elements that an array or a dictionary of metadata shows at most.
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
    self.label = label.cleaned(limit: Self.textLimit)
    self.message = message.cleaned(limit: Self.textLimit)
    self.metadata = Self.bounded(metadata)
  }

  /// Logger, message and `key=value`, in the order of the keys.
  var shown: String {
    let pairs = metadata.map { " \($0.key.asWord)=\(Self.shown($0.value).cutAndQuoted)" }
    return "\(label): \(message)\(pairs.joined())"
  }

  func json(at time: LogTime) -> JSONText {
    var members: [(String, JSONText)] = [
      ("time", .string("\(time)")), ("level", .string(level.rawValue)), ("logger", .string(label)),
      ("message", .string(message)),
    ]
    if !metadata.isEmpty {
      members.append(("metadata", .object(metadata.map { ($0.key, Self.json($0.value)) })))
    }
    return .object(members)
  }

  private static func bounded(
    _ metadata: Logger.Metadata
  ) -> [(key: String, value: Logger.MetadataValue)] {
    metadata.sorted { $0.key < $1.key }.prefix(elementLimit).map {
      ($0.key.cleaned(limit: textLimit), $0.value)
    }
  }

  private static func shown(_ value: Logger.MetadataValue) -> String {
    switch value {
    case .string, .stringConvertible: value.description.cleaned(limit: textLimit)
    case .array(let values):
      "[" + values.prefix(elementLimit).map(shown).joined(separator: ", ") + "]"
    case .dictionary(let metadata):
      "{" + bounded(metadata).map { "\($0.key): \(shown($0.value))" }.joined(separator: ", ") + "}"
    }
  }

  private static func json(_ value: Logger.MetadataValue) -> JSONText {
    switch value {
    case .string, .stringConvertible: .string(value.description.cleaned(limit: textLimit))
    case .array(let values): .array(values.prefix(elementLimit).map(json))
    case .dictionary(let metadata): .object(bounded(metadata).map { ($0.key, json($0.value)) })
    }
  }
}

extension String {
  /// Without what would end the key of a `key=value`.
  fileprivate var asWord: String {
    String(map { $0 == " " || $0 == "=" || $0 == "\"" ? "_" : $0 })
  }

  /// In quotes where the text could be taken for the end of the value or the next key.
  fileprivate var cutAndQuoted: String {
    let text = cleaned(limit: LogEntry.textLimit)
    guard
      text.isEmpty || text.contains(where: { $0 == " " || $0 == "\"" || $0 == "=" || $0 == "\\" })
    else { return text }
    return JSONText.string(text).text
  }
}

import Logging
import PeerCore

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

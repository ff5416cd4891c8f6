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

  func json(at time: LogTime) -> JSONText {
    var members: [(String, JSONText)] = [
      ("time", .string("\(time)")), ("level", .string(level.rawValue)), ("logger", .string(label)),
      ("message", .string(message)),
    ]
    if !metadata.isEmpty { members.append(("metadata", .object(metadata.map { ($0.key, Self.json($0.value)) }))) }
    return .object(members)
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

  private static func json(_ value: Logger.MetadataValue) -> JSONText {
    switch value {
    case .string, .stringConvertible: .string(UntrustedText(value.description).escaped(limit: textLimit))
    case .array(let values): .array(values.prefix(elementLimit).map(json))
    case .dictionary(let metadata): .object(bounded(metadata).map { ($0.key, json($0.value)) })
    }
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
    return JSONText.string(text).text
  }
}

/// A JSON value that can be written, but not parsed.
///
/// It supports only the values that logs and health answers contain, and does not need Foundation.
enum JSONText {
  case string(String)
  case array([JSONText])
  case object([(String, JSONText)])

  /// Members keep their order.
  var text: String {
    switch self {
    case .string(let string): Self.quoted(string)
    case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
    case .object(let members): "{" + members.map { Self.quoted($0) + ":" + $1.text }.joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ string: String) -> String {
    var result = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{0}"..."\u{1f}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

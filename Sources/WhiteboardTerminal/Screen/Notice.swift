import WhiteboardRendering

/// A message at the bottom of the screen.
struct Notice: Hashable, Sendable {
  /// What a message is about.
  enum Kind: Hashable, Sendable {
    /// Something that went well, or is good to know.
    case remark
    /// Something that went wrong.
    case problem
    /// A line of the chat.
    case chat
  }

  /// One message, or several that came at once, a line each.
  var text: String
  let kind: Kind
  /// When it came, on the client's clock.
  var since: Duration

  /// A message with its cause first and its path last: `PATH: CAUSE` becomes `CAUSE (PATH)`.
  static func causeFirst(_ message: String) -> String {
    for beginning in ["/", "~/", "./", "../"] where message.hasPrefix(beginning) {
      guard let colon = message.firstRange(of: ": ") else { return message }
      return "\(message[colon.upperBound...]) (\(message[..<colon.lowerBound]))"
    }
    guard message.hasPrefix("\""), let end = message.dropFirst().firstIndex(of: "\"") else {
      return message
    }
    let path = message[...end]
    var cause = message[message.index(after: end)...]
    guard path.contains("/") || path.contains("."), !cause.isEmpty else { return message }
    if cause.hasPrefix(":") { cause = cause.dropFirst() }
    return "\(String(cause).trimmed) (\(path.dropFirst().dropLast()))"
  }
}

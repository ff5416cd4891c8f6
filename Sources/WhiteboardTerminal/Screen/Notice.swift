import WhiteboardRendering

/// A message for the user.
struct Notice: Hashable, Sendable {
  /// The kind of a message.
  enum Kind: Hashable, Sendable {
    /// Information.
    case remark
    /// An error.
    case problem
    /// A line of the chat.
    case chat
  }

  /// The text, with one line for each of several errors.
  var text: String
  let kind: Kind
  /// The id of the first request after a failed action; nil if the message is not about an action.
  ///
  /// The success of that request or a later one removes the message.
  var nextRequest: Int64?
  /// The time when the message appeared, on the client's clock.
  var since: Duration

  /// Returns a message with the cause before the path: `PATH: CAUSE` becomes `CAUSE (PATH)`.
  static func causeFirst(_ message: String) -> String {
    for beginning in ["/", "~/", "./", "../"] where message.hasPrefix(beginning) {
      guard let colon = message.firstRange(of: ": ") else { return message }
      return "\(message[colon.upperBound...]) (\(message[..<colon.lowerBound]))"
    }
    guard message.hasPrefix("\""), let end = message.dropFirst().firstIndex(of: "\"") else { return message }
    let path = message[...end]
    var cause = message[message.index(after: end)...]
    guard path.contains("/") || path.contains("."), !cause.isEmpty else { return message }
    if cause.hasPrefix(":") { cause = cause.dropFirst() }
    return "\(String(cause).trimmed) (\(path.dropFirst().dropLast()))"
  }
}

import WhiteboardNode

/// Writes events as lines of JSON.
package enum EventLine {
  /// The version each line carries as `v`; it changes when a key changes its meaning.
  package static let version = 1

  /// The event as one line of UTF-8 that ends with a line feed.
  ///
  /// `v` and `event` come first, the other keys in alphabetical order. Code points that a terminal
  /// might act on are escaped, so that a line may be shown as it is. `JSONLines` lists the keys.
  package static func json(_ event: NodeEvent) -> [UInt8] {
    json(event.name, event.payload)
  }

  /// Appends the line of an event.
  static func append(_ event: NodeEvent, to lines: inout [UInt8]) {
    append(event.name, event.payload, to: &lines)
  }

  /// A line of the same form that tells something other than an event of a node.
  ///
  /// - Parameters:
  ///   - name: The value of `event`.
  ///   - payload: The other keys; every value is one that JSON can say.
  /// - Returns: The line, ended by a line feed.
  package static func json(_ name: String, _ payload: some Encodable) -> [UInt8] {
    var line: [UInt8] = []
    append(name, payload, to: &line)
    return line
  }

  private static func append(
    _ name: String,
    _ payload: some Encodable,
    to line: inout [UInt8]
  ) {
    line.append(contentsOf: #"{"v":\#(version),"event":"\#(name)""#.utf8)
    let begin = line.count
    // No payload has a value that cannot be encoded.
    try? LineEncoder.append(payload, to: &line)
    if line.count > begin + 2 {
      line[begin] = UInt8(ascii: ",")
    } else {
      line.removeSubrange(begin...)
      line.append(UInt8(ascii: "}"))
    }
    line.append(UInt8(ascii: "\n"))
  }
}

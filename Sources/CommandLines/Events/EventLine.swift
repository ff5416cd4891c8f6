import WhiteboardKit

/// A namespace for writing events as lines of JSON.
package enum EventLine {
  /// The version of the format, which each line contains as `v`.
  ///
  /// It changes if the meaning of a key changes.
  package static let version = 1

  /// Returns the line of an event in UTF-8, with a line feed at its end.
  ///
  /// `v` and `event` come first, and the other keys follow in alphabetical order. Control and format characters are
  /// escaped, so that the line is safe to display. `JSONLines` lists the keys.
  package static func json(_ event: BoardEvent) -> [UInt8] { json(event.name, event.payload) }

  static func append(_ event: BoardEvent, to lines: inout [UInt8]) { append(event.name, event.payload, to: &lines) }

  /// Returns a line in the same format for information that is not an event of a board.
  package static func json(_ name: String, _ payload: some Encodable) -> [UInt8] {
    var line: [UInt8] = []
    append(name, payload, to: &line)
    return line
  }

  private static func append(_ name: String, _ payload: some Encodable, to line: inout [UInt8]) {
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

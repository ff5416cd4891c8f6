import FoundationEssentials
import WhiteboardRendering

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

  /// A line of the same form that tells something other than an event of a node.
  ///
  /// - Parameters:
  ///   - name: The value of `event`.
  ///   - payload: The other keys; every value is one that JSON can say.
  /// - Returns: The line, ended by a line feed.
  package static func json(_ name: String, _ payload: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var line = Array(#"{"v":\#(version),"event":"\#(name)""#.utf8)
    // No payload has a value that JSON cannot say: numbers come from fixed point or were checked
    // to be finite.
    if let payload = try? encoder.encode(payload), payload.count > 2 {
      line.append(UInt8(ascii: ","))
      line.append(contentsOf: escaped(payload.dropFirst()))
    } else {
      line.append(UInt8(ascii: "}"))
    }
    line.append(UInt8(ascii: "\n"))
    return line
  }

  /// Escapes what may stand in a JSON string but should not reach a terminal: DEL, the second set
  /// of controls, format characters and the line ends of Unicode.
  private static func escaped(_ json: Data) -> [UInt8] {
    guard json.contains(where: { $0 >= 0x7F }) else { return Array(json) }
    var result: [UInt8] = []
    result.reserveCapacity(json.count)
    for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
      if TerminalText.isSafe(scalar) {
        result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      } else {
        for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
          let digits = String(unit, radix: 16)
          result.append(contentsOf: #"\u"#.utf8)
          result.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 4 - digits.count))
          result.append(contentsOf: digits.utf8)
        }
      }
    }
    return result
  }
}

import WhiteboardNode
import WhiteboardRendering

/// What a file of settings says, line by line; what its lines mean is not looked at here.
///
/// It is a small part of TOML with fewer quotes: lines `NAME = VALUE`, the values in double quotes where they
/// begin or end with a blank or hold a `#` after one; `#` begins a comment; a line `[keys]` begins the keys, and
/// `keys.COMMAND` is the same as `COMMAND` there. Keys are a list with commas.
package struct SettingsFile: Equatable, Sendable {
  /// A line that sets something.
  package struct Line: Equatable, Sendable {
    /// The name of the setting.
    package let name: String
    /// The value.
    package let value: String
    /// The line number, from 1.
    package let number: Int
  }

  /// An error in a line.
  package struct Fault: Error, Equatable, Sendable {
    /// The line number, from 1.
    package let number: Int
    /// The problem and the correct form.
    package let message: String
  }

  /// The maximum number of bytes that are read.
  package static let maximumSize = 65_536

  /// The path of the file.
  package let path: String
  /// The settings.
  package private(set) var lines: [Line] = []
  /// The keys.
  package private(set) var keys: [KeyBinding] = []

  /// Reads the text of a file.
  ///
  /// - Throws: ``Fault`` for the first line that is not of the form, or sets what was set before.
  package init(_ text: String, path: String) throws(Fault) {
    self.path = path
    var isInKeys = false
    var seen: [String: Int] = [:]
    // A line feed after a carriage return is one character with it.
    let rows = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    for (index, row) in rows.enumerated() {
      let number = index + 1
      let line = Self.trimmed(Self.withoutComment(row))
      if line.isEmpty { continue }
      if line.hasPrefix("[") {
        guard line == "[keys]" else {
          throw Fault(number: number, message: "the only section is [keys]")
        }
        isInKeys = true
        continue
      }
      guard let equals = line.firstIndex(of: "="), equals != line.startIndex else {
        throw Fault(number: number, message: "a line is NAME = VALUE, [keys], or a # comment")
      }
      var name = String(Self.trimmed(line[..<equals]))
      let isKey = isInKeys || name.hasPrefix("keys.")
      if isKey, name.hasPrefix("keys.") { name.removeFirst("keys.".count) }
      let value = try Self.unquoted(Self.trimmed(line[line.index(after: equals)...]), number)
      let full = isKey ? "keys.\(name)" : name
      if let before = seen[full] {
        let shown = TerminalText.quoted(full)
        throw Fault(number: number, message: "\(shown) was set in line \(before) already")
      }
      seen[full] = number
      if isKey {
        let names = value.split(separator: ",").map { String(Self.trimmed($0)) }
        keys.append(
          KeyBinding(
            command: name,
            keys: names.filter { !$0.isEmpty },
            place: "\(path):\(number)"
          )
        )
      } else {
        lines.append(Line(name: name, value: value, number: number))
      }
    }
  }

  /// A line up to a `#` that begins it or follows a blank, outside quotes.
  private static func withoutComment(_ row: Substring) -> Substring {
    var isQuoted = false
    var isEscaped = false
    var last: Character = " "
    for index in row.indices {
      let character = row[index]
      if isEscaped {
        isEscaped = false
      } else if isQuoted, character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isQuoted.toggle()
      } else if character == "#", !isQuoted, last.isWhitespace {
        return row[..<index]
      }
      last = character
    }
    return row
  }

  private static func unquoted(
    _ text: Substring,
    _ number: Int
  ) throws(Fault) -> String {
    guard text.hasPrefix("\"") else { return String(text) }
    var value = ""
    var isEscaped = false
    var rest = text.dropFirst()
    while let character = rest.popFirst() {
      if isEscaped {
        guard character == "\"" || character == "\\" else {
          throw Fault(number: number, message: #"in quotes, \ stands before " or \ only"#)
        }
        value.append(character)
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        guard rest.isEmpty else {
          throw Fault(number: number, message: "nothing stands after a closing quote")
        }
        return value
      } else {
        value.append(character)
      }
    }
    throw Fault(number: number, message: "a quote is not closed")
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let start = text.firstIndex { !$0.isWhitespace } ?? text.endIndex
    let end = text.lastIndex { !$0.isWhitespace } ?? start
    return start == text.endIndex ? text[start...] : text[start...end]
  }
}

import PeerCore
import WhiteboardKit
import WhiteboardRendering

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The lines of a configuration file; ``format`` describes them. ``Settings`` checks the names and values. After a line
/// `[keys]`, each line binds keys: `COMMAND = KEY, KEY`. A line `keys.COMMAND = KEY` binds keys anywhere in the file.
package struct SettingsFile: Equatable, Sendable {
  package struct Line: Equatable, Sendable {
    package let name: String
    package let value: String
    /// The line number, from 1.
    package let number: Int
  }

  package struct Fault: Error, Equatable, Sendable {
    /// The line number, from 1.
    package let number: Int
    package let message: String
  }

  package static let format =
    "Each line of the file is NAME = VALUE. A # begins a comment at the start of a line or after a "
    + "blank. A value needs double quotes only if it begins or ends with a blank, or contains a # "
    + #"after a blank; within the quotes, \" is a quote and \\ is a backslash."#

  package static let maximumSize = 65_536
  package let path: String
  package private(set) var lines: [Line] = []
  package private(set) var keys: [KeyBinding] = []

  /// Parses the text of a file; throws if a line is malformed, or sets a value that was already set.
  package init(_ text: String, path: String) throws(Fault) {
    self.path = path
    var isInKeys = false
    var seen: [String: Int] = [:]
    // Some editors begin a file with a byte order mark.
    let content = text.unicodeScalars.first == "\u{FEFF}" ? Substring(text.unicodeScalars.dropFirst()) : text[...]
    // In Swift, a carriage return followed by a line feed is a single character.
    let rows = content.split(omittingEmptySubsequences: false) { $0.isNewline }
    for (index, row) in rows.enumerated() {
      let number = index + 1
      let line = Self.trimmed(Self.withoutComment(row))
      if line.isEmpty { continue }
      if line.hasPrefix("[") {
        guard line == "[keys]" else { throw Fault(number: number, message: "the only section is [keys]") }
        isInKeys = true
        continue
      }
      guard let equals = line.firstIndex(of: "="), equals != line.startIndex else {
        throw Fault(number: number, message: "a line must be NAME = VALUE, [keys] or a # comment")
      }
      var name = String(Self.trimmed(line[..<equals]))
      let isKey = isInKeys || name.hasPrefix("keys.")
      if isKey, name.hasPrefix("keys.") { name.removeFirst("keys.".count) }
      let value = try Self.unquoted(Self.trimmed(line[line.index(after: equals)...]), number)
      let full = isKey ? "keys.\(name)" : name
      if let before = seen[full] {
        let shown = UntrustedText(full).quoted()
        throw Fault(number: number, message: "\(shown) is already set in line \(before)")
      }
      seen[full] = number
      if isKey {
        let names = value.split(separator: ",").map { String(Self.trimmed($0)) }
        keys.append(KeyBinding(command: name, keys: names.filter { !$0.isEmpty }, place: "\(path):\(number)"))
      } else {
        lines.append(Line(name: name, value: value, number: number))
      }
    }
  }

  /// A comment begins with a `#` at the start of the line or after a space, outside quotes.
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

  private static func unquoted(_ text: Substring, _ number: Int) throws(Fault) -> String {
    guard text.hasPrefix("\"") else { return String(text) }
    var value = ""
    var isEscaped = false
    var rest = text.dropFirst()
    while let character = rest.popFirst() {
      if isEscaped {
        guard character == "\"" || character == "\\" else {
          throw Fault(number: number, message: #"inside quotes, a backslash must be before " or \"#)
        }
        value.append(character)
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        guard rest.isEmpty else { throw Fault(number: number, message: "nothing can follow a closing quote") }
        return value
      } else {
        value.append(character)
      }
    }
    throw Fault(number: number, message: "the closing quote is missing")
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let start = text.firstIndex { !$0.isWhitespace } ?? text.endIndex
    let end = text.lastIndex { !$0.isWhitespace } ?? start
    return start == text.endIndex ? text[start...] : text[start...end]
  }
}

extension SettingsFile {
  package struct Place: Equatable, Sendable {
    package let path: String
    /// Whether the user named the file, which must then exist.
    package let isNamed: Bool

    /// Uses the given path, or else `WHITEBOARD_CONFIG`, or else `whiteboard/config` in `$XDG_CONFIG_HOME` or
    /// `~/.config`. Returns nil if there is no home directory.
    package init?(_ given: String?, standard: String? = nil, environment: (String) -> String?) {
      if let named = given ?? environment("WHITEBOARD_CONFIG") {
        self.init(path: BoardFile.absolute(named), isNamed: true)
      } else if let standard {
        self.init(path: standard, isNamed: false)
      } else if let directory = environment("XDG_CONFIG_HOME"), directory.hasPrefix("/") {
        // Ignore relative paths in XDG variables. The XDG specification declares them invalid.
        self.init(path: directory + "/whiteboard/config", isNamed: false)
      } else if let home = environment("HOME"), home.hasPrefix("/") {
        self.init(path: home + "/.config/whiteboard/config", isNamed: false)
      } else {
        return nil
      }
    }

    private init(path: String, isNamed: Bool) {
      self.path = path
      self.isNamed = isNamed
    }
  }

  /// Returns nil if the file does not exist and the user did not name it. An error about a malformed line contains the
  /// line number.
  package init?(at place: Place) throws(WhiteboardError) {
    var status = stat()
    if stat(place.path, &status) != 0, errno == ENOENT || errno == ENOTDIR {
      guard place.isNamed else { return nil }
      throw WhiteboardError(.noInput, "there is no file \(UntrustedText(place.path).quoted(limit: 4096))")
    }
    let bytes: [UInt8]
    do throws(CommandError) { bytes = try FileReading.whole(place.path, limit: Self.maximumSize) } catch {
      throw WhiteboardError(.badConfiguration, error.message)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw WhiteboardError(.badConfiguration, "\(place.path): the file is not UTF-8 text")
    }
    do throws(Fault) { try self.init(text, path: place.path) } catch {
      throw WhiteboardError(.badConfiguration, "\(place.path):\(error.number): \(error.message)")
    }
  }
}

/// The terminal checks the names of the command and the keys, and names ``place`` in its error.
package struct KeyBinding: Hashable, Sendable {
  package let command: String
  package let keys: [String]
  /// The location of the binding: the file, a colon, and the line number.
  package let place: String

  package init(command: String, keys: [String], place: String) {
    self.command = command
    self.keys = keys
    self.place = place
  }
}

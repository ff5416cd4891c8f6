/// The one parser of every mode: reads a line of a script, of the prompt or of a program into a verb.
///
/// A line whose first character, blanks aside, is `{` is JSON; any other is words.
package enum VerbParser {
  /// The longest line, in bytes: a message of 16 MiB in base64 and room beside it.
  package static let maximumLineLength = 23 * 1024 * 1024
  /// The longest message of `send`, in bytes.
  ///
  /// It is what a session carries, less the byte that says what it is.
  package static let maximumMessageLength = 16 * 1024 * 1024 - 1
  /// The longest message of `send --unreliable`, in bytes.
  package static let maximumDatagramLength = 64 * 1024 - 1
  /// The longest text of a text object or chat line, in bytes of UTF-8.
  package static let maximumTextLength = 8 * 1024
  /// The most points of one stroke.
  package static let maximumPoints = 65_536
  /// The longest name of a resource or stream, in bytes of UTF-8.
  package static let maximumNameLength = 16 * 1024
  /// The longest time a verb takes, in seconds: a day.
  package static let maximumSeconds = 86_400.0
  /// The longest mark of a request, in bytes of UTF-8.
  package static let maximumRequestLength = 256

  /// Reads one line, or nil where it holds nothing, or nothing but a comment.
  ///
  /// - Throws: ``VerbError`` that names the verb and its mark as far as the line could be read.
  package static func parse(_ line: some StringProtocol) throws(VerbError) -> VerbRequest? {
    guard line.utf8.count <= maximumLineLength else {
      throw VerbError(
        .lineTooLong,
        "the line has \(line.utf8.count) bytes; at most \(maximumLineLength) can be read"
      )
    }
    guard let first = line.utf8.first(where: { !isBlank($0) }) else { return nil }
    if first == UInt8(ascii: "{") {
      return try JSONVerbParser.parse(Array(line.utf8))
    }
    return try TextVerbParser.parse(line)
  }

  /// Reads one line of bytes, or nil where it holds nothing, or nothing but a comment.
  ///
  /// - Throws: ``VerbError``, `syntax` where the bytes are not UTF-8.
  package static func parse(bytes: [UInt8]) throws(VerbError) -> VerbRequest? {
    guard bytes.count <= maximumLineLength else {
      throw VerbError(
        .lineTooLong,
        "the line has \(bytes.count) bytes; at most \(maximumLineLength) can be read"
      )
    }
    guard let line = String(validating: bytes, as: UTF8.self) else {
      throw VerbError(.syntax, "the line is not UTF-8")
    }
    return try parse(line)
  }

  static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A
  }

  static func checkedWords(_ words: String, what: String) throws(VerbError) -> String {
    guard words.utf8.count <= maximumTextLength else {
      throw VerbError(
        .tooBig,
        "\(what) has \(words.utf8.count) bytes; at most \(maximumTextLength) fit"
      )
    }
    return words
  }

  static func checkedName(_ name: String) throws(VerbError) -> String {
    guard name.utf8.count <= maximumNameLength else {
      throw VerbError(
        .tooBig,
        "the name has \(name.utf8.count) bytes; at most \(maximumNameLength) fit"
      )
    }
    return name
  }

  static func checkedMessage(_ bytes: [UInt8]) throws(VerbError) -> [UInt8] {
    guard bytes.count <= maximumMessageLength else {
      throw VerbError(
        .tooBig,
        "the message has \(bytes.count) bytes; at most \(maximumMessageLength) fit"
      )
    }
    return bytes
  }

  static func checkedSeconds(_ seconds: Double, key: String) throws(VerbError) -> Double {
    guard seconds.isFinite, (0...maximumSeconds).contains(seconds) else {
      throw VerbError(.badArgument, "\(key) is a time from 0 to 86400 seconds")
    }
    return seconds
  }

  static func checkedFactor(_ factor: Double) throws(VerbError) -> Double {
    guard factor.isFinite, (1.0 / 1_024...1_024).contains(factor) else {
      throw VerbError(.badArgument, "a scale is a number from 1/1024 to 1024, like 1.5")
    }
    return factor
  }

  static func checkedDegrees(_ degrees: Double) throws(VerbError) -> Double {
    guard degrees.isFinite, abs(degrees) <= BoardPoint.bound else {
      throw VerbError(
        .badArgument,
        "an angle is a number of degrees from -33554432 to 33554432, like 90 or -45"
      )
    }
    return degrees
  }

  static func checkedCount(_ count: Int64, key: String) throws(VerbError) -> Int {
    guard (0...1_000_000).contains(count) else {
      throw VerbError(.badArgument, "\(key) is a whole number from 0 to 1000000")
    }
    return Int(count)
  }

  static func checkedMark(_ mark: String) throws(VerbError) -> RequestMark {
    guard mark.utf8.count <= maximumRequestLength else {
      throw VerbError(
        .tooBig,
        "request has \(mark.utf8.count) bytes; at most \(maximumRequestLength) fit"
      )
    }
    return .word(mark)
  }

  static func reference(_ text: String) throws(VerbError) -> ObjectReference {
    guard let reference = ObjectReference(text) else {
      throw VerbError(
        .badArgument,
        "\(TerminalText.quoted(text)) is no object: give an alias, last, or an id like 12-abcdefghijklm"
      )
    }
    return reference
  }

  static func alias(_ text: String) throws(VerbError) -> ObjectAlias {
    guard let alias = ObjectAlias(text) else {
      throw VerbError(
        .badArgument,
        "\(TerminalText.quoted(text)) is no alias: start with a letter, then letters, digits, - _ ."
      )
    }
    return alias
  }

  static func target(_ text: String, what: String) throws(VerbError) -> String {
    guard !text.isEmpty, text.utf8.count <= 256 else {
      throw VerbError(.badArgument, "\(what) is an id, the start of one, or a name")
    }
    return text
  }

  static func unknownVerb(_ word: String) -> VerbError {
    let hint =
      if let nearest = VerbTable.nearest(to: word) {
        "did you mean \(nearest.rawValue)?"
      } else {
        "`help verbs` lists them"
      }
    return VerbError(.unknownVerb, "there is no verb \(TerminalText.quoted(word)); \(hint)")
  }
}

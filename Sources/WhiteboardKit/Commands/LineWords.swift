/// A namespace for splitting a line into words, with quotes, escapes and comments.
enum LineWords {
  struct Word: Equatable, Sendable {
    /// The text of the word, without quotes and escapes.
    let text: String
    let isQuoted: Bool

    /// Returns the text after `key=`; nil if the word does not begin with it, or is quoted.
    func value(of key: String) -> String? {
      guard !isQuoted, text.hasPrefix(key + "=") else { return nil }
      return String(text.dropFirst(key.count + 1))
    }
  }

  static func split(_ line: some StringProtocol) throws(CommandError) -> [Word] {
    var words: [Word] = []
    // The line is valid UTF-8 and is split at ASCII characters, so each word is valid UTF-8.
    var current: [UInt8] = []
    var isInWord = false
    var isAfterEquals = false
    var isQuoted = false
    var isInQuotes = false
    var isEscaped = false
    let bytes = line.utf8
    for index in bytes.indices {
      let byte = bytes[index]
      if isEscaped {
        switch byte {
        case UInt8(ascii: "n"): current.append(0x0A)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): current.append(byte)
        default: throw CommandError(.syntax, #"inside quotes, a backslash must be before ", \ or n"#)
        }
        isEscaped = false
      } else if isInQuotes {
        switch byte {
        case UInt8(ascii: "\\"): isEscaped = true
        case UInt8(ascii: "\""): isInQuotes = false
        default: current.append(byte)
        }
      } else if CommandParser.isBlank(byte) {
        if isInWord { words.append(Word(text: String(decoding: current, as: UTF8.self), isQuoted: isQuoted)) }
        current.removeAll(keepingCapacity: true)
        isInWord = false
        isAfterEquals = false
        isQuoted = false
      } else if byte == UInt8(ascii: "#"), !isInWord,
        !acceptsColor(words.first) || !ColorText.isColor(bytes[index...].dropFirst())
      {
        return words
      } else if byte == UInt8(ascii: "\""), !isInWord || isAfterEquals {
        isInQuotes = true
        isAfterEquals = false
        if !isInWord { isQuoted = true }
        isInWord = true
      } else {
        current.append(byte)
        isInWord = true
        isAfterEquals = byte == UInt8(ascii: "=")
      }
    }
    guard !isInQuotes else { throw CommandError(.syntax, #"the closing quote is missing: add " at the end"#) }
    if isInWord { words.append(Word(text: String(decoding: current, as: UTF8.self), isQuoted: isQuoted)) }
    return words
  }

  private static func acceptsColor(_ command: Word?) -> Bool {
    command.flatMap { CommandName(rawValue: $0.text) }?.acceptsColor ?? false
  }
}

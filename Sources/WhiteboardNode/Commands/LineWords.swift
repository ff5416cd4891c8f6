/// Cuts a line into words, with quotes, escapes and comments.
enum LineWords {
  /// One word of a line.
  struct Word: Equatable, Sendable {
    /// The text of the word, without quotes and escapes.
    let text: String
    /// Whether it began with a quote, so that it is never an option.
    let isQuoted: Bool

    /// Returns the text after `key=`, if the word begins with it and no quote came before.
    func value(of key: String) -> String? {
      guard !isQuoted, text.hasPrefix(key + "=") else { return nil }
      return String(text.dropFirst(key.count + 1))
    }
  }

  /// Cuts a line: blanks part words, `"…"` keeps blanks and knows `\"`, `\\` and `\n`, a `#` at the
  /// start of a word begins a comment, but for a colour where the verb may take one.
  ///
  /// A quote opens at the start of a word or right after `=`, as in `as="x"`, and what it holds joins
  /// the word. Anywhere else in a word it stands for itself, as in `{"a":1}`.
  static func split(_ line: some StringProtocol) throws(CommandError) -> [Word] {
    var words: [Word] = []
    // The bytes of a word are pieces of a valid string cut at ASCII, so they are valid again.
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
        default:
          throw CommandError(.syntax, #"inside quotes a backslash stands before ", \ or n"#)
        }
        isEscaped = false
      } else if isInQuotes {
        switch byte {
        case UInt8(ascii: "\\"): isEscaped = true
        case UInt8(ascii: "\""): isInQuotes = false
        default: current.append(byte)
        }
      } else if CommandParser.isBlank(byte) {
        if isInWord {
          words.append(Word(text: String(decoding: current, as: UTF8.self), isQuoted: isQuoted))
        }
        current.removeAll(keepingCapacity: true)
        isInWord = false
        isAfterEquals = false
        isQuoted = false
      } else if byte == UInt8(ascii: "#"), !isInWord,
        !takesColor(words.first) || !ColorText.isColor(bytes[index...].dropFirst())
      {
        return words
      } else if byte == UInt8(ascii: "\""), !isInWord || isAfterEquals {
        isInQuotes = true
        isAfterEquals = false
        if !isInWord {
          isQuoted = true
        }
        isInWord = true
      } else {
        current.append(byte)
        isInWord = true
        isAfterEquals = byte == UInt8(ascii: "=")
      }
    }
    guard !isInQuotes else {
      throw CommandError(.syntax, #"the quote at the end is missing: close it with ""#)
    }
    if isInWord {
      words.append(Word(text: String(decoding: current, as: UTF8.self), isQuoted: isQuoted))
    }
    return words
  }

  private static func takesColor(_ verb: Word?) -> Bool {
    verb.flatMap { CommandName(rawValue: $0.text) }?.takesColor ?? false
  }
}

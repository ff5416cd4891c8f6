/// The reason why the text that a user typed is not a join code.
public enum JoinCodeError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The text does not have exactly four words; the value is the number of its words.
  case wrongCount(Int)
  /// A word is not in the list; `nearest` is the most similar word in the list.
  case unknownWord(String, nearest: String)
  /// The text is far longer than four words.
  case tooLong

  /// A sentence that describes the problem.
  public var description: String {
    switch self {
    case .wrongCount(let count): "A code has 4 words, but this text has \(count)."
    case .unknownWord(let word, let nearest):
      word == nearest
        ? "Next to \(word), the code has characters that are not allowed. Remove them."
        : "\(word) is not a word of a join code. Did you mean \(nearest)?"
    case .tooLong: "A code has 4 words, but this text is far longer."
    }
  }
}

/// The join code of a session: four words with 44 random bits (4.2).
public struct JoinCode: Hashable, Sendable {
  /// The number of words.
  public static let wordCount = 4

  /// The code as users type and see it: lower-case words joined by `-`.
  ///
  /// The keys of a code are derived from this text.
  public let text: String

  /// Makes a new code.
  public static func random() -> JoinCode {
    var generator = SystemRandomNumberGenerator()
    return random(using: &generator)
  }

  /// Makes a new code from `generator`.
  public static func random(using generator: inout some RandomNumberGenerator) -> JoinCode {
    let bytes = (0..<6).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    return JoinCode(text: WordList.words(bytes, count: wordCount).joined(separator: "-"))
  }

  /// Reads a code that a user typed or pasted, in any case and with any number of spaces, dashes, punctuation marks and
  /// quotation marks (4.2).
  ///
  /// - Throws: ``JoinCodeError``; if a word is not in the list, the error names the word.
  public init(words: String) throws(JoinCodeError) {
    guard words.utf8.count <= 256 else { throw .tooLong }
    let pieces = words.unicodeScalars.split { scalar in Self.separators.contains { $0.contains(scalar) } }.map(
      Self.lowercased
    )
    // Report an unknown word before a wrong word count, because the user may have omitted a space.
    for piece in pieces where WordList.index(of: piece) == nil {
      let word = Self.shown(piece)
      let letters = word.filter { $0 != "?" }
      // If a known word has other characters around it, report the word itself as the nearest word.
      guard WordList.index(of: letters) == nil else { throw .unknownWord(letters, nearest: letters) }
      throw .unknownWord(word, nearest: WordList.nearest(to: piece))
    }
    guard pieces.count == Self.wordCount else { throw .wrongCount(pieces.count) }
    text = pieces.joined(separator: "-")
  }

  private init(text: String) { self.text = text }

  /// The characters that separate the words of a code: white space, dashes, punctuation and invisible characters (4.2).
  /// The characters are listed explicitly because the standard library's character properties change with the Unicode
  /// version.
  private static let separators: [ClosedRange<Unicode.Scalar>] = [
    "\u{9}"..."\u{D}", "\u{20}"..."\u{20}", "\u{85}"..."\u{85}", "\u{A0}"..."\u{A0}", "\u{1680}"..."\u{1680}",
    "\u{2000}"..."\u{200A}", "\u{2028}"..."\u{2029}", "\u{202F}"..."\u{202F}", "\u{205F}"..."\u{205F}",
    "\u{3000}"..."\u{3000}", "-"..."-", "\u{AD}"..."\u{AD}", "\u{58A}"..."\u{58A}", "\u{5BE}"..."\u{5BE}",
    "\u{1400}"..."\u{1400}", "\u{1806}"..."\u{1806}", "\u{2010}"..."\u{2015}", "\u{2053}"..."\u{2053}",
    "\u{207B}"..."\u{207B}", "\u{208B}"..."\u{208B}", "\u{2212}"..."\u{2212}", "\u{2E17}"..."\u{2E17}",
    "\u{2E1A}"..."\u{2E1A}", "\u{2E3A}"..."\u{2E3B}", "\u{2E40}"..."\u{2E40}", "\u{2E5D}"..."\u{2E5D}",
    "\u{301C}"..."\u{301C}", "\u{3030}"..."\u{3030}", "\u{30A0}"..."\u{30A0}", "\u{FE31}"..."\u{FE32}",
    "\u{FE58}"..."\u{FE58}", "\u{FE63}"..."\u{FE63}", "\u{FF0D}"..."\u{FF0D}", "\u{10EAD}"..."\u{10EAD}",
    "\""..."\"", "'"..."'", ","...",", "."..."/", ":"...";", "_"..."_", "\u{AB}"..."\u{AB}", "\u{BB}"..."\u{BB}",
    "\u{2018}"..."\u{201F}", "\u{2039}"..."\u{203A}", "\u{3001}"..."\u{3002}", "\u{FF0C}"..."\u{FF0C}",
    "\u{200B}"..."\u{200F}", "\u{2060}"..."\u{2060}", "\u{FEFF}"..."\u{FEFF}",
  ]

  private static func lowercased(_ word: some Sequence<Unicode.Scalar>) -> String {
    var text = ""
    for scalar in word {
      let isCapital = ("A"..."Z").contains(scalar)
      text.unicodeScalars.append(isCapital ? Unicode.Scalar(UInt8(scalar.value) + 32) : scalar)
    }
    return text
  }

  /// Returns a word without characters that could harm a terminal, because a code may come from an untrusted link.
  private static func shown(_ word: String) -> String {
    let plain = word.unicodeScalars.map { scalar in
      scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) ? Character(scalar) : "?"
    }
    return String(plain.prefix(24))
  }
}

extension JoinCode: CustomStringConvertible, CustomReflectable {
  /// A description without the words, because the words are secret; see ``text``.
  public var description: String { "JoinCode(4 words)" }

  /// A mirror without children, because the words are secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

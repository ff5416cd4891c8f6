import WhiteboardRendering

/// The character encoding of the terminal, according to the locale.
package enum TerminalEncoding: Hashable, Sendable {
  case utf8
  /// ISO 8859-1.
  case latin1
  /// ASCII, or another encoding, in which the program writes only ASCII characters.
  case ascii

  /// Creates the encoding that a locale names, such as `de_DE.ISO-8859-1`.
  ///
  /// A locale that is not set, `C` and `POSIX` do not describe the terminal, which today uses UTF-8 almost always.
  init(locale: String) {
    let parts = locale.split(separator: ".", maxSplits: 1)
    let name = parts.first.map { $0.prefix { $0 != "@" } } ?? ""
    guard parts.count > 1 else {
      self = ["", "C", "POSIX"].contains(name) ? .utf8 : .ascii
      return
    }
    let set = parts[1].prefix { $0 != "@" }.lowercased().filter { $0.isLetter || $0.isNumber }
    switch set {
    case "utf8": self = .utf8
    case "iso88591", "latin1", "cp1252", "windows1252": self = .latin1
    default: self = .ascii
    }
  }

  /// Returns UTF-8 bytes for the terminal in this encoding.
  ///
  /// A character that the encoding does not have becomes a similar one or a question mark, with the same width.
  func encode(_ bytes: [UInt8]) -> [UInt8] {
    guard self != .utf8, bytes.contains(where: { $0 >= 0x80 }) else { return bytes }
    var encoded: [UInt8] = []
    encoded.reserveCapacity(bytes.count)
    for character in String(decoding: bytes, as: UTF8.self) {
      let scalars = character.unicodeScalars
      if scalars.allSatisfy(\.isASCII) {
        encoded.append(contentsOf: String(character).utf8)
      } else if self == .latin1, scalars.count == 1, let byte = scalars.first?.latin1 {
        encoded.append(byte)
      } else {
        let substitute = Self.substitutes[character] ?? "?"
        let width = CharacterWidth.columns(String(character))
        encoded.append(contentsOf: String(repeating: substitute, count: max(width, 0)).utf8)
      }
    }
    return encoded
  }

  func decode(_ bytes: [UInt8]) -> [UInt8] {
    guard self == .latin1, bytes.contains(where: { $0 >= 0x80 }) else { return bytes }
    return bytes.flatMap { Array(String(Unicode.Scalar($0)).utf8) }
  }

  /// The similar ASCII characters of the characters that this program uses.
  private static let substitutes: [Character: String] = [
    "…": ".", "–": "-", "—": "-", "●": "*", "■": "#", "↻": "@", "←": "<", "→": ">", "↑": "^", "↓": "v", "°": "o",
    "“": "\"", "”": "\"", "‘": "'", "’": "'", "·": ".", "×": "x",
  ]
}

extension Unicode.Scalar {
  /// The byte in ISO 8859-1; nil if it has no such character.
  fileprivate var latin1: UInt8? { (0xA0...0xFF).contains(value) ? UInt8(value) : nil }
}

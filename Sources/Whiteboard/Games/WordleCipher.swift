/// A word of five letters from a to z, in the lower 40 bits.
///
/// The first letter is in the highest of these bits.
struct WordleWord: Hashable, Sendable {
  let bits: UInt64

  /// Creates a word from letters in the lower 40 bits, which are all lower-case letters.
  init(bits: UInt64) { self.bits = bits }

  /// Creates a word; nil unless `letters` is exactly five lower-case letters.
  init?(_ letters: some Collection<UInt8>) {
    guard letters.count == Wordle.letters, letters.allSatisfy({ $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") })
    else { return nil }
    bits = letters.reduce(0) { ($0 << 8) | UInt64($1) }
  }

  /// The five letters, as ASCII.
  var letters: [UInt8] { (0..<Wordle.letters).map { UInt8(truncatingIfNeeded: bits >> (32 - 8 * UInt64($0))) } }

  var text: String { String(decoding: letters, as: UTF8.self) }
}

/// A cipher that hides a word from a casual look at the data (GAM-6).
///
/// It does not keep the word secret, because the key is computed from public data.
struct WordleCipher {
  private static let domain: UInt64 = 0x776F_7264_6C65_2D31
  private let key: UInt64

  /// Creates the cipher for the answer of a game.
  init(_ id: ObjectID) { key = Self.taken(Self.taken(0, Self.domain), id.dot) }

  /// Creates the cipher for the guess that the operation `dot` makes in a game.
  init(_ id: ObjectID, move dot: Dot) { key = Self.taken(WordleCipher(id).key, dot) }

  /// Returns the eight bytes that hide a word: its letters and a check value of 24 bits, encrypted with the key.
  func encipher(_ word: WordleWord) -> [UInt8] {
    let hidden = ((word.bits << 24) | check(word)) ^ SplitMix.mix(key)
    return (0..<8).map { UInt8(truncatingIfNeeded: hidden >> (56 - 8 * UInt64($0))) }
  }

  /// Returns the word that eight bytes hide; nil if they were not made with this key.
  func decipher(_ bytes: some Collection<UInt8>) -> WordleWord? {
    guard bytes.count == 8 else { return nil }
    let shown = bytes.reduce(0) { ($0 << 8) | UInt64($1) } ^ SplitMix.mix(key)
    let letters = (0..<Wordle.letters).map { UInt8(truncatingIfNeeded: shown >> (56 - 8 * UInt64($0))) }
    guard let word = WordleWord(letters), check(word) == shown & 0xFF_FFFF else { return nil }
    return word
  }

  private func check(_ word: WordleWord) -> UInt64 { SplitMix.mix(SplitMix.mix(key) ^ word.bits) >> 40 }

  private static func taken(_ hash: UInt64, _ word: UInt64) -> UInt64 { SplitMix.mix(hash ^ word) }

  private static func taken(_ hash: UInt64, _ dot: Dot) -> UInt64 {
    taken(taken(hash, dot.incarnation.rawValue), dot.sequence)
  }
}

/// The `mix` function of SYN-41.
private enum SplitMix {
  static func mix(_ number: UInt64) -> UInt64 {
    var mixed = number &+ 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

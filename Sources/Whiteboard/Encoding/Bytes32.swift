import PeerCore

/// A value of 32 bytes that is stored inline, for hashes and member ids.
public struct Bytes32: Hashable, Comparable, Sendable {
  private let words: [4 of UInt64]

  /// Creates a value; nil if `bytes` does not have exactly 32 bytes.
  public init?(_ bytes: some Collection<UInt8>) { self.init(Array(bytes)) }

  /// Creates a value; nil if `bytes` does not have exactly 32 bytes.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    var words: [4 of UInt64] = [0, 0, 0, 0]
    for index in 0..<32 { words[index / 8] = words[index / 8] << 8 | UInt64(bytes[index]) }
    self.words = words
  }

  /// The value as an array of 32 bytes.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(32)
    for index in 0..<4 {
      for shift in stride(from: UInt64(56), through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: words[index] >> shift))
      }
    }
    return bytes
  }

  /// The bytes as 64 lower-case hexadecimal digits.
  public var hex: String { Hexadecimal.encode(bytes) }

  /// Returns whether both values have the same 32 bytes.
  public static func == (lhs: Bytes32, rhs: Bytes32) -> Bool {
    lhs.words[0] == rhs.words[0] && lhs.words[1] == rhs.words[1]
      && lhs.words[2] == rhs.words[2] && lhs.words[3] == rhs.words[3]
  }

  /// Compares two values byte by byte.
  public static func < (lhs: Bytes32, rhs: Bytes32) -> Bool {
    for index in 0..<4 where lhs.words[index] != rhs.words[index] {
      return lhs.words[index] < rhs.words[index]
    }
    return false
  }

  /// Hashes all 32 bytes.
  public func hash(into hasher: inout Hasher) {
    for index in 0..<4 { hasher.combine(words[index]) }
  }
}

/// Coding of bytes as lower-case hexadecimal digits.
package enum Hexadecimal {
  private static let digits: [UInt8] = Array("0123456789abcdef".utf8)

  /// Returns `bytes` as text, with two digits for each byte.
  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes lower-case hexadecimal digits; nil if `text` is malformed.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in text.utf8 {
      let digit: UInt8
      switch character {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
      default: return nil
      }
      if let first = high {
        bytes.append((first << 4) | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return high == nil ? bytes : nil
  }
}

/// The id of a member: the 32 bytes of its peer id, which the board does not interpret.
public struct MemberID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The 32 bytes of the id.
  public let value: Bytes32

  /// Creates an id; nil if `bytes` does not have exactly 32 bytes.
  public init?(_ bytes: some Collection<UInt8>) { self.init(Array(bytes)) }

  /// Creates an id; nil if `bytes` does not have exactly 32 bytes.
  public init?(_ bytes: [UInt8]) {
    guard let value = Bytes32(bytes) else { return nil }
    self.value = value
  }

  /// Creates an id from its canonical text of 52 base32 characters; nil if `text` is malformed.
  public init?(_ text: String) {
    guard let bytes = try? Base32.decode(text, byteCount: 32) else { return nil }
    self.init(bytes)
  }

  /// The id as an array of 32 bytes.
  public var bytes: [UInt8] { value.bytes }

  /// The text form: 52 lower-case base32 characters.
  public var description: String { Base32.encode(value.bytes) }

  /// Compares two ids byte by byte.
  public static func < (lhs: MemberID, rhs: MemberID) -> Bool { lhs.value < rhs.value }
}

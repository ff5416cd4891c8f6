/// Thirty-two bytes in place: the storage of hashes and of member ids.
public struct Bytes32: Hashable, Comparable, Sendable {
  private let words: [4 of UInt64]

  /// The value of exactly 32 bytes, or nil.
  public init?(_ bytes: some Collection<UInt8>) { self.init(Array(bytes)) }

  /// The value of exactly 32 bytes, or nil.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    var words: [4 of UInt64] = [0, 0, 0, 0]
    for index in 0..<32 { words[index / 8] = words[index / 8] << 8 | UInt64(bytes[index]) }
    self.words = words
  }

  /// The 32 bytes.
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

  /// Whether all 32 bytes are equal.
  public static func == (lhs: Bytes32, rhs: Bytes32) -> Bool {
    lhs.words[0] == rhs.words[0] && lhs.words[1] == rhs.words[1]
      && lhs.words[2] == rhs.words[2] && lhs.words[3] == rhs.words[3]
  }

  /// Orders byte by byte.
  public static func < (lhs: Bytes32, rhs: Bytes32) -> Bool {
    for index in 0..<4 where lhs.words[index] != rhs.words[index] {
      return lhs.words[index] < rhs.words[index]
    }
    return false
  }

  /// Feeds all 32 bytes.
  public func hash(into hasher: inout Hasher) {
    for index in 0..<4 { hasher.combine(words[index]) }
  }
}

/// Lower-case hexadecimal.
package enum Hexadecimal {
  private static let digits: [UInt8] = Array("0123456789abcdef".utf8)

  /// The text of `bytes`, two digits each.
  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of lower-case digits, or nil.
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

/// The id of a member: the 32 bytes of a peer's id, opaque to the board.
public struct MemberID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The bytes.
  public let value: Bytes32

  /// The member of exactly 32 bytes, or nil.
  public init?(_ bytes: some Collection<UInt8>) { self.init(Array(bytes)) }

  /// The member of exactly 32 bytes, or nil.
  public init?(_ bytes: [UInt8]) {
    guard let value = Bytes32(bytes) else { return nil }
    self.value = value
  }

  /// The member of a canonical text of 52 base32 characters, or nil.
  public init?(_ text: String) {
    guard let bytes = Base32.decode(text, count: 32) else { return nil }
    self.init(bytes)
  }

  /// The 32 bytes.
  public var bytes: [UInt8] { value.bytes }

  /// The text form: 52 lower-case base32 characters.
  public var description: String { Base32.encode(value.bytes) }

  /// Orders byte by byte.
  public static func < (lhs: MemberID, rhs: MemberID) -> Bool { lhs.value < rhs.value }
}

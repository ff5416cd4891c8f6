import FoundationEssentials
import PeerCore
import PeerDiscovery
import PeerWire

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The payload of a control frame: one JSON object whose values are all in range (FRM-5).
///
/// Every value of a conforming type is valid, because it is checked when it is decoded or created.
protocol ControlPayload: Codable, Equatable, Sendable {
  static var frameType: FrameType { get }
}

/// The reason why a control payload is invalid; the link is closed with `protocol-error`.
///
/// The key paths in an error contain only known keys, never text from the peer.
enum ControlMessageError: Error, Equatable, Sendable {
  /// The payload is not one JSON object in UTF-8, is nested too deeply, or repeats a key (FRM-5).
  case notJSON
  case missing(String)
  case wrongType(String)
  /// A value has the right type but is not allowed.
  case outOfRange(String)
}

extension ControlPayload {
  /// Checks the limits of a frame's payload, then decodes it; if it throws ``ControlMessageError``, the link must be
  /// closed with `protocol-error` (FRM-4).
  static func decode(_ bytes: [UInt8]) throws(ControlMessageError) -> Self {
    let fractions: [Range<Int>]
    do { fractions = try JSONReader.check(bytes) } catch { throw .notJSON }
    // The decoder would accept `1.0` and `1e3` as integers, which FRM-5 forbids. Replacing numbers at unknown keys is
    // harmless, because every number in the protocol is an integer.
    var json: [UInt8] = []
    var start = 0
    for fraction in fractions {
      json += bytes[start..<fraction.lowerBound] + Array("0.5".utf8)
      start = fraction.upperBound
    }
    json += bytes[start...]
    do { return try JSONDecoder().decode(Self.self, from: Data(json)) } catch let error as DecodingError {
      throw ControlMessageError(error)
    } catch { throw .notJSON }
  }

  /// Returns the encoded payload with sorted keys, so that one value has one encoding.
  func encoded() -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do { return Array(try encoder.encode(self)) } catch {
      preconditionFailure("a control payload holds only text, integers, arrays and objects")
    }
  }
}

extension ControlMessageError {
  /// Creates an error that names the invalid key, from the decoder's error.
  fileprivate init(_ error: DecodingError) {
    switch error {
    case .keyNotFound(let key, let context): self = .missing(Self.path(context.codingPath + [key]))
    case .typeMismatch(_, let context), .valueNotFound(_, let context): self = .wrongType(Self.path(context.codingPath))
    case .dataCorrupted(let context):
      self = context.codingPath.isEmpty ? .notJSON : .outOfRange(Self.path(context.codingPath))
    @unknown default: self = .notJSON
    }
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    keys.map { key in key.intValue.map { String($0) } ?? key.stringValue }.joined(separator: ".")
  }
}

struct ProofBytes: Hashable, Sendable {
  /// The number of bytes in a value.
  static let count = 32

  /// The bytes.
  let bytes: [UInt8]

  /// Creates a value from exactly 32 bytes, or returns `nil` for any other length.
  init?(_ bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
    guard self.bytes.count == Self.count else { return nil }
  }

  /// Returns new random bytes.
  static func random() -> ProofBytes {
    var generator = SystemRandomNumberGenerator()
    return random(using: &generator)
  }

  /// Returns random bytes from `generator`.
  static func random(using generator: inout some RandomNumberGenerator) -> ProofBytes {
    ProofBytes(unchecked: (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }

  private init(unchecked bytes: [UInt8]) { self.bytes = bytes }
}

extension ProofBytes: Codable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let bytes = Base64.decodeCanonical(try container.decode(String.self), maximum: Self.count),
      let value = ProofBytes(bytes)
    else { throw DecodingError.dataCorruptedError(in: container, debugDescription: "not 32 bytes") }
    self = value
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Base64.encode(bytes))
  }
}

/// The greatest integer in a control payload, 2^53 - 1 (FRM-5).
let maximumControlInteger = 1 << 53 - 1

extension KeyedDecodingContainer {
  /// Returns whether an optional key has a value; `null` is treated as no value (FRM-5).
  func isPresent(_ key: Key) throws -> Bool { try contains(key) && !decodeNil(forKey: key) }

  /// Reads an integer that must lie in `range`.
  func integer(_ key: Key, in range: ClosedRange<Int>) throws -> Int {
    do {
      let value = try decode(Int.self, forKey: key)
      guard range.contains(value) else { throw outOfRange(key) }
      return value
    } catch let error as DecodingError { throw error } catch {
      // If the number has a fraction or exceeds 64 bits, the decoder throws an error that does not name the key.
      throw outOfRange(key)
    }
  }

  /// Reads text without NUL whose number of bytes is in `range`.
  func text(_ key: Key, bytes range: ClosedRange<Int>) throws -> String {
    let value = try decode(String.self, forKey: key)
    guard range.contains(value.utf8.count), !value.utf8.contains(0) else { throw outOfRange(key) }
    return value
  }

  /// Reads base64 of at most `maximum` bytes.
  func base64(_ key: Key, maximum: Int) throws -> [UInt8] {
    guard let bytes = Base64.decodeCanonical(try decode(String.self, forKey: key), maximum: maximum) else {
      throw outOfRange(key)
    }
    return bytes
  }

  /// Reads an array of at most `maximum` elements.
  func array<Element: Decodable>(_ key: Key, of type: Element.Type, maximum: Int) throws -> [Element] {
    var elements = try nestedUnkeyedContainer(forKey: key)
    var result: [Element] = []
    while !elements.isAtEnd {
      guard result.count < maximum else { throw outOfRange(key) }
      result.append(try elements.decode(type))
    }
    return result
  }

  /// Reads IP literals without scope, at most 16 (3.1).
  func addresses(_ key: Key) throws -> [String] {
    let texts = try array(key, of: String.self, maximum: Limits.addresses)
    guard texts.allSatisfy(isIPLiteral) else { throw outOfRange(key) }
    return texts
  }

  /// Reads 64 lower-case hexadecimal digits.
  func sha256(_ key: Key) throws -> String {
    let text = try decode(String.self, forKey: key)
    guard text.utf8.count == 64,
      text.utf8.allSatisfy({
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      })
    else { throw outOfRange(key) }
    return text
  }

  /// Returns the error for a value that is not allowed.
  func outOfRange(_ key: Key) -> DecodingError {
    .dataCorruptedError(forKey: key, in: self, debugDescription: "out of range")
  }
}

/// Returns whether `text` is an IPv4 or IPv6 address as `inet_pton` reads it, without a scope.
func isIPLiteral(_ text: String) -> Bool {
  guard text.utf8.count < Int(INET6_ADDRSTRLEN), !text.utf8.contains(0) else { return false }
  var v4 = in_addr()
  var v6 = in6_addr()
  return inet_pton(AF_INET, text, &v4) == 1 || inet_pton(AF_INET6, text, &v6) == 1
}

import PeerCore
import PeerDiscovery
import PeerWire

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A value that is encoded as one JSON object (FRM-5). `list(_:)` names the fields for both reading and writing.
protocol ControlObject: Equatable, Sendable {
  init()

  mutating func list(_ fields: inout ControlFields) throws(ControlMessageError)
}

/// The payload of a control frame: one JSON object whose values are all in range (FRM-5). Every value of a conforming
/// type is valid, because values are checked when they are read or created.
protocol ControlPayload: ControlObject { static var frameType: FrameType { get } }

/// The reason why a control payload is invalid; the link is closed with `protocol-error`. The key paths in an error
/// contain only known keys, never text from the peer.
enum ControlMessageError: Error, Equatable, Sendable {
  /// The payload is not one JSON object in UTF-8, is nested too deeply, or repeats a key (FRM-5).
  case notJSON
  case missing(String)
  case wrongType(String)
  case outOfRange(String)
}

extension ControlObject {
  /// If this method throws, the caller must close the link with `protocol-error` (FRM-4).
  static func decode(_ bytes: [UInt8]) throws(ControlMessageError) -> Self {
    let tree: JSONTree
    do { tree = try JSONReader.strict(bytes) } catch { throw .notJSON }
    return try ControlForm.object.read(tree, "")
  }

  /// The keys are sorted, so that equal values have equal encodings.
  func encoded() -> [UInt8] { Array(ControlForm.object.write(self).utf8) }
}

struct ControlFields {
  /// The object being read; `nil` while an object is written.
  private let source: [String: JSONTree]?
  private let path: String
  private var written: [(key: String, json: String)] = []

  /// `path` is the prefix of the object's keys in errors.
  init(reading source: [String: JSONTree], _ path: String) {
    self.source = source
    self.path = path
  }

  init() {
    source = nil
    path = ""
  }

  var isReading: Bool { source != nil }
  var json: String {
    "{" + written.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.json)" }.joined(separator: ",") + "}"
  }

  func has(_ key: String) -> Bool { source?[key].map { $0 != .null } ?? false }

  mutating func required<Value>(_ key: String, _ value: inout Value, _ form: ControlForm<Value>)
    throws(ControlMessageError)
  {
    guard let source else { return written.append((key, form.write(value))) }
    guard let tree = source[key] else { throw .missing(path + key) }
    value = try form.read(tree, path + key)
  }

  /// `null` counts as missing (FRM-5).
  mutating func optional<Value>(_ key: String, _ value: inout Value?, _ form: ControlForm<Value>)
    throws(ControlMessageError)
  {
    if let source {
      value = nil
      if let tree = source[key], tree != .null { value = try form.read(tree, path + key) }
    } else if let value {
      written.append((key, form.write(value)))
    }
  }

  /// Reads or writes a field that is omitted if its value is `standard`.
  mutating func optional<Value: Equatable>(
    _ key: String,
    _ value: inout Value,
    _ form: ControlForm<Value>,
    unless standard: Value
  ) throws(ControlMessageError) {
    var other = value == standard ? nil : value
    try optional(key, &other, form)
    value = other ?? standard
  }

  func missing(_ key: String) -> ControlMessageError { .missing(path + key) }
}

/// The functions are closures, because key paths would be looked up each time a form is created.
struct ControlForm<Value>: Sendable {
  /// Reads a value; the string is the path of its key, for errors.
  let read: @Sendable (JSONTree, String) throws(ControlMessageError) -> Value
  let write: @Sendable (Value) -> String
}

extension ControlForm where Value: ControlObject {
  static var object: Self {
    Self { (tree, path) throws(ControlMessageError) in
      guard let members = tree.members else { throw .wrongType(path) }
      var fields = ControlFields(reading: members, path.isEmpty ? "" : path + ".")
      var value = Value()
      try value.list(&fields)
      return value
    } write: { value in
      var fields = ControlFields()
      var value = value
      // Only reading throws.
      try? value.list(&fields)
      return fields.json
    }
  }
}

extension ControlForm {
  /// A string that stands for a value; other strings are out of range.
  static func string(_ value: @escaping @Sendable (String) -> Value?, _ text: @escaping @Sendable (Value) -> String)
    -> Self
  {
    Self { (tree, path) throws(ControlMessageError) in
      guard let string = tree.string else { throw .wrongType(path) }
      guard let value = value(string) else { throw .outOfRange(path) }
      return value
    } write: {
      JSONObject.plain(text($0))
    }
  }

  static func list<Element>(of element: ControlForm<Element>, maximum: Int) -> Self where Value == [Element] {
    Self { (tree, path) throws(ControlMessageError) in
      guard let list = tree.list else { throw .wrongType(path) }
      guard list.count <= maximum else { throw .outOfRange(path) }
      var values: [Element] = []
      for (index, tree) in list.enumerated() { values.append(try element.read(tree, "\(path).\(index)")) }
      return values
    } write: {
      JSONObject.list($0.map(element.write))
    }
  }

  /// An object that has ids as keys; other keys are ignored.
  static func table<Key: Identifier, Element>(of element: ControlForm<Element>) -> Self where Value == [Key: Element] {
    Self { (tree, path) throws(ControlMessageError) in
      guard let members = tree.members else { throw .wrongType(path) }
      var values: [Key: Element] = [:]
      for (text, tree) in members { if let key = Key(text: text) { values[key] = try element.read(tree, path) } }
      return values
    } write: { values in
      let members = values.map { (key: $0.key.text, json: element.write($0.value)) }.sorted { $0.key < $1.key }
      return "{" + members.map { "\"\($0.key)\":\($0.json)" }.joined(separator: ",") + "}"
    }
  }
}

extension ControlForm where Value: BinaryInteger & Sendable {
  static func integer(in range: ClosedRange<Int>) -> Self {
    Self { (tree, path) throws(ControlMessageError) in
      guard let number = tree.number else { throw .wrongType(path) }
      guard let integer = Int(exactly: number), range.contains(integer) else { throw .outOfRange(path) }
      return Value(integer)
    } write: {
      String($0)
    }
  }
}

extension ControlForm<Bool> {
  static var flag: Self {
    Self { (tree, path) throws(ControlMessageError) in
      guard let flag = tree.flag else { throw .wrongType(path) }
      return flag
    } write: {
      $0 ? "true" : "false"
    }
  }
}

extension ControlForm where Value: Identifier { static var id: Self { .string({ Value(text: $0) }, { $0.text }) } }

extension ControlForm where Value: RawRepresentable<String> & Sendable {
  /// One of the words of an enumeration; an unknown word is read as `other`, or is out of range if `other` is nil.
  static func word(or other: Value? = nil) -> Self { .string({ Value(rawValue: $0) ?? other }, { $0.rawValue }) }
}

extension ControlForm<String> {
  static func text(_ range: ClosedRange<Int>) -> Self {
    .string({ range.contains($0.utf8.count) && !$0.utf8.contains(0) ? $0 : nil }, { $0 })
  }

  /// 64 lower-case hexadecimal digits.
  static var sha256: Self {
    .string(
      { text in
        let isHash = text.utf8.count == 64 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66) ~= $0 }
        return isHash ? text : nil
      },
      { $0 }
    )
  }

  /// An IP literal without a scope (3.1).
  static var address: Self { .string({ isIPLiteral($0) ? $0 : nil }, { $0 }) }
}

extension ControlForm<UntrustedText> {
  static func text(_ range: ClosedRange<Int>) -> Self {
    .string({ range.contains($0.utf8.count) && !$0.utf8.contains(0) ? UntrustedText($0) : nil }, { $0.raw })
  }
}

extension ControlForm<[UInt8]> {
  /// Base64 of at most `maximum` bytes.
  static func base64(maximum: Int) -> Self {
    .string({ Base64.decodeCanonical($0, maximum: maximum) }, { Base64.encode($0) })
  }
}

extension ControlForm<[UInt8]> {
  /// A DER SubjectPublicKeyInfo, which has 91 bytes for P-256.
  static var key: Self { .base64(maximum: 128) }

  /// A DER signature, which has at most 72 bytes for P-256.
  static var signature: Self { .base64(maximum: 80) }
}

extension ControlForm<ProofBytes> {
  static var proof: Self {
    .string(
      { Base64.decodeCanonical($0, maximum: ProofBytes.count).flatMap { ProofBytes($0) } },
      { Base64.encode($0.bytes) }
    )
  }
}

extension ControlForm<JoinCode> {
  static var code: Self {
    .string({ (1...256).contains($0.utf8.count) && !$0.utf8.contains(0) ? try? JoinCode(words: $0) : nil }, { $0.text })
  }
}

extension ControlForm<[String]> {
  static var addresses: Self { .list(of: .address, maximum: Limits.addresses) }
}

extension Identifier {
  /// The placeholder in a ``ControlObject`` that is not read yet.
  static var none: Self {
    guard let none = Self(bytes: [UInt8](repeating: 0, count: byteCount)) else {
      preconditionFailure("it has the length")
    }
    return none
  }
}

struct ProofBytes: Hashable, Sendable {
  static let count = 32

  let bytes: [UInt8]

  /// The placeholder in a ``ControlObject`` that is not read yet.
  static let none = ProofBytes(unchecked: [UInt8](repeating: 0, count: count))

  init?(_ bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
    guard self.bytes.count == Self.count else { return nil }
  }

  static func random() -> ProofBytes {
    var generator = SystemRandomNumberGenerator()
    return random(using: &generator)
  }

  static func random(using generator: inout some RandomNumberGenerator) -> ProofBytes {
    ProofBytes(unchecked: (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }

  private init(unchecked bytes: [UInt8]) { self.bytes = bytes }
}

/// The greatest integer in a control payload, 2^53 - 1 (FRM-5).
let maximumControlInteger = 1 << 53 - 1

/// Returns whether `text` is an IPv4 or IPv6 address as `inet_pton` reads it, without a scope.
func isIPLiteral(_ text: String) -> Bool {
  guard text.utf8.count < Int(INET6_ADDRSTRLEN), !text.utf8.contains(0) else { return false }
  var v4 = in_addr()
  var v6 = in6_addr()
  return inet_pton(AF_INET, text, &v4) == 1 || inet_pton(AF_INET6, text, &v6) == 1
}

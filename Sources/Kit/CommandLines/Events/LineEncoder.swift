import PeerCore
import WhiteboardKit

/// An encoder of values as JSON on one line, with the keys of each object in ascending order.
///
/// It is several times as fast as Foundation's encoder. This matters when thousands of objects change at the same time.
/// Code points that a terminal might interpret are escaped.
final class LineEncoder: Encoder {
  private enum Content {
    case none
    case json([UInt8])
    case object(Members)
    case array(Elements)
  }

  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]
  private var content = Content.none

  func container<Key: CodingKey>(keyedBy: Key.Type) -> KeyedEncodingContainer<Key> {
    if case .object(let members) = content { return KeyedEncodingContainer(MembersOf(members)) }
    let members = Members()
    content = .object(members)
    return KeyedEncodingContainer(MembersOf(members))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if case .array(let elements) = content { return elements }
    let elements = Elements()
    content = .array(elements)
    return elements
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { Single(encoder: self) }

  private func write(to json: inout [UInt8]) {
    switch content {
    case .none: json.append(contentsOf: "{}".utf8)
    case .json(let value): json.append(contentsOf: value)
    case .object(let members): members.write(to: &json)
    case .array(let elements): elements.write(to: &json)
    }
  }

  // MARK: - Values

  static func append<Value: Encodable>(_ value: Value, to json: inout [UInt8]) throws {
    // Comparing types is cheaper than casting, and most values have one of these types.
    if Value.self == Double.self, let number = value as? Double {
      append(number, to: &json)
    } else if Value.self == String.self, let text = value as? String {
      append(text, to: &json)
    } else if let value = value as? any WritesJSON {
      value.write(to: &json)
    } else {
      let encoder = LineEncoder()
      try value.encode(to: encoder)
      encoder.write(to: &json)
    }
  }

  fileprivate static func appendInteger(_ value: some BinaryInteger, to json: inout [UInt8]) {
    json.append(contentsOf: String(value).utf8)
  }

  fileprivate static func append(_ value: Bool, to json: inout [UInt8]) {
    json.append(contentsOf: (value ? "true" : "false").utf8)
  }

  /// Appends a number, or null if it is infinite or not a number.
  static func append(_ value: Double, to json: inout [UInt8]) {
    if let whole = Int32(exactly: value), value != 0 || value.sign == .plus {
      json.append(contentsOf: String(whole).utf8)
    } else if value.isFinite {
      let text = value.description
      json.append(contentsOf: text.hasSuffix(".0") ? text.dropLast(2).utf8 : text[...].utf8)
    } else {
      json.append(contentsOf: "null".utf8)
    }
  }

  static func append(_ text: String, to json: inout [UInt8]) {
    json.append(UInt8(ascii: "\""))
    if text.utf8.allSatisfy({ 0x20 <= $0 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }) {
      json.append(contentsOf: text.utf8)
    } else {
      for scalar in text.unicodeScalars { append(scalar, to: &json) }
    }
    json.append(UInt8(ascii: "\""))
  }

  private static func append(_ scalar: Unicode.Scalar, to json: inout [UInt8]) {
    switch scalar {
    case "\"": json.append(contentsOf: #"\""#.utf8)
    case "\\": json.append(contentsOf: #"\\"#.utf8)
    case "\n": json.append(contentsOf: #"\n"#.utf8)
    case "\r": json.append(contentsOf: #"\r"#.utf8)
    case "\t": json.append(contentsOf: #"\t"#.utf8)
    case "\u{8}": json.append(contentsOf: #"\b"#.utf8)
    case "\u{C}": json.append(contentsOf: #"\f"#.utf8)
    case _ where scalar.value >= 0x20 && scalar.isSafe:
      json.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    default:
      for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
        let digits = String(unit, radix: 16)
        json.append(contentsOf: #"\u"#.utf8)
        json.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 4 - digits.count))
        json.append(contentsOf: digits.utf8)
      }
    }
  }

  // MARK: - Containers

  private final class Members {
    private enum Content {
      case json([UInt8])
      case nested(LineEncoder)
      /// A value that can be large. It is written directly into the line, and not copied.
      case value(any WritesJSON)
    }

    private var members: [(key: String, content: Content)] = []

    func add(_ key: String, _ write: (inout [UInt8]) throws -> Void) rethrows {
      var json: [UInt8] = []
      try write(&json)
      members.append((key, .json(json)))
    }

    func add(_ key: String, _ value: any WritesJSON) { members.append((key, .value(value))) }

    func encoder(_ key: String) -> LineEncoder {
      let encoder = LineEncoder()
      members.append((key, .nested(encoder)))
      return encoder
    }

    func write(to json: inout [UInt8]) {
      members.sort { $0.key < $1.key }
      json.append(UInt8(ascii: "{"))
      for index in members.indices {
        if index > 0 { json.append(UInt8(ascii: ",")) }
        LineEncoder.append(members[index].key, to: &json)
        json.append(UInt8(ascii: ":"))
        switch members[index].content {
        case .json(let value): json.append(contentsOf: value)
        case .nested(let encoder): encoder.write(to: &json)
        case .value(let value): value.write(to: &json)
        }
      }
      json.append(UInt8(ascii: "}"))
    }
  }

  private struct MembersOf<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let members: Members
    let codingPath: [any CodingKey] = []

    init(_ members: Members) { self.members = members }

    func encodeNil(forKey key: Key) { members.add(key.stringValue) { $0.append(contentsOf: "null".utf8) } }

    func encode(_ value: Bool, forKey key: Key) { members.add(key.stringValue) { LineEncoder.append(value, to: &$0) } }

    func encode(_ value: String, forKey key: Key) {
      members.add(key.stringValue) { LineEncoder.append(value, to: &$0) }
    }

    func encode(_ value: Double, forKey key: Key) {
      members.add(key.stringValue) { LineEncoder.append(value, to: &$0) }
    }

    func encode(_ value: Int, forKey key: Key) {
      members.add(key.stringValue) { LineEncoder.appendInteger(value, to: &$0) }
    }

    func encode(_ value: UInt64, forKey key: Key) {
      members.add(key.stringValue) { LineEncoder.appendInteger(value, to: &$0) }
    }

    func encode(_ value: some Encodable, forKey key: Key) throws {
      if let value = value as? any WritesJSON { return members.add(key.stringValue, value) }
      try members.add(key.stringValue) { try LineEncoder.append(value, to: &$0) }
    }

    func nestedContainer<Nested: CodingKey>(keyedBy: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
      members.encoder(key.stringValue).container(keyedBy: keyedBy)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
      members.encoder(key.stringValue).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { members.encoder("super") }

    func superEncoder(forKey key: Key) -> any Encoder { members.encoder(key.stringValue) }
  }

  private final class Elements: UnkeyedEncodingContainer {
    private enum Part {
      case json([UInt8])
      case nested(LineEncoder)
    }

    let codingPath: [any CodingKey] = []
    private(set) var count = 0
    private var parts: [Part] = []
    /// The JSON text of the elements since the last part, separated by commas.
    private var json: [UInt8] = []

    private func separate() {
      if count > 0 { json.append(UInt8(ascii: ",")) }
      count += 1
    }

    func encodeNil() {
      separate()
      json.append(contentsOf: "null".utf8)
    }

    func encode(_ value: some Encodable) throws {
      separate()
      try LineEncoder.append(value, to: &json)
    }

    private func nestedEncoder() -> LineEncoder {
      separate()
      let encoder = LineEncoder()
      parts.append(.json(json))
      parts.append(.nested(encoder))
      json = []
      return encoder
    }

    func nestedContainer<Key: CodingKey>(keyedBy: Key.Type) -> KeyedEncodingContainer<Key> {
      nestedEncoder().container(keyedBy: keyedBy)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nestedEncoder().unkeyedContainer() }

    func superEncoder() -> any Encoder { nestedEncoder() }

    func write(to output: inout [UInt8]) {
      output.append(UInt8(ascii: "["))
      for part in parts {
        switch part {
        case .json(let json): output.append(contentsOf: json)
        case .nested(let encoder): encoder.write(to: &output)
        }
      }
      output.append(contentsOf: json)
      output.append(UInt8(ascii: "]"))
    }
  }

  private struct Single: SingleValueEncodingContainer {
    let encoder: LineEncoder
    let codingPath: [any CodingKey] = []

    private func set(_ write: (inout [UInt8]) throws -> Void) rethrows {
      var json: [UInt8] = []
      try write(&json)
      encoder.content = .json(json)
    }

    func encodeNil() { set { $0.append(contentsOf: "null".utf8) } }
    func encode(_ value: Bool) { set { LineEncoder.append(value, to: &$0) } }
    func encode(_ value: String) { set { LineEncoder.append(value, to: &$0) } }
    func encode(_ value: Double) { set { LineEncoder.append(value, to: &$0) } }
    func encode(_ value: Float) { set { LineEncoder.append(Double(value), to: &$0) } }
    func encode(_ value: Int) { set { LineEncoder.appendInteger(value, to: &$0) } }
    func encode(_ value: Int8) { set { LineEncoder.appendInteger(value, to: &$0) } }
    func encode(_ value: Int16) { set { LineEncoder.appendInteger(value, to: &$0) } }
    func encode(_ value: Int32) { set { LineEncoder.appendInteger(value, to: &$0) } }
    func encode(_ value: Int64) { set { LineEncoder.appendInteger(value, to: &$0) } }
    func encode(_ value: UInt) { set { LineEncoder.appendInteger(value, to: &$0) } }
    func encode(_ value: UInt8) { set { LineEncoder.appendInteger(value, to: &$0) } }
    func encode(_ value: UInt16) { set { LineEncoder.appendInteger(value, to: &$0) } }
    func encode(_ value: UInt32) { set { LineEncoder.appendInteger(value, to: &$0) } }
    func encode(_ value: UInt64) { set { LineEncoder.appendInteger(value, to: &$0) } }

    func encode(_ value: some Encodable) throws { try set { try LineEncoder.append(value, to: &$0) } }
  }
}

/// A value that writes its own JSON, because it can be large or is frequent.
protocol WritesJSON {
  func write(to json: inout [UInt8])
}

extension Base64Text: WritesJSON {
  func write(to json: inout [UInt8]) {
    json.append(UInt8(ascii: "\""))
    Base64.append(bytes, to: &json)
    json.append(UInt8(ascii: "\""))
  }
}

extension UntrustedText: WritesJSON { func write(to json: inout [UInt8]) { LineEncoder.append(raw, to: &json) } }

extension RelativePoints: WritesJSON {
  func write(to json: inout [UInt8]) {
    json.append(UInt8(ascii: "["))
    var isFirst = true
    forEach { point in
      if !isFirst { json.append(UInt8(ascii: ",")) }
      isFirst = false
      json.append(UInt8(ascii: "["))
      LineEncoder.append(point.x, to: &json)
      json.append(UInt8(ascii: ","))
      LineEncoder.append(point.y, to: &json)
      json.append(UInt8(ascii: "]"))
    }
    json.append(UInt8(ascii: "]"))
  }
}

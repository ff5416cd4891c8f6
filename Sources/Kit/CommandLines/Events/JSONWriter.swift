import PeerCore
import WhiteboardKit

/// Writes JSON on one line, directly into bytes. The caller must add the keys of an object in ascending order; keys
/// with the value nil are left out. Code points that a terminal might interpret are escaped.
struct JSONWriter {
  var bytes: [UInt8] = []

  mutating func add(_ key: StaticString, _ value: (some JSONValue)?) {
    guard let value else { return }
    begin(key)
    value.write(to: &self)
  }

  mutating func add(text key: String, _ value: some JSONValue) {
    separate()
    write(key)
    bytes.append(UInt8(ascii: ":"))
    value.write(to: &self)
  }

  mutating func begin(_ key: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    key.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  mutating func separate() {
    if let last = bytes.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "[") { bytes.append(UInt8(ascii: ",")) }
  }

  mutating func write(raw json: StaticString) { json.withUTF8Buffer { bytes.append(contentsOf: $0) } }

  mutating func add(_ members: KeyValuePairs<StaticString, (any JSONValue)?>) {
    for (key, value) in members { if let value { add(key, value) } }
  }

  mutating func write(object members: KeyValuePairs<StaticString, (any JSONValue)?>) { write { $0.add(members) } }

  mutating func write(_ addMembers: (inout JSONWriter) -> Void) {
    bytes.append(UInt8(ascii: "{"))
    addMembers(&self)
    bytes.append(UInt8(ascii: "}"))
  }

  mutating func write(element value: some JSONValue) {
    separate()
    value.write(to: &self)
  }

  mutating func write(list: some Sequence<some JSONValue>) {
    bytes.append(UInt8(ascii: "["))
    for element in list { write(element: element) }
    bytes.append(UInt8(ascii: "]"))
  }

  mutating func write(whole number: some BinaryInteger) {
    guard let whole = UInt32(exactly: number) else { return bytes.append(contentsOf: String(number).utf8) }
    var divisor: UInt32 = 1
    while whole / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: whole / divisor % 10))
      divisor /= 10
    }
  }

  mutating func write(_ number: Double) {
    guard number.isFinite else { return write(raw: "null") }
    // The points of drawings are multiples of 1/32, which have at most five decimal places.
    guard let steps = Int32(exactly: number * 32), number != 0 || number.sign == .plus else {
      let text = number.description
      return bytes.append(contentsOf: text.hasSuffix(".0") ? text.dropLast(2).utf8 : text[...].utf8)
    }
    if steps < 0 { bytes.append(UInt8(ascii: "-")) }
    write(whole: steps.magnitude / 32)
    var rest = steps.magnitude % 32 * 3125
    guard rest > 0 else { return }
    bytes.append(UInt8(ascii: "."))
    while rest > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / 10_000))
      rest = rest % 10_000 * 10
    }
  }

  mutating func write(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    let isPlain = text.withUTF8 { utf8 in
      guard utf8.allSatisfy({ 0x20 <= $0 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }) else { return false }
      bytes.append(contentsOf: utf8)
      return true
    }
    if !isPlain { for scalar in text.unicodeScalars { write(scalar) } }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func write(_ scalar: Unicode.Scalar) {
    if let escape = JSONObject.escape(scalar, evenIfAllowed: !scalar.isSafe) {
      bytes.append(contentsOf: escape.utf8)
    } else {
      bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
  }
}

protocol JSONValue {
  func write(to json: inout JSONWriter)
}

extension String: JSONValue { func write(to json: inout JSONWriter) { json.write(self) } }

extension UntrustedText: JSONValue { func write(to json: inout JSONWriter) { json.write(raw) } }

extension Bool: JSONValue { func write(to json: inout JSONWriter) { json.write(raw: self ? "true" : "false") } }

extension Int: JSONValue { func write(to json: inout JSONWriter) { json.write(whole: self) } }

extension UInt64: JSONValue { func write(to json: inout JSONWriter) { json.write(whole: self) } }

extension Double: JSONValue { func write(to json: inout JSONWriter) { json.write(self) } }

extension Array: JSONValue where Element: JSONValue {
  func write(to json: inout JSONWriter) { json.write(list: self) }
}

extension JSONTree: JSONValue {
  func write(to json: inout JSONWriter) {
    switch self {
    case .null: json.write(raw: "null")
    case .flag(let flag): flag.write(to: &json)
    case .number(let number):
      if let whole = Int64(exactly: number) { json.write(whole: whole) } else { json.write(number) }
    case .digits(let digits): json.bytes.append(contentsOf: digits.utf8)
    case .string(let string): json.write(string)
    case .numbers(let numbers): json.write(list: numbers.map { JSONTree.number($0) })
    case .list(let list): list.write(to: &json)
    case .object(let members):
      json.write { json in
        for (key, value) in members.sorted(by: { $0.key < $1.key }) { json.add(text: key, value) }
      }
    }
  }
}

/// The reason why bytes are not read as JSON.
package enum JSONError: Error, Hashable, Sendable {
  /// The bytes are not valid JSON; the value is the offset of the first invalid byte.
  case malformed(at: Int)
  /// Lists and objects are nested too deeply; the value is the offset where the limit is exceeded.
  case tooDeep(at: Int)
  case tooManyValues
}

/// A reader of JSON (RFC 8259) from untrusted sources.
///
/// The depth and the number of values are limited, so that time and memory are limited too. Input that exceeds the
/// limits, or is not JSON, causes an error and never a trap.
package struct JSONReader {
  /// The maximum depth of nested lists and objects.
  package static let depthLimit = 64
  /// The maximum number of values in a document.
  package static let valueLimit = 16_000_000
  /// The maximum length of a number, in bytes.
  private static let numberLength = 512

  private let bytes: [UInt8]
  private let depthLimit: Int
  private var position = 0
  private var depth = 0
  private var values = 0

  private init(_ bytes: [UInt8], depthLimit: Int) {
    self.bytes = bytes
    self.depthLimit = depthLimit
  }

  /// Reads all bytes, which are UTF-8, as one value.
  package static func read(_ bytes: [UInt8], depthLimit: Int = depthLimit) throws(JSONError) -> JSONTree {
    var reader = JSONReader(bytes, depthLimit: depthLimit)
    // Some editors write a byte order mark at the beginning of a file.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
    let tree = try reader.value()
    reader.skipBlanks()
    guard reader.position == bytes.count else { throw .malformed(at: reader.position) }
    return tree
  }

  private mutating func value() throws(JSONError) -> JSONTree {
    skipBlanks()
    values += 1
    guard values <= Self.valueLimit else { throw .tooManyValues }
    switch peek {
    case UInt8(ascii: "{"): return try nested { (reader) throws(JSONError) in try reader.object() }
    case UInt8(ascii: "["): return try nested { (reader) throws(JSONError) in try reader.list() }
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", .flag(true))
    case UInt8(ascii: "f"): return try literal("false", .flag(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    default: return .number(try number())
    }
  }

  private mutating func nested(_ body: (inout JSONReader) throws(JSONError) -> JSONTree) throws(JSONError) -> JSONTree {
    guard depth < depthLimit else { throw .tooDeep(at: position) }
    depth += 1
    position += 1
    let tree = try body(&self)
    depth -= 1
    return tree
  }

  private mutating func object() throws(JSONError) -> JSONTree {
    var members: [String: JSONTree] = [:]
    guard !take(UInt8(ascii: "}")) else { return .object(members) }
    repeat {
      skipBlanks()
      guard peek == UInt8(ascii: "\"") else { throw .malformed(at: position) }
      let key = try string()
      guard take(UInt8(ascii: ":")) else { throw .malformed(at: position) }
      members[key] = try value()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw .malformed(at: position) }
    return .object(members)
  }

  private mutating func list() throws(JSONError) -> JSONTree {
    guard !take(UInt8(ascii: "]")) else { return .list([]) }
    var numbers: [Double] = []
    var rest: [JSONTree]?
    repeat {
      let element = try value()
      if rest == nil, case .number(let number) = element {
        numbers.append(number)
      } else {
        var all = rest ?? numbers.map { .number($0) }
        rest = nil
        all.append(element)
        rest = all
      }
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw .malformed(at: position) }
    return rest.map { .list($0) } ?? .numbers(numbers)
  }

  private mutating func literal(_ word: StaticString, _ tree: JSONTree) throws(JSONError) -> JSONTree {
    let length = word.utf8CodeUnitCount
    let isIt = word.withUTF8Buffer { bytes[position...].starts(with: $0) }
    guard isIt else { throw .malformed(at: position) }
    position += length
    return tree
  }

  private mutating func number() throws(JSONError) -> Double {
    let start = position
    _ = take(only: UInt8(ascii: "-"))
    if !take(only: UInt8(ascii: "0")) { try digits() }
    if take(only: UInt8(ascii: ".")) { try digits() }
    if take(only: UInt8(ascii: "e")) || take(only: UInt8(ascii: "E")) {
      if !take(only: UInt8(ascii: "+")) { _ = take(only: UInt8(ascii: "-")) }
      try digits()
    }
    guard position - start <= Self.numberLength,
      let number = Double(String(decoding: bytes[start..<position], as: UTF8.self)), number.isFinite
    else { throw .malformed(at: start) }
    return number
  }

  private mutating func digits() throws(JSONError) {
    let start = position
    while let byte = peek, (0x30...0x39).contains(byte) { position += 1 }
    guard position > start else { throw .malformed(at: position) }
  }

  private mutating func string() throws(JSONError) -> String {
    let start = position
    position += 1
    let plain = position
    while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
    if peek == UInt8(ascii: "\"") {
      position += 1
      return try text(bytes[plain..<(position - 1)], at: start)
    }
    var unescaped = Array(bytes[plain..<position])
    while let byte = peek {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return try text(unescaped[...], at: start)
      case UInt8(ascii: "\\"): try escape(into: &unescaped)
      case 0..<0x20: throw .malformed(at: position - 1)
      default: unescaped.append(byte)
      }
    }
    throw .malformed(at: position)
  }

  private func text(_ bytes: ArraySlice<UInt8>, at start: Int) throws(JSONError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .malformed(at: start) }
    return text
  }

  private mutating func escape(into bytes: inout [UInt8]) throws(JSONError) {
    let start = position - 1
    guard let byte = peek else { throw .malformed(at: start) }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(byte)
    case UInt8(ascii: "b"): bytes.append(0x08)
    case UInt8(ascii: "f"): bytes.append(0x0C)
    case UInt8(ascii: "n"): bytes.append(0x0A)
    case UInt8(ascii: "r"): bytes.append(0x0D)
    case UInt8(ascii: "t"): bytes.append(0x09)
    case UInt8(ascii: "u"):
      var code = try hexadecimal()
      if code & 0xFC00 == 0xD800, take(only: UInt8(ascii: "\\")) {
        guard take(only: UInt8(ascii: "u")) else { throw .malformed(at: start) }
        let low = try hexadecimal()
        guard low & 0xFC00 == 0xDC00 else { throw .malformed(at: start) }
        code = 0x10000 + (code & 0x3FF) << 10 + low & 0x3FF
      }
      // An unpaired surrogate is not valid Unicode, so it is replaced.
      bytes.append(contentsOf: Array(String(Unicode.Scalar(code) ?? "\u{FFFD}").utf8))
    default: throw .malformed(at: start)
    }
  }

  private mutating func hexadecimal() throws(JSONError) -> UInt32 {
    let digits = bytes[position...].prefix(4)
    guard digits.count == 4,
      digits.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x46).contains($0) || (0x61...0x66).contains($0) }),
      let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw .malformed(at: position) }
    position += 4
    return code
  }

  // MARK: - Bytes

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipBlanks() {
    while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
  }

  /// Skips whitespace, and consumes `byte` if it is next; returns whether `byte` was next.
  private mutating func take(_ byte: UInt8) -> Bool {
    skipBlanks()
    return take(only: byte)
  }

  private mutating func take(only byte: UInt8) -> Bool {
    guard peek == byte else { return false }
    position += 1
    return true
  }
}

package indirect enum JSONTree: Hashable, Sendable {
  case null
  case flag(Bool)
  case number(Double)
  case string(String)
  /// A list that contains only numbers, such as a point.
  case numbers([Double])
  /// A list that is empty, or contains values that are not numbers.
  case list([JSONTree])
  /// An object; if a key occurs twice, its last value is used.
  case object([String: JSONTree])

  package subscript(_ key: String) -> JSONTree? {
    guard case .object(let members) = self, let value = members[key], value != .null else { return nil }
    return value
  }

  package var string: String? {
    guard case .string(let string) = self else { return nil }
    return string
  }

  package var number: Double? {
    guard case .number(let number) = self else { return nil }
    return number
  }

  package var flag: Bool? {
    guard case .flag(let flag) = self else { return nil }
    return flag
  }

  package var numbers: [Double]? {
    switch self {
    case .numbers(let numbers): numbers
    case .list(let list) where list.isEmpty: []
    default: nil
    }
  }

  package var list: [JSONTree]? {
    switch self {
    case .list(let list): list
    case .numbers(let numbers): numbers.map { .number($0) }
    default: nil
    }
  }

  package var members: [String: JSONTree]? {
    guard case .object(let members) = self else { return nil }
    return members
  }

  package var strings: [String]? {
    guard let list else { return nil }
    let strings = list.compactMap { $0.string }
    return strings.count == list.count ? strings : nil
  }
}

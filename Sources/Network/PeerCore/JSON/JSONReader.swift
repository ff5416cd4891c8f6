/// `at` is the offset of the first invalid byte.
package enum JSONError: Error, Hashable, Sendable {
  case truncated
  case notAnObject
  case trailingBytes(at: Int)
  case tooDeep(at: Int)
  case invalidUTF8(at: Int)
  /// An object has the same key twice, possibly with different escapes.
  case duplicateKey(at: Int)
  /// A string contains an unescaped control character, an unknown escape or half a surrogate pair.
  case malformedString(at: Int)
  /// A number, a literal or the punctuation violates RFC 8259.
  case malformed(at: Int)
  case tooManyValues
}

/// A reader of JSON (RFC 8259) from untrusted sources. The depth and the number of values are limited, so that time and
/// memory are limited too. Input that exceeds the limits, or is not JSON, causes an error and never a trap.
package struct JSONReader {
  package static let depthLimit = 64
  /// The maximum depth of a control payload, including the outermost object (FRM-5).
  package static let strictDepthLimit = 16
  package static let valueLimit = 16_000_000
  private static let numberLength = 512

  private let bytes: [UInt8]
  private let depthLimit: Int
  /// Whether the rules of FRM-5 apply.
  private let isStrict: Bool
  private var allowsInfinity = false
  private var position = 0
  private var depth = 0
  private var values = 0

  private init(_ bytes: [UInt8], depthLimit: Int, isStrict: Bool = false) {
    self.bytes = bytes
    self.depthLimit = depthLimit
    self.isStrict = isStrict
  }

  /// Reads all bytes, which must be UTF-8, as one value. Replaces half a surrogate pair, and skips a byte order mark at
  /// the start. If `allowsInfinity` is true, a number out of the range of `Double` becomes infinity instead of an error.
  package static func read(_ bytes: [UInt8], depthLimit: Int = depthLimit, allowsInfinity: Bool = false)
    throws(JSONError) -> JSONTree
  {
    var reader = JSONReader(bytes, depthLimit: depthLimit)
    reader.allowsInfinity = allowsInfinity
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
    return try reader.document()
  }

  /// Reads all bytes as exactly one object by the rules for control payloads (FRM-5). No object has a key twice, and no
  /// string has half a surrogate pair. A number can be out of the range of `Double`. A number with a fraction or an
  /// exponent is read as 0.5, because only integers are allowed, and `1.0` does not count as an integer.
  @discardableResult package static func strict(_ bytes: [UInt8], depthLimit: Int = strictDepthLimit)
    throws(JSONError) -> JSONTree
  {
    var reader = JSONReader(bytes, depthLimit: min(depthLimit, strictDepthLimit), isStrict: true)
    guard try reader.next() == UInt8(ascii: "{") else { throw .notAnObject }
    return try reader.document()
  }

  private mutating func document() throws(JSONError) -> JSONTree {
    let tree = try value()
    skipBlanks()
    guard position == bytes.count else { throw .trailingBytes(at: position) }
    return tree
  }

  private mutating func value() throws(JSONError) -> JSONTree {
    values += 1
    guard values <= Self.valueLimit else { throw .tooManyValues }
    switch try next() {
    case UInt8(ascii: "{"): return try nested { (reader) throws(JSONError) in try reader.object() }
    case UInt8(ascii: "["): return try nested { (reader) throws(JSONError) in try reader.list() }
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", .flag(true))
    case UInt8(ascii: "f"): return try literal("false", .flag(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    case UInt8(ascii: "-"), 0x30...0x39: return try number()
    default: throw .malformed(at: position)
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
    // The keys as bytes, because `String` compares by canonical equivalence.
    var keys: Set<[UInt8]> = []
    guard try !take(UInt8(ascii: "}")) else { return .object(members) }
    repeat {
      guard try next() == UInt8(ascii: "\"") else { throw .malformed(at: position) }
      let start = position
      let key = try string()
      guard !isStrict || keys.insert(Array(key.utf8)).inserted else { throw .duplicateKey(at: start) }
      guard try take(UInt8(ascii: ":")) else { throw .malformed(at: position) }
      members[key] = try value()
    } while try take(UInt8(ascii: ","))
    guard try take(UInt8(ascii: "}")) else { throw .malformed(at: position) }
    return .object(members)
  }

  private mutating func list() throws(JSONError) -> JSONTree {
    guard try !take(UInt8(ascii: "]")) else { return .list([]) }
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
    } while try take(UInt8(ascii: ","))
    guard try take(UInt8(ascii: "]")) else { throw .malformed(at: position) }
    return rest.map { .list($0) } ?? .numbers(numbers)
  }

  private mutating func literal(_ word: StaticString, _ tree: JSONTree) throws(JSONError) -> JSONTree {
    for index in 0..<word.utf8CodeUnitCount {
      guard position < bytes.count else { throw .truncated }
      guard bytes[position] == word.withUTF8Buffer({ $0[index] }) else { throw .malformed(at: position) }
      position += 1
    }
    return tree
  }

  private mutating func number() throws(JSONError) -> JSONTree {
    let start = position
    _ = take(only: UInt8(ascii: "-"))
    if !take(only: UInt8(ascii: "0")) { try digits() }
    let end = position
    if take(only: UInt8(ascii: ".")) { try digits() }
    if take(only: UInt8(ascii: "e")) || take(only: UInt8(ascii: "E")) {
      if !take(only: UInt8(ascii: "+")) { _ = take(only: UInt8(ascii: "-")) }
      try digits()
    }
    if isStrict, position > end { return .number(0.5) }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    let number = Double(text) ?? .infinity
    guard isStrict || position - start <= Self.numberLength && (number.isFinite || allowsInfinity) else {
      throw .malformed(at: start)
    }
    // From 2^53 on, a `Double` can also be the rounded value of another whole number.
    return number.magnitude >= 0x1p53 && (UInt64(text) != nil || Int64(text) != nil) ? .digits(text) : .number(number)
  }

  private mutating func digits() throws(JSONError) {
    let start = position
    while let byte = peek, (0x30...0x39).contains(byte) { position += 1 }
    guard position > start else { throw peek == nil ? .truncated : .malformed(at: position) }
  }

  private mutating func string() throws(JSONError) -> String {
    position += 1
    var start = position
    var unescaped: [UInt8] = []
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "\""):
        let plain = bytes[start..<position]
        position += 1
        return String(decoding: unescaped.isEmpty ? plain : (unescaped + plain)[...], as: UTF8.self)
      case UInt8(ascii: "\\"):
        unescaped += bytes[start..<position]
        try escape(into: &unescaped)
        start = position
      case 0..<0x20: throw .malformedString(at: position)
      case 0x20..<0x80: position += 1
      default: position += try sequenceLength()
      }
    }
    throw .truncated
  }

  /// Returns the length of the UTF-8 sequence at `position` (Unicode standard, table 3-7).
  private func sequenceLength() throws(JSONError) -> Int {
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch bytes[position] {
    case 0xC2...0xDF: length = 2
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    case 0xF1...0xF3: length = 4
    default: throw .invalidUTF8(at: position)
    }
    for index in 1..<length {
      guard position + index < bytes.count else { throw .truncated }
      let range = index == 1 ? second : 0x80...0xBF
      guard range.contains(bytes[position + index]) else { throw .invalidUTF8(at: position) }
    }
    return length
  }

  private mutating func escape(into unescaped: inout [UInt8]) throws(JSONError) {
    let start = position
    position += 1
    guard let byte = peek else { throw .truncated }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): unescaped.append(byte)
    case UInt8(ascii: "b"): unescaped.append(0x08)
    case UInt8(ascii: "f"): unescaped.append(0x0C)
    case UInt8(ascii: "n"): unescaped.append(0x0A)
    case UInt8(ascii: "r"): unescaped.append(0x0D)
    case UInt8(ascii: "t"): unescaped.append(0x09)
    case UInt8(ascii: "u"):
      var code = try hexadecimal(escapeAt: start)
      if code & 0xFC00 == 0xD800, isStrict || peek == UInt8(ascii: "\\") {
        guard position + 1 < bytes.count else { throw .truncated }
        guard take(only: UInt8(ascii: "\\")), take(only: UInt8(ascii: "u")) else { throw .malformedString(at: start) }
        let low = try hexadecimal(escapeAt: start)
        guard low & 0xFC00 == 0xDC00 else { throw .malformedString(at: start) }
        code = 0x10000 + (code & 0x3FF) << 10 + low & 0x3FF
      }
      guard let scalar = Unicode.Scalar(code) ?? (isStrict ? nil : "\u{FFFD}") else {
        throw .malformedString(at: start)
      }
      unescaped.append(contentsOf: Array(String(scalar).utf8))
    default: throw .malformedString(at: start)
    }
  }

  private mutating func hexadecimal(escapeAt start: Int) throws(JSONError) -> UInt32 {
    var code: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = peek else { throw .truncated }
      switch byte {
      case 0x30...0x39: code = code << 4 | UInt32(byte - 0x30)
      case 0x41...0x46, 0x61...0x66: code = code << 4 | UInt32((byte | 0x20) - 0x61 + 10)
      default: throw .malformedString(at: start)
      }
      position += 1
    }
    return code
  }

  // MARK: - Bytes

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func next() throws(JSONError) -> UInt8 {
    skipBlanks()
    guard let byte = peek else { throw .truncated }
    return byte
  }

  private mutating func skipBlanks() {
    while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
  }

  private mutating func take(_ byte: UInt8) throws(JSONError) -> Bool {
    guard try next() == byte else { return false }
    position += 1
    return true
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
  /// A 64-bit whole number above 2^53 or below -2^53, with its original digits.
  case digits(String)
  case string(String)
  /// A list that contains only numbers, such as a point.
  case numbers([Double])
  /// Any other list: an empty list, or a list with a value that is not a ``number(_:)``.
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
    switch self {
    case .number(let number): number
    case .digits(let digits): Double(digits)
    default: nil
    }
  }

  package var flag: Bool? {
    guard case .flag(let flag) = self else { return nil }
    return flag
  }

  package var numbers: [Double]? {
    switch self {
    case .numbers(let numbers): numbers
    case .list(let list):
      // A list with a number in the form `digits` is stored as a `list`, even if all its values are numbers.
      list.allSatisfy { $0.number != nil } ? list.compactMap { $0.number } : nil
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

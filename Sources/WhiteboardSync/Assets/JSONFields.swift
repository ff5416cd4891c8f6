/// The fields of one JSON object (RFC 8259) from another peer.
///
/// A parser of its own instead of Foundation's, because the browser has no Foundation, and both must
/// accept the same names. If a name occurs twice, the first field counts.
struct JSONFields {
  /// A value; the elements of arrays and nested objects are checked, but not kept.
  enum Value {
    case null
    case flag(Bool)
    case string(String)
    /// The whole number that the text of the number denotes; nil if it has a fraction or is too large.
    case number(Int64?)
    case nested
  }

  /// The maximum depth of nested arrays and objects, so that the parser cannot overflow the stack.
  private static let depthLimit = 8

  private let bytes: [UInt8]
  private var position = 0
  private var fields: [String: Value] = [:]

  /// Parses the fields.
  ///
  /// Returns nil if the text is not one JSON object, or is nested too deeply.
  init?(_ text: String) {
    bytes = Array(text.utf8)
    guard let fields = object(depth: 1) else { return nil }
    skipSpace()
    guard position == bytes.count else { return nil }
    self.fields = fields
  }

  /// The value of a field; nil if the field is missing or null.
  subscript(_ name: String) -> Value? {
    if case .null? = fields[name] { nil } else { fields[name] }
  }

  // MARK: - Parsing

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      position += 1
    }
  }

  /// Skips white space and then the given byte; returns whether it was there.
  private mutating func skip(_ byte: UInt8) -> Bool {
    skipSpace()
    guard next == byte else { return false }
    position += 1
    return true
  }

  private mutating func object(depth: Int) -> [String: Value]? {
    guard depth <= Self.depthLimit, skip(UInt8(ascii: "{")) else { return nil }
    var fields: [String: Value] = [:]
    if skip(UInt8(ascii: "}")) { return fields }
    repeat {
      skipSpace()
      guard let name = string(), skip(UInt8(ascii: ":")), let value = value(depth: depth) else {
        return nil
      }
      if fields[name] == nil { fields[name] = value }
    } while skip(UInt8(ascii: ","))
    return skip(UInt8(ascii: "}")) ? fields : nil
  }

  private mutating func array(depth: Int) -> Bool {
    guard depth <= Self.depthLimit, skip(UInt8(ascii: "[")) else { return false }
    if skip(UInt8(ascii: "]")) { return true }
    repeat {
      guard value(depth: depth) != nil else { return false }
    } while skip(UInt8(ascii: ","))
    return skip(UInt8(ascii: "]"))
  }

  private mutating func value(depth: Int) -> Value? {
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return object(depth: depth + 1).map { _ in .nested }
    case UInt8(ascii: "["): return array(depth: depth + 1) ? .nested : nil
    case UInt8(ascii: "\""): return string().map { .string($0) }
    case UInt8(ascii: "t"): return word("true") ? .flag(true) : nil
    case UInt8(ascii: "f"): return word("false") ? .flag(false) : nil
    case UInt8(ascii: "n"): return word("null") ? .null : nil
    default: return number()
    }
  }

  private mutating func word(_ word: StaticString) -> Bool {
    for index in 0..<word.utf8CodeUnitCount {
      guard next == word.utf8Start[index] else { return false }
      position += 1
    }
    return true
  }

  private mutating func digits() -> ArraySlice<UInt8> {
    let start = position
    while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
    return bytes[start..<position]
  }

  private mutating func number() -> Value? {
    let isNegative = next == UInt8(ascii: "-")
    if isNegative { position += 1 }
    let whole = digits()
    guard let first = whole.first, first != UInt8(ascii: "0") || whole.count == 1 else {
      return nil
    }
    var all = Array(whole)
    var exponent = 0
    if next == UInt8(ascii: ".") {
      position += 1
      let fraction = digits()
      guard !fraction.isEmpty else { return nil }
      all += fraction
      exponent -= fraction.count
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      position += 1
      let isShrinking = next == UInt8(ascii: "-")
      if isShrinking || next == UInt8(ascii: "+") { position += 1 }
      let shift = digits()
      guard !shift.isEmpty else { return nil }
      // An exponent with more digits than this makes every number but zero too large or a fraction.
      let size = shift.drop { $0 == UInt8(ascii: "0") }.prefix(6).reduce(0) {
        10 * $0 + Int($1 - 0x30)
      }
      exponent += isShrinking ? -size : size
    }
    return .number(Self.wholeNumber(all, exponent: exponent, isNegative: isNegative))
  }

  /// Returns the digits times a power of ten, if that is a whole number of 64 bits.
  private static func wholeNumber(
    _ digits: [UInt8],
    exponent: Int,
    isNegative: Bool
  ) -> Int64? {
    var digits = digits[...].drop { $0 == UInt8(ascii: "0") }
    var exponent = exponent
    guard !digits.isEmpty else { return 0 }
    while exponent < 0, digits.last == UInt8(ascii: "0") {
      digits.removeLast()
      exponent += 1
    }
    guard exponent >= 0, digits.count + exponent <= 19 else { return nil }
    var number: Int64 = 0
    for index in 0..<digits.count + exponent {
      let digit = index < digits.count ? digits[digits.startIndex + index] - 0x30 : 0
      let (tenfold, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isAlsoTooLarge) = tenfold.subtractingReportingOverflow(Int64(digit))
      guard !isTooLarge, !isAlsoTooLarge else { return nil }
      number = sum
    }
    // The loop counts down, because there is one more negative number than positive ones.
    guard !isNegative else { return number }
    return number == .min ? nil : -number
  }

  private mutating func string() -> String? {
    guard next == UInt8(ascii: "\"") else { return nil }
    position += 1
    var text: [UInt8] = []
    while let byte = next {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let scalar = escape() else { return nil }
        text += Array(String(scalar).utf8)
      case 0..<0x20: return nil
      default: text.append(byte)
      }
    }
    return nil
  }

  /// Parses an escape sequence after its backslash.
  private mutating func escape() -> Unicode.Scalar? {
    guard let byte = next else { return nil }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      guard let unit = codeUnit() else { return nil }
      guard unit & 0xFC00 == 0xD800 else { return Unicode.Scalar(unit) }
      guard word("\\u"), let low = codeUnit(), low & 0xFC00 == 0xDC00 else { return nil }
      return Unicode.Scalar(0x10000 + (unit & 0x3FF) << 10 + (low & 0x3FF))
    default: return nil
    }
  }

  /// Parses four hexadecimal digits.
  private mutating func codeUnit() -> UInt32? {
    guard bytes.count - position >= 4 else { return nil }
    var unit: UInt32 = 0
    for _ in 0..<4 {
      let digit: UInt8
      switch bytes[position] {
      case let byte where byte >= 0x30 && byte <= 0x39: digit = byte - 0x30
      case let byte where byte | 0x20 >= 0x61 && byte | 0x20 <= 0x66: digit = (byte | 0x20) - 0x57
      default: return nil
      }
      unit = unit << 4 | UInt32(digit)
      position += 1
    }
    return unit
  }
}

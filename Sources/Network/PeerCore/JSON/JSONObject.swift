/// A writer of one JSON object. The keys keep the order in which they are added. The functions of this type are not
/// inlined, because callers add many fields.
package struct JSONObject: Sendable {
  private var members = ""

  package init() {}

  package var text: String { "{" + members + "}" }

  @inline(never) package mutating func add(_ key: String, string: String?) {
    add(key, json: string.map(Self.quoted) ?? "null")
  }

  @inline(never) package mutating func add(_ key: String, _ number: Double) { add(key, json: Self.number(number)) }

  package mutating func add(_ key: String, whole number: some BinaryInteger) { add(key, json: String(number)) }

  @inline(never) package mutating func add(_ key: String, _ isTrue: Bool) { add(key, json: isTrue ? "true" : "false") }

  @inline(never) package mutating func add(_ key: String, _ numbers: [Double]) { add(key, json: Self.list(numbers)) }

  @inline(never) package mutating func add(_ key: String, strings: [String]) {
    add(key, list: strings.map(Self.quoted))
  }

  @inline(never) package mutating func add(_ key: String, json: String) {
    if !members.isEmpty { members += "," }
    members += Self.quoted(key)
    members += ":"
    members += json
  }

  /// The values must be JSON text.
  @inline(never) package mutating func add(_ key: String, list: [String]) { add(key, json: Self.list(list)) }

  @inline(never) package static func list(_ numbers: [Double]) -> String { list(numbers.map(number)) }

  /// The values must be JSON text.
  @inline(never) package static func list(_ values: [String]) -> String { "[" + values.joined(separator: ",") + "]" }

  package static func number(_ number: Double) -> String {
    if let whole = Int64(exactly: number) { return String(whole) }
    return number.description
  }

  /// Returns a JSON string. Besides the escapes that JSON requires, control characters and invisible characters
  /// (`InvisibleText`) are escaped, so that the string is safe to print to a terminal.
  @inline(never) package static func quoted(_ text: String) -> String {
    // Most strings are keys and ids, which have no escapes.
    let isPlain = text.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }
    if isPlain { return "\"" + text + "\"" }
    var result = "\""
    InvisibleText.scan(text) { scalar, isInvisible in
      let isControl = (0x7F..<0xA0).contains(scalar.value) || scalar.value == 0x2028 || scalar.value == 0x2029
      append(scalar, to: &result, isEscaped: isInvisible || isControl)
    }
    return result + "\""
  }

  /// Returns a string with only the escapes that JSON requires.
  package static func plain(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars { append(scalar, to: &result, isEscaped: false) }
    return result + "\""
  }

  private static func append(_ scalar: Unicode.Scalar, to result: inout String, isEscaped: Bool) {
    if let escape = escape(scalar, evenIfAllowed: isEscaped) {
      result += escape
    } else {
      result.unicodeScalars.append(scalar)
    }
  }

  /// Returns the escape sequence for a code point. If JSON allows the code point unescaped and `evenIfAllowed` is
  /// false, returns nil.
  package static func escape(_ scalar: Unicode.Scalar, evenIfAllowed: Bool) -> String? {
    switch scalar.value {
    case 0x22: return "\\\""
    case 0x5C: return "\\\\"
    case 0x08: return "\\b"
    case 0x09: return "\\t"
    case 0x0A: return "\\n"
    case 0x0C: return "\\f"
    case 0x0D: return "\\r"
    case 0..<0x20: break
    default: if !evenIfAllowed { return nil }
    }
    return scalar.utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
  }
}

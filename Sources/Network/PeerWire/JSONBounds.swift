/// Checks received JSON against fixed limits before a JSON decoder reads it (FRM-5).
public enum JSONBounds {
  /// The reason for rejecting the JSON text.
  ///
  /// `at` is the offset of the first invalid byte.
  public enum CheckError: Error, Equatable, Sendable {
    /// The bytes end within the object.
    case truncated
    /// The top-level value is not an object.
    case notAnObject
    /// Something other than white space follows the object.
    case trailingBytes(at: Int)
    /// Objects and arrays are nested more deeply than allowed.
    case tooDeep(at: Int)
    /// A string contains bytes that are not valid UTF-8.
    case invalidUTF8(at: Int)
    /// An object has the same key twice, possibly with different escapes.
    case duplicateKey(at: Int)
    /// A string contains an unescaped control character, an unknown escape or half a surrogate pair.
    case malformedString(at: Int)
    /// A number, a literal or the punctuation violates RFC 8259.
    case malformed(at: Int)
  }

  /// Checks that the bytes are exactly one well-formed JSON object, optionally surrounded by white space.
  ///
  /// - Parameters:
  ///   - bytes: The JSON text; the caller must limit its length.
  ///   - maximumDepth: The maximum nesting of objects and arrays, including the outermost object. It is reduced to
  ///     ``Limits/jsonDepth`` if it is larger.
  /// - Throws: ``CheckError`` for the first error found.
  /// - Complexity: O(n) time, and O(n) memory for the keys.
  public static func check(_ bytes: Span<UInt8>, maximumDepth: Int = Limits.jsonDepth) throws(CheckError) {
    var scanner = Scanner(maximumDepth: min(maximumDepth, Limits.jsonDepth))
    try scanner.scan(bytes)
  }

  /// A key of one object, compared by bytes because `String` compares by canonical equivalence.
  private struct Key: Hashable {
    var object: Int
    var bytes: [UInt8]
  }

  private struct Level {
    /// The number of the object, or `nil` for an array.
    var object: Int?
    var hasValue = false
  }

  private struct Scanner {
    let maximumDepth: Int
    var position = 0
    var objects = 0
    var stack: [Level] = []
    var keys: Set<Key> = []

    init(maximumDepth: Int) {
      self.maximumDepth = maximumDepth
      stack.reserveCapacity(maximumDepth)
    }

    mutating func scan(_ bytes: Span<UInt8>) throws(CheckError) {
      skipWhitespace(bytes)
      guard position < bytes.count else { throw .truncated }
      guard bytes[position] == UInt8(ascii: "{") else { throw .notAnObject }
      try open(bytes)
      while let level = stack.last {
        // At this point, an object or array has just begun, or one of its values has just been read.
        let close = UInt8(ascii: level.object == nil ? "]" : "}")
        if try ends(level, with: close, bytes) { continue }
        if let object = level.object { try key(of: object, bytes) }
        try value(bytes)
      }
      skipWhitespace(bytes)
      guard position == bytes.count else { throw .trailingBytes(at: position) }
    }

    mutating func open(_ bytes: Span<UInt8>) throws(CheckError) {
      guard stack.count < maximumDepth else { throw .tooDeep(at: position) }
      if bytes[position] == UInt8(ascii: "{") {
        stack.append(Level(object: objects))
        objects += 1
      } else {
        stack.append(Level())
      }
      position += 1
    }

    /// Reads the end of the innermost object or array, or the comma before its next value; returns whether the object
    /// or array ended.
    mutating func ends(_ level: Level, with close: UInt8, _ bytes: Span<UInt8>) throws(CheckError) -> Bool {
      let next = try peek(bytes)
      if next == close {
        position += 1
        stack.removeLast()
        return true
      }
      if level.hasValue {
        guard next == UInt8(ascii: ",") else { throw .malformed(at: position) }
        position += 1
      } else {
        stack[stack.count - 1].hasValue = true
      }
      return false
    }

    mutating func key(of object: Int, _ bytes: Span<UInt8>) throws(CheckError) {
      guard try peek(bytes) == UInt8(ascii: "\"") else { throw .malformed(at: position) }
      let start = position
      var key: [UInt8]? = []
      try string(bytes, into: &key)
      guard keys.insert(Key(object: object, bytes: key ?? [])).inserted else { throw .duplicateKey(at: start) }
      guard try peek(bytes) == UInt8(ascii: ":") else { throw .malformed(at: position) }
      position += 1
    }

    mutating func value(_ bytes: Span<UInt8>) throws(CheckError) {
      switch try peek(bytes) {
      case UInt8(ascii: "{"), UInt8(ascii: "["): try open(bytes)
      case UInt8(ascii: "\""):
        var unescaped: [UInt8]?
        try string(bytes, into: &unescaped)
      case UInt8(ascii: "t"): try literal("true", bytes)
      case UInt8(ascii: "f"): try literal("false", bytes)
      case UInt8(ascii: "n"): try literal("null", bytes)
      case UInt8(ascii: "-"), 0x30...0x39: try number(bytes)
      default: throw .malformed(at: position)
      }
    }

    mutating func literal(_ word: StaticString, _ bytes: Span<UInt8>) throws(CheckError) {
      for index in 0..<word.utf8CodeUnitCount {
        guard position < bytes.count else { throw .truncated }
        guard bytes[position] == word.byte(at: index) else { throw .malformed(at: position) }
        position += 1
      }
    }

    mutating func number(_ bytes: Span<UInt8>) throws(CheckError) {
      if bytes[position] == UInt8(ascii: "-") { position += 1 }
      guard position < bytes.count else { throw .truncated }
      if bytes[position] == UInt8(ascii: "0") { position += 1 } else { try digits(bytes) }
      if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
        position += 1
        try digits(bytes)
      }
      if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
        position += 1
        if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") {
          position += 1
        }
        try digits(bytes)
      }
    }

    mutating func digits(_ bytes: Span<UInt8>) throws(CheckError) {
      guard position < bytes.count else { throw .truncated }
      guard isDigit(bytes[position]) else { throw .malformed(at: position) }
      while position < bytes.count, isDigit(bytes[position]) { position += 1 }
    }

    /// Reads a string; if `unescaped` is not `nil`, appends the unescaped bytes to it.
    mutating func string(_ bytes: Span<UInt8>, into unescaped: inout [UInt8]?) throws(CheckError) {
      position += 1
      while true {
        guard position < bytes.count else { throw .truncated }
        let byte = bytes[position]
        switch byte {
        case UInt8(ascii: "\""):
          position += 1
          return
        case UInt8(ascii: "\\"): try escape(bytes, into: &unescaped)
        case 0..<0x20: throw .malformedString(at: position)
        case 0x20..<0x80:
          unescaped?.append(byte)
          position += 1
        default:
          let length = try sequenceLength(bytes)
          for index in position..<position + length { unescaped?.append(bytes[index]) }
          position += length
        }
      }
    }

    mutating func escape(_ bytes: Span<UInt8>, into unescaped: inout [UInt8]?) throws(CheckError) {
      let start = position
      position += 1
      guard position < bytes.count else { throw .truncated }
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): unescaped?.append(byte)
      case UInt8(ascii: "b"): unescaped?.append(0x08)
      case UInt8(ascii: "f"): unescaped?.append(0x0C)
      case UInt8(ascii: "n"): unescaped?.append(0x0A)
      case UInt8(ascii: "r"): unescaped?.append(0x0D)
      case UInt8(ascii: "t"): unescaped?.append(0x09)
      case UInt8(ascii: "u"):
        var code = try hexadecimal(bytes, escapeAt: start)
        if code & 0xFC00 == 0xD800 {
          guard position + 1 < bytes.count else { throw .truncated }
          guard bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u") else {
            throw .malformedString(at: start)
          }
          position += 2
          let low = try hexadecimal(bytes, escapeAt: start)
          guard low & 0xFC00 == 0xDC00 else { throw .malformedString(at: start) }
          code = 0x10000 + (code & 0x3FF) << 10 + low & 0x3FF
        }
        guard let scalar = Unicode.Scalar(code) else { throw .malformedString(at: start) }
        unescaped?.append(contentsOf: Array(String(scalar).utf8))
      default: throw .malformedString(at: start)
      }
    }

    mutating func hexadecimal(_ bytes: Span<UInt8>, escapeAt start: Int) throws(CheckError) -> UInt32 {
      var code: UInt32 = 0
      for _ in 0..<4 {
        guard position < bytes.count else { throw .truncated }
        let digit: UInt8
        switch bytes[position] {
        case 0x30...0x39: digit = bytes[position] - 0x30
        case 0x41...0x46: digit = bytes[position] - 0x41 + 10
        case 0x61...0x66: digit = bytes[position] - 0x61 + 10
        default: throw .malformedString(at: start)
        }
        code = code << 4 | UInt32(digit)
        position += 1
      }
      return code
    }

    /// Returns the length of the UTF-8 sequence at `position` (Unicode standard, table 3-7).
    func sequenceLength(_ bytes: Span<UInt8>) throws(CheckError) -> Int {
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

    /// Skips white space and returns the next byte without consuming it.
    mutating func peek(_ bytes: Span<UInt8>) throws(CheckError) -> UInt8 {
      skipWhitespace(bytes)
      guard position < bytes.count else { throw .truncated }
      return bytes[position]
    }

    mutating func skipWhitespace(_ bytes: Span<UInt8>) {
      while position < bytes.count {
        switch bytes[position] {
        case 0x20, 0x09, 0x0A, 0x0D: position += 1
        default: return
        }
      }
    }

    func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
  }
}

extension StaticString {
  /// Returns the byte at `index` of an ASCII literal, or 0 if the index is past its end.
  fileprivate func byte(at index: Int) -> UInt8 { withUTF8Buffer { $0.indices.contains(index) ? $0[index] : 0 } }
}

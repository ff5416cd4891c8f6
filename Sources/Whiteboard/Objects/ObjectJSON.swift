extension ObjectSnapshot {
  /// The object as one line of JSON, with AirplaIN's field names where it has them (BRD-19).
  ///
  /// Characters that could control a terminal are escaped.
  public var json: String {
    var json = JSONObject()
    json.add("id", string: id.description)
    json.add("type", string: kind.name)
    json.add("centerPosition", [centerPosition.x, centerPosition.y])
    json.add("size", [size.width, size.height])
    json.add("scale", scale)
    json.add("angle", angle)
    json.add("selectedBy", string: selectedBy?.description)
    json.add("updatedAt", string: Timestamp.text(milliseconds: updatedAt))
    json.add("zIndex", string: Hexadecimal.encode(zIndex))
    if let color { json.add("color", string: "#" + Self.hexadecimal(color)) }
    if let text { json.add("text", string: text) }
    if let points { json.add("points", points: points) }
    if let lineWidth { json.add("lineWidth", lineWidth) }
    if let isFinished { json.add("isFinished", isFinished) }
    if let erased { json.add("erased", spans: erased.ranges) }
    json.add("groups", strings: groups.map(\.description))
    json.add("isLocked", isLocked)
    if let game { json.add("game", string: game) }
    if let asset {
      json.add("sha256", string: asset.id.description)
      json.add("format", string: asset.format.name)
      json.add("byteCount", Double(asset.byteCount))
      json.add("pixelSize", [Double(asset.width), Double(asset.height)])
    }
    if let isAssetAvailable { json.add("isAssetAvailable", isAssetAvailable) }
    return json.text
  }

  private static func hexadecimal(_ color: UInt32) -> String {
    Hexadecimal.encode(
      (0..<4).map { UInt8(truncatingIfNeeded: color >> (24 - 8 * UInt32($0))) }
    )
  }
}

extension ChatLine {
  /// The line as one line of JSON: `id`, `author`, `name`, `icon`, `text`, `sentAt`.
  public var json: String {
    var json = JSONObject()
    json.add("id", string: id.description)
    json.add("author", string: author.description)
    json.add("name", string: name)
    json.add("icon", string: icon)
    json.add("text", string: text)
    json.add("sentAt", string: Timestamp.text(milliseconds: sentAt))
    return json.text
  }
}

/// Writes one JSON object, its keys in the order they are added.
package struct JSONObject {
  private var members: [String] = []

  package init() {}

  /// The whole object.
  package var text: String { "{" + members.joined(separator: ",") + "}" }

  /// Adds a string, or null.
  package mutating func add(_ key: String, string: String?) {
    members.append(Self.quoted(key) + ":" + (string.map(Self.quoted) ?? "null"))
  }

  /// Adds a finite number.
  package mutating func add(_ key: String, _ number: Double) {
    members.append(Self.quoted(key) + ":" + Self.number(number))
  }

  /// Adds a truth value.
  package mutating func add(_ key: String, _ isTrue: Bool) {
    members.append(Self.quoted(key) + ":" + (isTrue ? "true" : "false"))
  }

  /// Adds a list of finite numbers.
  package mutating func add(_ key: String, _ numbers: [Double]) {
    members.append(Self.quoted(key) + ":" + Self.list(numbers))
  }

  /// Adds a list of points, each `[x,y]`.
  package mutating func add(_ key: String, points: [Point]) {
    let list = points.map { Self.list([$0.x, $0.y]) }.joined(separator: ",")
    members.append(Self.quoted(key) + ":[" + list + "]")
  }

  /// Adds a list of strings.
  package mutating func add(_ key: String, strings: [String]) {
    let list = strings.map(Self.quoted).joined(separator: ",")
    members.append(Self.quoted(key) + ":[" + list + "]")
  }

  /// Adds a list of parts of a stroke, each `[start,end]` in points.
  package mutating func add(_ key: String, spans: [ClosedRange<Int>]) {
    let steps = Double(StrokeSpans.steps)
    let list = spans.map {
      Self.list([Double($0.lowerBound) / steps, Double($0.upperBound) / steps])
    }
    members.append(Self.quoted(key) + ":[" + list.joined(separator: ",") + "]")
  }

  /// Adds a value that is JSON already.
  package mutating func add(_ key: String, json: String) {
    members.append(Self.quoted(key) + ":" + json)
  }

  /// Adds a list of values that are JSON already.
  package mutating func add(_ key: String, list: [String]) {
    add(key, json: "[" + list.joined(separator: ",") + "]")
  }

  /// A list of finite numbers.
  package static func list(_ numbers: [Double]) -> String {
    "[" + numbers.map(number).joined(separator: ",") + "]"
  }

  /// A finite number.
  package static func number(_ number: Double) -> String {
    if let whole = Int64(exactly: number) { return String(whole) }
    return number.description
  }

  /// A JSON string.
  ///
  /// Escaped, beyond what JSON asks for, are the characters that could drive a
  /// terminal, and those that are invisible (``InvisibleText``).
  package static func quoted(_ text: String) -> String {
    var result = "\""
    InvisibleText.scan(text) { scalar, isInvisible in
      switch scalar.value {
      case 0x22: result += "\\\""
      case 0x5C: result += "\\\\"
      case 0x0A: result += "\\n"
      case 0x0D: result += "\\r"
      case 0x09: result += "\\t"
      case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: result += escaped(scalar)
      default:
        if isInvisible { result += escaped(scalar) } else { result.unicodeScalars.append(scalar) }
      }
    }
    return result + "\""
  }

  /// One escape, or the two of a code point beyond U+FFFF.
  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    scalar.utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
  }
}

/// Times in the format of RFC 3339.
package enum Timestamp {
  /// Milliseconds since 1970 as UTC with milliseconds, such as `2026-11-21T09:30:00.125Z`.
  package static func text(milliseconds: UInt64) -> String {
    // The year stays within four digits, whatever a peer claims.
    let clamped = min(milliseconds, 253_402_300_799_999)
    let days = Int64(clamped / 86_400_000)
    let rest = clamped % 86_400_000
    // Days to a civil date, counting years from March 0000 in eras of 400 years.
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return padded(UInt64(year), 4) + "-" + padded(UInt64(month), 2) + "-" + padded(UInt64(day), 2)
      + "T" + padded(rest / 3_600_000, 2) + ":" + padded(rest / 60_000 % 60, 2) + ":"
      + padded(rest / 1000 % 60, 2) + "." + padded(rest % 1000, 3) + "Z"
  }

  private static func padded(_ number: UInt64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}

import PeerCore

extension ObjectSnapshot {
  /// The object as one line of JSON (BRD-19).
  ///
  /// Fields that also exist in AirplaIN have the same names. Control characters are escaped, so that the line is safe
  /// to print to a terminal.
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
    if let text, form == nil || !text.isEmpty { json.add("text", string: text) }
    // Write the rows, because the web page does not lay out texts itself (BRD-53).
    if let layout = TextLayout(self) { json.add("rows", strings: layout.lines) }
    if shownSize != size { json.add("shownSize", [shownSize.width, shownSize.height]) }
    if let points { json.add("points", points: points) }
    if let lineWidth { json.add("lineWidth", lineWidth) }
    addStyle(to: &json)
    if let isFinished { json.add("isFinished", isFinished) }
    if let erased { json.add("erased", spans: erased.ranges) }
    json.add("groups", strings: groups.map { $0.description })
    json.add("isLocked", isLocked)
    addReferences(to: &json)
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

  package func addReferences(to json: inout JSONObject) {
    if let frame { json.add("frame", string: frame.description) }
    if let link { json.add("link", string: link) }
    if !votes.isEmpty {
      let list = votes.map { votes in
        var one = JSONObject()
        one.add("reaction", string: votes.reaction)
        one.add("members", strings: votes.members.map { $0.description })
        return one.text
      }
      json.add("votes", list: list)
    }
    if let crop { json.add("crop", [crop.least.x, crop.least.y, crop.greatest.x, crop.greatest.y]) }
    if isFlippedHorizontally { json.add("isFlippedHorizontally", true) }
    if isFlippedVertically { json.add("isFlippedVertically", true) }
  }

  package func addStyle(to json: inout JSONObject) {
    let usual = ObjectStyle(form: form)
    if let form { json.add("form", string: form.name) }
    if let fill = style.fill { json.add("fill", string: "#" + Self.hexadecimal(fill)) }
    if style.lineStyle != usual.lineStyle { json.add("lineStyle", string: style.lineStyle.name) }
    if style.opacity != usual.opacity { json.add("opacity", style.opacity) }
    if style.start != usual.start { json.add("lineStart", string: style.start.name) }
    if style.end != usual.end { json.add("lineEnd", string: style.end.name) }
    if let start { json.add("startBinding", json: Self.json(start)) }
    if let end { json.add("endBinding", json: Self.json(end)) }
    if style.isCurved { json.add("isCurved", true) }
    if style.textSize != usual.textSize { json.add("textSize", style.textSize) }
    if style.typeface != usual.typeface { json.add("typeface", string: style.typeface.name) }
    if style.alignment != usual.alignment { json.add("alignment", string: style.alignment.name) }
    if style.isBold { json.add("isBold", true) }
    if style.isItalic { json.add("isItalic", true) }
    if let color = style.textColor { json.add("textColor", string: "#" + Self.hexadecimal(color)) }
    if style.isAutoWidth { json.add("isAutoWidth", true) }
  }

  private static func json(_ binding: Binding) -> String {
    var json = JSONObject()
    json.add("id", string: binding.target.description)
    json.add("anchor", [binding.anchor.x, binding.anchor.y])
    if binding.isExact { json.add("isExact", true) }
    return json.text
  }

  private static func hexadecimal(_ color: UInt32) -> String {
    Hexadecimal.encode((0..<4).map { UInt8(truncatingIfNeeded: color >> (24 - 8 * UInt32($0))) })
  }
}

extension ChatLine {
  /// The chat line as one line of JSON: `id`, `author`, `name`, `icon`, `text`, `sentAt`, `about`, `isResolved`.
  public var json: String {
    var json = JSONObject()
    json.add("id", string: id.description)
    json.add("author", string: author.description)
    json.add("name", string: name)
    json.add("icon", string: icon)
    json.add("text", string: text)
    json.add("sentAt", string: Timestamp.text(milliseconds: sentAt))
    if let about { json.add("about", string: about.description) }
    if isResolved { json.add("isResolved", true) }
    return json.text
  }
}

extension JSONObject {
  @inline(never) package mutating func add(_ key: String, points: [Point]) {
    add(key, list: points.map { Self.list([$0.x, $0.y]) })
  }

  /// Adds an array of spans of a stroke, each as `[start,end]` in numbers of points.
  @inline(never) package mutating func add(_ key: String, spans: [ClosedRange<Int>]) {
    let steps = Double(StrokeSpans.steps)
    add(key, list: spans.map { Self.list([Double($0.lowerBound) / steps, Double($0.upperBound) / steps]) })
  }
}

package enum Timestamp {
  /// Returns a time in UTC with milliseconds, such as `2026-11-21T09:30:00.125Z`.
  package static func text(milliseconds: UInt64) -> String {
    // Clamp the time so that the year has four digits, even if a peer sent a greater time.
    let clamped = min(milliseconds, 253_402_300_799_999)
    let days = Int64(clamped / 86_400_000)
    let rest = clamped % 86_400_000
    // Convert days to a civil date. Years are counted from March 0000, in eras of 400 years.
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    var text: [UInt8] = []
    text.reserveCapacity(24)
    append(UInt64(year), 4, "-", to: &text)
    append(UInt64(month), 2, "-", to: &text)
    append(UInt64(day), 2, "T", to: &text)
    append(rest / 3_600_000, 2, ":", to: &text)
    append(rest / 60_000 % 60, 2, ":", to: &text)
    append(rest / 1000 % 60, 2, ".", to: &text)
    append(rest % 1000, 3, "Z", to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends a number with leading zeros, and the character that follows it.
  private static func append(_ number: UInt64, _ width: Int, _ next: Unicode.Scalar, to text: inout [UInt8]) {
    let start = text.count
    var rest = number
    for _ in 0..<width { text.append(0) }
    for place in stride(from: start + width - 1, through: start, by: -1) {
      text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    text.append(UInt8(ascii: next))
  }
}

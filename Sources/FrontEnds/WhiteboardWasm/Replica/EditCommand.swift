import PeerCore
import Whiteboard

/// An edit by the page: JSON with the name of the edit in `do`. Missing and wrong arguments throw `outOfRange`, like
/// numbers beyond their limits. JavaScript encodes numbers that are not finite as `null`.
struct EditCommand {
  private let fields: JSONTree

  private init(_ fields: JSONTree) { self.fields = fields }

  init?(_ bytes: [UInt8]) {
    guard let fields = try? JSONReader.read(bytes, depthLimit: 4) else { return nil }
    self.fields = fields
  }

  var name: String { fields["do"]?.string ?? "" }

  func has(_ key: String) -> Bool { fields[key] != nil }

  func flag(_ key: String) -> Bool { fields[key]?.flag ?? false }

  @inline(never) func text(_ key: String) throws(BoardError) -> String {
    guard let text = fields[key]?.string else { throw .outOfRange(key) }
    return text
  }

  @inline(never) func number(_ key: String) throws(BoardError) -> Double {
    guard let number = fields[key]?.number else { throw .outOfRange(key) }
    return number
  }

  @inline(never) func numbers(_ key: String, count: Int = 0) throws(BoardError) -> [Double] {
    guard let numbers = fields[key]?.numbers, count == 0 || numbers.count == count else { throw .outOfRange(key) }
    return numbers
  }

  func point(_ key: String) throws(BoardError) -> Point {
    let numbers = try numbers(key, count: 2)
    return Point(x: numbers[0], y: numbers[1])
  }

  func points(_ key: String) throws(BoardError) -> [Point] {
    let numbers = try numbers(key)
    return stride(from: 0, to: numbers.count - 1, by: 2).map { Point(x: numbers[$0], y: numbers[$0 + 1]) }
  }

  /// Points with the pressure of a pen: three numbers each.
  func ink() throws(BoardError) -> [InkPoint] {
    let numbers = try numbers("ink")
    var ink: [InkPoint] = []
    for start in stride(from: 0, to: numbers.count - 2, by: 3) {
      guard let pressure = UInt8(exactly: numbers[start + 2]) else { throw .outOfRange("ink") }
      ink.append(try InkPoint(Point(x: numbers[start], y: numbers[start + 1]), pressure: pressure))
    }
    return ink
  }

  /// A color; nil if the key is missing or the value is "none".
  @inline(never) func color(_ key: String = "color") throws(BoardError) -> UInt32? {
    guard has(key), fields[key]?.string != "none" else { return nil }
    guard let color = UInt32(exactly: try number(key)) else { throw .outOfRange(key) }
    return color
  }

  func size(_ key: String) throws(BoardError) -> Size {
    let numbers = try numbers(key, count: 2)
    return Size(width: numbers[0], height: numbers[1])
  }

  func rectangle(_ key: String) throws(BoardError) -> Rectangle {
    let sides = try numbers(key, count: 4)
    guard sides[0] < sides[2], sides[1] < sides[3] else { throw .outOfRange(key) }
    return Rectangle(Point(x: sides[0], y: sides[1]), Point(x: sides[2], y: sides[3]))
  }

  func form() throws(BoardError) -> DrawingForm {
    guard let form = DrawingForm(name: try text("form")) else { throw .outOfRange("form") }
    return form
  }

  /// The changes in `style`, an object with the keys of BRD-19.
  func style() throws(BoardError) -> [StyleChange] {
    guard let fields = fields["style"] else { return [] }
    return try EditCommand(fields).changes()
  }

  private func changes() throws(BoardError) -> [StyleChange] {
    var changes: [StyleChange] = []
    if has("color") { changes.append(.color(try color())) }
    if has("lineWidth") { changes.append(.lineWidth(try number("lineWidth"))) }
    if has("form") { changes.append(.form(try form())) }
    if has("fill") { changes.append(.fill(try color("fill"))) }
    if let style = try named("lineStyle", LineStyle.allCases, { $0.name }) { changes.append(.lineStyle(style)) }
    if has("opacity") { changes.append(.opacity(try number("opacity"))) }
    if let end = try named("lineStart", LineEnd.allCases, { $0.name }) { changes.append(.start(end)) }
    if let end = try named("lineEnd", LineEnd.allCases, { $0.name }) { changes.append(.end(end)) }
    if has("isCurved") { changes.append(.isCurved(flag("isCurved"))) }
    if has("textSize") { changes.append(.textSize(try number("textSize"))) }
    if let typeface = try named("typeface", Typeface.allCases, { $0.name }) { changes.append(.typeface(typeface)) }
    if let side = try named("alignment", TextAlignment.allCases, { $0.name }) { changes.append(.alignment(side)) }
    if has("isBold") { changes.append(.isBold(flag("isBold"))) }
    if has("isItalic") { changes.append(.isItalic(flag("isItalic"))) }
    if has("textColor") { changes.append(.textColor(try color("textColor"))) }
    if has("isAutoWidth") { changes.append(.isAutoWidth(flag("isAutoWidth"))) }
    return changes
  }

  private func named<Value>(_ key: String, _ all: [Value], _ name: (Value) -> String) throws(BoardError) -> Value? {
    guard has(key) else { return nil }
    let word = try text(key)
    for value in all where name(value) == word { return value }
    throw .outOfRange(key)
  }

  func id(_ key: String = "id") throws(BoardError) -> ObjectID { try id(of: try text(key)) }

  func ids() throws(BoardError) -> [ObjectID] {
    guard let texts = fields["ids"]?.strings else { throw .outOfRange("ids") }
    var ids: [ObjectID] = []
    for text in texts { ids.append(try id(of: text)) }
    return ids
  }

  private func id(of text: String) throws(BoardError) -> ObjectID {
    guard let id = ObjectID(text) else { throw .outOfRange("id") }
    return id
  }

  func member() throws(BoardError) -> MemberID {
    guard let bytes = Hexadecimal.decode(try text("member")), let member = MemberID(bytes: bytes) else {
      throw .outOfRange("member")
    }
    return member
  }

  func asset() throws(BoardError) -> AssetID {
    guard let id = AssetID(hex: try text("sha256")) else { throw .outOfRange("sha256") }
    return id
  }
}

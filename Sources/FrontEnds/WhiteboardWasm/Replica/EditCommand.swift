import PeerCore
import Whiteboard

/// An edit by the page: JSON with the name of the edit in `do`.
///
/// Missing and wrong arguments throw `outOfRange`, like numbers beyond their limits. JavaScript encodes numbers that
/// are not finite as `null`.
struct EditCommand {
  private let fields: JSONTree

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

  func color() throws(BoardError) -> UInt32? {
    guard has("color") else { return nil }
    guard let color = UInt32(exactly: try number("color")) else { throw .outOfRange("color") }
    return color
  }

  func id() throws(BoardError) -> ObjectID { try id(of: try text("id")) }

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

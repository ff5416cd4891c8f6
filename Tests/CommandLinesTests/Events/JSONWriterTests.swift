import FoundationEssentials
import PeerTestKit
import Testing
import WhiteboardRendering

@testable import CommandLines
@testable import WhiteboardKit

@Suite struct JSONWriterTests {
  private enum Value: Encodable, JSONValue {
    case none
    case flag(Bool)
    case number(Double)
    case whole(Int)
    case text(String)
    case list([Value])
    case object([String: Value])

    func encode(to encoder: any Encoder) throws {
      var single = encoder.singleValueContainer()
      switch self {
      case .none: try single.encodeNil()
      case .flag(let value): try single.encode(value)
      case .number(let value): try single.encode(value)
      case .whole(let value): try single.encode(value)
      case .text(let value): try single.encode(value)
      case .list(let values): try single.encode(values)
      case .object(let values): try single.encode(values)
      }
    }

    func write(to json: inout JSONWriter) {
      switch self {
      case .none: json.write(raw: "null")
      case .flag(let value): value.write(to: &json)
      case .number(let value): json.write(value)
      case .whole(let value): json.write(whole: value)
      case .text(let value): json.write(value)
      case .list(let values): values.write(to: &json)
      case .object(let values):
        json.write { json in for (key, value) in values.sorted(by: { $0.key < $1.key }) { json.add(text: key, value) } }
      }
    }
  }

  private struct Sample: Encodable {
    var zebra = 1
    var optional: String?
    var given: String? = "x"
    var small: UInt8 = 255
    var large = UInt64.max
    var pairs = [[0.5, -1], [1e300, 2.5]]
    var flags = [true, false]
    var nothing: [Int] = []
    var inner = Inner()

    struct Inner: Encodable {
      var b = "\u{8}\u{C}\n\r\t\"\\/\u{1F}"
      var a = Int64.min
    }
  }

  private func expected(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  private func json(_ value: some JSONValue) -> String {
    var json = JSONWriter()
    value.write(to: &json)
    return String(decoding: json.bytes, as: UTF8.self)
  }

  @Test("a line is the same as that of Foundation's encoder") func sample() throws {
    let line = String(decoding: EventLine.json("sample", Sample()), as: UTF8.self)
    #expect(try line == #"{"v":1,"event":"sample","# + expected(Sample()).dropFirst() + "\n")
  }

  private func random(_ depth: Int, _ random: inout SeededGenerator) -> Value {
    let texts = ["", "a", "key", "two words", "\"", "\\n", "é", "漢字", "😀", "/", "\n\t\r", "\u{1}"]
    switch random.below(depth > 3 ? 5 : 7) {
    case 0: return .none
    case 1: return .flag(random.chance(50))
    case 2: return .number(Double(bitPattern: UInt64.random(in: 0..<0x7FF0 << 48, using: &random)))
    case 3: return .whole(Int.random(in: .min ... .max, using: &random))
    case 4: return .text(texts[random.below(texts.count)] + texts[random.below(texts.count)])
    case 5: return .list((0..<random.below(5)).map { _ in self.random(depth + 1, &random) })
    default:
      let keys = ["a", "B", "b", "aa", "z1", "é", "name", "\""]
      var members: [String: Value] = [:]
      for _ in 0..<random.below(6) { members[keys[random.below(keys.count)]] = self.random(depth + 1, &random) }
      return .object(members)
    }
  }

  @Test("a line with random values is the same as that of Foundation's encoder", arguments: 0..<50) func anything(
    seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<40 {
      let value = [random(0, &generator)]
      #expect(try json(value) == expected(value))
    }
  }

  @Test("characters that could control a terminal are escaped") func escaped() {
    #expect(json(["\u{1B}]0;\u{9B}\u{202E}\u{7F}\u{E0041}"]) == #"["\u001b]0;\u009b\u202e\u007f\udb40\udc41"]"#)
  }

  @Test("a number that JSON does not have is null") func numbers() {
    #expect(json([Double.nan, .infinity, 1e16, 0.1, -3]) == "[null,null,1e+16,0.1,-3]")
  }

  @Test("a number has the same digits as those of Foundation's encoder") func digits() throws {
    var generator = SeededGenerator(seed: 1)
    let steps = [Int32.min, -33, -32, -31, -1, 0, 1, 31, 32, 33, .max]
    let random = (0..<2000).map { _ in Int32(truncatingIfNeeded: UInt64.random(in: 0...(.max), using: &generator)) }
    let numbers = (steps + random).flatMap { [Double($0) / 32, Double($0) / 16, Double($0), Double($0) / 10] }
    #expect(try json(numbers + [-0.0]) == expected(numbers + [-0.0]))
  }

  @Test("bytes are encoded in base64", arguments: 0..<20) func base64(count: Int) throws {
    let bytes = (0..<count).map { UInt8($0 * 37 % 256) }
    let text = Data(bytes).base64EncodedString()
    #expect(json([Base64Text(bytes: bytes)]) == "[\"\(text)\"]")
  }
}

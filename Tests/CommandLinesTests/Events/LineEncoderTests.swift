import FoundationEssentials
import PeerTestKit
import Testing
import WhiteboardRendering

@testable import CommandLines
@testable import WhiteboardKit

@Suite struct LineEncoderTests {
  private enum Value: Encodable {
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
  }

  private struct Sample: Encodable {
    var zebra = 1
    var optional: String?
    var given: String? = "x"
    var small: UInt8 = 255
    var large = UInt64.max
    var pairs = [[0.5, -1], [1e300, -0.0]]
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

  private func json(_ value: some Encodable) throws -> String {
    var json: [UInt8] = []
    try LineEncoder.append(value, to: &json)
    return String(decoding: json, as: UTF8.self)
  }

  @Test("a line is the same as that of Foundation's encoder") func sample() throws {
    #expect(try json(Sample()) == expected(Sample()))
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

  @Test("characters that could control a terminal are escaped") func escaped() throws {
    #expect(try json(["\u{1B}]0;\u{9B}\u{202E}\u{7F}\u{E0041}"]) == #"["\u001b]0;\u009b\u202e\u007f\udb40\udc41"]"#)
  }

  @Test("a number that JSON does not have is null") func numbers() throws {
    #expect(try json([Double.nan, .infinity, 1e16, 0.1, -3]) == "[null,null,1e+16,0.1,-3]")
  }

  @Test("bytes are encoded in base64", arguments: 0..<20) func base64(count: Int) throws {
    let bytes = (0..<count).map { UInt8($0 * 37 % 256) }
    let text = Data(bytes).base64EncodedString()
    #expect(try json([Base64Text(bytes)]) == "[\"\(text)\"]")
    #expect(Base64Text(bytes).text == text)
    #expect(Base64Text(bytes).count == text.utf8.count)
  }
}

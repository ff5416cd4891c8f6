import FoundationEssentials
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// Values that no replica should write, and their meanings.
extension BoardVectors {
  enum JSONValue: Decodable, Equatable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case text(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if let value = try? container.decode(Bool.self) {
        self = .bool(value)
      } else if let value = try? container.decode(Double.self) {
        self = .number(value)
      } else if let value = try? container.decode(String.self) {
        self = .text(value)
      } else if let value = try? container.decode([JSONValue].self) {
        self = .array(value)
      } else {
        self = .object(try container.decode([String: JSONValue].self))
      }
    }

    /// Returns whether the values are equal, apart from small differences of numbers.
    func isClose(to other: JSONValue) -> Bool {
      switch (self, other) {
      case (.number(let one), .number(let two)): BoardVectors.areClose([one], [two])
      case (.array(let one), .array(let two)): one.count == two.count && zip(one, two).allSatisfy { $0.isClose(to: $1) }
      case (.object(let one), .object(let two)):
        one.count == two.count && one.allSatisfy { $1.isClose(to: two[$0] ?? .null) }
      default: self == other
      }
    }
  }

  struct OutOfRange: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let hex: String
    let reads: [String: JSONValue]
    var testDescription: String { name }
  }
}

@Suite struct BoardVectorReadingTests {
  @Test(
    "[BRD-35] a value out of range is stored, and its meaning is that of its vector",
    arguments: BoardVectors.file.outOfRange
  ) func reading(vector: BoardVectors.OutOfRange) throws {
    let batch = try BatchCoding.decode(BoardVectors.bytes(vector.hex))
    let board = Board(
      incarnation: Incarnation(7),
      member: try #require(MemberID(bytes: [UInt8](repeating: 7, count: 32))),
      wallClock: 1_700_000_000_000
    )
    try board.receive(batch)
    let id = try #require(batch.operations.first).object
    #expect(board.state.record(id)?.entries.count == batch.operations.count)
    let json = Data(try #require(board.snapshot(id)).json.utf8)
    let shown = try JSONDecoder().decode([String: BoardVectors.JSONValue].self, from: json)
    #expect(!vector.reads.isEmpty)
    for (key, value) in vector.reads { #expect(shown[key] ?? .null == value, "\(key)") }
  }
}

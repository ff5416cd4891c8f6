import FoundationEssentials
import PeerCore
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// `Protocol/Vectors/board.json`, which another implementation of `Protocol/board.md` created.
///
/// This file has the encodings that do not depend on a board. `BoardVectors+Boards.swift` has the states of boards
/// after some batches, and `BoardVectors+Authors.swift` has authorship.
struct BoardVectors: Decodable {
  struct Refused: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let hex: String
    let error: String
    var testDescription: String { name }
  }

  struct Named: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let hex: String
    var testDescription: String { name }
  }

  struct Value: Decodable, Sendable {
    let shape: String
    let number: String?
    let pair: [Int32]?
    let hex: String?
    let text: String?
    let dot: String?

    func value() throws -> Whiteboard.Value {
      switch shape {
      case "none": return .none
      case "unsigned": return .unsigned(try #require(UInt64(number ?? "")))
      case "signed": return .signed(try #require(Int64(number ?? "")))
      case "pair":
        let pair = try #require(pair)
        return .pair(pair[0], pair[1])
      case "bytes": return .bytes(try #require(Hexadecimal.decode(hex ?? "?")))
      case "text": return .text(try #require(text))
      default: return .dot(try #require(ObjectID(dot ?? "")).dot)
      }
    }
  }

  struct Operation: Decodable, Sendable {
    let object: String
    let property: UInt16
    let index: String?
    let dot: String?
    let value: Value

    func operation() throws -> Whiteboard.Operation {
      Whiteboard.Operation(
        try #require(ObjectID(object)),
        try BoardVectors.property(property, index: index, dot: dot),
        try value.value()
      )
    }
  }

  struct Batch: Decodable, CustomTestStringConvertible, Sendable {
    struct Parts: Decodable, Sendable {
      let author: String
      let first: UInt64
      let time: String
      let operations: [Operation]
    }
    let name: String
    let hex: String
    let value: Parts
    var testDescription: String { name }

    func batch() throws -> Whiteboard.Batch {
      try Whiteboard.Batch(
        author: try #require(Incarnation(value.author)),
        firstSequence: value.first,
        time: HybridTime(try #require(UInt64(value.time))),
        operations: value.operations.map { try $0.operation() }
      )
    }
  }

  struct DotRanges: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let hex: String
    let value: [String: [[UInt64]]]
    let hash: String
    var testDescription: String { name }
  }

  struct ManyRanges: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let hex: String
    let ranges: Int
    let last: [UInt64]
    let hash: String
    var testDescription: String { name }
  }

  struct Sets: Decodable, Sendable {
    let valid: [DotRanges]
    let large: [ManyRanges]
    let invalid: [Refused]
  }

  struct Ink: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let hex: String
    let points: [[Int32]]
    var testDescription: String { name }
  }

  struct Erasure: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let hex: String
    let spans: [[Int]]
    var testDescription: String { name }
  }

  struct Cases<Valid: Decodable & Sendable>: Decodable, Sendable {
    let valid: [Valid]
    let invalid: [Refused]
  }

  struct Messages: Decodable, Sendable {
    let valid: [Named]
    let skipped: [Named]?
    let invalid: [Refused]
  }

  struct Profile: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let hex: String
    let profile: [String]
    let showsPreviews: Bool
    var testDescription: String { name }
  }

  struct Shown: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let hex: String
    let counter: String
    let cursor: [Int32]?
    let laser: Bool
    let view: [Int32]?
    let clock: String?
    let isCanonical: Bool
    var testDescription: String { name }
  }

  struct IncarnationText: Decodable, Sendable {
    let number: String
    let text: String
  }

  struct ObjectIDs: Decodable, Sendable {
    struct Valid: Decodable, Sendable {
      let text: String
      let incarnation: String
      let sequence: UInt64
    }
    let valid: [Valid]
    let invalid: [String]
  }

  let incarnations: [IncarnationText]
  let objectIds: ObjectIDs
  let sets: Sets
  let ink: Cases<Ink>
  let erasures: Cases<Erasure>
  let messages: Messages
  let profiles: Cases<Profile>
  let datagrams: Messages
  let presence: Cases<Shown>
  let batches: Cases<Batch>
  let digest: Digest
  let buckets: Buckets
  let ties: [Tie]
  let differences: Differences
  let groups: [Groups]
  let settings: [Settings]
  let chat: [Chat]
  let keys: [Key]
  let records: Records
  let owned: Owned
  let retirements: Retirements
  let chain: Chain
  let links: Links
  let heads: Heads
  let answers: Answers
  let zIndexes: ZIndexes
  let outOfRange: [OutOfRange]
  let votes: Reactions
  let comments: [Comment]
  let columns: [[UInt32]]
  let forms: [Form]

  static let file: BoardVectors = {
    let path = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
    do {
      return try JSONDecoder().decode(
        BoardVectors.self,
        from: Data(contentsOf: URL(filePath: path + "/Protocol/Vectors/board.json"))
      )
    } catch { preconditionFailure("the vectors cannot be read: \(error)") }
  }()

  static func property(_ number: UInt16, index: String?, dot: String?) throws -> Property {
    if let index { return Property(number, index: try #require(UInt64(index))) }
    if let dot { return Property(number, dot: try #require(ObjectID(dot)).dot) }
    return Property(number)
  }

  static func set(_ value: [String: [[UInt64]]]) throws -> DotSet {
    var set = DotSet()
    for (incarnation, ranges) in value {
      for range in ranges { set.insert(range[0]...range[1], of: try #require(Incarnation(incarnation))) }
    }
    return set
  }

  /// The context hash (SYN-14), as the vectors write it.
  static func hash(_ context: Context) -> String {
    String(Bytes32.sha256(ContextCoding.encode(context)).hex.prefix(16))
  }

  static func bytes(_ hex: String) throws -> [UInt8] { try #require(Hexadecimal.decode(hex)) }
}

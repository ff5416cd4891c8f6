import Crypto
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// Authorship: keys, records, chains, links, heads and signed answers.
extension BoardVectors {
  struct Key: Decodable, Sendable {
    let name: String
    let `private`: String
    let `public`: String
    let member: String
  }

  struct Record: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let hex: String
    let incarnation: String
    let member: String
    let role: UInt8
    let granter: String?
    var testDescription: String { name }
  }

  struct Records: Decodable, Sendable {
    let board: String
    let valid: [Record]
    let invalid: [Refused]
  }

  struct Owned: Decodable, Sendable {
    struct Records: Decodable, Sendable {
      let valid: [Record]
      let invalid: [Refused]
    }
    struct Given: Decodable, CustomTestStringConvertible, Sendable {
      let name: String
      let hex: String
      let rights: UInt8
      var testDescription: String { name }
    }
    struct Grants: Decodable, Sendable {
      let holder: String
      let valid: [Given]
      let invalid: [Refused]
    }
    struct Taken: Decodable, CustomTestStringConvertible, Sendable {
      let name: String
      let hex: String
      let member: String
      let serial: String
      let counted: [[String]]
      var testDescription: String { name }
    }
    struct Limits: Decodable, Sendable {
      struct Some: Decodable, Sendable {
        let revocations: [String]
        let limit: String?
      }
      let record: String
      let sets: [Some]
    }
    struct Revocations: Decodable, Sendable {
      let valid: [Taken]
      let invalid: [Refused]
      let limits: Limits
    }
    let salt: String
    let owner: String
    let board: String
    let records: Records
    let grants: Grants
    let revocations: Revocations
  }

  struct Chain: Decodable, Sendable {
    struct Step: Decodable, Sendable {
      let batch: String
      let hash: String
    }
    let incarnation: String
    let start: String
    let steps: [Step]
  }

  struct Link: Decodable, CustomTestStringConvertible, Sendable {
    struct Message: Decodable, Sendable {
      let hex: String
      let author: String?
      let full: String?
      let chain: String?
      let head: UInt64?
      let record: String?
    }
    let name: String
    let member: String
    let messages: [Message]
    var testDescription: String { name }
  }

  struct RefusedLink: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let member: String
    let before: [String]
    let hex: String
    let error: String
    var testDescription: String { name }
  }

  struct Links: Decodable, Sendable {
    let board: String
    let valid: [Link]
    let invalid: [RefusedLink]
  }

  struct Head: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let hex: String
    let sequence: UInt64
    let hash: String
    var testDescription: String { name }
  }

  struct Heads: Decodable, Sendable {
    let board: String
    let member: String
    let before: [String]
    let valid: [Head]
    let invalid: [Refused]
  }

  struct Answer: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let hex: String
    let member: String
    let signer: String
    let records: [String]
    let difference: String
    var testDescription: String { name }
  }

  struct RefusedAnswer: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let hex: String
    let member: String
    let error: String
    var testDescription: String { name }
  }

  struct UnrecordedAnswer: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let hex: String
    let member: String
    var testDescription: String { name }
  }

  struct Answers: Decodable, Sendable {
    let board: String
    let valid: [Answer]
    /// Answers whose contexts name incarnations without a record.
    let unrecorded: [UnrecordedAnswer]
    let invalid: [RefusedAnswer]
  }

  static func board(_ hex: String) throws -> BoardID { try #require(BoardID(bytes: bytes(hex))) }

  static func member(_ hex: String) throws -> MemberID { try #require(MemberID(bytes: bytes(hex))) }
}

struct VectorKey: AuthorKey {
  private let key: P256.Signing.PrivateKey

  init(_ vector: BoardVectors.Key) throws {
    key = try P256.Signing.PrivateKey(rawRepresentation: BoardVectors.bytes(vector.private))
  }

  init(of member: MemberID) throws {
    let text = Hexadecimal.encode(member.bytes)
    try self.init(try #require(BoardVectors.file.keys.first { $0.member == text }))
  }

  var publicKey: [UInt8] { Array(key.publicKey.x963Representation) }

  func signature(of bytes: [UInt8]) -> [UInt8] {
    guard let signature = try? key.signature(for: bytes) else { preconditionFailure("a P-256 key can sign any bytes") }
    return Array(signature.rawRepresentation)
  }
}

import Testing

@testable import Whiteboard

/// The state of a board after some batches: digest, sums, answers, and the meaning of its cells.
extension BoardVectors {
  struct Digest: Decodable, Sendable {
    struct Step: Decodable, Sendable {
      let apply: String
      let digest: String
      let contextHash: String
      let sums: [String]
    }
    let batches: [String]
    let steps: [Step]
    let text: String
    let input: String
    let digest: String
    let empty: String
  }

  struct Buckets: Decodable, Sendable {
    let context: String
    let start: String
    struct Mix: Decodable, Sendable {
      let `in`: String
      let out: String
    }
    struct Hash: Decodable, Sendable {
      let object: String
      let bucket: Int
      let property: UInt16
      let index: String?
      let dot: String?
      let hash: String
    }
    struct Board: Decodable, Sendable {
      let name: String
      let batches: [String]
      let sums: [String]
    }
    let mix: [Mix]
    let cells: [Hash]
    let boards: [Board]
  }

  struct Tie: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let first: String
    let batches: [String]
    let digest: String
    var testDescription: String { name }
  }

  struct Difference: Decodable, CustomTestStringConvertible, Sendable {
    struct Parts: Decodable, Sendable {
      let context: [String: [[UInt64]]]
      let living: [String: [[UInt64]]]
      let objects: [Object]
    }
    struct Object: Decodable, Sendable {
      let object: String
      let cells: [Cell]
    }
    struct Cell: Decodable, Sendable {
      let property: UInt16
      let index: String?
      let dot: String?
      let value: Value
      let time: String
      let author: String
    }
    let name: String
    let since: String
    let buckets: UInt16
    let hex: String
    let value: Parts
    var testDescription: String { name }

    func difference() throws -> Whiteboard.Difference {
      var difference = Whiteboard.Difference(context: try BoardVectors.set(value.context))
      difference.living = try BoardVectors.set(value.living)
      for object in value.objects {
        var entry = Whiteboard.Difference.Entry(object: try #require(ObjectID(object.object)))
        for cell in object.cells {
          entry.cells.append(
            PropertyCell(
              try BoardVectors.property(cell.property, index: cell.index, dot: cell.dot),
              Whiteboard.Cell(
                value: try cell.value.value(),
                time: HybridTime(try #require(UInt64(cell.time))),
                dot: try #require(ObjectID(cell.author)).dot
              )
            )
          )
        }
        difference.entries.append(entry)
      }
      return difference
    }
  }

  struct Differences: Decodable, Sendable {
    struct Orphans: Decodable, Sendable {
      let batch: String
      let hex: String
      let digest: String
    }
    let valid: [Difference]
    let orphans: Orphans
    let invalid: [Refused]
  }

  struct Groups: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let batches: [String]
    let groups: [String: [String]]
    var testDescription: String { name }
  }

  struct Settings: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let batches: [String]
    let settings: [String: String]
    var testDescription: String { name }
  }

  struct Chat: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let batches: [String]
    let lines: [String]
    let wall: String
    let after: String?
    var testDescription: String { name }
  }

  struct Reactions: Decodable, Sendable {
    struct Case: Decodable, CustomTestStringConvertible, Sendable {
      struct Reaction: Decodable, Equatable, Sendable {
        let reaction: String
        let members: [String]
      }

      let name: String
      let batches: [String]
      let votes: [Reaction]
      var testDescription: String { name }
    }

    let members: [String: String]
    let valid: [Case]
  }

  struct Comment: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let batches: [String]
    let line: String
    let about: String?
    let isResolved: Bool
    var testDescription: String { name }
  }
}

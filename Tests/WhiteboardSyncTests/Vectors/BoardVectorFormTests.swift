import FoundationEssentials
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// Forms, styles, labels and lines.
extension BoardVectors {
  struct Path: Decodable, Sendable {
    let start: [Double]
    let pieces: [[Double]]
    let isClosed: Bool

    func isClose(to outline: Outline) -> Bool {
      let drawn = outline.pieces.map { piece -> [Double] in
        switch piece {
        case .line(let end): [end.x, end.y]
        case .curve(let first, let second, let end): [first.x, first.y, second.x, second.y, end.x, end.y]
        }
      }
      return isClosed == outline.isClosed && areClose(start, [outline.start.x, outline.start.y])
        && pieces.count == drawn.count && zip(pieces, drawn).allSatisfy { areClose($0, $1) }
    }
  }

  struct Form: Decodable, CustomTestStringConvertible, Sendable {
    struct Shown: Decodable, Sendable {
      struct Label: Decodable, Sendable {
        let columns: Int
        let center: [Double]
      }

      let reads: [String: JSONValue]
      let label: Label?
      let outline: Path?
      let endMarks: [Path]
    }

    let name: String
    let batches: [String]
    let objects: [String: Shown]
    var testDescription: String { name }
  }

  /// Returns whether two lists contain the same numbers; the vectors are rounded to 9 decimal places.
  static func areClose(_ one: [Double], _ two: [Double]) -> Bool {
    one.count == two.count && zip(one, two).allSatisfy { abs($0 - $1) <= 1e-9 * max(1, abs($0)) }
  }
}

@Suite struct BoardVectorFormTests {
  @Test("[BRD-48] [BRD-52] forms are read as their vectors say", arguments: BoardVectors.file.forms)
  func reading(vector: BoardVectors.Form) throws {
    let batches = try vector.batches.map { try BatchCoding.decode(BoardVectors.bytes($0)) }
    for order in [batches, batches.reversed()] {
      let member = try #require(MemberID(bytes: [UInt8](repeating: 7, count: 32)))
      let board = Board(incarnation: Incarnation(7), member: member, wallClock: 1_700_000_000_000)
      for batch in order { try board.receive(batch) }
      #expect(Set(board.objectIDs.map(\.description)) == Set(vector.objects.keys))
      for (id, shown) in vector.objects {
        let object = try #require(ObjectID(id))
        let snapshot = try #require(board.snapshot(object))
        try expect(snapshot, shown)
      }
    }
  }

  @Test("[BRD-53] each character has the columns of the vectors") func columns() {
    var found: [[UInt32]] = []
    // Outside these ranges, only private-use characters are assigned.
    for value in [Array(UInt32(0x300)..<0x40000), Array(UInt32(0xE0000)..<0xE1000)].joined() {
      guard let scalar = Unicode.Scalar(value) else { continue }
      var counter = ColumnCounter()
      let columns = UInt32(counter.columns(of: scalar, before: nil))
      if let last = found.last, last[1] + 1 == value, last[2] == columns {
        found[found.count - 1][1] = value
      } else if columns != 1 {
        found.append([value, value, columns])
      }
    }
    #expect(found == BoardVectors.file.columns)
  }

  private func expect(_ snapshot: ObjectSnapshot, _ shown: BoardVectors.Form.Shown) throws {
    let json = try JSONDecoder().decode([String: BoardVectors.JSONValue].self, from: Data(snapshot.json.utf8))
    for key in Set(json.keys).union(shown.reads.keys) {
      let (found, wanted) = (json[key] ?? .null, shown.reads[key] ?? .null)
      #expect(found.isClose(to: wanted), "\(key)")
    }
    let label = TextLayout(snapshot)
    #expect(label?.columns == shown.label?.columns)
    if let label { #expect(BoardVectors.areClose(shown.label?.center ?? [], [label.center.x, label.center.y])) }
    #expect((snapshot.outline == nil) == (shown.outline == nil))
    if let outline = snapshot.outline { #expect(shown.outline?.isClose(to: outline) ?? false, "\(outline)") }
    #expect(snapshot.endMarks.count == shown.endMarks.count)
    for (mark, wanted) in zip(snapshot.endMarks, shown.endMarks) { #expect(wanted.isClose(to: mark), "\(mark)") }
  }
}

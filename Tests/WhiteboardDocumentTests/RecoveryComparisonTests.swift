import Foundation
import PeerTestKit
import Testing
import WhiteboardDocument

/// Compares the data that recovery saves of damaged files with the data that SQLite can still read.
///
/// SQLite's own recovery cannot be compared: Debian's library contains neither its API nor the table `sqlite_dbpage`,
/// without which `.recover` of the sqlite3 shell ends with "SQL logic error" even for an intact file.
@Suite struct RecoveryComparisonTests {
  private static let entries = 300

  private enum Damage: CaseIterable, CustomTestStringConvertible {
    case flippedBits, lostPage, lostEnd, lostFirstPage, flippedBitInLog

    var testDescription: String { "\(self)" }

    /// Damages the file or its log.
    func apply(to path: String, _ generator: inout SeededGenerator) throws {
      let file = URL(fileURLWithPath: self == .flippedBitInLog ? path + "-wal" : path)
      var data = try Data(contentsOf: file)
      switch self {
      case .flippedBits:
        for _ in 0..<3 { data[4096 + generator.below(data.count - 4096)] ^= UInt8(1 << generator.below(8)) }
      case .lostPage:
        let start = (1 + generator.below(data.count / 4096 - 1)) * 4096
        data.replaceSubrange(start..<start + 4096, with: Data(count: 4096))
      case .lostEnd: data.removeLast(8192)
      case .lostFirstPage: data.replaceSubrange(0..<4096, with: Data(count: 4096))
      case .flippedBitInLog: data[32 + generator.below(data.count / 2)] ^= UInt8(1 << generator.below(8))
      }
      try data.write(to: file)
    }
  }

  /// Returns the rows of a log as `id|entries|body`, read from the beginning and from the end up to the first
  /// unreadable row.
  private func rows(_ judge: Judge, _ path: String) async throws -> Set<Substring> {
    var found: Set<Substring> = []
    for order in ["ASC", "DESC"] {
      let words = try await judge.judge([path, "SELECT id, entries, hex(body) FROM log ORDER BY id \(order)"]).words
      found.formUnion(words.split(separator: "\n").filter { $0.split(separator: "|").count == 3 })
    }
    return found
  }

  @Test("[REC-17] recovery saves more of a damaged file than SQLite reads") func both()
    async throws
  {
    let judge = try #require(Judge("sqlite3"), "install the package sqlite3")
    let directory = try TemporaryDirectory()
    let path = directory.file()
    let made = try await BoardDocument.create(at: path, board: someBoard, name: "x", now: 0)
    try await made.close()
    let document = try await BoardDocument.open(at: path, mode: .writing, groupInterval: .zero)
    for group in 0..<60 { try await document.append((0..<5).map { numbered(group * 5 + $0, size: 400) }) }
    let left = directory.file("left.whiteboard")
    for end in ["", "-wal", "-shm"] { try FileManager.default.copyItem(atPath: path + end, toPath: left + end) }
    try await document.close()
    let good = try await rows(judge, path)
    #expect(good.count >= 60)

    var generator = SeededGenerator(seed: 0x2EC)
    var more: [Damage: Int] = [:]
    for damage in Damage.allCases {
      var (ours, theirs) = (0, 0)
      for round in 0..<5 {
        let damaged = directory.file("\(damage)-\(round).whiteboard")
        let ends = damage == .flippedBitInLog ? ["", "-wal", "-shm"] : [""]
        for end in ends {
          try FileManager.default.copyItem(atPath: (ends.count == 3 ? left : path) + end, toPath: damaged + end)
        }
        try damage.apply(to: damaged, &generator)
        let saved = directory.file("ours-\(damage)-\(round).whiteboard")
        ours += try await BoardDocument.recover(from: damaged, to: saved, board: someBoard, now: 0).entries
        theirs += try await rows(judge, damaged).intersection(good).reduce(0) {
          $0 + (Int($1.split(separator: "|")[1]) ?? 0)
        }
      }
      print("recovery of \(5 * Self.entries) entries, \(damage): \(ours) here, \(theirs) read by SQLite")
      #expect(ours >= theirs, "\(damage)")
      more[damage] = ours - theirs
    }
    for damage in [Damage.lostEnd, .lostFirstPage, .flippedBitInLog] {
      #expect(more[damage, default: 0] > 0, "\(damage)")
    }
  }
}

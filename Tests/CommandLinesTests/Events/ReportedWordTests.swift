import Foundation
import Testing
import WhiteboardKit

@testable import CommandLines

struct ReportedWordTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  @Test("the table of words in the specification equals that of the manual") func table() throws {
    let file = Self.root.appendingPathComponent("Protocol/README.md")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    for row in ReportedWord.all {
      let tests = row.tests.map { "`\($0)`" }.joined(separator: ", ")
      let line = "| `\(row.word)` | \(row.meaning) | \(row.limits) | \(tests) |"
      #expect(lines.count { $0 == line } == 1, "\(row.word)")
    }
  }

  @Test("the tests that the table names exist") func tests() throws {
    let files = FileManager.default
    let all = files.enumerator(atPath: Self.root.appendingPathComponent("Tests").path)
    let names = Set((all?.allObjects as? [String] ?? []).map { ($0 as NSString).lastPathComponent })
    for row in ReportedWord.all {
      #expect(!row.tests.isEmpty)
      for test in row.tests {
        let isThere =
          test.contains("/")
          ? files.fileExists(atPath: Self.root.appendingPathComponent(test).path) : names.contains("\(test).swift")
        #expect(isThere, "\(row.word): \(test)")
      }
    }
  }
}

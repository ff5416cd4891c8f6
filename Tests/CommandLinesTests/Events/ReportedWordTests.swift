import Foundation
import Testing
import WhiteboardKit

@testable import CommandLines

struct ReportedWordTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The tests in the row of a word, in the table of the specification.
  private func tests(of row: ReportedWord) throws -> [String] {
    let file = Self.root.appendingPathComponent("Protocol/README.md")
    let start = "| `\(row.word)` | \(row.meaning) | \(row.limits) | "
    let rows = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix(start) }
    #expect(rows.count == 1, "\(row.word)")
    let parts = rows.flatMap { $0.dropFirst(start.count).split(separator: "`") }
    return parts.filter { !$0.contains(" ") }.map(String.init)
  }

  @Test("the specification has the words of the manual, and names tests that exist") func table() throws {
    let files = FileManager.default
    let all = files.enumerator(atPath: Self.root.appendingPathComponent("Tests").path)
    let names = Set((all?.allObjects as? [String] ?? []).map { ($0 as NSString).lastPathComponent })
    for row in ReportedWord.all {
      let tests = try tests(of: row)
      #expect(!tests.isEmpty)
      for test in tests {
        let isThere =
          test.contains("/")
          ? files.fileExists(atPath: Self.root.appendingPathComponent(test).path) : names.contains("\(test).swift")
        #expect(isThere, "\(row.word): \(test)")
      }
    }
  }

  @Test("the manual names no tests, which users do not have") func manual() {
    #expect(!ReportedWord.text.contains("Tests"))
  }
}

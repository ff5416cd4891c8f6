import Foundation
import Testing
import WhiteboardNode

struct ReportedWordTests {
  @Test("the table of words in the specification equals that of the manual, and names tests")
  func table() throws {
    let file = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Protocol/README.md")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    for row in ReportedWord.all {
      let start = "| `\(row.word)` | \(row.meaning) | \(row.limits) | `"
      #expect(lines.count { $0.hasPrefix(start) } == 1, "\(row.word)")
    }
  }
}

import Foundation
import Testing

@testable import CommandLines
@testable import WhiteboardKit

/// Compares the help of every command, and the answers of the parser to many lines, with the file `CommandTranscript.txt`.
///
/// An input line begins with `> `. The lines after it are the parser's answer; the list of all commands is recorded once.
/// With `WHITEBOARD_WRITE_GOLDENS=1` in the environment, a file that differs is rewritten. The test fails anyway, so that
/// no change is overlooked.
@Suite struct CommandTranscriptTests {
  private static let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "CommandTranscript.txt"
  )

  @Test("the help and the parser's answers are as recorded") func transcript() throws {
    let known = try String(contentsOf: Self.file, encoding: .utf8)
    let inputs = known.split(separator: "\n").filter { $0.hasPrefix("> ") }.map { $0.dropFirst(2) }
    #expect(inputs.count > 500)
    var longAnswers: [String: Substring] = [:]
    let text: String = inputs.map { line -> String in
      var answer = answer(to: line)
      if let earlier = longAnswers[answer] { answer = "the same as for `\(earlier)`" }
      if answer.count > 5_000 { longAnswers[answer] = line }
      return "> \(line)\n\(answer)\n"
    }.joined()
    guard text != known else { return }
    if ProcessInfo.processInfo.environment["WHITEBOARD_WRITE_GOLDENS"] == "1" {
      try Data(text.utf8).write(to: Self.file)
    }
    let changes = text.split(separator: "\n").difference(from: known.split(separator: "\n"))
    Issue.record("\(changes.count) lines differ:\n\(changes.map { "\($0)" }.joined(separator: "\n"))")
  }

  /// Returns the answer of the parser: the command and its request id, its help text, or its error.
  private func answer(to line: Substring) -> String {
    do throws(CommandError) {
      guard let request = try CommandParser.parse(line) else { return "nothing" }
      let mark = request.request.map { " request=\($0)" } ?? ""
      guard request.command.name == .help else { return "command \(request.command.name.rawValue)\(mark)" }
      return try CommandTable.help(line.hasPrefix("help ") ? String(line.dropFirst(5)) : nil)
    } catch {
      let details = [error.verb.map { "verb=\($0)" }, error.request.map { "request=\($0)" }].compactMap {
        " \($0 ?? "")"
      }
      return "error \(error.code.rawValue)\(details.joined()): \(error.message)"
    }
  }
}

import WhiteboardKit

package actor LineCommands: CommandSource {
  private let lines: any LineSource
  private let areNumbered: Bool
  private var count = 0

  package init(_ lines: any LineSource, areNumbered: Bool) {
    self.lines = lines
    self.areNumbered = areNumbered
  }

  package func nextInput() async throws(InputError) -> CommandInput? {
    while var line = try await lines.nextLine() {
      count += 1
      if count == 1 { line.removeByteOrderMark() }
      if let input = CommandInput(parsing: line, number: areNumbered ? count : nil) { return input }
    }
    return nil
  }
}

extension CommandInput {
  /// Parses a line of input, in text or JSON; nil if the line is empty or a comment.
  package init?(parsing line: LineReader.Line, number: Int? = nil) {
    switch line {
    case .tooLong:
      self = .failure(
        CommandError(.lineTooLong, "the line has more than \(CommandParser.maximumLineLength) bytes", line: number)
      )
    case .line(let bytes):
      do throws(CommandError) {
        guard var request = try CommandParser.parse(bytes: bytes) else { return nil }
        request.line = number
        self = .request(request)
      } catch { self = .failure(error.answering(verb: nil, request: nil, line: number)) }
    }
  }
}

extension CommandFeed {
  package func push(_ line: String) {
    guard let input = CommandInput(parsing: .line(Array(line.utf8))) else { return }
    push(input)
  }
}

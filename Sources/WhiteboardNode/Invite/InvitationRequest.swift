import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// How another program of the same person asks the one that has a board open for a further code.
///
/// It is a file beside what that one says of the board (``OpenBoard``), as private as that, and the answer is
/// another: whoever can write there has our key as well.
package enum InvitationRequest {
  /// The answer.
  package struct Answer: Codable, Equatable, Sendable {
    /// The code.
    package var code: String?
    /// The role that the code gives, on an owned board.
    package var role: String?
    /// When it is a wrong code, RFC 3339.
    package var expires: String?
    /// The reason for refusing.
    package var refusal: String?
  }

  /// Asks for a code, and waits for it.
  ///
  /// - Parameters:
  ///   - terms: What it is to let do, and for how long.
  ///   - board: The board, which a program has open.
  ///   - directory: The data directory of both.
  ///   - patience: How long to wait.
  /// - Returns: The answer.
  /// - Throws: ``NodeError`` if it could not be asked for, was refused, or nobody answered.
  package static func ask(
    _ terms: InvitationTerms,
    of board: OpenBoard,
    inDataDirectory directory: String,
    patience: Duration = .seconds(10)
  ) async throws(NodeError) -> Answer {
    let places = Places(board.board, "\(UInt64.random(in: 0...UInt64.max))", directory)
    defer {
      unlink(places.question)
      unlink(places.answer)
    }
    guard let bytes = try? JSONEncoder().encode(terms), write(bytes, to: places.question) else {
      throw NodeError(.cannotCreate, "the program that has the board open cannot be asked")
    }
    let clock = ContinuousClock()
    let end = clock.now + patience
    while clock.now < end {
      if let bytes = try? FileReading.whole(places.answer, limit: 4096),
        let answer = try? JSONDecoder().decode(Answer.self, from: Data(bytes))
      {
        if let refusal = answer.refusal { throw NodeError(.notAllowed, refusal) }
        return answer
      }
      try? await clock.sleep(for: .milliseconds(20))
    }
    throw NodeError(.timedOut, "the program that has the board open did not answer")
  }

  /// The questions about a board that wait, each taken once.
  static func take(
    about board: String,
    inDataDirectory directory: String
  ) -> [(mark: String, terms: InvitationTerms)] {
    let prefix = "\(board)\(Places.question)"
    let folder = OpenBoardFile.directory(in: directory)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasPrefix(prefix) }.sorted().compactMap { name in
      let path = "\(folder)/\(name)"
      guard let bytes = try? FileReading.whole(path, limit: 4096) else { return nil }
      unlink(path)
      guard let terms = try? JSONDecoder().decode(InvitationTerms.self, from: Data(bytes)),
        terms.seconds.map({ (1...InvitationTerms.maximumSeconds).contains($0) }) ?? true
      else { return nil }
      return (String(name.dropFirst(prefix.count)), terms)
    }
  }

  /// Answers a question.
  static func answer(
    _ mark: String,
    with answer: Answer,
    about board: String,
    inDataDirectory directory: String
  ) {
    guard let bytes = try? JSONEncoder().encode(answer) else { return }
    _ = write(bytes, to: Places(board, mark, directory).answer)
  }

  private struct Places {
    static let question = ".ask-"
    let question: String
    let answer: String

    init(_ board: String, _ mark: String, _ directory: String) {
      let folder = OpenBoardFile.directory(in: directory)
      question = "\(folder)/\(board)\(Self.question)\(mark)"
      answer = "\(folder)/\(board).answer-\(mark)"
    }
  }

  /// Writes a file that is there whole or not at all.
  private static func write(_ bytes: Data, to path: String) -> Bool {
    let new = path.replacing(".ask-", with: ".new-").replacing(".answer-", with: ".told-")
    let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return false }
    let isWritten = FileWriting.writeAll(Array(bytes), to: descriptor) == nil
    close(descriptor)
    guard isWritten, rename(new, path) == 0 else {
      unlink(new)
      return false
    }
    return true
  }
}

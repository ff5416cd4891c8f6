import ArgumentParser
import CommandLines
import FoundationEssentials
import PeerCore
import PeerSession
import WhiteboardDocument
import WhiteboardKit

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// The option `--yes` of commands whose effect cannot be undone. On a terminal, such a command asks the user first.
/// Without a terminal, it requires the option.
package struct Confirmation: ParsableArguments {
  @Flag(help: "Do not ask, for scripts.") package var yes = false

  package init() {}

  /// Returns if the user agrees. Otherwise, throws an error whose message begins with `refusal`, for example "nothing
  /// was deleted". `command` is the name of the command. `question` is asked only on a terminal without `--yes`.
  package func confirm(
    _ command: String,
    or refusal: String,
    _ question: () async throws(WhiteboardError) -> String
  ) async throws(WhiteboardError) {
    guard !yes else { return }
    guard Console.isTerminal else {
      throw WhiteboardError(.usage, "\(refusal); without a terminal, `\(command)` requires --yes")
    }
    guard try Console.asks(try await question()) else { throw WhiteboardError(.no, refusal) }
  }

  /// Deletes the file of a board that no program has open, if the user agrees. `kind` and `facts` describe the file in
  /// the question.
  package func delete(
    _ path: String,
    _ kind: String,
    named name: String,
    command: String,
    facts: () async -> String
  ) async throws(WhiteboardError) {
    let name = UntrustedText(name).quoted()
    if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) {
      throw WhiteboardError(
        .usage,
        "\(name) is a symbolic link to \(UntrustedText(target).quoted()); delete the file by its own name"
      )
    }
    // A program that was killed while it deleted the board can have left some of its files.
    var status = stat()
    guard BoardFile.ends.contains(where: { lstat(path + $0, &status) == 0 }), status.st_mode & S_IFMT == S_IFREG else {
      throw WhiteboardError(.noInput, "there is no file \(name)")
    }
    guard path.hasSuffix(".\(BoardFile.fileExtension)") else {
      throw WhiteboardError(
        .usage,
        "\(name) is not the file of a board; its name must end in .\(BoardFile.fileExtension)"
      )
    }
    // While this is held, no other program can open the board.
    let reservation = try await filing { () throws(DocumentError) in try BoardReservation(path) }
    defer { withExtendedLifetime(reservation) {} }
    try await confirm(command, or: "nothing was deleted") {
      "Delete \(kind) \(name) (\(await facts()))? It cannot be restored."
    }
    try BoardFile.delete(path)
  }
}

extension Console {
  /// Asks a question on the terminal. Returns false unless the user answers yes.
  package static func asks(_ question: String) throws(WhiteboardError) -> Bool { try answer(to: question) ?? false }

  /// Returns nil if the input ended instead of an answer.
  private static func answer(to question: String) throws(WhiteboardError) -> Bool? {
    try tell("\(question) [y]es, [n]o: ")
    return readLine().map { ["y", "yes"].contains($0.lowercased()) }
  }

  /// Shows the verification words while the host's user decides about the local peer. If the words must be compared,
  /// asks on the terminal whether the host sees the same words; without a terminal, returns `noUser`.
  package static func compare(_ verification: Verification) -> WordComparison {
    let words = verification.words.joined(separator: " ")
    guard verification.mustBeCompared else {
      complain("Waiting until you are admitted. The host sees these words: \(words)")
      return .same
    }
    guard isTerminal, let isSame = try? answer(to: "The host must see the words \(words). Are they the same?") else {
      return .noUser
    }
    if isSame { complain("Waiting until you are admitted.") }
    return isSame ? .same : .different
  }
}

extension PeerTransport {
  /// Requests to join a session, and asks on the terminal whether the verification words are the same. Throws the error
  /// with which the program exits.
  package func joinFromTerminal(_ request: JoinRequest) async throws(WhiteboardError) -> Session {
    let problem = Locked<WhiteboardError?>(nil)
    do throws(SessionError) {
      return try await join(
        request,
        comparing: { verification in
          let answer = Console.compare(verification)
          problem.withLock { $0 = answer.problem }
          return answer
        }
      )
    } catch {
      throw problem.withLock { $0 } ?? WhiteboardError(refusing: request, error) ?? WhiteboardError(error)
    }
  }
}

extension BoardFile {
  /// The size of a board's file in bytes. While a board is open, its newest changes are in a second file.
  package static func byteCount(of path: String) -> Int {
    ["", "-wal"].reduce(0) { sum, end in
      var status = stat()
      return sum + (stat(path + end, &status) == 0 ? Int(status.st_size) : 0)
    }
  }
}

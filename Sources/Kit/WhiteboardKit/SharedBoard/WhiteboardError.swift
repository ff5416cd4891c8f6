#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// An error that prevents a board from opening, or that closes a running board.
public struct WhiteboardError: Error, Equatable, Sendable {
  /// The kind of error; its raw value is the exit status of the programs.
  public let code: Code
  /// The problem and what to do about it, in one line that is safe to display.
  public let message: String
  /// The reason why work was not saved, if the error is about saving.
  package let problem: SaveProblem?
  /// Whether the host removed the local peer from the board, so that the program can only open its own copy.
  public let isRemoval: Bool

  /// Whether another join code would help.
  package let isAboutCode: Bool

  /// The end of the message about a missing code. A program that asks the user for the code omits this advice.
  package static let codeAdvice = ": add --code WORDS"

  package init(_ code: Code, _ message: String, isRemoval: Bool = false, isAboutCode: Bool = false) {
    self.code = code
    self.message = message
    self.isRemoval = isRemoval
    self.isAboutCode = isAboutCode || message.hasSuffix(Self.codeAdvice)
    problem = nil
  }

  package init(_ problem: SaveProblem) {
    code = .inputOutput
    message = problem.sentence
    (isRemoval, isAboutCode) = (false, false)
    self.problem = problem
  }

  /// The kinds of errors; the raw values are exit statuses as in `sysexits.h`.
  public enum Code: Int32, Sendable {
    /// Not found, a command failed, or a check found a fault.
    case no = 1
    /// The command line is malformed.
    case usage = 64
    /// A line or a file is malformed.
    case badData = 65
    /// An input file does not exist.
    case noInput = 66
    /// The peer cannot be reached.
    case unreachable = 69
    /// An internal error of the program.
    case `internal` = 70
    /// The operating system refused an operation.
    case system = 71
    /// An output file cannot be created.
    case cannotCreate = 73
    /// Reading or writing a file failed.
    case inputOutput = 74
    /// The operation timed out; a retry may help.
    case timedOut = 75
    /// The peer uses a different protocol version, or violates the protocol.
    case `protocol` = 76
    /// The peer does not admit the local peer.
    case notAllowed = 77
    /// A setting or a configuration file is invalid.
    case badConfiguration = 78
  }
}

package enum SystemError {
  package static func words(for number: Int32) -> String {
    var text = [CChar](repeating: 0, count: 256)
    // The POSIX variant of `strerror_r` fills the buffer. The GNU variant fills the buffer, or returns a constant
    // string.
    guard strerror_r(number, &text, text.count) == 0 else { return "error \(number)" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

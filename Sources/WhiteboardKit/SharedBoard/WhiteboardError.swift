/// Why a node ended otherwise than by being asked to.
public struct WhiteboardError: Error, Equatable, Sendable {
  /// The kind, which is also the exit status.
  public let code: Code
  /// What went wrong and what to do, in one line that may be shown.
  public let message: String
  /// The reason why some of the work was not saved, if the error is about saving.
  package let problem: SaveProblem?
  /// Whether the host removed this peer from the board, so that its own copy is all that it can open.
  public let isRemoval: Bool

  /// The end of the message of a refusal that a code ends; a program that asks for the code leaves it out.
  package static let codeAdvice = ": add --code WORDS"

  /// Makes an error.
  ///
  /// - Parameters:
  ///   - code: The kind.
  ///   - message: What went wrong and what to do.
  ///   - isRemoval: Whether the host removed this peer from the board.
  package init(_ code: Code, _ message: String, isRemoval: Bool = false) {
    self.code = code
    self.message = message
    self.isRemoval = isRemoval
    problem = nil
  }

  /// Creates the error for a node that ended with unsaved work.
  package init(_ problem: SaveProblem) {
    code = .inputOutput
    message = problem.sentence
    isRemoval = false
    self.problem = problem
  }

  /// The kinds of end; the raw values are exit statuses after sysexits.
  public enum Code: Int32, Sendable {
    /// The answer is no: nothing nearby, a verb failed, a check found a fault.
    case no = 1
    /// The command line is wrong.
    case usage = 64
    /// A line or a file is not of its form.
    case badData = 65
    /// A file to read is not there.
    case noInput = 66
    /// The peer cannot be reached.
    case unreachable = 69
    /// A fault of ours.
    case `internal` = 70
    /// The system refuses something.
    case system = 71
    /// A file cannot be made.
    case cannotCreate = 73
    /// Reading or writing failed.
    case inputOutput = 74
    /// It did not happen in time; trying again may help.
    case timedOut = 75
    /// The other side speaks another version, or breaks the protocol.
    case `protocol` = 76
    /// The other side does not let us in.
    case notAllowed = 77
    /// A setting or a file of settings is wrong.
    case badConfiguration = 78
  }
}
